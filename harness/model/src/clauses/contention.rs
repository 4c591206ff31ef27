//! Many callers at once.

use std::time::Duration;

use crate::ability::Ability;
use crate::attempt::Attempt;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, Why};
use crate::reply::Class;
use crate::story::{OWN_LAG, Story};

/// Concurrent attempts of one intent give one effect, and every success names it.
pub(super) static SINGLE_WINNER: Clause = Clause {
    id: "contention.single-winner",
    level: Level::Must,
    statement: "overlapping attempts of one intent give one effect, and every success names it",
    why: "a retry overlaps with the original whenever the original is merely slow",
    shortest: "call stands before its commit; same call → ok (id 2); the first goes on → ok (id 1)",
    cure: "take the store's write lock, or a unique claim, before looking the key up",
    source: "edition 1 of the contract, group contention",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::Count],
    policies: &[],
    presupposes: &["receipt.replay", "recovery.reissue", "recovery.zombie-fenced", "recovery.slow-owner"],
    rule: single_winner,
};

fn single_winner(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for identity in 0..story.run.plan.identities.len() {
        let racing = racing(story, identity);
        let Some(last) = racing.iter().map(|attempt| attempt.until()).filter(|seq| *seq != usize::MAX).max()
        else {
            continue;
        };
        let Some((counted, ledger)) = story.count_after(last) else { continue };
        let rows = story.all_rows(ledger, identity).len();
        let mut named: Vec<_> =
            racing.iter().filter_map(|attempt| attempt.said()?.acked()?.id.as_deref()).collect();
        named.sort_unstable();
        named.dedup();
        let one = rows <= story.lookalikes(ledger, identity).len() && named.len() <= 1;
        let events: Vec<_> = racing.iter().map(|attempt| attempt.sent).chain([counted]).collect();
        tally.check(one, identity, events, || {
            format!("{} overlapping attempts of one intent left {rows} effects", racing.len())
        });
    }
    tally.ruling("no two attempts of one intent overlapped")
}

/// The attempts of one identity that overlap with another of it.
fn racing<'s, 'r>(story: &'s Story<'r>, identity: usize) -> Vec<&'s Attempt<'r>> {
    let all: Vec<_> = story.attempts_of(identity).filter(|attempt| attempt.keyed).collect();
    let overlaps = |one: &&&Attempt<'r>| {
        all.iter().any(|other| other.sent != one.sent && inside(one) && inside(other) && one.overlaps(other))
    };
    all.iter().filter(overlaps).copied().collect()
}

/// Whether an attempt was really at work when the other came: one whose request or reply was lost on
/// the way only seems to overlap with all that follows.
fn inside(attempt: &Attempt<'_>) -> bool {
    attempt.replied.is_some() || attempt.ended.is_some_and(|(_, outcome)| outcome.acked().is_some())
}

/// Concurrent calls of different intents that are acknowledged are all at the store.
pub(super) static NO_LOST_EFFECT: Clause = Clause {
    id: "contention.no-lost-effect",
    level: Level::Must,
    statement: "overlapping calls of different intents that are all acknowledged are all at the store",
    why: "read, change and write back loses what another wrote in between",
    shortest: "call A stands between read and write; call B → ok; A goes on → ok; one row",
    cure: "change only your own row, or read and write under one lock",
    source: "edition 1 of the contract, group contention",
    harm: Harm::Lost,
    needs: &[Ability::Count],
    policies: &[],
    presupposes: &[],
    rule: no_lost_effect,
};

fn no_lost_effect(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for one in story.attempts.iter().filter(|attempt| attempt.said().is_some_and(|o| o.acked().is_some())) {
        let mut others = story
            .attempts
            .iter()
            .filter(|other| other.identity != one.identity && inside(other) && other.overlaps(one));
        let Some(other) = others.next() else { continue };
        let Some((counted, ledger)) = story.count_after(one.until().max(other.until())) else { continue };
        let there = !story.rows(ledger, one.identity, one.variant).is_empty();
        tally.check(there, one.identity, [one.sent, other.sent, counted], || {
            format!(
                "`{}` was acknowledged while `{}` was at work, and its effect is gone",
                one.call, other.call
            )
        });
    }
    tally.ruling("no two intents overlapped")
}

