//! What the caller is told.

use crate::ability::Ability;
use crate::attempt::Story;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::retry;

/// A replay is marked as such.
pub(super) static REPLAYED_MARKED: Clause = Clause {
    id: "outcome.replayed-marked",
    level: Level::Should,
    statement: "a replay is marked as such",
    why: "a caller that counts what it caused must know which answers are the same one",
    shortest: "call → ok, replayed false; same call → ok, replayed false",
    cure: "set the marker when answering from the receipt, outside the retained result",
    source: "edition 1 of the contract, group outcome",
    harm: Harm::Shape,
    needs: &[Ability::Key, Ability::ReplayMarker, Ability::ResultId],
    presupposes: &[
        "receipt.replay",
        "receipt.survives-restart",
        "recovery.reissue",
        "recovery.other-worker",
        "recovery.disconnect-is-not-undo",
        "effect.durable",
        "effect.acknowledged-exists",
    ],
    rule: replayed_marked,
};

fn replayed_marked(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for retry in retry::retries(story) {
        let Some((seq, outcome)) = retry.again.replied.or(retry.again.ended) else { continue };
        let Some(answer) = outcome.acked().filter(|answer| answer.id.as_deref().is_some_and(|id| retry.ids.contains(&id))) else {
            continue;
        };
        tally.check(answer.replayed, retry.first.identity, [retry.first.sent, retry.again.sent, seq], || {
            format!(
                "`{}` was answered from the receipt of `{}` and does not say so",
                retry.again.call, retry.first.call
            )
        });
    }
    tally.ruling("nothing was replayed")
}
