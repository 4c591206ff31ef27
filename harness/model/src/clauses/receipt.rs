//! What is retained.

use crate::ability::Ability;
use crate::attempt::Attempt;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, Why};
use crate::reply::Class;
use crate::retry::{self, Between};
use crate::scenario::{Arguments, Part};
use crate::story::Story;

/// Same key, same arguments: success that names the same effect.
pub(super) static REPLAY: Clause = Clause {
    id: "receipt.replay",
    level: Level::Must,
    statement: "same key, same arguments, after the first answer: success that names the same effect",
    why: "this is what a caller that lost a reply depends on",
    shortest: "call → ok (id 1); same call → ok (id 2)",
    cure: "keep a receipt under the key, in the transaction of the effect, and answer from it",
    source: "edition 1 of the contract, group receipt; draft-ietf-httpapi-idempotency-key-header-07 §2.6",
    harm: Harm::Duplicate,
    needs: &[Ability::Key],
    policies: &[],
    presupposes: &["effect.none-on-refusal", "effect.done-means-done"],
    rule: replay,
};

fn replay(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    retry::judge(story, Between::Nothing, &mut tally);
    tally.ruling("no answered call was repeated")
}

/// A result that is hard to retain still gives one effect.
pub(super) static ANY_RESULT: Clause = Clause {
    id: "receipt.any-result",
    level: Level::Must,
    statement: "a result that is hard to retain, such as an empty one, is recovered as any other, with one effect",
    why: "a receipt that is the stored body stores nothing where there is none, and the retry runs again",
    shortest: "call → done, no body; same call → done, no body; two rows",
    cure: "retain that the call is done, and its status, apart from what it says",
    source: "edition 1 of the contract, group receipt; RFC 9110 §15.3.5 (204 has no content)",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::Count, Ability::Tool(Part::Quiet)],
    policies: &[],
    presupposes: &["receipt.replay", "effect.none-on-refusal", "effect.done-means-done"],
    rule: any_result,
};

fn any_result(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    retry::judge(story, Between::HardAnswer, &mut tally);
    tally.ruling("no call with an empty answer was repeated")
}

/// A restart of the worker changes no recovered result.
pub(super) static SURVIVES_RESTART: Clause = Clause {
    id: "receipt.survives-restart",
    level: Level::Must,
    statement: "a restart of the worker changes no recovered result",
    why: "the crash that loses the reply is the crash that restarts the worker",
    shortest: "call → ok (id 1); kill -9; restart; same call → ok (id 2)",
    cure: "keep receipts where the effects are, not in the memory of the process",
    source: "edition 1 of the contract, group receipt",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::Restart],
    policies: &[],
    presupposes: &["receipt.replay", "recovery.reissue", "effect.acknowledged-exists", "effect.durable"],
    rule: survives_restart,
};

fn survives_restart(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    retry::judge(story, Between::Restart, &mut tally);
    tally.ruling("no answered call was repeated after a restart")
}

/// After a refused conflict the original still replays.
pub(super) static BINDING: Clause = Clause {
    id: "receipt.binding",
    level: Level::Must,
    statement: "after a refused conflict the original arguments still replay the original result",
    why: "one caller's mistake must not take the result away from the one who was right",
    shortest: "call → ok; other arguments, same key → conflict; first call again → conflict",
    cure: "the first arguments bind the key; a conflict writes nothing",
    source: "edition 1 of the contract, group receipt",
    harm: Harm::Stuck,
    needs: &[Ability::Key, Ability::Change(Arguments::Other)],
    policies: &[],
    presupposes: &["receipt.replay"],
    rule: binding,
};

fn binding(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    retry::judge(story, Between::RefusedConflict, &mut tally);
    tally.ruling("no call was repeated after a refused conflict")
}

/// Same key, other arguments: refused as a conflict.
pub(super) static CONFLICT: Clause = Clause {
    id: "receipt.conflict",
    level: Level::Must,
    statement: "same key, arguments that make another effect, after the first answer: refused as a conflict",
    why: "replaying would say done of something that was never done; running it would break the key",
    shortest: "call → ok (id 1); other arguments, same key → ok (id 1)",
    cure: "keep a digest of the canonical arguments in the receipt and compare it before replaying",
    source: "edition 1 of the contract, group receipt; draft-ietf-httpapi-idempotency-key-header-07 §2.7",
    harm: Harm::Lost,
    needs: &[Ability::Key, Ability::Change(Arguments::Other)],
    policies: &[],
    presupposes: &["receipt.replay", "receipt.survives-restart", "effect.acknowledged-exists"],
    rule: conflict,
};

