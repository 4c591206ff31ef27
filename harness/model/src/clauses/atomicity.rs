//! Whether all parts of an action are there, or none.

use crate::ability::Ability;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{CountedFrom, What};
use crate::ledger::Ledger;
use crate::story::Story;

/// Once an identity has its final answer, effect and receipt are both there, or neither is.
pub(super) static ALL_OR_NOTHING: Clause = Clause {
    id: "effect.all-or-nothing",
    level: Level::Must,
    statement: "once an identity has its final answer, there is no effect without its receipt",
    why: "an effect whose receipt is missing is the next duplicate",
    shortest: "call → crash between effect and receipt; same call → replayed; a row and no receipt",
    cure: "commit both in one transaction, or repair the receipt before answering",
    source: "edition 1 of the contract, group effect",
    harm: Harm::Lost,
    needs: &[Ability::Key, Ability::Count, Ability::Receipts],
    policies: &[],
    presupposes: &[
        "receipt.replay",
        "receipt.binding",
        "receipt.survives-restart",
        "receipt.any-result",
        "receipt.error-after-commit",
        "recovery.reissue",
        "recovery.other-worker",
        "retention.window",
        "retention.late-arrival",
        "retention.no-silent-repeat",
        "effect.done-means-done",
        "effect.at-most-once",
        "effect.durable",
        "effect.acknowledged-exists",
        "contention.no-lost-effect",
        "contention.heals",
        "scope.principal",
        "effect.distinct-intents",
        "receipt.incidental-ignored",
    ],
    rule: all_or_nothing,
};

fn all_or_nothing(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let Some((counted, ledger)) = story.run.last_count() else { return tally.ruling("nothing was counted") };
    for identity in 0..story.run.plan.identities.len() {
        let Some(last) = story.attempts_of(identity).next_back().filter(|attempt| attempt.keyed) else {
            continue;
        };
        // A receipt may be gone by its declared policy.
        let first = story.attempts_of(identity).next().expect("there is a last one");
        let old = story.age(first, last) != crate::story::Age::Inside;
        let Some((seq, outcome)) = last.ended.filter(|(_, outcome)| outcome.is_final() && !old) else {
            continue;
        };
        // A server may write its receipt just after its first answer; once it has answered again, it had
        // the time.
        let acked = story.attempts_of(identity).filter(|a| a.ended.is_some_and(|(_, o)| o.acked().is_some()));
        if outcome.acked().is_none() || acked.count() < 2 {
            continue;
        }
        let effects = story.all_rows(ledger, identity).len();
        let receipts = receipts(story, ledger, identity);
        tally.check(effects == 0 || receipts > 0, identity, [last.sent, seq, counted], || {
            format!("`{}` was told {outcome}; the store has the effect and no receipt for its key", last.call)
        });
    }
    tally.ruling("no keyed intent came to a final answer")
}

/// How many receipts name the key of an identity.
fn receipts(story: &Story<'_>, ledger: &Ledger, identity: usize) -> usize {
    let Some(key) = story.run.plan.key(identity) else { return 0 };
    ledger.receipts.iter().flatten().filter(|row| row.id.contains(key)).count()
}

/// Already before any retry, a crash between two writes leaves none of them.
pub(super) static ATOMIC: Clause = Clause {
    id: "effect.atomic",
    level: Level::Should,
    statement: "already before any retry, a crash between two writes of one action leaves none of them",
    why: "whoever looks at the store before the retry sees work that is half done",
    shortest: "call → crash between effect and receipt; count: a row and no receipt",
    cure: "put every write of one action into one transaction",
    source: "edition 1 of the contract, group effect",
    harm: Harm::Shape,
    needs: &[Ability::Key, Ability::Restart, Ability::Count, Ability::Receipts],
    policies: &[],
    presupposes: &[
        "effect.all-or-nothing",
        "effect.at-most-once",
        "effect.done-means-done",
        "effect.acknowledged-exists",
        "effect.none-on-refusal",
        "receipt.survives-restart",
        "receipt.replay",
        "recovery.resolves",
    ],
    rule: atomic,
};

fn atomic(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let dead = |seq: usize| {
        let what = &story.run.history.events[seq].what;
        matches!(what, What::Counted { from: CountedFrom::Copy, .. })
    };
    for identity in 0..story.run.plan.identities.len() {
        let Some(first) = story.attempts_of(identity).next().filter(|attempt| attempt.keyed) else {
            continue;
        };
        let Some(exited) = first.exited.filter(|_| first.replied.is_none()) else { continue };
        let Some((counted, ledger)) = story.count_after(exited).filter(|(seq, _)| dead(*seq)) else {
            continue;
        };
        let effects = story.all_rows(ledger, identity).len();
        let whole = (effects > 0) == (receipts(story, ledger, identity) > 0);
        tally.check(whole, identity, [first.sent, exited, counted], || {
            let left =
                if effects > 0 { "the effect without a receipt" } else { "a receipt without the effect" };
            format!("the worker was killed during `{}`, and left {left}", first.call)
        });
    }
    tally.ruling("no worker was killed during a call and its store counted before the next start")
}
