//! What is committed.

use crate::ability::Ability;
use crate::attempt::Attempt;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, What, Why};
use crate::story::{Age, Count, Story};
use crate::target::After;

/// A first, undisturbed, valid call commits its effect and says so.
pub(super) static PERFORMED: Clause = Clause {
    id: "effect.performed",
    level: Level::Must,
    statement: "a first, undisturbed, valid call commits its effect and says so",
    why: "a server that refuses or loses ordinary work passes every other check by doing nothing",
    shortest: "call → in-progress, with nothing under way",
    cure: "do the work in the request that asks for it; a key needs no registration of its own",
    source: "edition 1 of the contract, group effect",
    harm: Harm::WrongClass,
    needs: &[Ability::Count],
    policies: &[],
    presupposes: &[
        "effect.acknowledged-exists",
        "effect.none-on-refusal",
        "effect.distinct-intents",
        "effect.durable",
        "contention.no-lost-effect",
        "input.key-opaque",
        "recovery.disconnect-is-not-undo",
        "scope.principal",
        "scope.workspace",
    ],
    rule: performed,
};

fn performed(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for identity in 0..story.run.plan.identities.len() {
        let Some(first) = story.attempts_of(identity).next() else { continue };
        let Some((seq, outcome)) = first.ended else { continue };
        let overlapped = story
            .attempts
            .iter()
            .any(|other| other.sent != first.sent && other.sent < seq && other.until() > first.sent);
        // Whoever uses a key that another identity has used asks another clause's question.
        let shared = (0..identity).any(|other| {
            story.run.plan.key(identity).is_some()
                && story.run.plan.key(other) == story.run.plan.key(identity)
        });
        let optional = story.run.plan.key(identity).is_some() && !first.keyed;
        if !story.undisturbed(first) || overlapped || optional || shared {
            continue;
        }
        match outcome {
            Outcome::Acked(_) => {
                let there =
                    story.counts.iter().any(|count| !story.all_rows(count.ledger, identity).is_empty());
                tally.check(there, identity, [first.sent, seq], || {
                    format!(
                        "the first call `{}` ended as {outcome}, and nothing was ever committed",
                        first.call
                    )
                });
            }
            Outcome::Pending => {}
            Outcome::Unknown { why: Why::Unclassified | Why::Unreadable } => {
                tally.untold(format!("no declared rule says what the reply to `{}` means", first.call));
            }
            Outcome::Refused { .. } | Outcome::Unknown { .. } => {
                let what =
                    format!("the first call `{}`, with nothing in its way, ended as {outcome}", first.call);
                tally.broken(identity, [first.sent, seq], what);
            }
        }
    }
    tally.ruling("no first call went undisturbed")
}

/// No identity ever has more committed effects than one intent makes.
pub(super) static AT_MOST_ONCE: Clause = Clause {
    id: "effect.at-most-once",
    level: Level::Must,
    statement: "no identity ever has more than one committed effect, counted at the store, in any history",
    why: "a caller that lost a reply must be able to retry without doing the thing twice",
    shortest: "call → crash between effect and receipt; restart; same call → ok; two rows",
    cure: "commit effect and receipt in one transaction, and look the key up inside it",
    source: "edition 1 of the contract, group effect; MCP 2026-07-28 makes clients re-issue lost calls",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::Count],
    policies: &[],
    presupposes: &[
        "receipt.replay",
        "receipt.conflict",
        "receipt.binding",
        "receipt.incidental-ignored",
        "receipt.survives-restart",
        "receipt.any-result",
        "recovery.reissue",
        "recovery.other-worker",
        "recovery.disconnect-is-not-undo",
        "recovery.graceful-stop",
        "recovery.zombie-fenced",
        "recovery.slow-owner",
        "contention.single-winner",
        "contention.heals",
        "receipt.error-after-commit",
        "receipt.discriminating",
        "retention.window",
        "retention.late-arrival",
        "retention.no-silent-repeat",
    ],
    rule: at_most_once,
};

