//! What the caller is told.

use crate::ability::Ability;
use crate::attempt::Attempt;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, Why};
use crate::reply::{self, Class};
use crate::retry;
use crate::scenario::{Arguments, Part};
use crate::story::Story;

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
    policies: &[],
    presupposes: &[
        "receipt.replay",
        "receipt.survives-restart",
        "recovery.reissue",
        "recovery.other-worker",
        "recovery.disconnect-is-not-undo",
        "recovery.graceful-stop",
        "retention.window",
        "retention.no-silent-repeat",
        "effect.durable",
        "effect.acknowledged-exists",
    ],
    rule: replayed_marked,
};

fn replayed_marked(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for retry in retry::retries(story) {
        let Some((seq, outcome)) = retry.again.replied.or(retry.again.ended) else { continue };
        let Some(answer) =
            outcome.acked().filter(|answer| answer.id.as_deref().is_some_and(|id| retry.ids.contains(&id)))
        else {
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

/// Refusals of different kinds can be told apart.
pub(super) static ACTIONABLE: Clause = Clause {
    id: "outcome.actionable",
    level: Level::Must,
    statement: "conflict, busy, denied, invalid and failed can be told apart from the answer alone",
    why: "each asks for another next step: a new key, patience, access, other arguments",
    shortest: "other arguments under a used key → \"error\"; call without a key → the same \"error\"",
    cure: "give each class a status or a field of its own",
    source: "edition 1 of the contract, group outcome",
    harm: Harm::WrongClass,
    needs: &[Ability::Key],
    policies: &[],
    presupposes: &["receipt.conflict", "input.key-required", "input.arguments-checked"],
    rule: actionable,
};

fn actionable(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let mut seen: Vec<(&str, &Attempt<'_>, Option<Class>, String)> = Vec::new();
    for attempt in &story.attempts {
        let (Some(kind), Some((_, outcome)), Some(bytes)) =
            (provoked(story, attempt), attempt.ended, attempt.bytes)
        else {
            continue;
        };
        let class = match outcome {
            Outcome::Refused { class, .. } => Some(*class),
            Outcome::Unknown { why: Why::Unclassified } => None,
            _ => continue,
        };
        let essence = reply::essence(bytes);
        for (other, first, known, text) in &seen {
            if *other == kind {
                continue;
            }
            if essence == *text || (class.is_some() && class == *known) {
                let what =
                    format!("`{}` ({other}) and `{}` ({kind}) got one answer", first.call, attempt.call);
                tally.broken(attempt.identity, [first.sent, attempt.sent], what);
            } else if class.is_none() || known.is_none() {
                tally.untold(format!(
                    "no declared rule says what `{}` or `{}` was told",
                    first.call, attempt.call
                ));
            } else {
                tally.held();
            }
        }
        seen.push((kind, attempt, class, essence));
    }
    tally.ruling("no two kinds of refusal were provoked in one run")
}

/// Which kind of refusal an attempt asks for.
fn provoked(story: &Story<'_>, attempt: &Attempt<'_>) -> Option<&'static str> {
    let arguments = story.run.plan.identities[attempt.identity].variants[attempt.variant].arguments;
    let bare = story.run.plan.key(attempt.identity).is_some() && !attempt.keyed;
    match arguments {
        _ if bare => Some("invalid"),
        Arguments::Forbidden => Some("invalid"),
        Arguments::Other if attempt.variant != 0 => Some("a used key"),
        _ if attempt.revoked => Some("no access"),
        _ => None,
    }
}

/// What an answer says about retrying is true.
pub(super) static RETRYABLE_TRUTHFUL: Clause = Clause {
    id: "outcome.retryable-truthful",
    level: Level::Must,
    statement: "an answer says retryable only where the unchanged request can succeed later",
    why: "an agent follows the flag: a wrong one is an endless loop, or work given up",
    shortest: "other arguments under a used key → conflict, retryable",
    cure: "derive the flag from the class: true for busy and in-progress, false for conflict and invalid",
    source: "edition 1 of the contract, group outcome",
    harm: Harm::WrongClass,
    needs: &[Ability::Retryable],
    policies: &[],
    presupposes: &["receipt.conflict"],
    rule: retryable_truthful,
};

fn retryable_truthful(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for attempt in &story.attempts {
        let (Some(flag), Some((seq, Outcome::Refused { class, .. }))) = (attempt.retryable, attempt.ended)
        else {
            continue;
        };
        let truth = match class {
            Class::Conflict | Class::Invalid | Class::Denied | Class::Expired => false,
            Class::Busy | Class::InProgress => true,
            _ => continue,
        };
        tally.check(flag == truth, attempt.identity, [attempt.sent, seq], || {
            let outcome = attempt.ended.map(|(_, outcome)| outcome.to_string()).unwrap_or_default();
            format!("`{}` was {outcome}, and its answer says retryable: {flag}", attempt.call)
        });
    }
    tally.ruling("no refusal said whether to retry")
}

/// The operation id is the same over all attempts.
pub(super) static OPERATION_ID_STABLE: Clause = Clause {
    id: "outcome.operation-id-stable",
    level: Level::Must,
    statement: "the operation id is the same over all attempts, workers and restarts",
    why: "it is what a caller asks about when it does not know the outcome",
    shortest: "call → operation 1; same call → operation 2",
    cure: "derive the id from the identity, or keep it in the receipt",
    source: "edition 1 of the contract, group outcome",
    harm: Harm::Shape,
    needs: &[Ability::Key, Ability::OperationId],
    policies: &[],
    presupposes: &[
        "receipt.replay",
        "receipt.survives-restart",
        "recovery.reissue",
        "recovery.other-worker",
        "effect.at-most-once",
        "effect.acknowledged-exists",
        "effect.durable",
        "effect.distinct-intents",
        "scope.principal",
        "receipt.incidental-ignored",
    ],
    rule: operation_id_stable,
};

fn operation_id_stable(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for identity in 0..story.run.plan.identities.len() {
        let named =
            story.attempts_of(identity).filter(|a| a.keyed && a.variant == 0 && a.operation.is_some());
        let named: Vec<_> = named.collect();
        for pair in named.windows(2) {
            tally.check(
                pair[0].operation == pair[1].operation,
                identity,
                [pair[0].sent, pair[1].sent],
                || {
                    format!(
                        "`{}` and `{}` are one intent and name two operations",
                        pair[0].call, pair[1].call
                    )
                },
            );
        }
    }
    tally.ruling("no intent was answered twice with an operation id")
}

/// Structured content validates against the published output schema.
pub(super) static SCHEMA_VALID: Clause = Clause {
    id: "outcome.schema-valid",
    level: Level::Must,
    statement: "every final result has structured content that validates against the published output schema",
    why: "clients validate, and a replay that does not validate is a success that nobody can read",
    shortest: "call → ok with a number where the schema says string",
    cure: "make replays through the same serializer as first answers",
    source: "edition 1 of the contract, group outcome; MCP 2026-07-28, tools, output schema",
    harm: Harm::Shape,
    needs: &[Ability::OutputSchema],
    policies: &[],
    presupposes: &[],
    rule: schema_valid,
};

fn schema_valid(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let Some(schema) = story.run.plan.survey.described.get("outputSchema") else {
        return tally.ruling("no output schema is published");
    };
    let Ok(validator) = jsonschema::validator_for(schema) else {
        tally.untold("the published output schema is itself not valid");
        return tally.ruling("no output schema is published");
    };
    let main = |attempt: &&Attempt<'_>| story.run.plan.identities[attempt.identity].tool == Part::Main;
    for attempt in story.attempts.iter().filter(main) {
        let Some((seq, outcome)) = attempt.replied.filter(|(_, outcome)| outcome.acked().is_some()) else {
            continue;
        };
        let document = attempt.bytes.and_then(reply::message);
        let content = document.as_ref().and_then(|document| document.pointer("/result/structuredContent"));
        let error = content.map_or(Some("there is none".to_owned()), |content| {
            validator.iter_errors(content).next().map(|error| error.to_string())
        });
        tally.check(error.is_none(), attempt.identity, [attempt.sent, seq], || {
            let why = error.clone().unwrap_or_default();
            format!(
                "`{}` was told {outcome}, and its structured content does not validate: {why}",
                attempt.call
            )
        });
    }
    tally.ruling("nothing was answered with success")
}
