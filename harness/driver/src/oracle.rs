//! What an oracle is: something that counts effects without asking the server for a reply.
//!
//! It never changes what it counts. A running server's store is read through the store's own locks; a
//! dead one's is copied first, because merely opening it would do the recovery that is the server's.

use nottwice_model::history::CountedFrom;
use nottwice_model::ledger::{Ledger, Row};
use nottwice_model::target::Store;

use crate::error::DriveError;
use crate::oracles;
use crate::place::Place;

/// What one store holds.
#[derive(Debug)]
pub(crate) enum Counted {
    /// Its rows.
    Rows { effects: Option<Vec<Row>>, receipts: Option<Vec<Row>> },
    /// It is not there yet, which is no error before the server wrote for the first time.
    Absent(String),
}

/// Something that can be counted.
pub(crate) trait Oracle {
    /// Counts it once.
    fn count(&self, store: &Store, place: &Place, from: CountedFrom) -> Result<Counted, DriveError>;
}

/// Counts every store of a target. `None` where the target does not say how.
///
/// # Errors
/// A store that cannot be read, or that is absent although something was written.
pub(crate) fn count(
    place: &Place,
    from: CountedFrom,
    may_be_absent: bool,
) -> Result<Option<Ledger>, DriveError> {
    let mut ledger = Ledger::default();
    let stores = &place.target().stores;
    if stores.is_empty() {
        return Ok(None);
    }
    for store in stores {
        match oracles::of(store).count(store, place, from)? {
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
