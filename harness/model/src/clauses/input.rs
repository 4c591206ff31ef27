//! What comes in.

use crate::ability::Ability;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, Why};
use crate::reply::Class;
use crate::scenario::Arguments;
use crate::story::Story;

/// A missing key, and one that is none, is refused, and nothing is mutated.
pub(super) static KEY_REQUIRED: Clause = Clause {
    id: "input.key-required",
    level: Level::Must,
    statement: "a call without the required key, or with an empty, too long or wrongly typed one, is refused as invalid, \
                and nothing is mutated",
    why: "a caller that forgot the key believes that it is protected",
    shortest: "call without a key → ok",
    cure: "make the key a required member of the input schema and check it before anything else",
    source: "edition 1 of the contract, group input; draft-ietf-httpapi-idempotency-key-header-07 §2.7",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::KeyRequired],
    policies: &[],
    presupposes: &[],
    rule: key_required,
};

fn key_required(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for bare in story.attempts.iter().filter(|attempt| attempt.form.is_illegal()) {
        let Some((seq, outcome)) = bare.ended else { continue };
        let events = [bare.sent, seq];
        match outcome {
            Outcome::Refused { class: Class::Invalid, .. } => {
                let rows =
                    story.count_after(seq).map(|(_, ledger)| story.all_rows(ledger, bare.identity).len());
                tally.check(rows.unwrap_or(0) == 0, bare.identity, events, || {
                    format!("`{}` came {}, was refused, and left an effect", bare.call, bare.form.words())
                });
            }
            Outcome::Acked(_) | Outcome::Refused { .. } | Outcome::Pending => {
                tally.broken(
                    bare.identity,
                    events,
                    format!("`{}` came {} and ended as {outcome}", bare.call, bare.form.words()),
                );
            }
            Outcome::Unknown { why: Why::Unclassified | Why::Unreadable } => {
                tally.untold(format!("no declared rule says what the reply to `{}` means", bare.call));
            }
            Outcome::Unknown { .. } => {}
        }
    }
    tally.ruling("no call came without its key")
}

/// Legal keys that differ in any character are two identities.
pub(super) static KEY_OPAQUE: Clause = Clause {
    id: "input.key-opaque",
    level: Level::Must,
    statement: "two legal keys that differ in any character are two identities: nothing is cut off, folded or \
                matched as a pattern",
    why: "two intents that run together hide one's effect behind the other's answer",
    shortest: "key A → ok; key a, other arguments → conflict",
    cure: "compare the whole key byte by byte: a column without a collation, an equality and no LIKE",
    source: "edition 1 of the contract, group input",
    harm: Harm::Lost,
    needs: &[Ability::Key, Ability::KeyGrammar],
    policies: &[],
    presupposes: &[],
    rule: key_opaque,
};

fn key_opaque(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let plan = &story.run.plan;
    for identity in 0..plan.identities.len() {
        let Some(kin) = plan.kin(identity) else { continue };
        let of_kin = (0..identity).find(|other| plan.identities[*other].key == Some(kin));
        let said = |identity| story.attempts_of(identity).find_map(|attempt| attempt.ended);
        let (Some((seq, first)), Some((second_seq, second))) = (of_kin.and_then(said), said(identity)) else {
            continue;
        };
        let Some(first) = first.acked() else { continue };
        let events = [seq, second_seq];
        match second {
            Outcome::Acked(answer) => {
                let own = !answer.replayed && (answer.id.is_none() || answer.id != first.id);
                tally.check(own, identity, events, || {
                    "a key that differs from a used one was given the other's result".to_owned()
                });
            }
            Outcome::Refused { class: Class::Busy | Class::InProgress, .. } | Outcome::Pending => {}
            Outcome::Refused { .. } => {
                let what = format!("a key that differs from a used one was {second}");
                tally.broken(identity, events, what);
            }
            Outcome::Unknown { why: Why::Unclassified | Why::Unreadable } => {
                tally.untold("no declared rule says what the second key was told");
            }
            Outcome::Unknown { .. } => {}
        }
    }
    tally.ruling("no two keys were nearly the same")
}

