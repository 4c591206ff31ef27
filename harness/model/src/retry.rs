//! How a retry is read: an attempt of an identity that already has its result.

use crate::attempt::Attempt;
use crate::clause::Tally;
use crate::history::{Outcome, Why};
use crate::reply::Class;
use crate::scenario::{Part, Role};
use crate::story::{Age, Story};

/// What lies between the attempt that made the result and its retry. Exactly one clause asks for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// Nothing but a new request id.
    Nothing,
    /// Nothing, and the first answer was one that is hard to retain.
    HardAnswer,
    /// A conflict under the same key, which was refused.
    RefusedConflict,
    /// Most of the window in which the receipt is kept.
    MostOfItsWindow,
    /// So many other keys that a small store would have dropped this one.
    ManyOthers,
    /// So much time that the receipt need not be there any more.
    ItsWindow,
    /// A new connection.
    NewConnection,
    /// A new credential of the same principal. Where it stands in the environment of the worker, the worker
    /// was started again with it.
    RefreshedCredential,
    /// A restart of the worker.
    Restart,
    /// The step to another worker on the same store.
    OtherWorker,
}

/// One retry and the attempt whose result it should recover.
#[derive(Debug)]
pub struct Retry<'s, 'r> {
    /// The attempt that made the result.
    pub first: &'s Attempt<'r>,
    /// The effect that the result names, where it is known. Attempts that raced with the first may have
    /// been told of another one; whose fault that is, is no question of replaying.
    pub ids: Vec<&'r str>,
    /// The retry.
    pub again: &'s Attempt<'r>,
    /// What lies between them.
    pub between: Between,
}

/// Every retry in a run. With several earlier results the first one counts.
pub fn retries<'s, 'r>(story: &'s Story<'r>) -> Vec<Retry<'s, 'r>> {
    story.attempts.iter().filter_map(|again| retry(story, again)).collect()
}

fn retry<'s, 'r>(story: &'s Story<'r>, again: &'s Attempt<'r>) -> Option<Retry<'s, 'r>> {
    if !again.keyed || again.revoked {
        return None;
    }
    let earlier = || {
        story.attempts_of(again.identity).filter(|first| {
            first.keyed
                && first.variant == again.variant
                && first.sent < again.sent
                && first.call != again.call
        })
    };
    let answered = earlier().find_map(|first| {
        let (seq, outcome) = first.replied.or(first.ended)?;
        let answer = outcome.acked()?;
        (seq < again.sent).then_some((first, answer.id.as_deref()))
    });
    let racing = |first: &Attempt<'_>| {
        let rivals =
            earlier().filter(|rival| rival.overlaps(first)).filter_map(|rival| rival.said()?.acked());
        rivals.filter_map(|answer| answer.id.as_deref()).collect::<Vec<_>>()
    };
    // Over a new connection the promise is wider: the result is recovered even if nobody ever saw the
    // first reply, as long as the store shows that there was an effect.
    let made = || {
        earlier().find_map(|first| {
            let (_, ledger) = story.count_before(again.sent).filter(|(seq, _)| *seq > first.sent)?;
            let row = *story.rows(ledger, first.identity, first.variant).first()?;
            let between = between(story, first, again);
            (between == Between::NewConnection).then_some((first, Some(row.id.as_str())))
        })
    };
    let (first, id) = answered.or_else(made)?;
    let ids = id.into_iter().chain(racing(first)).collect();
    Some(Retry { first, ids, again, between: between(story, first, again) })
}

/// How many other intents between an attempt and its retry make a crowd.
const CROWD: usize = 10;

fn between(story: &Story<'_>, first: &Attempt<'_>, again: &Attempt<'_>) -> Between {
    let within = |seq: usize| first.sent < seq && seq < again.sent;
    let mut meanwhile =
        story.attempts_of(first.identity).filter(|other| other.sent > first.sent && other.sent <= again.sent);
    let others = story.attempts.iter().filter(|other| other.identity != first.identity && within(other.sent));
    if story.age(first, again) != Age::Inside {
        Between::ItsWindow
    } else if first.worker != again.worker {
        Between::OtherWorker
    } else if story.run.plan.identities[first.identity].role == Role::Owner
        && story.rotated.iter().any(|seq| within(*seq))
    {
        Between::RefreshedCredential
    } else if first.incarnation != again.incarnation {
        Between::Restart
    } else if story.passed.iter().any(|seq| within(*seq)) {
        Between::MostOfItsWindow
    } else if others.count() >= CROWD {
        Between::ManyOthers
    } else if first.connection != again.connection
        && (keeps_connections(story) || meanwhile.clone().any(|other| other.fresh))
    {
        Between::NewConnection
    } else if meanwhile.any(|other| other.variant != first.variant && is_conflict(other)) {
        Between::RefusedConflict
    } else if story.run.plan.identities[first.identity].tool == Part::Quiet {
        Between::HardAnswer
    } else {
        Between::Nothing
    }
}