fn at_most_once(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for identity in 0..story.run.plan.identities.len() {
        let attempts: Vec<_> = story.attempts_of(identity).collect();
        if attempts.is_empty() {
            continue;
        }
        // Where a late retry runs as new by declaration, what it adds is another intent.
        let begun = attempts.iter().find(|attempt| !attempt.cut_short());
        let late = |first: &&Attempt<'_>| attempts.iter().any(|again| story.age(first, again) != Age::Inside);
        let renewed = story.run.plan.target.retention.after == After::New && begun.is_some_and(late);
        if renewed || attempts.iter().any(|attempt| !attempt.keyed) {
            continue;
        }
        let counted = story.counts.iter().map(|Count { seq, ledger, .. }| {
            (*seq, story.all_rows(ledger, identity).len(), story.lookalikes(ledger, identity).len())
        });
        match counted.clone().find(|(_, rows, allowed)| rows > allowed) {
            Some((seq, rows, _)) => {
                let sent = attempts.iter().map(|attempt| attempt.sent);
                let what = format!("one intent, attempted {} times, left {rows} effects", attempts.len());
                tally.broken(identity, sent.chain([seq]).collect::<Vec<_>>(), what);
            }
            // Over a store that stays empty nothing is shown, whatever the replies say.
            None if counted.clone().all(|(_, rows, _)| rows == 0) && acknowledged(&attempts) => {}
            None if counted.count() > 0 => tally.held(),
            None => tally.untold("the effects were never counted"),
        }
    }
    tally.ruling("no intent was attempted")
}

fn acknowledged(attempts: &[&Attempt<'_>]) -> bool {
    attempts.iter().any(|attempt| attempt.ended.is_some_and(|(_, outcome)| outcome.acked().is_some()))
}

/// A success names an effect that is at the store before the reply.
pub(super) static ACKNOWLEDGED_EXISTS: Clause = Clause {
    id: "effect.acknowledged-exists",
    level: Level::Must,
    statement: "a success reply names an effect that is at the store by the time of the reply",
    why: "success that can be invented is worth nothing: the caller stops retrying",
    shortest: "call → ok; count: no row",
    cure: "commit first, reply afterwards",
    source: "edition 1 of the contract, group effect",
    harm: Harm::Lost,
    needs: &[Ability::Count],
    policies: &[],
    presupposes: &[
        "effect.distinct-intents",
        "receipt.incidental-ignored",
        "scope.principal",
        "scope.workspace",
        "contention.no-lost-effect",
        "input.key-opaque",
    ],
    rule: acknowledged_exists,
};

fn acknowledged_exists(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for first in story.attempts.iter().filter(|attempt| is_first(story, attempt)) {
        exists(story, first, &mut tally);
    }
    tally.ruling("no first attempt was acknowledged")
}

/// A duplicate says done only when the effect is committed.
pub(super) static DONE_MEANS_DONE: Clause = Clause {
    id: "effect.done-means-done",
    level: Level::Must,
    statement: "an attempt that did not do the work itself says done only when the effect is committed",
    why: "a marker written before the effect turns a crash into work that is lost for good",
    shortest: "call → crash between receipt and effect; restart; same call → replayed; no row",
    cure: "no completed receipt before the effect; best, both in one transaction",
    source: "edition 1 of the contract, group effect",
    harm: Harm::Lost,
    needs: &[Ability::Key, Ability::Count],
    policies: &[],
    presupposes: &[
        "effect.acknowledged-exists",
        "effect.durable",
        "effect.distinct-intents",
        "contention.no-lost-effect",
        "recovery.disconnect-is-not-undo",
    ],
    rule: done_means_done,
};

fn done_means_done(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let duplicate = |attempt: &&Attempt<'_>| {
        // Other arguments under a used key are a conflict, which is another clause's question.
        let first = story.attempts_of(attempt.identity).next();
        first.is_some_and(|first| first.sent < attempt.sent && first.variant == attempt.variant)
    };
    for later in story.attempts.iter().filter(duplicate) {
        exists(story, later, &mut tally);
    }
    tally.ruling("no later attempt was acknowledged")
}

fn is_first(story: &Story<'_>, attempt: &Attempt<'_>) -> bool {
    story.attempts_of(attempt.identity).all(|other| other.sent >= attempt.sent)
}

/// Whether what an acknowledged attempt names is at the store at the next count.
fn exists(story: &Story<'_>, attempt: &Attempt<'_>, tally: &mut Tally) {
    let Some((seq, outcome)) = attempt.ended else { return };
    let Some(answer) = outcome.acked() else { return };
    let Some((counted, ledger)) = story.count_after(seq) else {
        return tally.untold("the effects were not counted after the reply");
    };
    let rows = story.rows(ledger, attempt.identity, attempt.variant);
    let events = [attempt.sent, seq, counted];
    if rows.is_empty() && story.started_between(attempt.sent, counted) {
        return tally.untold("a worker started before the effects were counted, and may have taken one away");
    }
    if rows.is_empty() {
        let what = format!("`{}` was told {outcome}, and the store has no such effect", attempt.call);
        return tally.broken(attempt.identity, events, what);
    }
    // A row with another id under the right label is a matter of replaying, not of existing; an id
    // that no row at all has was invented.
    let known = |id: &String| story.counts.iter().any(|c| c.ledger.effects.iter().any(|row| row.id == *id));
    let named = answer.id.as_ref().is_none_or(|id| ledger.effects.iter().any(|row| row.id == *id));
    let ids = story.attempts.iter().filter_map(|other| other.said()?.acked()?.id.as_ref());
    if !named && !ids.clone().any(known) {
        let reason = "no reply names an id that the store has: compare `effects` and `[replies] id`";
        return tally.untold(reason);
    }
    tally.check(named, attempt.identity, events, || {
        format!("`{}` was told {outcome}, and the store has no effect of that id", attempt.call)
    });
}

