//! A run read once: its attempts, counts and circumstances at hand, so that a clause is a short question.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::attempt::Attempt;
use crate::history::{Outcome, What};
use crate::ledger::{Ledger, Row};
use crate::plan::{Identity, PlannedCall};
use crate::run::Run;
use crate::scenario::{Arguments, Bound, Connection, KeyForm, Place, Role, Side};

/// How late the harness may be before a late answer is nobody's fault, in milliseconds.
pub const OWN_LAG: u64 = 50;

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
    /// The places of the attempts of each identity.
    places: Vec<Vec<usize>>,
    /// The place of the last attempt of each name.
    named: BTreeMap<&'r str, usize>,
    /// The planned calls, by name.
    planned: BTreeMap<&'r str, &'r PlannedCall>,
    /// Every count, in the order of the history.
    pub counts: Vec<Count<'r>>,
    /// When the faults stopped.
    pub settling: Option<usize>,
    /// When the window of a receipt was let pass.
    pub passed: Vec<usize>,
    /// When a lease was let run out.
    pub leases_passed: Vec<usize>,
    /// When the owner was given a new credential.
    pub rotated: Vec<usize>,
    /// When a lock on the store was held: from, to, and whether it was still held at the end.
    pub locks: Vec<(usize, usize, bool)>,
    /// When a process was asked to stop.
    pub asked_to_stop: Vec<(usize, u32)>,
    /// By how much the harness itself was late at most, in milliseconds.
    pub lag: u64,
    /// Whether the owner's access is taken away, at the event that was read last.
    revoked: bool,
}

/// How old a receipt is when its retry is sent, against the declared window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// Up to four fifths of the window, or no window is declared.
    Inside,
    /// So near to the end that either answer is right.
    Between,
    /// After its end.
    Past,
}

