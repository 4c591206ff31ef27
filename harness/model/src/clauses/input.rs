//! What comes in.

use crate::ability::Ability;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, Why};
use crate::reply::Class;
use crate::scenario::Arguments;
use crate::story::Story;

/// A missing key is refused, and nothing is mutated.
pub(super) static KEY_REQUIRED: Clause = Clause {
    id: "input.key-required",
    level: Level::Must,
    statement: "a call without the required key is refused as invalid, and nothing is mutated",
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
    for bare in story.attempts.iter().filter(|attempt| !attempt.keyed) {
        let Some((seq, outcome)) = bare.ended else { continue };
        let events = [bare.sent, seq];
        match outcome {
            Outcome::Refused { class: Class::Invalid, .. } => {
                let rows =
                    story.count_after(seq).map(|(_, ledger)| story.all_rows(ledger, bare.identity).len());
                tally.check(rows.unwrap_or(0) == 0, bare.identity, events, || {
                    format!("`{}` carried no key, was refused, and left an effect", bare.call)
                });
            }
            Outcome::Acked(_) | Outcome::Refused { .. } | Outcome::Pending => {
                tally.broken(
                    bare.identity,
                    events,
                    format!("`{}` carried no key and ended as {outcome}", bare.call),
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
