//! Who may see it.

use crate::ability::Ability;
use crate::clause::{Clause, Harm, Level, Ruling, Tally};
use crate::history::{Outcome, Why};
use crate::scenario::Place;
use crate::story::Story;

/// Two callers with one key each get their own effect and result.
pub(super) static PRINCIPAL: Clause = Clause {
    id: "scope.principal",
    level: Level::Must,
    statement: "two principals that use the same key each get their own effect and result",
    why: "keys are guessable and collide; a shared key space hands one caller another's result",
    shortest: "alice, key A → ok (id 1); bob, key A → ok (id 1)",
    cure: "make the principal that the server authenticated a part of the look-up",
    source: "edition 1 of the contract, group scope",
    harm: Harm::Leak,
    needs: &[Ability::Key, Ability::Principals(2)],
    policies: &[],
    presupposes: &["receipt.incidental-ignored"],
    rule: principal,
};

fn principal(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let plan = &story.run.plan;
    for (identity, of) in plan.identities.iter().enumerate() {
        let first = (0..identity).find(|first| {
            plan.label(*first, 0) == plan.label(identity, 0)
                && plan.identities[*first].role != of.role
                && plan.key(*first).is_some()
                && plan.key(*first) == plan.key(identity)
        });
        let Some(first) = first else { continue };
        let said = |identity| story.attempts_of(identity).find_map(|attempt| attempt.ended);
        let (Some((seq, Outcome::Acked(one))), Some((second_seq, two))) = (said(first), said(identity))
        else {
            continue;
        };
        let events = [seq, second_seq];
        match two {
            Outcome::Acked(two) => {
                let same = one.id.is_some() && one.id == two.id;
                tally.check(!same && !two.replayed, identity, events, || {
                    "a second principal that used the same key was given the first one's result".to_owned()
                });
            }
            Outcome::Refused { .. } => {
                let what = format!("a second principal that used the same key was {two}");
                tally.broken(identity, events, what);
            }
            Outcome::Unknown { why: Why::Unclassified | Why::Unreadable } => {
                tally.untold("no declared rule says what the second principal was told");
            }
            Outcome::Unknown { .. } | Outcome::Pending => {}
        }
    }
    tally.ruling("no key was used by two principals")
}

/// One key in two workspaces of one principal is two identities.
pub(super) static WORKSPACE: Clause = Clause {
    id: "scope.workspace",
    level: Level::Must,
    statement: "the same key in a second workspace of the same principal gets its own effect and result",
    why: "workspaces are kept apart for a reason, and a replay across them hides the second effect",
    shortest: "workspace one, key A → ok (id 1); workspace two, key A → ok (id 1)",
    cure: "make the workspace that the server resolved a part of the look-up",
    source: "edition 1 of the contract, group scope",
    harm: Harm::Leak,
    needs: &[Ability::Key, Ability::Workspace(Place::Second)],
    policies: &[],
    presupposes: &["receipt.incidental-ignored"],
    rule: workspace,
};

fn workspace(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let plan = &story.run.plan;
    for (identity, of) in plan.identities.iter().enumerate().filter(|(_, of)| of.place == Place::Second) {
        let first = (0..identity).find(|first| {
            let other = &plan.identities[*first];
            other.key == of.key && other.role == of.role && other.place != of.place
        });
        let Some(first) = first else { continue };
        let said = |identity| story.attempts_of(identity).find_map(|attempt| attempt.ended);
        let (Some((seq, Outcome::Acked(one))), Some((second_seq, two))) = (said(first), said(identity))
        else {
            continue;
        };
        let own = match two {
            Outcome::Acked(two) => !two.replayed && (one.id.is_none() || one.id != two.id),
            Outcome::Refused { .. } => false,
            Outcome::Unknown { .. } | Outcome::Pending => continue,
        };
        tally.check(own, identity, [seq, second_seq], || {
            format!("the key was used in a second workspace, and that call ended as {two}")
        });
    }
    tally.ruling("no key was used in two workspaces")
}

/// A workspace that the caller may not use is refused, without effect.
pub(super) static SERVER_RESOLVED: Clause = Clause {
    id: "scope.server-resolved",
    level: Level::Must,
    statement: "a workspace that the caller names is refused, without effect, where the caller may not use it",
    why: "a tenant that the caller can choose is no tenant",
    shortest: "call for a foreign workspace → ok",
    cure: "look the named workspace up among those of the authenticated principal",
    source: "edition 1 of the contract, group scope",
    harm: Harm::Leak,
    needs: &[Ability::Workspace(Place::Foreign), Ability::Count],
    policies: &[],
    presupposes: &[],
    rule: server_resolved,
};

fn server_resolved(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    let allowed = story.attempts.iter().any(|attempt| {
        let home = story.run.plan.identities[attempt.identity].place == Place::Home;
        home && attempt.ended.is_some_and(|(_, outcome)| outcome.acked().is_some())
    });
    // A server that refuses everybody keeps no tenant out.
    if !allowed {
        return tally.ruling("no call for the caller's own workspace went through");
    }
    for foreign in &story.attempts {
        if story.run.plan.identities[foreign.identity].place != Place::Foreign {
            continue;
        }
        let (Some((seq, outcome)), Some((counted, ledger))) = (foreign.ended, story.run.last_count()) else {
            continue;
        };
        let label = story.run.plan.label(foreign.identity, foreign.variant);
        let rows = ledger.with(label, None).count();
        match outcome {
            Outcome::Unknown { why: Why::Unclassified } if rows == 0 => {
                tally.untold("no declared rule says what the caller was told");
            }
            Outcome::Unknown { .. } if rows == 0 => {}
            other => tally.check(
                matches!(other, Outcome::Refused { .. }) && rows == 0,
                foreign.identity,
                [foreign.sent, seq, counted],
                || {
                    format!(
                        "`{}` named a workspace that its caller may not use, and ended as {other}",
                        foreign.call
                    )
                },
            ),
        }
    }
    tally.ruling("no call named a foreign workspace")
}

/// After access is revoked a retry is denied, and shows nothing retained.
pub(super) static AUTHORIZE_BEFORE_REPLAY: Clause = Clause {
    id: "scope.authorize-before-replay",
    level: Level::Must,
    statement: "after access is revoked a retry is denied or not found, never replayed",
    why: "a receipt must not outlive the right to see what is in it",
    shortest: "call → ok; access revoked: same call → replayed",
    cure: "check access before the key is looked up",
    source: "edition 1 of the contract, group scope",
    harm: Harm::Leak,
    needs: &[Ability::Key, Ability::Access],
    policies: &[],
    presupposes: &[],
    rule: authorize_before_replay,
};

fn authorize_before_replay(story: &Story<'_>) -> Ruling {
    let mut tally = Tally::default();
    for retry in story.attempts.iter().filter(|attempt| attempt.revoked) {
        let before = story
            .attempts_of(retry.identity)
            .any(|first| first.ended.is_some_and(|(seq, o)| seq < retry.sent && o.acked().is_some()));
        let Some((seq, outcome)) = retry.ended.filter(|_| before) else { continue };
        match outcome {
            Outcome::Unknown { why: Why::Unclassified } => {
                tally.untold(format!("no declared rule says what the reply to `{}` means", retry.call));
            }
            Outcome::Unknown { .. } | Outcome::Pending => {}
            other => tally.check(other.acked().is_none(), retry.identity, [retry.sent, seq], || {
                format!("access was revoked, and `{}` was {other}", retry.call)
            }),
        }
    }
    tally.ruling("no answered call was repeated without access")
}
