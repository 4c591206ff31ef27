//! Whether a replay is true to the first answer, and whether other arguments are told apart.

use serde_json::Value;

use crate::ability::Ability;
use crate::attempt::Attempt;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, Why};
use crate::reply::Class;
use crate::retry;
use crate::scenario::Arguments;
use crate::story::Story;
use crate::target::{Axis, Fidelity};

/// The replayed business result equals the first at the declared fidelity.
pub(super) static FAITHFUL: Clause = Clause {
    id: "receipt.faithful",
    level: Level::Must,
    statement: "the replayed business result equals the first one at the declared fidelity",
    why: "a caller that only learns \"already done\" still lacks what it asked for",
    shortest: "call → ok with a note; same call → ok without it",
    cure: "retain the whole result, not only that there was one",
    source: "edition 1 of the contract, group receipt",
    harm: Harm::Lost,
    needs: &[Ability::Key],
    policies: &[Axis::Fidelity],
    presupposes: &[
        "receipt.replay",
        "receipt.binding",
        "receipt.survives-restart",
        "recovery.reissue",
        "recovery.other-worker",
        "retention.window",
        "retention.no-silent-repeat",
        "effect.acknowledged-exists",
        "recovery.disconnect-is-not-undo",
    ],
    rule: faithful,
};

fn faithful(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let replay = &story.run.plan.target.replay;
    if replay.fidelity == Fidelity::Id {
        return tally.ruling("the target declares that only the id is the same");
    }
    for retry in retry::retries(story) {
        let (Some((first_seq, first)), Some((seq, again))) =
            (retry.first.replied.or(retry.first.ended), retry.again.replied.or(retry.again.ended))
        else {
            continue;
        };
        let (Some(first), Some(again)) = (first.acked(), again.acked()) else { continue };
        if first.id != again.id {
            continue;
        }
        let [one, two] = [first, again].map(|answer| without(&answer.value, &replay.ignore));
        let same = match replay.fidelity {
            Fidelity::Bytes => wire(retry.first) == wire(retry.again),
            Fidelity::Current => has_members_of(&two, &one),
            Fidelity::Fields | Fidelity::Id => one == two,
        };
        tally.check(same, retry.first.identity, [first_seq, retry.again.sent, seq], || {
            format!("the result of `{}` is not the one of `{}`", retry.again.call, retry.first.call)
        });
    }
    tally.ruling("no result was replayed")
}

/// Status and body of a reply over plain HTTP, as they came.
fn wire<'r>(attempt: &Attempt<'r>) -> Option<(&'r str, String)> {
    let (head, body) = attempt.bytes?.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?;
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    Some((status, if chunked { unchunked(body) } else { body.to_owned() }))
}

/// A body without the lines that say how long its next piece is: where it is cut says nothing.
fn unchunked(body: &str) -> String {
    let mut whole = String::new();
    let mut rest = body;
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16);
        let Some(piece) = size.ok().filter(|size| *size > 0).and_then(|size| after.get(..size)) else {
            break;
        };
        whole.push_str(piece);
        rest = after[piece.len()..].trim_start_matches("\r\n");
    }
    whole
}

/// Whether a value still has every member that an earlier one of the same thing had.
fn has_members_of(value: &Value, earlier: &Value) -> bool {
    match (value, earlier) {
        (Value::Object(now), Value::Object(before)) => before.keys().all(|name| now.contains_key(name)),
        (now, before) => now.is_null() == before.is_null() && now.is_object() == before.is_object(),
    }
}

/// A value without the members that may differ.
fn without(value: &Value, ignored: &[String]) -> Value {
    let mut value = value.clone();
    for pointer in ignored {
        if let Some((parent, name)) = pointer.rsplit_once('/')
            && let Some(members) = value.pointer_mut(parent).and_then(Value::as_object_mut)
        {
            members.remove(name);
        }
    }
    value
}

/// A changed argument that makes a different effect is never a replay under the used key.
pub(super) static DISCRIMINATING: Clause = Clause {
    id: "receipt.discriminating",
    level: Level::Must,
    statement: "arguments that make another result under a fresh key are refused under a used one",
    why: "a comparison that overlooks an argument says done of something that was never done",
    shortest: "call → ok; with another title under a fresh key → another note; under the used key → replayed",
    cure: "compare the whole canonical request, not the members one happened to think of",
    source: "edition 1 of the contract, group receipt and \"Playing argument changes\"",
    harm: Harm::Lost,
    needs: &[Ability::Key, Ability::Change(Arguments::Detail)],
    policies: &[],
    presupposes: &["receipt.conflict", "receipt.replay"],
    rule: discriminating,
};

/// Nothing is expected of a change by itself. Two base calls under fresh keys teach what is volatile in a
/// result; the changed call under a fresh key shows whether the change matters; only then is the changed
/// call under the used key asked about.
fn discriminating(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let value =
        |attempt: &Attempt<'_>| attempt.ended.and_then(|(_, o)| o.acked()).map(|answer| answer.value.clone());
    let kind = |attempt: &Attempt<'_>| {
        story.run.plan.identities[attempt.identity].variants[attempt.variant].arguments
    };
    let firsts: Vec<_> = story
        .attempts
        .iter()
        .filter(|attempt| {
            story.attempts_of(attempt.identity).next().is_some_and(|first| first.sent == attempt.sent)
        })
        .collect();
    let mut base =
        firsts.iter().filter(|first| kind(first) == Arguments::Base).filter_map(|first| value(first));
    let changed =
        firsts.iter().filter(|first| kind(first) == Arguments::Detail).find_map(|first| value(first));
    let (Some(one), Some(two), Some(changed)) = (base.next(), base.next(), changed) else {
        return tally.ruling("the changed arguments were not tried under a fresh key");
    };
    if masked(&one, &two) == masked(&changed, &two) {
        return tally.ruling("the changed arguments make the same result");
    }
    for used in
        story.attempts.iter().filter(|attempt| kind(attempt) == Arguments::Detail && attempt.variant != 0)
    {
        let Some((seq, outcome)) = used.ended else { continue };
        match outcome {
            Outcome::Refused { class: Class::InProgress | Class::Busy, .. } | Outcome::Pending => {}
            Outcome::Unknown { why: Why::Unclassified } => {
                tally.untold(format!("no declared rule says what the reply to `{}` means", used.call));
            }
            Outcome::Unknown { .. } => {}
            other => tally.check(other.acked().is_none(), used.identity, [used.sent, seq], || {
                format!("`{}` asks for something else under a used key, and was told {other}", used.call)
            }),
        }
    }
    tally.ruling("the changed arguments were not tried under a used key")
}

/// A value in which every leaf that differs from its twin is blotted out.
fn masked(value: &Value, twin: &Value) -> Value {
    match (value, twin) {
        (Value::Object(members), Value::Object(twins)) => members
            .iter()
            .map(|(name, member)| (name.clone(), masked(member, twins.get(name).unwrap_or(&Value::Null))))
            .collect(),
        (value, twin) if value == twin => value.clone(),
        _ => Value::Null,
    }
}
