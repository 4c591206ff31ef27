//! What every connection of a proxy shares: which message bears which fault, who waits for whom, and the log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nottwice_model::docket::{Docket, Seen, Sighting};
use nottwice_model::rule::{Release, Rule};
use tokio::sync::watch;

use super::journal::{Evidence, Journal};
use super::{Amiss, Tally};
use crate::error::DriveError;

/// Shared by all connections; clones are the same desk.
#[derive(Clone)]
pub(crate) struct Desk(Arc<Mutex<Inner>>);

struct Inner {
    docket: Docket,
    /// By rule: whether the held message goes on.
    free: BTreeMap<usize, watch::Sender<bool>>,
    /// By rule: messages that stand still.
    kept: BTreeSet<usize>,
    journal: Journal,
    fired: usize,
}

/// The fault that a message bears.
#[derive(Debug, Clone)]
pub(crate) struct Borne {
    number: usize,
    pub(crate) rule: Rule,
    free: watch::Receiver<bool>,
}

/// What the desk says of a message.
#[derive(Debug, Default)]
pub(crate) struct Word {
    pub(crate) bears: Option<Borne>,
    /// Who goes on when this message was answered, for [`Desk::answered`].
    pub(crate) frees: Vec<usize>,
}

impl Desk {
    pub(crate) fn new(rules: Vec<Rule>, journal: Journal) -> Desk {
        let (docket, free, kept) = (Docket::new(rules), BTreeMap::new(), BTreeSet::new());
        let inner = Inner { docket, free, kept, journal, fired: 0 };
        Desk(Arc::new(Mutex::new(inner)))
    }

    /// Whether it still matters which message of JSON-RPC comes.
    pub(crate) fn reads_messages(&self) -> bool {
        self.lock().docket.reads_messages()
    }

    /// Whether it matters which tool a message of this method has.
    pub(crate) fn reads_tool(&self, method: &str) -> bool {
        self.lock().docket.reads_tool(method)
    }

    /// Counts a message that has come, before anybody else hears of it.
    pub(crate) fn see(&self, sighting: Sighting<'_>) -> Word {
        let mut inner = self.lock();
        let Seen { bears, frees, frees_answered } = inner.docket.see(sighting);
        inner.free(&frees);
        let bears = bears.map(|number| {
            let (send, free) = watch::channel(false);
            inner.free.insert(number, send);
            Borne { number, rule: inner.docket.rule(number).clone(), free }
        });
        Word { bears, frees: frees_answered }
    }

    /// Lets those go on who waited for an answer that was delivered now.
    pub(crate) fn answered(&self, frees: &[usize]) {
        if !frees.is_empty() {
            self.lock().free(frees);
        }
    }

    /// Writes down that a fault was done.
    pub(crate) fn fired(&self, borne: &Borne, evidence: &Evidence) {
        let mut inner = self.lock();
        inner.docket.fired(borne.number);
        inner.journal.fired(&borne.rule, evidence);
        inner.fired += 1;
    }

    /// Writes down that a message is kept. It is not, and nothing is said, if what its rule waits for has come
    /// already.
    pub(crate) fn keeps(&self, borne: &Borne, evidence: &Evidence) -> bool {
        let keeps = !*borne.free.borrow();
        if keeps {
            self.fired(borne, evidence);
            self.lock().kept.insert(borne.number);
        }
        keeps
    }

    /// Stands until the rule of a kept message lets it go.
    pub(crate) async fn let_go(&self, borne: &mut Borne) {
        match borne.rule.until {
            Some(Release::After(limit)) => tokio::time::sleep(limit.duration()).await,
            // Its sender lives as long as the desk.
            _ => drop(borne.free.wait_for(|free| *free).await),
        }
    }

    /// Writes down that a message that was kept has been delivered.
    pub(crate) fn delivered(&self, borne: &Borne) {
        let mut inner = self.lock();
        inner.kept.remove(&borne.number);
        inner.journal.released(&borne.rule);
    }

    /// Ends the log.
    pub(crate) fn close(&self) -> Result<Tally, DriveError> {
        let mut inner = self.lock();
        let Inner { docket, kept, journal, fired, .. } = &mut *inner;
        let mut lost = Vec::new();
        for number in &*kept {
            let rule = docket.rule(*number);
            let why = "its message was still kept when the session ended, and has reached nobody".to_owned();
            journal.lost(rule, &why);
            lost.push(Amiss { name: rule.name.clone(), line: rule.line, why });
        }
        let mut unfired = Vec::new();
        for (rule, taken) in docket.unfired() {
            let why = taken.map_or_else(
                || format!("{}: message {} did not come, or not far enough", rule.on, rule.nth),
                |by| format!("its message bore `{}`", by.name),
            );
            journal.unfired(rule, &why);
            unfired.push(Amiss { name: rule.name.clone(), line: rule.line, why });
        }
        journal.end(*fired)?;
        Ok(Tally { fired: *fired, unfired, lost })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere leaves no count half-made.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn free(&self, numbers: &[usize]) {
        for free in numbers.iter().filter_map(|number| self.free.get(number)) {
            free.send_replace(true);
        }
    }
}
