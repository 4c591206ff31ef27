//! Many callers at once.

use crate::ability::Ability;
use crate::attempt::{Attempt, Story};
use crate::clause::{Clause, Harm, Level, Ruling, Tally};

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
    presupposes: &["receipt.replay", "recovery.reissue"],
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
