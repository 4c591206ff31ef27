//! How long the promise lasts.

use crate::ability::Ability;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, Why};
use crate::reply::Class;
use crate::retry::{self, Between};
use crate::story::{Age, Story};
use crate::target::{After, Purge};

/// Inside the declared window every retry replays.
pub(super) static WINDOW: Clause = Clause {
    id: "retention.window",
    level: Level::Must,
    statement: "inside the declared window, counted from completion, every retry replays",
    why: "a caller plans its retries by the window that it was told",
    shortest: "call → ok (id 1); more than half of the window later: same call → ok (id 2)",
    cure: "let receipts expire by the declared time alone, counted from the commit",
    source: "edition 1 of the contract, group retention",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::Retention],
    policies: &[],
    presupposes: &["receipt.replay"],
    rule: window,
};

fn window(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    retry::judge(story, Between::MostOfItsWindow, &mut tally);
    tally.ruling("no call was repeated late inside its window")
}

/// After the window a late retry gets what is declared, and nothing else.
pub(super) static LATE_ARRIVAL: Clause = Clause {
    id: "retention.late-arrival",
    level: Level::Must,
    statement: "after the window a late retry is refused as expired or runs as new, as declared",
    why: "a request that was kept back for long must not do again what was done",
    shortest: "call → ok (id 1); after the window: same call → ok (id 2), where *expired* is declared",
    cure: "keep a tombstone of the key when the result goes",
    source: "edition 1 of the contract, group retention",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::Retention],
    policies: &[],
    presupposes: &["receipt.replay", "retention.window"],
    rule: late_arrival,
};

fn late_arrival(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let declared = &story.run.plan.target.retention;
    for late in retry::retries(story).iter().filter(|retry| story.age(retry.first, retry.again) == Age::Past)
    {
        let Some((seq, outcome)) = late.again.replied.or(late.again.ended) else { continue };
        let same = |id: &Option<String>| id.as_deref().is_some_and(|id| late.ids.contains(&id));
        let fine = match outcome {
            Outcome::Refused { class: Class::Expired, .. } => declared.after == After::Expired,
            Outcome::Acked(answer) if same(&answer.id) => declared.purge == Purge::Lazy,
            Outcome::Acked(_) => declared.after == After::New,
            Outcome::Refused { class: Class::InProgress | Class::Busy, .. } => continue,
            Outcome::Unknown { why: Why::Unclassified } => {
                tally.untold(format!("no declared rule says what the reply to `{}` means", late.again.call));
                continue;
            }
            Outcome::Refused { .. } => false,
            Outcome::Pending | Outcome::Unknown { .. } => continue,
        };
        tally.check(fine, late.first.identity, [late.first.sent, late.again.sent, seq], || {
            format!(
                "`{}` came after the window of `{}` and ended as {outcome}",
                late.again.call, late.first.call
            )
        });
    }
    tally.ruling("no call was repeated after its window")
}

/// Inside the window nothing loses a receipt.
pub(super) static NO_SILENT_REPEAT: Clause = Clause {
    id: "retention.no-silent-repeat",
    level: Level::Must,
    statement: "inside the window no number of other keys makes a receipt vanish",
    why: "a cache that drops the oldest entry turns a busy hour into duplicates",
    shortest: "call → ok (id 1); many other calls; same call → ok (id 2)",
    cure: "bound receipts by time, not by number; refuse what cannot be kept",
    source: "edition 1 of the contract, group retention",
    harm: Harm::Duplicate,
    needs: &[Ability::Key],
    policies: &[],
    presupposes: &["receipt.replay", "recovery.reissue"],
    rule: no_silent_repeat,
};

fn no_silent_repeat(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    retry::judge(story, Between::ManyOthers, &mut tally);
    tally.ruling("no call was repeated after many others")
}
