//! One server under test: how it is started, reached and counted, and what it claims.

mod caller;
mod check;
mod claim;
mod hook;
mod key;
mod limit;
mod policy;
mod signal;
mod store;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::caller::{Access, Credential, Principal, ScopeName, Workspace};
pub use self::claim::{
    After, Effect, Fidelity, Limits, Promise, PromiseKind, Purge, Recovery, Replay, Replies, Retention,
    Scope, ScopePart, Waiver,
};
pub use self::hook::Hook;
pub use self::key::{Key, KeyPlace};
pub use self::limit::Limit;
pub use self::policy::{Axis, Elsewhere, InFlight, Meanwhile, Rival};
pub use self::signal::{Evidence, FileWrite, Route, Signal, ToolCall};
pub use self::store::{Asked, Question, Store};
use crate::clauses;
use crate::fault::{At, Do};
use crate::input::{InputError, Source};
use crate::preset;
use crate::scenario::{Arguments, Part, Place, Role};

/// A target file, validated.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Its name in reports.
    pub name: String,
    /// One sentence about it.
    #[serde(default)]
    pub summary: String,
    /// The edition of the contract it is judged by.
    #[serde(default = "edition")]
    pub contract: String,
    /// The presets whose rows stand where the file says nothing itself.
    #[serde(default, rename = "preset", deserialize_with = "one_or_several")]
    pub presets: Vec<String>,
    /// How its workers are started; absent when somebody else runs it.
    #[serde(default)]
    pub start: Option<Start>,
    /// Files of a fresh state folder.
    #[serde(default, rename = "file")]
    pub files: Vec<StateFile>,
    /// How it is reached.
    pub reach: Reach,
    /// The tools that may be called, by the part they play; nothing else is ever called.
    #[serde(rename = "tool")]
    pub tools: BTreeMap<Part, Tool>,
    /// Where the idempotency key sits.
    #[serde(default)]
    pub key: Key,
    /// What an identity is made of beside operation and key.
    #[serde(default)]
    pub scope: Scope,
    /// Who may call, by role.
    #[serde(default, rename = "principal")]
    pub principals: Vec<Principal>,
    /// Workspaces of the owner beside its usual one.
    #[serde(default, rename = "workspace")]
    pub workspaces: Vec<Workspace>,
    /// How the owner's access is taken away and given back.
    #[serde(default)]
    pub access: Option<Access>,
    /// Where effects and receipts are counted.
    #[serde(default, rename = "store")]
    pub stores: Vec<Store>,
    /// What it promises.
    #[serde(default)]
    pub promise: Promise,
    /// What its effects are.
    #[serde(default)]
    pub effect: Effect,
    /// How it recovers.
    #[serde(default)]
    pub recovery: Recovery,
    /// What it answers while the original is at work.
    #[serde(default)]
    pub in_flight: InFlight,
    /// How long it keeps receipts.
    #[serde(default)]
    pub retention: Retention,
    /// How true a replay is to the first answer.
    #[serde(default)]
    pub replay: Replay,
    /// Its bounds on time.
    #[serde(default)]
    pub limits: Limits,
    /// How its replies read.
    #[serde(default)]
    pub replies: Replies,
    /// Where a call can be stopped inside the server.
    #[serde(default, rename = "hook")]
    pub hooks: Vec<Hook>,
    /// By which clauses it asks not to be judged.
    #[serde(default, rename = "waive")]
    pub waivers: Vec<Waiver>,
}

fn edition() -> String {
    clauses::EDITION.to_owned()
}

/// A name, or a list of them.
fn one_or_several<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected the name of a preset, or a list of names")]
    enum Written {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::One(name) => vec![name],
        Written::Several(names) => names,
    })
}

/// How a worker is started. Placeholders: `{state}`, `{port}`, `{self}` (this program), `${ENV}`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Program and arguments; no shell.
    pub command: Vec<String>,
    /// Its environment beyond HOME, PATH and the XDG folders, which the harness sets.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Its working folder; the state folder unless said.
    #[serde(default)]
    pub folder: Option<String>,
    /// How long it may take until it answers.
    #[serde(default = "Limit::ten_seconds")]
    pub ready_within: Limit,
    /// How long it may take to stop when asked.
    #[serde(default = "Limit::five_seconds")]
    pub stop_within: Limit,
    /// Files, or folders with everything in them, that it may write to outside of its own folders.
    #[serde(default)]
    pub may_write: Vec<String>,
    /// Addresses that are not on this machine to which it may be connected: `IP` or `IP:PORT`.
    #[serde(default)]
    pub may_connect: Vec<String>,
}

/// One file of a fresh state folder.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateFile {
    /// Where, below `{state}`.
    pub path: String,
    /// What it holds.
    pub content: String,
}

/// Over what a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// MCP, newline-framed JSON-RPC over standard input and output.
    McpStdio,
    /// MCP over Streamable HTTP: one endpoint, one POST for each message.
    McpHttp,
    /// Plain HTTP/1.1 with JSON bodies.
    Http,
}

impl Transport {
    /// Whether it runs over sockets, so that a process can have many connections.
    pub fn over_http(self) -> bool {
        matches!(self, Transport::McpHttp | Transport::Http)
    }

    /// Whether what is said is MCP, so that tools can be called beside the calls.
    pub fn speaks_mcp(self) -> bool {
        matches!(self, Transport::McpStdio | Transport::McpHttp)
    }

    /// Whether routes can be asked beside the calls.
    pub fn has_routes(self) -> bool {
        self == Transport::Http
    }
}

