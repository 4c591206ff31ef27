//! Who may see it.

use crate::ability::Ability;
use crate::attempt::Story;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, Why};

/// Two callers with one key each get their own effect and result.
pub(super) static PRINCIPAL: Clause = Clause {
    id: "scope.principal",
    level: Level::Must,
    statement: "two principals that use the same key each get their own effect and result",
    why: "keys are guessable and collide; a shared key space hands one caller another's result",
    shortest: "alice, key A → ok (id 1); bob, key A → ok (id 1)",
    cure: "make the principal that the server authenticated a part of the look-up",
    source: "edition 1 of the contract, group scope",
    harm: Harm::Leak,
    needs: &[Ability::Key, Ability::Principals(2)],
    presupposes: &["receipt.incidental-ignored"],
    rule: principal,
};

fn principal(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let plan = &story.run.plan;
    for (identity, of) in plan.identities.iter().enumerate() {
        let first = (0..identity).find(|first| {
            plan.identities[*first].role != of.role
                && plan.key(*first).is_some()
                && plan.key(*first) == plan.key(identity)
        });
        let Some(first) = first else { continue };
        let said = |identity| story.attempts_of(identity).find_map(|attempt| attempt.ended);
        let (Some((seq, Outcome::Acked(one))), Some((second_seq, two))) = (said(first), said(identity))
        else {
            continue;
        };
        let events = [seq, second_seq];
        match two {
            Outcome::Acked(two) => {
                let same = one.id.is_some() && one.id == two.id;
                tally.check(!same && !two.replayed, identity, events, || {
                    "a second principal that used the same key was given the first one's result".to_owned()
                });
            }
            Outcome::Refused { .. } => {
                let what = format!("a second principal that used the same key was {two}");
                tally.broken(identity, events, what);
            }
            Outcome::Unknown { why: Why::Unclassified | Why::Unreadable } => {
                tally.untold("no declared rule says what the second principal was told");
            }
            Outcome::Unknown { .. } | Outcome::Pending => {}
        }
    }
    tally.ruling("no key was used by two principals")
}
