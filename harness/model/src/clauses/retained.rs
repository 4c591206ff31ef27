//! Which refusals and errors a key may be left with.

use crate::ability::Ability;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::fault::{At, Do};
use crate::history::{Outcome, Why};
use crate::reply::Class;
use crate::story::Story;

/// When an attempt ends in an error after its effect committed, a retry adds no effect.
pub(super) static ERROR_AFTER_COMMIT: Clause = Clause {
    id: "receipt.error-after-commit",
    level: Level::Must,
    statement: "when an attempt ends in an error after its effect committed, a retry adds no effect",
    why: "a failure while the reply is made is as common as a lost reply, and looks like work not done",
    shortest: "call → commit, then an error; same call → ok; two rows",
    cure: "keep the receipt whatever happens after the commit; never clean it up on an error",
    source: "edition 1 of the contract, group receipt",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::Count],
    policies: &[],
    presupposes: &["effect.none-on-refusal", "receipt.replay"],
    rule: error_after_commit,
};

fn error_after_commit(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for failed in &story.attempts {
        let Some(fault) = failed.fault.filter(|fault| fault.deed == Do::Error) else { continue };
        let Some((seq, outcome)) = failed.ended.filter(|(_, outcome)| outcome.acked().is_none()) else {
            continue;
        };
        // An error before the end of the work may still have left the effect, which the store shows.
        let left = story
            .count_after(seq)
            .is_some_and(|(_, ledger)| !story.rows(ledger, failed.identity, failed.variant).is_empty());
        if fault.at != At::AfterCommit && !(fault.at.is_point() && left) {
            continue;
        }
        let retried = story.attempts_of(failed.identity).find(|again| again.sent > seq);
        let (Some(again), Some((counted, ledger))) = (retried, story.run.last_count()) else { continue };
        let rows = story.all_rows(ledger, failed.identity).len();
        tally.check(rows <= 1, failed.identity, [failed.sent, seq, again.sent, counted], || {
            format!(
                "`{}` ended as {outcome} after its effect, and its retries left {rows} effects",
                failed.call
            )
        });
    }
    tally.ruling("no attempt ended in an error after its commit")
}

/// A refusal for a passing reason is not retained as the result of the key.
pub(super) static TRANSIENT_NOT_FROZEN: Clause = Clause {
    id: "receipt.transient-not-frozen",
    level: Level::Must,
    statement: "a refusal for a passing reason before the work began is not retained for the key",
    why: "a caller that waits and retries, as it was told, would wait for ever",
    shortest: "store locked: call → busy; store free: same call → busy",
    cure: "write a receipt only together with an effect",
    source: "edition 1 of the contract, group receipt",
    harm: Harm::Stuck,
    needs: &[Ability::Key, Ability::Lock],
    policies: &[],
    presupposes: &[],
    rule: transient_not_frozen,
};

fn transient_not_frozen(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for (refused, freed) in story.put_off() {
        let Some(last) = story.attempts_of(refused.identity).rfind(|again| again.sent > freed) else {
            continue;
        };
        let Some((seq, outcome)) = last.ended else { continue };
        let frozen = matches!(outcome, Outcome::Refused { class: Class::Busy | Class::InProgress, .. });
        tally.check(!frozen, refused.identity, [refused.sent, freed, last.sent, seq], || {
            format!("the lock was gone, and the last retry of `{}` was still {outcome}", refused.call)
        });
    }
    tally.ruling("no call was put off by a lock")
}

/// A refusal made before the work began does not consume the key.
pub(super) static REFUSAL_NOT_FROZEN: Clause = Clause {
    id: "receipt.refusal-not-frozen",
    level: Level::Must,
    statement: "a denial does not consume the key: once access is given, the same request goes through",
    why: "the way out of a denial is to get access and to retry the same request",
    shortest: "access revoked: call → denied; access given: same call → denied",
    cure: "check access before the key is looked at, and keep nothing of a denial",
    source: "edition 1 of the contract, group receipt",
    harm: Harm::Stuck,
    needs: &[Ability::Key, Ability::Access],
    policies: &[],
    presupposes: &[],
    rule: refusal_not_frozen,
};

fn refusal_not_frozen(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for denied in story.attempts.iter().filter(|attempt| attempt.revoked) {
        let Some((seq, Outcome::Refused { class: Class::Denied, .. })) = denied.ended else { continue };
        // One that was answered before may rightly be replayed or not; that is another clause's question.
        let fresh = story.attempts_of(denied.identity).next().is_some_and(|first| first.sent == denied.sent);
        let last = story.attempts_of(denied.identity).rfind(|again| again.sent > seq && !again.revoked);
        let Some((ended, outcome)) = last.filter(|_| fresh).and_then(|last| last.ended) else { continue };
        match outcome {
            Outcome::Unknown { why: Why::Unclassified } => {
                tally.untold("no declared rule says what the retry got")
            }
            Outcome::Unknown { .. } => {}
            other => tally.check(other.acked().is_some(), denied.identity, [denied.sent, seq, ended], || {
                format!("access was given, and the last retry of `{}` was {other}", denied.call)
            }),
        }
    }
    tally.ruling("no first call was denied and then allowed")
}