/// A doubled key is refused or read as one, and no marker of a caller's makes the server skip its guard.
pub(super) static KEY_UNFORGEABLE: Clause = Clause {
    id: "input.key-unforgeable",
    level: Level::Must,
    statement: "nothing that a caller sends beside its key lifts the guard: a doubled key is refused or read as one",
    why: "the guard is then bound to a key that the caller does not know of, and its retry runs again",
    shortest: "keys A and B → ok (id 1); key A → ok (id 2)",
    cure: "refuse a second key header; believe no marker that a caller may have written",
    source: "edition 1 of the contract, group input; RFC 9110 §5.3 on repeated fields",
    harm: Harm::Duplicate,
    needs: &[Ability::Key, Ability::KeyHeader],
    policies: &[],
    presupposes: &[],
    rule: key_unforgeable,
};

fn key_unforgeable(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for twice in story.attempts.iter().filter(|attempt| attempt.form.is_twice()) {
        let Some((seq, outcome)) = twice.ended else { continue };
        let mut later = story.attempts_of(twice.identity).filter(|other| other.keyed && other.sent > seq);
        let rows = |seq| {
            story.count_after(seq).map_or(0, |(_, ledger)| story.all_rows(ledger, twice.identity).len())
        };
        match outcome {
            Outcome::Refused { .. } => tally.check(rows(seq) == 0, twice.identity, [twice.sent, seq], || {
                format!("`{}` came {}, was refused, and left an effect", twice.call, twice.form.words())
            }),
            Outcome::Acked(_) => {
                let Some((again, _)) = later.find_map(|other| other.ended) else { continue };
                tally.check(rows(again) <= 1, twice.identity, [twice.sent, seq, again], || {
                    format!(
                        "`{}` came {} and was done; the retry with its key alone was done again",
                        twice.call,
                        twice.form.words()
                    )
                });
            }
            Outcome::Unknown { why: Why::Unclassified | Why::Unreadable } => {
                tally.untold(format!("no declared rule says what the reply to `{}` means", twice.call));
            }
            Outcome::Unknown { .. } | Outcome::Pending => {}
        }
    }
    tally.ruling("no call carried its key twice")
}

/// Arguments that the published schema forbids are refused, and nothing is mutated.
pub(super) static ARGUMENTS_CHECKED: Clause = Clause {
    id: "input.arguments-checked",
    level: Level::Must,
    statement: "arguments that the published schema forbids are refused, and nothing is mutated",
    why: "what is dropped or bent silently was meant by somebody",
    shortest: "call with a forbidden argument → ok",
    cure: "validate against the published schema before the first write",
    source: "edition 1 of the contract, group input",
    harm: Harm::WrongClass,
    needs: &[Ability::Change(Arguments::Forbidden), Ability::Count],
    policies: &[],
    presupposes: &[],
    rule: arguments_checked,
};

fn arguments_checked(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for bad in &story.attempts {
        let variants = &story.run.plan.identities[bad.identity].variants;
        if variants[bad.variant].arguments != Arguments::Forbidden {
            continue;
        }
        let Some((seq, outcome)) = bad.ended else { continue };
        match outcome {
            Outcome::Unknown { why: Why::Unclassified | Why::Unreadable } => {
                tally.untold(format!("no declared rule says what the reply to `{}` means", bad.call));
            }
            Outcome::Unknown { .. } => {}
            other => {
                let rows =
                    story.count_after(seq).map(|(_, ledger)| story.all_rows(ledger, bad.identity).len());
                let refused = matches!(other, Outcome::Refused { .. });
                tally.check(refused && rows.unwrap_or(0) == 0, bad.identity, [bad.sent, seq], || {
                    format!("`{}` carried what the schema forbids, and ended as {other}", bad.call)
                });
            }
        }
    }
    tally.ruling("no call carried forbidden arguments")
}
