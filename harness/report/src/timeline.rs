//! A run as lines of text: when, in which lane, what.

use nottwice_model::fault::Fault;
use nottwice_model::history::{CountedFrom, Event, Outcome, What};
use nottwice_model::ledger::Ledger;
use nottwice_model::plan::PlannedCall;
use nottwice_model::run::Run;
use nottwice_model::scenario::{Arguments, Bound, KeyForm, Place, Role, Side};
use nottwice_model::story::Story;

use crate::untrusted::{brief, shown};

/// More of a server's own words than this is in the record and not in a line.
const WORDS_MOST: usize = 160;
/// More of a name than this does not help to tell it from others.
const NAME_MOST: usize = 40;

/// So much of a key tells it from the others of a plan.
const KEY_MOST: usize = 8;

/// One line of a timeline; its text is inert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The sequence number of its first event.
    pub first: usize,
    /// The sequence number of its last event; a reply that the caller was told at once is one line,
    /// and so are the pieces of what a worker printed.
    pub last: usize,
    /// Nanoseconds since the play began.
    pub at: u64,
    /// Who: a call, a worker, the store or the harness.
    pub lane: String,
    /// What happened.
    pub what: String,
}

impl Line {
    /// The moment in milliseconds, with one digit after the point.
    pub fn millis(&self) -> String {
        let tenths = self.at / 100_000;
        format!("{}.{}", tenths / 10, tenths % 10)
    }

    /// Whether an event of the line is among some sequence numbers.
    pub fn holds(&self, events: &[usize]) -> bool {
        events.iter().any(|seq| (self.first..=self.last).contains(seq))
    }
}

/// A run as lines, in the order of its history.
pub fn of(run: &Run) -> Vec<Line> {
    let teller = Teller { run, story: Story::of(run) };
    let events = &run.history.events;
    let mut lines = Vec::new();
    let mut seq = 0;
    while let Some(event) = events.get(seq) {
        let next = events.get(seq + 1).map(|next| &next.what);
        let printed = printed(&events[seq..]);
        let (lane, what, taken) = match (told_at_once(&event.what, next), printed) {
            (Some((call, outcome)), _) => (name(call), format!("replied: {}", words(outcome)), 2),
            (None, Some((what, taken))) => {
                let (lane, words) = teller.line(&what);
                (lane, words, taken)
            }
            (None, None) => {
                let (lane, words) = teller.line(&event.what);
                (lane, words, 1)
            }
        };
        lines.push(Line { first: seq, last: seq + taken - 1, at: event.at, lane, what });
        seq += taken;
    }
    lines
}

/// What one worker printed to one stream with nothing in between, as one event, and how many it was: a
/// server may write a single line in many pieces.
fn printed(events: &[Event]) -> Option<(What, usize)> {
    let What::Printed { worker, stream, .. } = &events.first()?.what else { return None };
    let mut all = String::new();
    let mut taken = 0;
    for event in events {
        match &event.what {
            What::Printed { worker: by, stream: on, text } if by == worker && on == stream => {
                all.push_str(text);
                taken += 1;
            }
            _ => break,
        }
    }
    Some((What::Printed { worker: *worker, stream: stream.clone(), text: all }, taken))
}

/// A reply that its caller was told next, with nothing in between.
fn told_at_once<'e>(this: &'e What, next: Option<&What>) -> Option<(&'e str, &'e Outcome)> {
    match (this, next) {
        (What::Replied { call, outcome, .. }, Some(What::Ended { call: of, outcome: told }))
            if call == of && outcome == told =>
        {
            Some((call, outcome))
        }
        _ => None,
    }
}

/// An outcome in words; the id in it is the server's.
pub(crate) fn words(outcome: &Outcome) -> String {
    let after = match outcome {
        Outcome::Refused { retry_after: Some(millis), .. } => format!(", retry after {millis} ms"),
        _ => String::new(),
    };
    format!("{}{after}", shown(&outcome.to_string(), WORDS_MOST))
}

fn name(call: &str) -> String {
    brief(call, NAME_MOST)
}

