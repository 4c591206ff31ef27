//! What a key means under another operation.

use crate::ability::Ability;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, Why};
use crate::reply::Class;
use crate::scenario::Part;
use crate::story::Story;
use crate::target::{Axis, Elsewhere};

/// The same key under another operation is another identity, or a conflict, as declared.
pub(super) static OPERATION: Clause = Clause {
    id: "scope.operation",
    level: Level::Must,
    statement: "a key under another operation never replays the first one's result: it is another identity or a \
                conflict, as declared",
    why: "two tools that share one key space hide each other's effects behind a success",
    shortest: "create, key A → ok; archive, key A → ok, and nothing is archived",
    cure: "make the operation a part of the look-up, or of what is compared",
    source: "edition 1 of the contract, group scope",
    harm: Harm::Lost,
    needs: &[Ability::Key, Ability::Tool(Part::Quiet), Ability::Count],
    policies: &[Axis::Operation],
    presupposes: &["receipt.replay", "receipt.any-result"],
    rule: operation,
};

fn operation(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let plan = &story.run.plan;
    let declared = plan.target.scope.operation;
    for (identity, of) in plan.identities.iter().enumerate() {
        let first = (0..identity).find(|first| {
            let other = &plan.identities[*first];
            let same = (other.role, other.place, other.key) == (of.role, of.place, of.key);
            same && of.key.is_some() && other.tool != of.tool
        });
        let Some(first) = first else { continue };
        let said = |identity| story.attempts_of(identity).next();
        let (Some(one), Some(two)) = (said(first), said(identity)) else { continue };
        let (Some((seq, Outcome::Acked(_))), Some((second_seq, answer))) = (one.ended, two.ended) else {
            continue;
        };
        let rows = |ledger| story.all_rows(ledger, identity).len();
        let (Some((_, before)), Some((counted, after))) =
            (story.count_before(two.sent), story.count_after(second_seq))
        else {
            continue;
        };
        let own = rows(after) > rows(before);
        let fine = match answer {
            Outcome::Acked(said) => !said.replayed && own && declared != Elsewhere::Conflict,
            Outcome::Refused { class: Class::Conflict, .. } => !own && declared != Elsewhere::Identity,
            Outcome::Unknown { why: Why::Unclassified | Why::Unreadable } => {
                tally.untold("no declared rule says what the second operation was told");
                continue;
            }
            Outcome::Pending | Outcome::Unknown { .. } => continue,
            Outcome::Refused { .. } => false,
        };
        tally.check(fine, identity, [seq, second_seq, counted], || {
            let has = if own { "an effect" } else { "no effect" };
            format!(
                "the key was used for another operation; that call ended as {answer} and has {has} of its own"
            )
        });
    }
    tally.ruling("no key was used for two operations")
}