/// The two ways in which an MCP connection begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Era {
    /// With `initialize`, up to revision 2025-11-25.
    Legacy,
    /// Each request stands alone, from revision 2026-07-28.
    Modern,
}

/// How a worker is reached.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// Over what.
    pub transport: Transport,
    /// HTTP: where, on loopback; `{port}` is a free port that the harness chose. MCP: the whole address of the
    /// endpoint.
    #[serde(default)]
    pub base: Option<String>,
    /// HTTP: a path below the base that answers once the server is ready; without one, an accepted connection
    /// is enough.
    #[serde(default)]
    pub ready: Option<String>,
    /// Plain HTTP: the header that carries a request id, if the server reads one.
    #[serde(default)]
    pub request_id: Option<String>,
    /// MCP: the era to speak; asked of the server unless said.
    #[serde(default)]
    pub era: Option<Era>,
    /// How long one attempt is waited for before it counts as unknown.
    #[serde(default = "Limit::thirty_seconds")]
    pub patience: Limit,
}

/// One tool or route that may be called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// MCP: its name.
    #[serde(default)]
    pub name: String,
    /// HTTP: its method.
    #[serde(default = "post")]
    pub method: String,
    /// HTTP: its path.
    #[serde(default)]
    pub path: String,
    /// The arguments, with `{label}` where a free text goes that the store will hold.
    #[serde(default)]
    pub arguments: Value,
    /// Members to set, by JSON pointer, for each other kind of arguments.
    #[serde(default)]
    pub change: BTreeMap<Arguments, BTreeMap<String, Value>>,
}

fn post() -> String {
    "POST".to_owned()
}

/// What judging may know of a target: everything but how it is started and its credentials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Its name.
    pub name: String,
    /// Where its file is, so that a recorded run can be replayed.
    pub file: String,
    /// The presets whose rows stand where its file says nothing itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub presets: Vec<String>,
    /// Over what it is reached.
    pub transport: Transport,
    /// How its effects are counted: the query, or the command.
    pub counts: Vec<String>,
    /// The tools that may be called, by the part they play.
    pub tools: BTreeMap<Part, Tool>,
    /// Where the key sits.
    pub key: Key,
    /// What an identity is made of beside operation and key.
    #[serde(default)]
    pub scope: Scope,
    /// The scope column's value, by role and workspace.
    pub scopes: Vec<ScopeName>,
    /// What it promises.
    pub promise: Promise,
    /// What its effects are.
    pub effect: Effect,
    /// How it recovers.
    pub recovery: Recovery,
    /// What it answers while the original is at work.
    #[serde(default)]
    pub in_flight: InFlight,
    /// How long it keeps receipts.
    pub retention: Retention,
    /// How true a replay is to the first answer.
    pub replay: Replay,
    /// Its bounds on time.
    pub limits: Limits,
    /// How its replies read.
    pub replies: Replies,
    /// By which clauses it asks not to be judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
}

impl Target {
    /// What judging may know of it. `file` is where it was read from.
    pub fn facts(&self, file: &str) -> TargetFacts {
        TargetFacts {
            name: self.name.clone(),
            file: file.to_owned(),
            presets: self.presets.clone(),
            counts: self.stores.iter().filter_map(Store::counts).collect(),
            transport: self.reach.transport,
            tools: self.tools.clone(),
            key: self.key.clone(),
            scope: self.scope.clone(),
            scopes: self.scopes(),
            promise: self.promise.clone(),
            effect: self.effect.clone(),
            recovery: self.recovery.clone(),
            in_flight: self.in_flight.clone(),
            retention: self.retention.clone(),
            replay: self.replay.clone(),
            limits: self.limits.clone(),
            replies: self.replies.clone(),
            waivers: self.waivers.clone(),
        }
    }

    /// What the scope column of a store says, for each caller and workspace.
    pub fn scopes(&self) -> Vec<ScopeName> {
        let home = |p: &Principal| ScopeName { role: p.role, place: Place::Home, scope: p.scope.clone() };
        let other = |w: &Workspace| ScopeName { role: Role::Owner, place: w.place, scope: w.scope.clone() };
        self.principals.iter().map(home).chain(self.workspaces.iter().map(other)).collect()
    }

    /// Whether the owner can be given a new credential.
    pub fn can_rotate(&self) -> bool {
        let mut owners = self.principals.iter().filter(|principal| principal.role == Role::Owner);
        owners.any(|owner| owner.credentials.len() > 1)
    }

    /// The tool that makes the effect.
    pub fn main(&self) -> &Tool {
        self.tools.get(&Part::Main).expect("checked when the file was read")
    }

    /// The hook that can do a deed at a place, if the target has one.
    pub fn hook(&self, at: At, deed: Do) -> Option<&Hook> {
        self.hooks.iter().find(|hook| hook.point == at && hook.signal(deed).is_some())
    }
}

impl TargetFacts {
    /// The tool that plays a part. Plans are made only for parts that the target names.
    pub fn tool(&self, part: Part) -> &Tool {
        self.tools.get(&part).expect("the plan asked for this ability")
    }
}

/// Reads one target file, with the rows of its presets.
///
/// # Errors
/// The first thing that does not fit: a word, a type, a placeholder, or a contradiction.
pub fn parse(source: Source<'_>) -> Result<Target, InputError> {
    let mut target: Target = source.parse()?;
    if !target.presets.is_empty() {
        // The file alone was read first, because only there a mistake has a place.
        let rows = preset::applied(source, &target.presets)?;
        target = rows.try_into().map_err(|error: toml::de::Error| {
            source.error(0..0, error.message(), "leave the preset out, or the row that contradicts it")
        })?;
    }
    check::target(source, &target)?;
    Ok(target)
}
