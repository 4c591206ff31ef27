//! A run read as attempts: which request belongs to which identity, when, over what, and how it ended.

use crate::fault::Fault;
use crate::history::{Outcome, What};
use crate::ledger::{Ledger, Row};
use crate::plan::PlannedStep;
use crate::run::Run;

/// One request on the wire, with everything that the history says of it.
#[derive(Debug, Clone)]
pub struct Attempt<'r> {
    /// Its name.
    pub call: &'r str,
    /// The number of its identity.
    pub identity: usize,
    /// The number of the variant it carries.
    pub variant: usize,
    /// Which worker it went to.
    pub worker: u8,
    /// That worker's incarnation.
    pub incarnation: u32,
    /// Over which connection.
    pub connection: u32,
    /// The id that it carries on the wire.
    pub request_id: &'r str,
    /// Whether it carries its key.
    pub keyed: bool,
    /// Whether the plan asked for a connection of its own.
    pub fresh: bool,
    /// When it was sent.
    pub sent: usize,
    /// When its whole reply came off the wire, and what that says, whether or not the caller was told.
    pub replied: Option<(usize, &'r Outcome)>,
    /// When it was over for its caller, and how.
    pub ended: Option<(usize, &'r Outcome)>,
    /// Its fault, if it has one.
    pub fault: Option<Fault>,
    /// When its caller gave it up.
    pub abandoned: Option<usize>,
    /// The process that it went to; 0 where the harness did not start it.
    pub pid: u32,
    /// When that process was gone.
    pub exited: Option<usize>,
}

impl<'r> Attempt<'r> {
    /// What the server said, told or not. Evidence of what it did, never an acknowledgement by itself.
    pub fn said(&self) -> Option<&'r Outcome> {
        self.replied.or(self.ended).map(|(_, outcome)| outcome)
    }

    /// The moment up to which the attempt may still act inside the server: its reply, or the end of the
    /// process. A caller that knows nothing more does not end it.
    pub fn until(&self) -> usize {
        let definite = self.ended.filter(|(_, outcome)| !matches!(outcome, Outcome::Unknown { .. }));
        let answered = self.replied.or(definite).map(|(seq, _)| seq);
        answered.or(self.exited).unwrap_or(usize::MAX)
    }

    /// Whether nothing was done to it.
    pub fn undisturbed(&self) -> bool {
        self.fault.is_none() && self.abandoned.is_none()
    }

    /// Whether both were under way at one time.
    pub fn overlaps(&self, other: &Attempt<'_>) -> bool {
        self.sent < other.until() && other.sent < self.until()
    }
}

/// One count of the stores, which speaks of some moment between its beginning and its end.
#[derive(Debug, Clone, Copy)]
pub struct Count<'r> {
    /// How many events there were when it began.
    pub began: usize,
    /// Its place in the history, where it ended.
    pub seq: usize,
    /// What it found.
    pub ledger: &'r Ledger,
}

/// A run with its attempts and counts at hand.
#[derive(Debug)]
pub struct Story<'r> {
    /// The run.
    pub run: &'r Run,
    /// Every attempt, in the order of sending.
    pub attempts: Vec<Attempt<'r>>,
    /// Every count, in the order of the history.
    pub counts: Vec<Count<'r>>,
    /// When the faults stopped.
    pub settling: Option<usize>,
}

