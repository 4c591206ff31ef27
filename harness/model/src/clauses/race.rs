//! What the loser of a race is told.

use std::time::Duration;

use crate::ability::Ability;
use crate::attempt::Attempt;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, Why};
use crate::reply::Class;
use crate::scenario::Arguments;
use crate::story::{Age, Story};
use crate::target::{Axis, Limit, Meanwhile, Rival};

/// A caller that loses a race is told so in a typed way.
pub(super) static LOSERS_TYPED: Clause = Clause {
    id: "contention.losers-typed",
    level: Level::Must,
    statement: "a caller that loses a race gets a replay, a handle, in-progress, busy or a conflict, as declared",
    why: "an internal error tells the loser neither that the work is done nor that it may retry",
    shortest: "call stands; same call → internal error",
    cure: "catch the unique-key or lock error of the store and answer in-progress, or wait and replay",
    source: "edition 1 of the contract, group contention",
    harm: Harm::WrongClass,
    needs: &[Ability::Key],
    policies: &[Axis::InFlight],
    presupposes: &["contention.single-winner", "contention.busy-retryable", "outcome.actionable"],
    rule: losers_typed,
};

fn losers_typed(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for loser in story.attempts.iter().filter(|attempt| attempt.keyed && attempt.fault.is_none()) {
        let winner = story.attempts_of(loser.identity).find(|winner| {
            winner.sent < loser.sent && winner.until() > loser.sent && winner.replied.is_some()
        });
        let (Some(winner), Some((seq, outcome))) = (winner, loser.ended) else { continue };
        let typed = match outcome {
            Outcome::Acked(_) | Outcome::Pending => true,
            // So old a winner may have lost its receipt by its declared policy.
            Outcome::Refused { class: Class::Expired, .. } if story.age(winner, loser) != Age::Inside => {
                continue;
            }
            Outcome::Refused { class, .. } => {
                matches!(class, Class::InProgress | Class::Busy | Class::Conflict)
            }
            Outcome::Unknown { why: Why::TimedOut } => continue,
            Outcome::Unknown { why } => !matches!(why, Why::Unclassified | Why::NoReply | Why::Unreadable),
        };
        if let Some(why) = against_policy(story, winner, loser) {
            tally.broken(loser.identity, [winner.sent, loser.sent, seq], why);
            continue;
        }
        tally.check(typed, loser.identity, [winner.sent, loser.sent, seq], || {
            format!("`{}` came while `{}` was at work, and ended as {outcome}", loser.call, winner.call)
        });
    }
    tally.ruling("no call came while another of its intent was at work")
}

/// How the answer to the same call breaks what is declared of a duplicate in flight. Only a winner that provably
/// stood in its work when the loser came, and until after it was answered or seen to wait, shows that.
fn against_policy(story: &Story<'_>, winner: &Attempt<'_>, loser: &Attempt<'_>) -> Option<String> {
    let (_, released) = winner.stood().filter(|(stood, _)| *stood < loser.sent)?;
    // A claim that nobody has to honour any more is no original at work.
    let lapsed = story.leases_passed.iter().any(|seq| winner.sent < *seq && *seq < loser.sent);
    if lapsed || loser.sent > released || winner.variant != loser.variant {
        return None;
    }
    let (seq, outcome) = loser.ended?;
    // A call that stands before its claim may lose its key to the other one.
    if outcome.acked().is_some() && seq < released {
        return None;
    }
    let target = &story.run.plan.target;
    let at_once = seq < released && matches!(outcome, Outcome::Refused { class: Class::InProgress, .. });
    match target.in_flight.policy {
        Meanwhile::Either => None,
        Meanwhile::Refuse => (!at_once).then(|| {
            format!("`{}` stood in its work, and `{}` was not told so but {outcome}", winner.call, loser.call)
        }),
        Meanwhile::Wait => {
            let bound = target.limits.in_flight.or(target.limits.lock_timeout).map(Limit::duration);
            let waited = loser.ended_at.map(|at| Duration::from_nanos(at.saturating_sub(loser.sent_at)));
            let early = matches!(outcome, Outcome::Refused { .. })
                && seq < released
                && bound.is_none_or(|bound| waited.is_none_or(|waited| waited < bound.mul_f64(0.8)));
            early.then(|| {
                format!(
                    "`{}` stood in its work, and `{}` did not wait for it: {outcome}",
                    winner.call, loser.call
                )
            })
        }
    }
}

/// Other arguments under a key that is at work are refused.
pub(super) static RACING_CONFLICT: Clause = Clause {
    id: "contention.racing-conflict",
    level: Level::Must,
    statement: "other arguments under a key that is at work are refused, and are a conflict once it has settled",
    why: "the rival would be told of an effect that is not its own, or undo what the key stands for",
    shortest: "call stands in its work; other arguments, same key → ok (id 1)",
    cure: "keep the digest of the arguments with the claim, and compare before joining or waiting",
    source: "edition 1 of the contract, group contention; draft-ietf-httpapi-idempotency-key-header-07 §2.6",
    harm: Harm::Lost,
    needs: &[Ability::Key, Ability::Change(Arguments::Other)],
    policies: &[Axis::Different],
    presupposes: &["receipt.conflict", "contention.losers-typed"],
    rule: racing_conflict,
};

fn racing_conflict(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let kind = |attempt: &Attempt<'_>| {
        story.run.plan.identities[attempt.identity].variants[attempt.variant].arguments
    };
    for rival in story.attempts.iter().filter(|rival| rival.keyed && kind(rival) == Arguments::Other) {
        let first = story.attempts_of(rival.identity).find(|first| {
            let stood = first.stood().is_some_and(|(from, to)| from < rival.sent && rival.sent < to);
            stood && first.variant != rival.variant
        });
        let (Some(first), Some((seq, outcome))) = (first, rival.ended) else { continue };
        let settled = first.released.is_some_and(|released| released < seq);
        let different = story.run.plan.target.in_flight.different;
        let fine = match outcome {
            Outcome::Refused { class: Class::Conflict, .. } => settled || different != Rival::InProgress,
            Outcome::Refused { class: Class::InProgress | Class::Busy, .. } => different != Rival::Conflict,
            Outcome::Unknown { why: Why::Unclassified | Why::Unreadable } => {
                tally.untold(format!("no declared rule says what the reply to `{}` means", rival.call));
                continue;
            }
            Outcome::Pending | Outcome::Unknown { .. } => continue,
            // A call that stands before its claim may lose its key to the rival.
            Outcome::Acked(_) => first.said().is_some_and(|said| said.acked().is_none()),
            Outcome::Refused { .. } => false,
        };
        tally.check(fine, rival.identity, [first.sent, rival.sent, seq], || {
            format!(
                "`{}` carried other arguments under the key of `{}`, which was at work, and ended as {outcome}",
                rival.call, first.call
            )
        });
    }
    tally.ruling("no other arguments came while their key was at work")
}
