//! Edits of single events, as a person would make them in a record.

use nottwice_model::history::{Event, Outcome, What};
use nottwice_model::ledger::Ledger;
use nottwice_model::reply::{Answer, Class};
use nottwice_model::run::Run;

/// Success that names an effect, marked as a replay where a retry is told of it.
pub(crate) fn told_of(id: &str) -> Outcome {
    Outcome::Acked(Answer { id: Some(id.to_owned()), replayed: false, value: serde_json::Value::Null })
}

fn all(run: &mut Run) -> impl Iterator<Item = &mut What> {
    run.history.events.iter_mut().map(|event| &mut event.what)
}

fn place(run: &Run, wanted: impl Fn(&What) -> bool) -> usize {
    run.history.events.iter().position(|event| wanted(&event.what)).expect("the record has such an event")
}

/// What the caller of an attempt was told.
pub(crate) fn ended(run: &mut Run, name: &str, told: Outcome) {
    for what in all(run) {
        if let What::Ended { call, outcome } = what
            && call == name
        {
            *outcome = told.clone();
        }
    }
}

/// What came off the wire for an attempt.
pub(crate) fn replied(run: &mut Run, name: &str, said: Outcome) {
    for what in all(run) {
        if let What::Replied { call, outcome, .. } = what
            && call == name
        {
            *outcome = said.clone();
        }
    }
}

/// The answer of an attempt, on the wire and as told.
pub(crate) fn answers(run: &mut Run, name: &str, change: impl Fn(&mut Answer)) {
    for what in all(run) {
        if let What::Replied { call, outcome: Outcome::Acked(answer), .. }
        | What::Ended { call, outcome: Outcome::Acked(answer) } = what
            && call == name
        {
            change(answer);
        }
    }
}

/// The bytes of the answer of an attempt.
pub(crate) fn rewrites(run: &mut Run, name: &str, from: &str, to: &str) {
    for what in all(run) {
        if let What::Replied { call, bytes, .. } = what
            && call == name
        {
            assert!(bytes.contains(from), "{name} was not told {from}");
            *bytes = bytes.replace(from, to);
        }
    }
}

fn count_after(run: &mut Run, seq: usize, change: impl FnOnce(&mut Ledger)) {
    let mut counts = all(run).filter_map(|what| match what {
        What::Counted { began, ledger, .. } if *began > seq => Some(ledger),
        _ => None,
    });
    change(counts.next().expect("it was counted afterwards"));
}

/// The first count after the end of an attempt.
pub(crate) fn first_count_after(run: &mut Run, name: &str, change: impl FnOnce(&mut Ledger)) {
    let seq = place(run, |what| matches!(what, What::Ended { call, .. } if call == name));
    count_after(run, seq, change);
}

/// Every count after the end of an attempt, with the label of the first variant.
pub(crate) fn counts_after(run: &mut Run, name: &str, change: impl Fn(&mut Ledger, &str)) {
    let seq = place(run, |what| matches!(what, What::Ended { call, .. } if call == name));
    let label = run.plan.labels[0].clone();
    for what in all(run) {
        if let What::Counted { began, ledger, .. } = what
            && *began > seq
        {
            change(ledger, &label);
        }
    }
}

/// The first count after a worker was started again.
pub(crate) fn first_count_after_restart(run: &mut Run, change: impl FnOnce(&mut Ledger)) {
    let seq = place(run, |what| matches!(what, What::Started { incarnation, .. } if *incarnation > 1));
    count_after(run, seq, change);
}

/// The first count after a caller left.
pub(crate) fn first_count_after_abandoning(run: &mut Run, change: impl FnOnce(&mut Ledger)) {
    let seq = place(run, |what| matches!(what, What::Abandoned { .. }));
    count_after(run, seq, change);
}

/// The last count of all.
pub(crate) fn last_count(run: &mut Run, change: impl FnOnce(&mut Ledger)) {
    let counts = all(run).filter_map(|what| match what {
        What::Counted { ledger, .. } => Some(ledger),
        _ => None,
    });
    change(counts.last().expect("it was counted"));
}

/// Takes events out.
pub(crate) fn remove(run: &mut Run, unwanted: impl Fn(&What) -> bool) {
    run.history.events.retain(|event| !unwanted(&event.what));
}

/// The harness fails after the last event.
pub(crate) fn trouble(run: &mut Run) {
    let what = What::Trouble { what: "the store could not be read".to_owned() };
    run.history.events.push(Event { at: 0, what });
}

/// Every retry after the faults is put off, and the bound passes.
pub(crate) fn gave_up(run: &mut Run) {
    let put_off = Outcome::Refused { class: Class::InProgress, retry_after: None };
    let settling = place(run, |what| matches!(what, What::Settling));
    for event in &mut run.history.events[settling..] {
        if let What::Replied { outcome, .. } | What::Ended { outcome, .. } = &mut event.what {
            *outcome = put_off.clone();
        }
        if let What::Replied { retryable, .. } = &mut event.what {
            *retryable = Some(true);
        }
    }
    run.history.events.push(Event { at: 0, what: What::GaveUp { identity: 0, retries: 6 } });
}