/// A call that waits on a held lock is answered busy in time, or goes through.
pub(super) static BUSY_RETRYABLE: Clause = Clause {
    id: "contention.busy-retryable",
    level: Level::Must,
    statement: "a call that meets a store lock held beyond the declared timeout is answered a retryable busy in time",
    why: "a lock is the most ordinary passing reason; a bare error makes callers give up or repeat blindly",
    shortest: "store locked: call → failed",
    cure: "set the store's busy timeout, map its busy error to a busy answer, and retain nothing",
    source: "edition 1 of the contract, group contention",
    harm: Harm::WrongClass,
    needs: &[Ability::Lock, Ability::LockTimeout],
    policies: &[],
    presupposes: &["effect.acknowledged-exists"],
    rule: busy_retryable,
};

fn busy_retryable(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let Some(timeout) = story.run.plan.target.limits.lock_timeout else {
        return tally.ruling("no lock timeout is declared");
    };
    for (waiting, _) in story.put_off() {
        let (Some((seq, outcome)), Some(ended)) = (waiting.ended, waiting.ended_at) else { continue };
        let waited = Duration::from_nanos(ended.saturating_sub(waiting.sent_at));
        let late = waited > timeout.with_tolerance() + own_time(story);
        match outcome {
            _ if late && story.lag > OWN_LAG => tally.untold("the harness itself was late"),
            Outcome::Unknown { why: Why::Unclassified } => {
                tally.untold(format!("no declared rule says what the reply to `{}` means", waiting.call));
            }
            other => {
                let busy = matches!(other, Outcome::Refused { class: Class::Busy | Class::InProgress, .. });
                let kept = busy && waiting.retryable != Some(false) && !late;
                tally.check(kept, waiting.identity, [waiting.sent, seq], || {
                    let millis = waited.as_millis();
                    format!("`{}` met a held lock, and ended as {other} after {millis} ms", waiting.call)
                });
            }
        }
    }
    tally.ruling("no call was put off by a lock")
}

/// How long the server takes for a call that nothing stands in the way of: no part of its waiting.
fn own_time(story: &Story<'_>) -> Duration {
    let free = story.attempts.iter().filter(|attempt| story.undisturbed(attempt));
    let times = free.filter_map(|attempt| Some(attempt.ended_at?.saturating_sub(attempt.sent_at)));
    Duration::from_nanos(times.max().unwrap_or(0))
}

/// When the lock is released the same key goes through, once.
pub(super) static HEALS: Clause = Clause {
    id: "contention.heals",
    level: Level::Must,
    statement: "when the lock is released the same key goes through, once",
    why: "work that was put off and work that is retried must not both be done",
    shortest: "store locked: call → busy; store free: same call → ok; two rows",
    cure: "forget a request that was answered busy; the caller brings it again",
    source: "edition 1 of the contract, group contention",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::Lock, Ability::Count],
    policies: &[],
    presupposes: &["receipt.transient-not-frozen", "receipt.replay", "contention.busy-retryable"],
    rule: heals,
};

fn heals(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for (waiting, freed) in story.put_off() {
        let Some((counted, ledger)) = story.run.last_count().filter(|(seq, _)| *seq > freed) else {
            continue;
        };
        let after: Vec<_> = story.attempts_of(waiting.identity).filter(|again| again.sent > freed).collect();
        if after.is_empty() {
            continue;
        }
        let through = after.iter().any(|again| again.ended.is_some_and(|(_, o)| o.acked().is_some()));
        let rows = story.all_rows(ledger, waiting.identity).len();
        tally.check(through && rows == 1, waiting.identity, [waiting.sent, freed, counted], || {
            format!("the lock is gone, and the intent of `{}` has {rows} effects", waiting.call)
        });
    }
    tally.ruling("no call was put off by a lock and repeated afterwards")
}
