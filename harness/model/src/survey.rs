//! What the driver found out about a target before anything was planned.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ability::Ability;
use crate::fault::At;
use crate::reply::Class;
use crate::scenario::{Part, Role};
use crate::target::{Credential, Era, Hook, KeyPlace, Target, Transport};

/// What a target can do, each with the evidence for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Survey {
    /// Each ability and why it is believed.
    pub abilities: BTreeMap<Ability, String>,
    /// How the key was seen to arrive; without this no clause about keys is judged.
    pub key_seen: Option<String>,
    /// MCP: which era the server speaks.
    pub era: Option<Era>,
    /// The points at which a call is stopped by starting its worker again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub restarting: BTreeSet<At>,
    /// MCP: what the server says of the main tool.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub described: Value,
}

/// The abilities that follow from a target file alone, each with the line that declares it.
pub fn declared(target: &Target) -> BTreeMap<Ability, String> {
    let Target { reach, replies, limits, recovery, retention, stores, .. } = target;
    let keyed = target.key.at != KeyPlace::None;
    let in_header = matches!(target.key.at, KeyPlace::Header(_));
    let http = reach.transport.over_http();
    let plain = !reach.transport.speaks_mcp();
    let started = target.start.is_some();
    let counted = stores.iter().any(|store| store.counts().is_some());
    let marked = replies.rules.iter().any(|rule| rule.class == Class::Replayed);
    let request_id = !plain || reach.request_id.is_some();
    let lock = started && stores.iter().any(|store| store.sqlite.is_some());
    let revocable = target.access.as_ref().is_some_and(|access| access.revoke.is_some());
    let simple = [
        (keyed, Ability::Key, "[key] at"),
        (keyed && target.key.required, Ability::KeyRequired, "[key] required"),
        (keyed && !target.key.grammar.is_uuid(), Ability::KeyGrammar, "[key] grammar"),
        (keyed && target.key.max.is_some(), Ability::KeyMax, "[key] max"),
        (keyed && !in_header, Ability::KeyType, "[key] at"),
        (in_header, Ability::KeyHeader, "[key] at"),
        (started, Ability::Restart, "[start]"),
        (http, Ability::Connections, "[reach] transport"),
        (http, Ability::Status, "[reach] transport"),
        (http, Ability::Headers, "[reach] transport"),
        (reach.transport == Transport::McpStdio, Ability::Cancel, "[reach] transport"),
        (request_id, Ability::RequestId, if plain { "[reach] request_id" } else { "JSON-RPC" }),
        (target.promise.workers >= 2, Ability::Workers(2), "[promise] workers"),
        (principals(target) >= 2, Ability::Principals(2), "[[principal]]"),
        (lock, Ability::Lock, "[[store]] sqlite"),
        (limits.lock_timeout.is_some(), Ability::LockTimeout, "[limits] lock_timeout"),
        (revocable, Ability::Access, "[access]"),
        (target.can_rotate(), Ability::Rotate, "[[principal]] credentials"),
        (retention.window.is_some(), Ability::Retention, "[retention] window"),
        (recovery.lease.is_some(), Ability::Lease, "[recovery] lease"),
        (counted, Ability::Count, "[[store]]"),
        (replies.id.is_some(), Ability::ResultId, "[replies] id"),
        (replies.retryable.is_some(), Ability::Retryable, "[replies] retryable"),
        (replies.operation.is_some(), Ability::OperationId, "[replies] operation"),
        (marked, Ability::ReplayMarker, "[[replies.rule]] class = \"replayed\""),
    ];
    let simple = simple.into_iter().filter(|(has, ..)| *has).map(|(_, ability, line)| (ability, line));
    let tools = target.tools.keys().filter(|part| **part != Part::Main);
    let tools = tools.map(|part| (Ability::Tool(*part), "[tool]"));
    let changes = target.main().change.keys().map(|kind| (Ability::Change(*kind), "[tool.main.change]"));
    let places = target.workspaces.iter().map(|w| (Ability::Workspace(w.place), "[[workspace]]"));
    let workers = (3..=target.promise.workers).map(|n| (Ability::Workers(n), "[promise] workers"));
    let all = simple
        .chain(workers)
        .chain(tools)
        .chain(changes)
        .chain(places)
        .chain(target.hooks.iter().flat_map(at_hook));
    all.map(|(ability, line)| (ability, line.to_owned())).collect()
}

/// The points at which a call is stopped by starting its worker again.
pub fn restarting(target: &Target) -> BTreeSet<At> {
    target.hooks.iter().filter(|hook| hook.restarts()).map(|hook| hook.point).collect()
}

/// What a hook makes possible.
fn at_hook(hook: &Hook) -> Vec<(Ability, &'static str)> {
    let mut found = Vec::new();
    if hook.arm.is_some() {
        found.push((Ability::Point(hook.point), "[[hook]] arm"));
        found.extend(hook.lets_go().then_some((Ability::Release(hook.point), "[[hook]] release")));
    }
    found.extend(hook.error.is_some().then_some((Ability::ErrorAt(hook.point), "[[hook]] error")));
    found
}

/// Callers with a scope of their own; over stdio each is a process, and so needs a start of its own.
fn principals(target: &Target) -> usize {
    let distinct = |role: Role| target.principals.iter().filter(|p| p.role == role).count();
    let reachable =
        target.principals.iter().flat_map(|p| &p.credentials).all(|credential| match credential {
            Credential::Env { .. } => target.start.is_some(),
            Credential::Header { .. } => true,
        });
    if reachable { distinct(Role::Owner).min(1) + distinct(Role::Other).min(1) } else { 0 }
}
