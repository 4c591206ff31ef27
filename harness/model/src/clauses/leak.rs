//! What a stranger can tell from an answer.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::ability::Ability;
use crate::attempt::Attempt;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, Why};
use crate::reply;
use crate::story::Story;

/// Answers of one kind differ by this many bytes at most, ids and the caller's own words aside.
const SIZE_CLASS: usize = 16;

/// A caller outside the scope learns nothing of another identity.
pub(super) static NO_LEAK: Clause = Clause {
    id: "scope.no-leak",
    level: Level::Must,
    statement: "a caller outside the scope gets for a used key what a never-seen key gets: the same status, the \
                same members, the same size but for ids and its own words",
    why: "an answer that differs tells a stranger that somebody did something under this key",
    shortest: "alice, key A → ok; bob, key A, other arguments → conflict",
    cure: "look keys up inside the caller's scope alone, conflicts included",
    source: "edition 1 of the contract, group scope",
    harm: Harm::Leak,
    needs: &[Ability::Key, Ability::Principals(2)],
    policies: &[],
    presupposes: &["scope.principal", "effect.performed", "effect.none-on-refusal"],
    rule: no_leak,
};

fn no_leak(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for identity in 0..story.run.plan.identities.len() {
        let Some(owner) = seen_by_another(story, identity) else { continue };
        let Some(first) = story.attempts_of(identity).next() else { continue };
        let Some((seq, outcome)) = first.ended else { continue };
        let plan = &story.run.plan;
        let alike = plan.label(owner, 0) == plan.label(identity, 0);
        match outcome {
            Outcome::Acked(answer) if !answer.replayed => compare(story, first, alike, &mut tally),
            // Under equal arguments this is the question of `scope.principal`.
            _ if alike => {}
            Outcome::Unknown { why: Why::Unclassified } => {
                tally.untold(format!("no declared rule says what the reply to `{}` means", first.call));
            }
            Outcome::Unknown { .. } | Outcome::Pending => {}
            other => tally.broken(identity, [first.sent, seq], {
                format!("`{}` used a key that only another principal had used, and was {other}", first.call)
            }),
        }
    }
    tally.ruling("no key of one principal was used by another")
}

/// An earlier identity of another principal under the key of this one, with a success.
fn seen_by_another(story: &Story<'_>, identity: usize) -> Option<usize> {
    let known = &story.run.plan.identities;
    let of = &known[identity];
    (0..identity).find(|first| {
        known[*first].role != of.role
            && of.key.is_some()
            && known[*first].key == of.key
            && story.attempts_of(*first).any(|a| a.ended.is_some_and(|(_, o)| o.acked().is_some()))
    })
}

/// Compares the success of a stranger under a used key with its successes under keys of its own. Two of those
/// teach by how much such answers differ anyway; where they are not alike themselves, nothing is concluded.
fn compare(story: &Story<'_>, probe: &Attempt<'_>, alike: bool, tally: &mut Tally) {
    let Some(used) = Look::at(story, probe) else { return };
    let fresh: Vec<_> = fresh(story, probe).filter_map(|one| Some((one, Look::at(story, one)?))).collect();
    let told_apart = match fresh.as_slice() {
        [(one, first), (_, second), ..] if first.difference(second).is_none() => {
            first.difference(&used).map(|difference| (one, difference))
        }
        // A success of its own is what another caller may rightly get; only how it looks is not known.
        _ if alike => return,
        _ => None,
    };
    match (told_apart, probe.ended) {
        (Some((one, difference)), Some((seq, _))) => {
            let what = format!(
                "`{}` used a key that only another principal had used, and its answer is told from that to `{}` \
                 by {difference}",
                probe.call, one.call
            );
            tally.broken(probe.identity, [one.sent, probe.sent, seq], what);
        }
        _ => tally.held(),
    }
}

/// First attempts of the same caller, for the same tool and place, under keys that nobody else has.
fn fresh<'s, 'r>(story: &'s Story<'r>, probe: &Attempt<'_>) -> impl Iterator<Item = &'s Attempt<'r>> {
    let known = &story.run.plan.identities;
    let of = &known[probe.identity];
    let alone =
        |number: usize| !known.iter().enumerate().any(|(n, o)| n != number && o.key == known[number].key);
    let candidates: Vec<_> = known
        .iter()
        .enumerate()
        .filter(|(number, other)| {
            let same = (other.role, other.tool, other.place) == (of.role, of.tool, of.place);
            same && other.key.is_some() && alone(*number)
        })
        .map(|(number, _)| number)
        .collect();
    candidates.into_iter().filter_map(|number| story.attempts_of(number).next())
}

/// How an answer looks to somebody who does not read it.
#[derive(Debug)]
struct Look {
    /// Over HTTP, its status.
    status: Option<String>,
    /// The path of each member.
    members: BTreeSet<String>,
    /// The bytes of its values, ids and the caller's own words aside.
    size: usize,
}

impl Look {
    /// The look of a success that nothing disturbed.
    fn at(story: &Story<'_>, attempt: &Attempt<'_>) -> Option<Look> {
        let answer = attempt.ended.and_then(|(_, outcome)| outcome.acked());
        let answer = answer.filter(|_| attempt.keyed && story.undisturbed(attempt))?;
        let bytes = attempt.bytes?;
        let plan = &story.run.plan;
        let (label, key) = (plan.label(attempt.identity, attempt.variant), plan.key(attempt.identity));
        let ids = [answer.id.as_deref(), attempt.operation, Some(attempt.request_id)];
        let status = bytes.strip_prefix("HTTP/").and_then(|rest| rest.split(' ').nth(1));
        let mut look = Look { status: status.map(str::to_owned), members: BTreeSet::new(), size: 0 };
        let own = [Some(label), key];
        match reply::message(bytes) {
            Some(message) => look.read("", &message, &own, &ids),
            None => look.size = reply::essence(bytes).len(),
        }
        Some(look)
    }

    fn read(&mut self, at: &str, value: &Value, own: &[Option<&str>], ids: &[Option<&str>]) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let at = format!("{at}/{name}");
                    self.members.insert(at.clone());
                    self.read(&at, member, own, ids);
                }
            }
            Value::Array(items) => {
                items.iter().for_each(|item| self.read(&format!("{at}/*"), item, own, ids));
            }
            Value::String(text) if ids.contains(&Some(text.as_str())) => {}
            Value::String(text) => {
                let rest = own.iter().flatten().fold(text.clone(), |rest, word| rest.replace(word, ""));
                self.size += rest.len();
            }
            // How many digits a number has says as much as an id.
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// What tells two answers apart.
    fn difference(&self, other: &Look) -> Option<String> {
        let show = |status: &Option<String>| status.clone().unwrap_or_default();
        if self.status != other.status {
            return Some(format!("its status: {}, not {}", show(&other.status), show(&self.status)));
        }
        if let Some(member) = self.members.symmetric_difference(&other.members).next() {
            return Some(format!("its members: only one of them has `{member}`"));
        }
        let more = self.size.abs_diff(other.size);
        (more > SIZE_CLASS).then(|| format!("its size: {more} bytes beyond ids and its caller's own words"))
    }
}
