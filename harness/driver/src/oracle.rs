//! What an oracle is: something that counts effects by other means than the replies to the calls.
//!
//! It never changes what it counts. A running server's store is read through the store's own locks; a
//! dead one's is copied first, because merely opening it would do the recovery that is the server's.

use std::collections::BTreeMap;
use std::sync::Arc;

use nottwice_model::history::CountedFrom;
use nottwice_model::ledger::{Ledger, Row};
use nottwice_model::target::Store;

use crate::connect::Line;
use crate::error::DriveError;
use crate::oracles;
use crate::place::Place;
use crate::transport::Later;
use crate::worker::Who;

/// What one store holds.
#[derive(Debug)]
pub(crate) enum Counted {
    /// Its rows.
    Rows { effects: Option<Vec<Row>>, receipts: Option<Vec<Row>> },
    /// It is not there yet, which is no error before the server wrote for the first time.
    Absent(String),
}

/// One moment at which stores are counted, and what is needed for it.
pub(crate) struct Counting {
    pub(crate) place: Arc<Place>,
    /// Whether a database is read through its locks, or from a copy.
    pub(crate) from: CountedFrom,
    /// A line for whoever asks a server that counts for itself.
    pub(crate) askers: BTreeMap<Who, Line>,
}

/// Something that can be counted.
pub(crate) trait Oracle {
    /// Counts it once.
    fn count<'c>(
        &'c self,
        store: &'c Store,
        counting: &'c Counting,
    ) -> Later<'c, Result<Counted, DriveError>>;
}

/// Counts every store of a target. `None` where the target does not say how.
///
/// # Errors
/// A store that cannot be read, or that is absent although something was written.
pub(crate) async fn count(counting: &Counting, may_be_absent: bool) -> Result<Option<Ledger>, DriveError> {
    let mut ledger = Ledger::default();
    let stores = &counting.place.target().stores;
    if stores.is_empty() {
        return Ok(None);
    }
    for store in stores {
        match oracles::of(store).count(store, counting).await? {
            Counted::Rows { effects, receipts } => {
                ledger.effects.extend(effects.unwrap_or_default());
                if let Some(rows) = receipts {
                    ledger.receipts.get_or_insert_default().extend(rows);
                }
            }
            // A store of receipts alone may well be made with the first of them.
            Counted::Absent(_) if store.effects.is_none() && store.command.is_none() => {
                ledger.receipts.get_or_insert_default();
            }
            Counted::Absent(_) if may_be_absent => {}
            Counted::Absent(why) => return Err(DriveError::Count(why)),
        }
    }
    ledger.effects.sort();
    Ok(Some(ledger))
}

/// Counts where waiting for the store blocks a thread.
pub(crate) fn blocking<'c>(
    store: &Store,
    counting: &Counting,
    count: fn(&Store, &Place, CountedFrom) -> Result<Counted, DriveError>,
) -> Later<'c, Result<Counted, DriveError>> {
    let (store, place, from) = (store.clone(), counting.place.clone(), counting.from);
    Box::pin(async move {
        let counted = tokio::task::spawn_blocking(move || count(&store, &place, from));
        counted.await.expect("counting does not panic")
    })
}
