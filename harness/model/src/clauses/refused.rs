//! What a refusal leaves: nothing.

use crate::ability::Ability;
use crate::attempt::Attempt;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::Outcome;
use crate::story::Story;

/// An attempt that is definitely refused adds no effect.
pub(super) static NONE_ON_REFUSAL: Clause = Clause {
    id: "effect.none-on-refusal",
    level: Level::Must,
    statement: "an attempt that is definitely refused adds no effect",
    why: "a caller that is told no will try another way, and then it happens twice",
    shortest: "call → failed; count: one row",
    cure: "refuse before the first write, or roll the write back, or say that the outcome is unknown",
    source: "edition 1 of the contract, group effect",
    harm: Harm::Duplicate,
    needs: &[Ability::Count],
    policies: &[],
    presupposes: &["effect.acknowledged-exists"],
    rule: none_on_refusal,
};

fn none_on_refusal(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for refused in &story.attempts {
        let Some((seq, outcome @ Outcome::Refused { .. })) = refused.ended else { continue };
        let (Some((from, before)), Some((to, after))) =
            (story.count_before(refused.sent), story.count_after(seq))
        else {
            continue;
        };
        if !story.alone(refused, from, to) {
            continue;
        }
        let rows = |ledger| story.all_rows(ledger, refused.identity).len();
        tally.check(rows(after) <= rows(before), refused.identity, [refused.sent, seq, to], || {
            format!("`{}` was {outcome}, and yet an effect was added", refused.call)
        });
    }
    for identity in 0..story.run.plan.identities.len() {
        refused_for_good(story, identity, &mut tally);
    }
    tally.ruling("no attempt was refused")
}

/// An identity all of whose attempts were definitely refused has no effect in the end.
fn refused_for_good(story: &Story<'_>, identity: usize, tally: &mut Tally) {
    let attempts: Vec<_> = story.attempts_of(identity).collect();
    let refused = |attempt: &&Attempt<'_>| matches!(attempt.said(), Some(Outcome::Refused { .. }));
    let Some((seq, ledger)) = story.run.last_count() else { return };
    let over = attempts.iter().all(|attempt| attempt.until() < seq);
    if attempts.is_empty() || !over || !attempts.iter().all(refused) || !tally.is_clean() {
        return;
    }
    // Where the store cannot tell two intents apart, the effects may be the other one's.
    if story.lookalikes(ledger, identity).len() > 1 {
        return;
    }
    let rows = story.all_rows(ledger, identity).len();
    let sent = attempts.iter().map(|attempt| attempt.sent).chain([seq]).collect::<Vec<_>>();
    tally.check(rows == 0, identity, sent, || {
        format!("every attempt of one intent was refused, and yet it has {rows} effects")
    });
}
