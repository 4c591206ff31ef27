//! After the fault.

use crate::ability::Ability;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::fault::Do;
use crate::history::{Outcome, What, Why};
use crate::retry::{self, Between};
use crate::story::Story;

/// After the faults stop every intent has a final answer within the declared bound.
pub(super) static RESOLVES: Clause = Clause {
    id: "recovery.resolves",
    level: Level::Must,
    statement: "after the faults stop every intent has a final answer within the declared bound",
    why: "a key that stays in progress for ever is work that nobody can finish or give up",
    shortest: "call → crash after the claim; restart; same call → in-progress, for ever",
    cure: "give a claim a lease that ends, or let it vanish with the transaction",
    source: "edition 1 of the contract, group recovery",
    harm: Harm::Stuck,
    needs: &[Ability::Key],
    policies: &[],
    presupposes: &["recovery.graceful-stop", "receipt.transient-not-frozen"],
    rule: resolves,
};

fn resolves(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let Some(settling) = story.settling else {
        return tally.ruling("the run was not settled");
    };
    for (seq, event) in story.run.history.events.iter().enumerate() {
        let What::GaveUp { identity, retries } = event.what else { continue };
        let last = story.attempts_of(identity).filter_map(|attempt| attempt.ended).next_back();
        let Some((ended, outcome)) = last else { continue };
        if matches!(outcome, Outcome::Unknown { why: Why::Unclassified | Why::Unreadable }) {
            tally.untold("no declared rule says what the last reply means");
            continue;
        }
        let bound = story.run.plan.target.recovery.bound;
        let what =
            format!("{retries} retries within {bound} after the faults stopped still ended as {outcome}");
        tally.broken(identity, [settling, ended, seq], what);
    }
    let finals = story.attempts.iter().filter(|attempt| attempt.sent > settling);
    for _ in finals.filter(|attempt| attempt.ended.is_some_and(|(_, outcome)| outcome.is_final())) {
        tally.held();
    }
    tally.ruling("no intent was retried after the faults stopped")
}

/// A retry over a new connection recovers the result.
pub(super) static REISSUE: Clause = Clause {
    id: "recovery.reissue",
    level: Level::Must,
    statement: "a retry under a new request id on a new connection recovers the result",
    why: "the connection is what was lost; MCP 2026-07-28 has clients re-issue the call as a new request",
    shortest: "call → ok (id 1); new connection: same call → ok (id 2)",
    cure: "make neither connection nor session a part of the identity",
    source: "edition 1 of the contract, group recovery; MCP 2026-07-28 changelog, item 9",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::Connections],
    policies: &[],
    presupposes: &[
        "receipt.replay",
        "receipt.error-after-commit",
        "contention.heals",
        "recovery.disconnect-is-not-undo",
    ],
    rule: reissue,
};

fn reissue(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    retry::judge(story, Between::NewConnection, &mut tally);
    tally.ruling("no call with an effect was repeated on a new connection")
}

/// A retry that lands on another worker recovers the result.
pub(super) static OTHER_WORKER: Clause = Clause {
    id: "recovery.other-worker",
    level: Level::Must,
    statement: "a retry that lands on another worker of the same store recovers the result",
    why: "a balancer does not know which worker answered before",
    shortest: "call → worker 1: ok (id 1); same call → worker 2: ok (id 2)",
    cure: "keep receipts in the store that the workers share, and look them up there",
    source: "edition 1 of the contract, group recovery",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::Workers(2)],
    policies: &[],
    presupposes: &["receipt.replay", "recovery.reissue", "receipt.survives-restart"],
    rule: other_worker,
};

fn other_worker(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    retry::judge(story, Between::OtherWorker, &mut tally);
    tally.ruling("no answered call was repeated on another worker")
}

/// A worker that is asked to stop leaves its calls recoverable.
pub(super) static GRACEFUL_STOP: Clause = Clause {
    id: "recovery.graceful-stop",
    level: Level::Must,
    statement: "a worker asked to stop during a call finishes it, refuses it, or leaves its key recoverable",
    why: "every deployment asks workers to stop while calls are under way",
    shortest: "call stands; SIGTERM; restart; same call → in-progress, for ever",
    cure: "let the transaction end or roll back; leave no marker that only an operator removes",
    source: "edition 1 of the contract, group recovery",
    harm: Harm::Stuck,
    needs: &[Ability::Key, Ability::Restart, Ability::Count],
    policies: &[],
    presupposes: &["receipt.survives-restart"],
    rule: graceful_stop,
};

fn graceful_stop(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for (asked, pid) in &story.asked_to_stop {
        let under_way = story.attempts.iter().filter(|attempt| {
            attempt.pid == *pid && attempt.keyed && attempt.sent < *asked && *asked < attempt.until()
        });
        for attempt in under_way {
            let stuck = story.run.history.events.iter().position(
                |event| matches!(event.what, What::GaveUp { identity, .. } if identity == attempt.identity),
            );
            let Some((counted, ledger)) = story.run.last_count() else { continue };
            let rows = story.all_rows(ledger, attempt.identity).len();
            let retried = story.attempts_of(attempt.identity).any(|again| again.sent > *asked);
            if !retried {
                continue;
            }
            let events = [attempt.sent, *asked, stuck.unwrap_or(counted)];
            tally.check(stuck.is_none() && rows <= 1, attempt.identity, events, || match stuck {
                Some(_) => {
                    format!("the worker was asked to stop during `{}`, whose key is stuck now", attempt.call)
                }
                None => {
                    format!("the worker was asked to stop during `{}`; it has {rows} effects", attempt.call)
                }
            });
        }
    }
    tally.ruling("no worker was asked to stop during a call")
}