fn conflict(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let changed = |attempt: &&Attempt<'_>| {
        let variants = &story.run.plan.identities[attempt.identity].variants;
        attempt.keyed && attempt.variant != 0 && variants[attempt.variant].arguments == Arguments::Other
    };
    for other in story.attempts.iter().filter(changed) {
        let Some(first) = answered_before(story, other) else { continue };
        let Some((seq, outcome)) = other.ended else { continue };
        let events = [first.sent, other.sent, seq];
        match outcome {
            Outcome::Refused { class: Class::Conflict, .. } => tally.held(),
            Outcome::Unknown { why: Why::Unclassified | Why::Unreadable } => {
                tally.untold(format!("no declared rule says what the reply to `{}` means", other.call));
            }
            Outcome::Unknown { .. } | Outcome::Pending => {}
            Outcome::Refused { class: Class::InProgress | Class::Busy, .. } => {}
            Outcome::Acked(_) | Outcome::Refused { .. } => {
                let what = format!(
                    "`{}` carried other arguments under the key of `{}`, and ended as {outcome}",
                    other.call, first.call
                );
                tally.broken(other.identity, events, what);
            }
        }
    }
    tally.ruling("no key was used again with other arguments")
}

/// An attempt with the base arguments that was answered before this one was sent.
fn answered_before<'s, 'r>(story: &'s Story<'r>, other: &Attempt<'_>) -> Option<&'s Attempt<'r>> {
    story.attempts_of(other.identity).find(|first| {
        first.variant == 0 && first.ended.is_some_and(|(seq, o)| seq < other.sent && o.acked().is_some())
    })
}

/// What is not an argument changes neither identity nor comparison.
pub(super) static INCIDENTAL_IGNORED: Clause = Clause {
    id: "receipt.incidental-ignored",
    level: Level::Must,
    statement: "only the key is the identity: an equal request id under another key collapses nothing, and a \
                refreshed credential of the same principal changes neither identity nor comparison",
    why: "request ids are used again, MCP even allows it on one connection; and credentials expire just when \
          a caller has waited long enough to retry",
    shortest: "call (token one) → ok (id 1); token refreshed: same call (token two) → ok (id 2)",
    cure: "recognise a call by its principal and its key; never by the JSON-RPC id, a trace header or the token",
    source: "edition 1 of the contract, group receipt; MCP 2026-07-28, request ids",
    harm: Harm::Lost,
    needs: &[Ability::Key],
    policies: &[],
    presupposes: &["effect.distinct-intents"],
    rule: incidental_ignored,
};

fn incidental_ignored(story: &Story<'_>) -> Ruling {
    let abilities = &story.run.plan.survey.abilities;
    if !abilities.contains_key(&Ability::RequestId) && !abilities.contains_key(&Ability::Rotate) {
        return Ruling::NotApplicable { lacks: Ability::RequestId };
    }
    let mut tally = Tally::default();
    retry::judge_credentials(story, &mut tally);
    request_ids(story, &mut tally);
    tally.ruling("no request id was used under two keys, and no credential was refreshed between two retries")
}

/// Two keys under one request id are two intents.
fn request_ids(story: &Story<'_>, tally: &mut Tally) {
    for (place, second) in story.attempts.iter().enumerate() {
        let first = story.attempts[..place].iter().find(|first| {
            first.request_id == second.request_id
                && first.identity != second.identity
                && story.settling.is_none_or(|s| second.sent < s)
        });
        let Some(first) = first else { continue };
        let (Some((seq, one)), Some((second_seq, two))) = (first.ended, second.ended) else { continue };
        let (Some(one), Some(two)) = (one.acked(), two.acked()) else {
            if matches!(two, Outcome::Refused { class: Class::Conflict, .. }) {
                let what = format!("`{}` has a key of its own and was {two}", second.call);
                tally.broken(second.identity, [seq, second_seq], what);
            }
            continue;
        };
        let same = one.id.is_some() && one.id == two.id;
        tally.check(!same, second.identity, [first.sent, second.sent, second_seq], || {
            format!(
                "`{}` and `{}` have different keys and one request id, and were told of one effect",
                first.call, second.call
            )
        });
    }
}
