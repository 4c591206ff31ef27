//! All that judging may look at.

use serde::{Deserialize, Serialize};

use crate::history::{History, What};
use crate::ledger::Ledger;
use crate::plan::Plan;

/// One plan, played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What was meant to happen, with the claims of the target that it was planned for.
    pub plan: Plan,
    /// What happened.
    pub history: History,
    /// Whether the play came to its end: settled and counted.
    pub complete: bool,
}

impl Run {
    /// The counts of the stores, each with its sequence number.
    pub fn counts(&self) -> impl DoubleEndedIterator<Item = (usize, &Ledger)> {
        self.history.events.iter().enumerate().filter_map(|(seq, event)| match &event.what {
            What::Counted { ledger, .. } => Some((seq, ledger)),
            _ => None,
        })
    }

    /// What was there in the end.
    pub fn last_count(&self) -> Option<(usize, &Ledger)> {
        self.counts().next_back()
    }

    /// What the harness itself could not do.
    pub fn trouble(&self) -> Option<&str> {
        self.history.events.iter().find_map(|event| match &event.what {
            What::Trouble { what } => Some(what.as_str()),
            _ => None,
        })
    }
}