impl<'r> Story<'r> {
    /// Reads a run.
    pub fn of(run: &'r Run) -> Story<'r> {
        let mut story = Story { run, attempts: Vec::new(), counts: Vec::new(), settling: None };
        for (seq, event) in run.history.events.iter().enumerate() {
            story.read(seq, &event.what);
        }
        story
    }

    fn read(&mut self, seq: usize, what: &'r What) {
        match what {
            What::Sent {
                call,
                identity,
                variant,
                worker,
                incarnation,
                connection,
                request_id,
                keyed,
                pid,
                ..
            } => {
                let planned = planned(self.run, call);
                self.attempts.push(Attempt {
                    call,
                    identity: *identity,
                    variant: *variant,
                    worker: *worker,
                    incarnation: *incarnation,
                    connection: *connection,
                    request_id,
                    keyed: *keyed,
                    fresh: planned.is_some_and(|(_, fresh)| fresh),
                    sent: seq,
                    replied: None,
                    ended: None,
                    fault: planned.and_then(|(fault, _)| fault),
                    abandoned: None,
                    pid: *pid,
                    exited: None,
                });
            }
            What::Replied { call, outcome, .. } => {
                self.update(call, |attempt| attempt.replied = attempt.replied.or(Some((seq, outcome))));
            }
            What::Ended { call, outcome } => {
                self.update(call, |attempt| attempt.ended = Some((seq, outcome)))
            }
            What::Abandoned { call } => self.update(call, |attempt| attempt.abandoned = Some(seq)),
            What::Exited { pid, .. } => {
                let there = self.attempts.iter_mut().filter(|a| a.pid == *pid && a.exited.is_none());
                there.for_each(|attempt| attempt.exited = Some(seq));
            }
            What::Counted { began, ledger, .. } => self.counts.push(Count { began: *began, seq, ledger }),
            What::Settling => self.settling = Some(seq),
            _ => {}
        }
    }

    fn update(&mut self, call: &str, change: impl FnOnce(&mut Attempt<'r>)) {
        if let Some(attempt) = self.attempts.iter_mut().rev().find(|attempt| attempt.call == call) {
            change(attempt);
        }
    }

    /// The attempts of one identity.
    pub fn attempts_of(&self, identity: usize) -> impl DoubleEndedIterator<Item = &Attempt<'r>> + Clone {
        self.attempts.iter().filter(move |attempt| attempt.identity == identity)
    }

    /// The last count that ended before a moment.
    pub fn count_before(&self, seq: usize) -> Option<(usize, &'r Ledger)> {
        self.counts.iter().rev().find(|count| count.seq < seq).map(|count| (count.seq, count.ledger))
    }

    /// The first count that began after a moment.
    pub fn count_after(&self, seq: usize) -> Option<(usize, &'r Ledger)> {
        self.counts_after(seq).next()
    }

    /// The counts that began after a moment.
    pub fn counts_after(&self, seq: usize) -> impl Iterator<Item = (usize, &'r Ledger)> {
        let after = self.counts.iter().filter(move |count| count.began > seq);
        after.map(|count| (count.seq, count.ledger))
    }

    /// Whether no attempt but this one can have changed the store between two moments.
    pub fn alone(&self, attempt: &Attempt<'_>, from: usize, to: usize) -> bool {
        !self.attempts.iter().any(|other| {
            other.sent != attempt.sent && other.sent < to && other.until() > from
        })
    }

    /// The effects in a count that one variant of an identity may have made.
    pub fn rows(&self, ledger: &'r Ledger, identity: usize, variant: usize) -> Vec<&'r Row> {
        let label = self.run.plan.label(identity, variant);
        ledger.with(label, self.run.plan.scope(identity)).collect()
    }

    /// The effects in a count that any variant of an identity may have made.
    pub fn all_rows(&self, ledger: &'r Ledger, identity: usize) -> Vec<&'r Row> {
        let variants = self.run.plan.identities[identity].variants.len();
        let mut rows: Vec<_> =
            (0..variants).flat_map(|variant| self.rows(ledger, identity, variant)).collect();
        rows.sort();
        rows.dedup();
        rows
    }

    /// The identities whose effects the store cannot tell from this one's: equal label, equal scope.
    pub fn lookalikes(&self, ledger: &Ledger, identity: usize) -> Vec<usize> {
        let plan = &self.run.plan;
        let scoped = ledger.effects.iter().any(|row| row.scope.is_some());
        (0..plan.identities.len())
            .filter(|other| plan.label(*other, 0) == plan.label(identity, 0))
            .filter(|other| !scoped || plan.scope(*other) == plan.scope(identity))
            .filter(|other| self.attempts_of(*other).next().is_some())
            .collect()
    }
}

/// The fault of a planned call, and whether it asked for a connection of its own.
fn planned(run: &Run, name: &str) -> Option<(Option<Fault>, bool)> {
    run.plan.steps.iter().find_map(|step| match step {
        PlannedStep::Call(call) if call.name == name => {
            Some((call.fault, call.connection == crate::scenario::Connection::New))
        }
        _ => None,
    })
}