/// A worker that was paused past its lease adds no second effect.
pub(super) static ZOMBIE_FENCED: Clause = Clause {
    id: "recovery.zombie-fenced",
    level: Level::Must,
    statement: "a worker paused past its lease and resumed adds no second effect and changes no successor's record",
    why: "a long pause of a machine or a collector looks like a death, and ends like a second life",
    shortest: "worker 1 pauses holding its claim; worker 2: same call → ok (id 1); worker 1 goes on → id 2",
    cure: "check the claim again, or a fencing token, in the transaction that writes",
    source: "edition 1 of the contract, group recovery",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::Workers(2), Ability::Lease, Ability::Count],
    policies: &[],
    presupposes: &["recovery.other-worker", "recovery.slow-owner", "receipt.replay"],
    rule: zombie_fenced,
};

fn zombie_fenced(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let paused =
        story.attempts.iter().filter(|owner| owner.fault.is_some_and(|fault| fault.deed == Do::Pause));
    for owner in paused {
        let successor = story.attempts_of(owner.identity).find(|other| {
            other.sent > owner.sent && other.worker != owner.worker && other.until() < owner.until()
        });
        let Some(successor) = successor else { continue };
        let Some(done) = successor.ended.and_then(|(_, outcome)| outcome.acked()) else { continue };
        let Some((counted, ledger)) = story.run.last_count() else { continue };
        let rows = story.all_rows(ledger, owner.identity).len();
        let later = story.attempts_of(owner.identity).filter(|other| other.sent > successor.sent);
        let mut named = later.filter_map(|other| other.said()?.acked()?.id.as_deref());
        let kept = rows <= 1 && named.all(|id| done.id.as_deref().is_none_or(|first| first == id));
        tally.check(kept, owner.identity, [owner.sent, successor.sent, counted], || {
            format!(
                "`{}` woke after `{}` had done its work, and left {rows} effects",
                owner.call, successor.call
            )
        });
    }
    tally.ruling("no worker was paused while another did its work")
}

/// An owner that runs longer than its lease and its successor make one effect.
pub(super) static SLOW_OWNER: Clause = Clause {
    id: "recovery.slow-owner",
    level: Level::Must,
    statement: "an owner that runs longer than its lease, its successor and the next retry have one effect, and name it",
    why: "work takes as long as it takes; a lease that ends before it invites a second owner",
    shortest: "call stands holding its claim, past the lease; same call → ok (id 2); the first goes on → ok (id 1)",
    cure: "renew the lease while the work goes on, or compare a token of this one call in the transaction that writes",
    source: "edition 1 of the contract, group recovery",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::Lease, Ability::Count],
    policies: &[],
    presupposes: &["receipt.replay", "recovery.reissue", "retention.window"],
    rule: slow_owner,
};

fn slow_owner(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let held = story.attempts.iter().filter(|owner| owner.fault.is_some_and(|fault| fault.deed == Do::Hold));
    for owner in held {
        let ran_out = |seq: &usize| owner.sent < *seq && *seq < owner.until();
        let Some(ended) = story.leases_passed.iter().copied().find(ran_out) else { continue };
        let successor =
            story.attempts_of(owner.identity).find(|other| other.sent > ended && other.sent < owner.until());
        let Some(successor) = successor else { continue };
        let Some((counted, ledger)) = story.run.last_count().filter(|(seq, _)| *seq > successor.sent) else {
            continue;
        };
        let rows = story.all_rows(ledger, owner.identity).len();
        let acked = story.attempts_of(owner.identity).filter_map(|attempt| attempt.said()?.acked());
        let mut ids: Vec<_> = acked.clone().filter_map(|answer| answer.id.as_deref()).collect();
        ids.sort_unstable();
        ids.dedup();
        if acked.count() == 0 {
            continue;
        }
        let kept = rows <= 1 && ids.len() <= 1;
        tally.check(kept, owner.identity, [owner.sent, ended, successor.sent, counted], || {
            format!(
                "`{}` ran longer than its lease and `{}` came meanwhile; they left {rows} effects",
                owner.call, successor.call
            )
        });
    }
    tally.ruling("no owner ran longer than its lease while its call was repeated")
}

/// A disconnect never undoes an effect that is committed.
pub(super) static DISCONNECT_IS_NOT_UNDO: Clause = Clause {
    id: "recovery.disconnect-is-not-undo",
    level: Level::Must,
    statement: "a disconnect or cancel never undoes, hides or frees an effect that is committed",
    why: "the caller may have seen the effect elsewhere, and its retry would make another",
    shortest: "call stands after its commit; the caller disconnects; count: no row",
    cure: "let the work outlive the connection; roll back only what is not committed",
    source: "edition 1 of the contract, group recovery; MCP 2026-07-28 reads a closed stream as a cancel",
    harm: Harm::Lost,
    needs: &[Ability::Count],
    policies: &[],
    presupposes: &[],
    rule: disconnect_is_not_undo,
};

fn disconnect_is_not_undo(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for left in &story.attempts {
        let Some(gone) = left.left else { continue };
        let Some((_, before)) = story.count_before(gone).filter(|(seq, _)| *seq > left.sent) else {
            continue;
        };
        let later: Vec<_> = story.counts_after(gone).collect();
        for row in story.rows(before, left.identity, left.variant) {
            let lost = later.iter().find(|(_, ledger)| {
                !story.rows(ledger, left.identity, left.variant).iter().any(|kept| kept.id == row.id)
            });
            match lost {
                Some((seq, _)) => {
                    let what =
                        format!("the effect {} of `{}` vanished after its caller left", row.id, left.call);
                    tally.broken(left.identity, [left.sent, gone, *seq], what);
                }
                None if !later.is_empty() => tally.held(),
                None => tally.untold("the effects were not counted after the caller left"),
            }
        }
    }
    tally.ruling("no caller left after a commit")
}