impl<'r> Story<'r> {
    /// Reads a run.
    pub fn of(run: &'r Run) -> Story<'r> {
        let calls = run.plan.calls().map(|call| (call.name.as_str(), call));
        let mut story = Story {
            run,
            attempts: Vec::new(),
            places: vec![Vec::new(); run.plan.identities.len()],
            named: BTreeMap::new(),
            planned: calls.collect(),
            counts: Vec::new(),
            settling: None,
            passed: Vec::new(),
            leases_passed: Vec::new(),
            rotated: Vec::new(),
            locks: Vec::new(),
            asked_to_stop: Vec::new(),
            lag: 0,
            revoked: false,
        };
        for (seq, event) in run.history.events.iter().enumerate() {
            story.read(seq, event.at, &event.what);
        }
        story
    }

    fn read(&mut self, seq: usize, at: u64, what: &'r What) {
        match what {
            What::Sent { .. } => self.sent(seq, at, what),
            What::Replied { call, outcome, bytes, retryable, operation } => self.update(call, |attempt| {
                if attempt.replied.is_none() {
                    attempt.replied = Some((seq, outcome));
                    attempt.bytes = Some(bytes);
                    attempt.retryable = *retryable;
                    attempt.operation = operation.as_deref();
                }
            }),
            What::Ended { call, outcome } => self.update(call, |attempt| {
                attempt.ended = Some((seq, outcome));
                attempt.ended_at = Some(at);
            }),
            What::Fired { call, .. } => self.update(call, |attempt| attempt.fired = Some(seq)),
            What::Released { call } => self.update(call, |attempt| attempt.released = Some(seq)),
            What::Abandoned { call } | What::HalfClosed { call } | What::Cancelled { call } => {
                self.update(call, |attempt| attempt.left = Some(seq));
            }
            What::Access { revoked } => self.revoked = *revoked,
            What::Passed { limit: Bound::Retention, .. } => self.passed.push(seq),
            What::Passed { limit: Bound::Lease, to: Side::JustPast } => self.leases_passed.push(seq),
            What::Passed { limit: Bound::Lease, .. } => {}
            What::Rotated { .. } => self.rotated.push(seq),
            What::LockHeld { .. } => self.locks.push((seq, usize::MAX, false)),
            What::LockFreed { held } => {
                if let Some((_, to, to_the_end)) = self.locks.last_mut() {
                    (*to, *to_the_end) = (seq, *held);
                }
            }
            What::AskedToStop { pid, .. } => self.asked_to_stop.push((seq, *pid)),
            What::Lag { millis } => self.lag = *millis,
            What::Exited { pid, .. } => {
                let there = self.attempts.iter_mut().filter(|a| a.pid == *pid && a.exited.is_none());
                there.for_each(|attempt| attempt.exited = Some(seq));
            }
            What::Counted { began, ledger, .. } => self.counts.push(Count { began: *began, seq, ledger }),
            What::Settling => self.settling = Some(seq),
            _ => {}
        }
    }

    fn sent(&mut self, seq: usize, at: u64, what: &'r What) {
        let What::Sent {
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
        } = what
        else {
            return;
        };
        let planned = self.planned.get(call.as_str());
        self.places[*identity].push(self.attempts.len());
        self.named.insert(call, self.attempts.len());
        self.attempts.push(Attempt {
            call,
            identity: *identity,
            variant: *variant,
            worker: *worker,
            incarnation: *incarnation,
            connection: *connection,
            request_id,
            keyed: *keyed,
            form: planned.map_or(KeyForm::Own, |call| call.sent_as()),
            fresh: planned.is_some_and(|call| call.connection == Connection::New),
            sent: seq,
            sent_at: at,
            ended_at: None,
            bytes: None,
            retryable: None,
            operation: None,
            revoked: self.revoked && self.run.plan.identities[*identity].role == Role::Owner,
            replied: None,
            ended: None,
            fault: planned.and_then(|call| call.fault),
            fired: None,
            released: None,
            left: None,
            pid: *pid,
            exited: None,
        });
    }

    fn update(&mut self, call: &str, change: impl FnOnce(&mut Attempt<'r>)) {
        if let Some(place) = self.named.get(call) {
            change(&mut self.attempts[*place]);
        }
    }

    /// The attempts of one identity.
    pub fn attempts_of(&self, identity: usize) -> impl DoubleEndedIterator<Item = &Attempt<'r>> + Clone {
        self.places[identity].iter().map(|place| &self.attempts[*place])
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
        !self
            .attempts
            .iter()
            .any(|other| other.sent != attempt.sent && other.sent < to && other.until() > from)
    }

    /// Whether a worker started between two moments: what it does then is no attempt's doing.
    pub fn started_between(&self, from: usize, to: usize) -> bool {
        self.run.history.events[from..to].iter().any(|event| matches!(event.what, What::Started { .. }))
    }

    /// Whether an attempt was ordinary, and nothing stood in its way.
    pub fn undisturbed(&self, attempt: &Attempt<'_>) -> bool {
        let Identity { place, variants, .. } = &self.run.plan.identities[attempt.identity];
        let ordinary =
            *place != Place::Foreign && variants[attempt.variant].arguments != Arguments::Forbidden;
        let meanwhile = |from: usize, to: usize| from < attempt.until() && attempt.sent < to;
        let locked = self.locks.iter().any(|(from, to, _)| meanwhile(*from, *to));
        let stopped = self.asked_to_stop.iter().any(|(seq, _)| meanwhile(*seq, *seq));
        let left_alone = attempt.fault.is_none() && attempt.left.is_none() && !attempt.revoked;
        ordinary && left_alone && !locked && !stopped
    }

    /// The attempts that were turned away while a lock was held to their end, each with the moment at
    /// which the lock was gone.
    pub fn put_off(&self) -> impl Iterator<Item = (&Attempt<'r>, usize)> {
        self.attempts.iter().filter_map(|attempt| {
            let (seq, outcome) = attempt.ended?;
            let turned_away = matches!(outcome, Outcome::Refused { .. } | Outcome::Unknown { .. });
            let lock = self.locks.iter().find(|(from, to, _)| *from < attempt.sent && seq < *to)?;
            (turned_away && lock.2).then_some((attempt, lock.1))
        })
    }

    /// How old the receipt of one attempt is when another is sent.
    pub fn age(&self, first: &Attempt<'_>, again: &Attempt<'_>) -> Age {
        let Some(window) = self.run.plan.target.retention.window else { return Age::Inside };
        let window = window.duration();
        // Both attempts are intervals: the receipt began some time within the first, and was looked for some
        // time within the second.
        let between = |from: u64, to: u64| Duration::from_nanos(to.saturating_sub(from));
        let oldest = between(first.sent_at, again.ended_at.unwrap_or(again.sent_at));
        let youngest = between(first.ended_at.unwrap_or(first.sent_at), again.sent_at);
        if oldest <= window.mul_f64(0.8) {
            Age::Inside
        } else if youngest > window {
            Age::Past
        } else {
            Age::Between
        }
    }

    /// The effects in a count that one variant of an identity may have made.
    pub fn rows(&self, ledger: &'r Ledger, identity: usize, variant: usize) -> Vec<&'r Row> {
        let label = self.run.plan.label(identity, variant);
        ledger.with(label, self.run.plan.scope(identity)).collect()
    }

    /// The effects in a count that any variant of an identity may have made.
    pub fn all_rows(&self, ledger: &'r Ledger, identity: usize) -> Vec<&'r Row> {
        // Kinds of arguments may share a label; a row must not be counted once for each of them.
        let variants = &self.run.plan.identities[identity].variants;
        let labels: BTreeSet<_> = variants.iter().map(|variant| variant.label).collect();
        let scope = self.run.plan.scope(identity);
        let mut rows: Vec<_> =
            labels.into_iter().flat_map(|label| ledger.with(&self.run.plan.labels[label], scope)).collect();
        rows.sort();
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