pub(crate) fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// Whatever has to be looked up to tell an event.
struct Teller<'r> {
    run: &'r Run,
    story: Story<'r>,
}

impl Teller<'_> {
    /// The lane and the words of an event.
    fn line(&self, what: &What) -> (String, String) {
        match what {
            What::Started { worker, .. }
            | What::Exited { worker, .. }
            | What::Printed { worker, .. }
            | What::AskedToStop { worker, .. }
            | What::Paused { worker }
            | What::Resumed { worker } => (format!("worker {worker}"), self.worker(what)),
            What::LockHeld { .. } | What::LockFreed { .. } => ("store".to_owned(), self.store(what)),
            What::Counted { from, ledger, .. } => ("store".to_owned(), self.ledger(*from, ledger)),
            What::Settling
            | What::GaveUp { .. }
            | What::Passed { .. }
            | What::Access { .. }
            | What::Rotated { .. }
            | What::Lag { .. }
            | What::Trouble { .. } => ("harness".to_owned(), self.harness(what)),
            What::Sent { call, .. }
            | What::Replied { call, .. }
            | What::Ended { call, .. }
            | What::Armed { call, .. }
            | What::Fired { call, .. }
            | What::Released { call }
            | What::Abandoned { call }
            | What::HalfClosed { call }
            | What::Cancelled { call } => (name(call), self.call(what)),
        }
    }

    fn worker(&self, what: &What) -> String {
        match what {
            What::Started { incarnation: 1, pid, .. } => format!("started, process {pid}"),
            What::Started { incarnation, pid, .. } => {
                format!("started again (start {incarnation}), process {pid}")
            }
            What::Exited { by_us, status, .. } => {
                let who = if *by_us { "ended by the harness" } else { "ended by itself" };
                format!("{who} ({})", shown(status, WORDS_MOST))
            }
            What::AskedToStop { .. } => "asked to stop: SIGTERM, standard input closed".to_owned(),
            What::Paused { .. } => "stopped with SIGSTOP".to_owned(),
            What::Resumed { .. } => "goes on".to_owned(),
            What::Printed { stream, text, .. } => {
                format!("{}: {}", brief(stream, NAME_MOST), shown(text.trim_end(), WORDS_MOST))
            }
            _ => String::new(),
        }
    }

    fn harness(&self, what: &What) -> String {
        match what {
            What::Settling => {
                "the faults have stopped; every keyed intent is retried to a final answer".into()
            }
            What::GaveUp { identity, retries } => {
                let bound = self.run.plan.target.recovery.bound;
                let retries = if *retries == 1 { "1 retry".into() } else { format!("{retries} retries") };
                format!(
                    "gave up on {} after {retries}: the bound of {bound} has passed",
                    self.intent(*identity)
                )
            }
            What::Passed { limit, to } => {
                let what = match limit {
                    Bound::Retention => "the receipt's window",
                    Bound::Lease => "the lease",
                };
                let side = if *to == Side::JustInside { "well inside" } else { "just past" };
                format!("time has passed: {side} {what}")
            }
            What::Access { revoked: true } => "the owner's access is taken away".to_owned(),
            What::Access { revoked: false } => "the owner's access is given back".to_owned(),
            What::Rotated { credential } => {
                format!("the owner goes on with its credential number {credential}")
            }
            What::Lag { millis } => format!("was itself late by {millis} ms at most"),
            What::Trouble { what } => format!("trouble: {}", shown(what, WORDS_MOST)),
            _ => String::new(),
        }
    }

    fn store(&self, what: &What) -> String {
        match what {
            What::LockHeld { proof } => {
                format!("its write lock is held by another process — {}", shown(proof, WORDS_MOST))
            }
            What::LockFreed { held: true } => "the lock, held until now, is let go".to_owned(),
            _ => "the lock is let go; it was lost before".to_owned(),
        }
    }

    fn call(&self, what: &What) -> String {
        match what {
            What::Sent { call, identity, variant, worker, connection, request_id, keyed, .. } => {
                let marks = self.marks(call, *identity, *variant, *keyed);
                let id = brief(request_id, NAME_MOST);
                format!("sent to worker {worker} over connection {connection}, request id {id}, {marks}")
            }
            What::Replied { outcome, .. } => {
                format!("replied: {}; read off the wire, the caller is not told yet", words(outcome))
            }
            What::Ended { outcome, .. } => format!("over for its caller: {}", words(outcome)),
            What::Armed { fault, .. } => format!("fault prepared: {}", fault_words(*fault)),
            What::Fired { call, evidence } => {
                let fault = self.fault(call).map(|fault| format!(": {}", fault_words(fault)));
                format!("fault fired{} — {}", fault.unwrap_or_default(), shown(evidence, WORDS_MOST))
            }
            What::Released { .. } => "let go".to_owned(),
            What::Abandoned { .. } => "given up by its caller, connection closed".to_owned(),
            What::HalfClosed { .. } => "its caller closed its side of the connection and waits on".to_owned(),
            What::Cancelled { .. } => "cancelled by its caller, who told the server so".to_owned(),
            _ => String::new(),
        }
    }

    fn marks(&self, call: &str, identity: usize, variant: usize, keyed: bool) -> String {
        let plan = &self.run.plan;
        let Some(of) = plan.identities.get(identity) else { return "of an unknown intent".to_owned() };
        let key = of.key.and_then(|number| plan.keys.get(number));
        let mut marks = match key {
            Some(key) if keyed => {
                let short: String = key.chars().take(KEY_MOST).collect();
                let more = if short.len() < key.len() { "…" } else { "" };
                format!("key {}{more}", brief(&short, NAME_MOST))
            }
            Some(_) => {
                let planned = plan.calls().find(|planned| planned.name == call);
                planned.map_or(KeyForm::Missing, PlannedCall::sent_as).words().to_owned()
            }
            None => "no key".to_owned(),
        };
        if let Some(arguments) = of.variants.get(variant).map(|variant| variant.arguments)
            && arguments != Arguments::Base
        {
            marks.push_str(&format!(", {} arguments", arguments.word()));
        }
        if of.place != Place::Home {
            marks.push_str(", for another workspace");
        }
        if of.role == Role::Other {
            marks.push_str(", as the other principal");
        }
        if plan.identities.len() > 1 {
            marks.push_str(&format!(", intent {}", self.intent(identity)));
        }
        marks
    }

    fn intent(&self, identity: usize) -> String {
        self.run.plan.identities.get(identity).map_or("?".to_owned(), |of| name(&of.intent))
    }

    fn fault(&self, call: &str) -> Option<Fault> {
        self.run.plan.calls().find(|planned| planned.name == call)?.fault
    }

    fn ledger(&self, from: CountedFrom, ledger: &Ledger) -> String {
        let mut words = counted(ledger.effects.len(), "effect");
        if self.run.plan.identities.len() > 1 && !ledger.effects.is_empty() {
            let each = (0..self.run.plan.identities.len()).map(|identity| {
                format!("{} {}", self.intent(identity), self.story.all_rows(ledger, identity).len())
            });
            words = format!("{words} ({})", each.collect::<Vec<_>>().join(", "));
        }
        if let Some(receipts) = &ledger.receipts {
            words = format!("{words}, {}", counted(receipts.len(), "receipt"));
        }
        match from {
            CountedFrom::Running => words,
            CountedFrom::Asked => format!("{words}, as the server itself tells"),
            CountedFrom::Copy => format!("{words}, in a copy of the dead server's database"),
        }
    }
}

/// A fault in words.
pub(crate) fn fault_words(fault: Fault) -> String {
    let bytes = fault.bytes.map(|bytes| format!(" after {}", counted(bytes, "byte")));
    let bytes = bytes.unwrap_or_default();
    let spot = fault.spot.map(|spot| format!(" {}", spot.word().replace('-', " "))).unwrap_or_default();
    let status = fault.status.map(|status| format!(" {status}")).unwrap_or_default();
    format!("{}{status} at {}{bytes}{spot}", fault.deed.word(), fault.at.word())
}