/// An acknowledged effect is still there after a kill and a restart.
pub(super) static DURABLE: Clause = Clause {
    id: "effect.durable",
    level: Level::Must,
    statement: "an acknowledged effect is still there, with the same id, after a worker is killed and restarted or another starts",
    why: "the caller was told that it is done and will not ask again",
    shortest: "call → ok; kill -9; restart; count: no row",
    cure: "keep nothing acknowledged in memory alone, and let no start-up clean-up touch finished work",
    source: "edition 1 of the contract, group effect",
    harm: Harm::Lost,
    needs: &[Ability::Restart, Ability::Count],
    policies: &[],
    presupposes: &["effect.acknowledged-exists", "recovery.disconnect-is-not-undo"],
    rule: durable,
};

fn durable(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let starts = story.run.history.events.iter().enumerate().filter_map(|(seq, event)| match event.what {
        What::Started { .. } => Some(seq),
        _ => None,
    });
    for restart in starts {
        for attempt in &story.attempts {
            let Some((acked, _)) = attempt.ended.filter(|(seq, o)| *seq < restart && o.acked().is_some())
            else {
                continue;
            };
            let Some((_, before)) = story.count_after(acked).filter(|(seq, _)| *seq < restart) else {
                continue;
            };
            let Some((seq, after)) = story.count_after(restart) else { continue };
            let kept = story.rows(after, attempt.identity, attempt.variant);
            for row in story.rows(before, attempt.identity, attempt.variant) {
                tally.check(
                    kept.iter().any(|k| k.id == row.id),
                    attempt.identity,
                    [acked, restart, seq],
                    || {
                        format!(
                            "the acknowledged effect {} of `{}` was gone after a worker started",
                            row.id, attempt.call
                        )
                    },
                );
            }
        }
    }
    tally.ruling("no worker was started after an acknowledged effect")
}

/// Different keys with identical arguments give distinct effects.
pub(super) static DISTINCT_INTENTS: Clause = Clause {
    id: "effect.distinct-intents",
    level: Level::Must,
    statement: "different keys with identical arguments give distinct effects: the key is the identity",
    why: "two people may order the same thing; a caller that means it twice says so with two keys",
    shortest: "call with key A → ok (id 1); same arguments with key B → ok (id 1)",
    cure: "look up by the key, never by a digest of the content",
    source: "edition 1 of the contract, group effect",
    harm: Harm::Lost,
    needs: &[Ability::Key, Ability::Count],
    policies: &[],
    presupposes: &[],
    rule: distinct_intents,
};

fn distinct_intents(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let plan = &story.run.plan;
    if plan.target.effect.natural_key {
        return tally.ruling("the target says that equal arguments are one effect by nature");
    }
    for (identity, of) in plan.identities.iter().enumerate() {
        let twin = (0..identity).find(|twin| {
            let other = &plan.identities[*twin];
            plan.label(*twin, 0) == plan.label(identity, 0) && other.role == of.role && other.key != of.key
        });
        let Some(twin) = twin else { continue };
        let said = |identity| story.attempts_of(identity).find_map(|attempt| attempt.ended);
        let (Some((seq, first)), Some((second_seq, second))) = (said(twin), said(identity)) else { continue };
        let Some(first) = first.acked() else { continue };
        let events = [seq, second_seq];
        match second {
            Outcome::Acked(answer) => {
                let same = answer.id.is_some() && answer.id == first.id;
                tally.check(!same, identity, events, || {
                    let id = answer.id.as_deref().unwrap_or_default();
                    format!("two keys with equal arguments were both told of the effect {id}")
                });
            }
            Outcome::Refused { .. } => {
                tally.broken(identity, events, format!("a second key with equal arguments was {second}"));
            }
            _ => {}
        }
    }
    tally.ruling("no two keys carried equal arguments")
}
