//! What the driver found out about a target before anything was planned.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ability::Ability;
use crate::reply::Class;
use crate::scenario::Role;
use crate::target::{Credential, Era, KeyPlace, Target, Transport};

/// What a target can do, each with the evidence for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Survey {
    /// Each ability and why it is believed.
    pub abilities: BTreeMap<Ability, String>,
    /// How the key was seen to arrive; without this no clause about keys is judged.
    pub key_seen: Option<String>,
    /// MCP: which era the server speaks.
    pub era: Option<Era>,
    /// MCP: what the server says of the main tool.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub described: Value,
}

/// The abilities that follow from a target file alone.
pub fn declared(target: &Target) -> BTreeMap<Ability, String> {
    let mut found = BTreeMap::new();
    let mut add = |ability: Ability, evidence: &str| {
        found.insert(ability, evidence.to_owned());
    };
    if target.key.at != KeyPlace::None {
        add(Ability::Key, "[key] at");
        if target.key.required {
            add(Ability::KeyRequired, "[key] required");
        }
    }
    if target.start.is_some() {
        add(Ability::Restart, "[start]");
    }
    match target.reach.transport {
        Transport::Http => {
            add(Ability::Connections, "[reach] transport = \"http\"");
            if target.reach.request_id.is_some() {
                add(Ability::RequestId, "[reach] request_id");
            }
        }
        Transport::McpStdio => add(Ability::RequestId, "JSON-RPC"),
    }
    if target.promise.workers >= 2 {
        add(Ability::Workers(2), "[promise] workers");
    }
    if principals(target) >= 2 {
        add(Ability::Principals(2), "[[principal]]");
    }
    for arguments in target.main().change.keys() {
        add(Ability::Change(*arguments), "[tool.main.change]");
    }
    for workspace in &target.workspaces {
        add(Ability::Workspace(workspace.place), "[[workspace]]");
    }
    if target.start.is_some() && target.stores.iter().any(|store| store.sqlite.is_some()) {
        add(Ability::Lock, "[[store]] sqlite");
    }
    if target.limits.lock_timeout.is_some() {
        add(Ability::LockTimeout, "[limits] lock_timeout");
    }
    if target.access.is_some() {
        add(Ability::Access, "[access]");
    }
    if target.retention.window.is_some() {
        add(Ability::Retention, "[retention] window");
    }
    if target.recovery.lease.is_some() {
        add(Ability::Lease, "[recovery] lease");
    }
    if target.replies.retryable.is_some() {
        add(Ability::Retryable, "[replies] retryable");
    }
    if target.replies.operation.is_some() {
        add(Ability::OperationId, "[replies] operation");
    }
    if target.stores.iter().any(|store| store.effects.is_some() || store.command.is_some()) {
        add(Ability::Count, "[[store]]");
    }
    if target.replies.id.is_some() {
        add(Ability::ResultId, "[replies] id");
    }
    if target.replies.rules.iter().any(|rule| rule.class == Class::Replayed) {
        add(Ability::ReplayMarker, "[[replies.rule]] class = \"replayed\"");
    }
    for hook in &target.hooks {
        if hook.arm.is_some() {
            add(Ability::Point(hook.point), "[[hook]] arm");
            if hook.release.is_some() {
                add(Ability::Release(hook.point), "[[hook]] release");
            }
        }
        if hook.error.is_some() {
            add(Ability::ErrorAt(hook.point), "[[hook]] error");
        }
    }
    found
}

/// Callers with a scope of their own; over stdio each is a process, and so needs a start of its own.
fn principals(target: &Target) -> usize {
    let distinct = |role: Role| target.principals.iter().filter(|p| p.role == role).count();
    let reachable = target.principals.iter().all(|principal| match principal.credential {
        Credential::Env { .. } => target.start.is_some(),
        Credential::Header { .. } => true,
    });
    if reachable { distinct(Role::Owner).min(1) + distinct(Role::Other).min(1) } else { 0 }
}