/// Whether any connection carried two attempts. A server that closes each one after its reply leaves
/// its callers no choice, and a new connection is then nothing special.
fn keeps_connections(story: &Story<'_>) -> bool {
    let shared = |one: &Attempt<'_>| {
        story.attempts.iter().any(|other| other.sent != one.sent && other.connection == one.connection)
    };
    story.attempts.iter().any(shared)
}

fn is_conflict(attempt: &Attempt<'_>) -> bool {
    matches!(attempt.said(), Some(Outcome::Refused { class: Class::Conflict, .. }))
}

/// Rules on every retry of one kind: it names the effect that was there before, and makes none.
pub fn judge(story: &Story<'_>, between: Between, tally: &mut Tally) {
    for retry in retries(story).iter().filter(|retry| retry.between == between) {
        read(story, retry, tally);
    }
}

/// Rules on every retry with a refreshed credential. What the credential changes shows beside a retry with
/// the old one that was answered right; where the worker was started again to give it the new one, that
/// retry must have come after a restart, too.
pub fn judge_credentials(story: &Story<'_>, tally: &mut Tally) {
    let all = retries(story);
    for retry in all.iter().filter(|retry| retry.between == Between::RefreshedCredential) {
        let replayed = |other: &Retry<'_, '_>| {
            let answer = other.again.said().and_then(Outcome::acked);
            let named = answer.and_then(|answer| answer.id.as_deref());
            answer.is_some() && (other.ids.is_empty() || named.is_none_or(|named| other.ids.contains(&named)))
        };
        let mut ordinary = all.iter().filter(|other| {
            other.again.identity == retry.again.identity && other.between != Between::RefreshedCredential
        });
        let is_alike = |other: &Retry<'_, '_>| {
            other.again.incarnation == retry.again.incarnation || other.between == Between::Restart
        };
        if ordinary.any(|other| replayed(other) && is_alike(other)) {
            read(story, retry, tally);
        }
    }
}

fn read(story: &Story<'_>, retry: &Retry<'_, '_>, tally: &mut Tally) {
    let Retry { first, again, .. } = retry;
    let Some((seq, outcome)) = again.replied.or(again.ended) else { return };
    let events = vec![first.sent, again.sent, seq];
    match outcome {
        Outcome::Acked(answer) => {
            if let (Some(before), Some(now)) = (retry.ids.first(), answer.id.as_deref())
                && !retry.ids.contains(&now)
            {
                let what = format!(
                    "`{}` had the effect {before}; its retry `{}` was told of the effect {now}",
                    first.call, again.call
                );
                return tally.broken(first.identity, events, what);
            }
            if let Some(count) = grown(story, again) {
                let what = format!("the retry `{}` of `{}` made another effect", again.call, first.call);
                return tally.broken(first.identity, [events, vec![count]].concat(), what);
            }
            tally.held();
        }
        // Passing, and so no refusal of the replay.
        Outcome::Refused { class: Class::InProgress | Class::Busy, .. } | Outcome::Pending => {}
        Outcome::Refused { .. } => {
            let what = format!("`{}` succeeded, but its retry `{}` was {outcome}", first.call, again.call);
            tally.broken(first.identity, events, what);
        }
        Outcome::Unknown { why: Why::Unclassified | Why::Unreadable } => {
            tally.untold(format!("no declared rule says what the reply to `{}` means", again.call));
        }
        Outcome::Unknown { .. } => {}
    }
}

/// The count after an attempt, if it shows more effects of its identity than the count before it, and
/// nobody else can have made them.
fn grown(story: &Story<'_>, again: &Attempt<'_>) -> Option<usize> {
    let (from, before) = story.count_before(again.sent)?;
    let (to, after) = story.count_after(again.until())?;
    let rows = |ledger| story.all_rows(ledger, again.identity).len();
    (rows(before) > 0 && rows(after) > rows(before) && story.alone(again, from, to)).then_some(to)
}
