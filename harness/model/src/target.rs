//! One server under test: how it is started, reached and counted, and what it claims.

mod check;
mod limit;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::limit::Limit;
use crate::fault::At;
use crate::input::{InputError, Source};
use crate::reply::Rule;
use crate::scenario::Role;

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
    /// How its workers are started; absent when somebody else runs it.
    #[serde(default)]
    pub start: Option<Start>,
    /// Files of a fresh state folder.
    #[serde(default, rename = "file")]
    pub files: Vec<StateFile>,
    /// How it is reached.
    pub reach: Reach,
    /// The tools that may be called, by the part they play; `main` makes the effect.
    #[serde(rename = "tool")]
    pub tools: BTreeMap<String, Tool>,
    /// Where the idempotency key sits.
    #[serde(default)]
    pub key: Key,
    /// What an identity is made of beside operation and key.
    #[serde(default)]
    pub scope: Scope,
    /// Who may call, by role.
    #[serde(default, rename = "principal")]
    pub principals: Vec<Principal>,
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
    /// Its bounds on time.
    #[serde(default)]
    pub limits: Limits,
    /// How its replies read.
    #[serde(default)]
    pub replies: Replies,
    /// Where a call can be stopped inside the server.
    #[serde(default, rename = "hook")]
    pub hooks: Vec<Hook>,
}

fn edition() -> String {
    "1".to_owned()
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
    /// Plain HTTP/1.1 with JSON bodies.
    Http,
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
    /// HTTP: where, on loopback; `{port}` is a free port that the harness chose.
    #[serde(default)]
    pub base: Option<String>,
    /// HTTP: a path that answers once the server is ready; without one, an accepted connection is enough.
    #[serde(default)]
    pub ready: Option<String>,
    /// HTTP: the header that carries a request id, if the server reads one.
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
    /// Members to set, by JSON pointer, for arguments that make another effect.
    #[serde(default)]
    pub change: BTreeMap<String, Value>,
}

fn post() -> String {
    "POST".to_owned()
}

/// Where the idempotency key sits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The place.
    #[serde(default)]
    pub at: KeyPlace,
    /// Whether a call without a key is refused.
    #[serde(default)]
    pub required: bool,
}

/// A place that carries the key: `arguments:/pointer`, `header:NAME` or `none`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum KeyPlace {
    /// The tool takes no key.
    #[default]
    None,
    /// A member of the arguments, by JSON pointer.
    Arguments(String),
    /// An HTTP header, unquoted.
    Header(String),
}

impl std::str::FromStr for KeyPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<KeyPlace, String> {
        match text.split_once(':') {
            None if text == "none" => Ok(KeyPlace::None),
            Some(("arguments", pointer)) if pointer.starts_with('/') => {
                Ok(KeyPlace::Arguments(pointer.to_owned()))
            }
            Some(("header", name)) if !name.is_empty() => Ok(KeyPlace::Header(name.to_owned())),
            _ => Err(format!(
                "unknown variant `{text}`, expected one of `arguments:/pointer`, `header:NAME`, `none`"
            )),
        }
    }
}

impl std::fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeyPlace::None => f.write_str("none"),
            KeyPlace::Arguments(pointer) => write!(f, "arguments:{pointer}"),
            KeyPlace::Header(name) => write!(f, "header:{name}"),
        }
    }
}

impl Serialize for KeyPlace {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeyPlace {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<KeyPlace, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What an identity is made of beside operation and key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The parts that the server resolves from the caller.
    #[serde(default = "principal_part")]
    pub parts: Vec<ScopePart>,
}

impl Default for Scope {
    fn default() -> Scope {
        Scope { parts: principal_part() }
    }
}

fn principal_part() -> Vec<ScopePart> {
    vec![ScopePart::Principal]
}

/// One part of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScopePart {
    /// Who calls.
    Principal,
}

/// One caller that the server tells apart.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Principal {
    /// The part it plays in scenarios.
    pub role: Role,
    /// Its name in the scope column of the store.
    #[serde(default)]
    pub scope: String,
    /// How it says who it is.
    pub credential: Credential,
}

/// How a caller says who it is; never written to a report or record.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Credential {
    /// An HTTP header.
    Header {
        /// Its name.
        name: String,
        /// Its value.
        value: String,
    },
    /// The environment of the worker process, which then serves this caller alone.
    Env {
        /// The variable.
        name: String,
        /// Its value.
        value: String,
    },
}

/// Where rows are counted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Store {
    /// The server's own SQLite database.
    #[serde(default)]
    pub sqlite: Option<String>,
    /// A query with the columns `id`, `label` and, where the target has scopes, `scope`.
    #[serde(default)]
    pub effects: Option<String>,
    /// A query with the column `id`: one row for each retained receipt, named by its key.
    #[serde(default)]
    pub receipts: Option<String>,
    /// Instead of a database: a command that prints a JSON array of `{id, label, scope}`.
    #[serde(default)]
    pub command: Option<Vec<String>>,
}

/// What a target promises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// Whether a retry is promised to be safe, and by what.
    #[serde(default)]
    pub kind: Option<PromiseKind>,
    /// How many workers may share one state folder.
    #[serde(default = "one")]
    pub workers: u8,
}

impl Default for Promise {
    fn default() -> Promise {
        Promise { kind: None, workers: 1 }
    }
}

fn one() -> u8 {
    1
}

/// By what a retry is promised to be safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromiseKind {
    /// By an idempotency key.
    Keyed,
    /// Nothing is promised: said openly, so that a run need not fail for it.
    None,
}

/// What the effects are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// Whether equal arguments are one effect by nature, whatever the key.
    #[serde(default)]
    pub natural_key: bool,
}

/// How a target recovers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// How long after the faults stopped a final answer may take.
    #[serde(default = "Limit::one_minute")]
    pub bound: Limit,
}

impl Default for Recovery {
    fn default() -> Recovery {
        Recovery { bound: Limit::one_minute() }
    }
}

/// Bounds on time that a target declares.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// How long a call waits for a store lock before it answers busy.
    #[serde(default)]
    pub lock_timeout: Option<Limit>,
    /// How long a duplicate waits for the original before it answers in-progress.
    #[serde(default)]
    pub in_flight: Option<Limit>,
}

/// How replies read. Pointers go into the reply document, see [`crate::reply`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replies {
    /// Where a success names its effect.
    #[serde(default)]
    pub id: Option<String>,
    /// Where the business result stands, which a retry is compared by.
    #[serde(default)]
    pub value: Option<String>,
    /// Which reply is of which class; the first rule that fits decides.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// Where a call can be stopped inside the server: how it is armed, how it is seen, how it is let go.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// Which place of the call.
    pub point: At,
    /// Written before the request is sent, so that the call stands at the point.
    #[serde(default)]
    pub arm: Option<FileWrite>,
    /// Written before the request is sent, so that the call fails at the point.
    #[serde(default)]
    pub error: Option<FileWrite>,
    /// The file that appears when the call is there.
    pub reached: String,
    /// Written to let the call go on; without it the call can only be ended there.
    #[serde(default)]
    pub release: Option<FileWrite>,
}

/// A file that the harness writes, whole and by rename.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileWrite {
    /// The file.
    pub write: String,
    /// What it holds.
    #[serde(default)]
    pub content: String,
}

/// What judging may know of a target: everything but how it is started and its credentials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Its name.
    pub name: String,
    /// Where its file is, so that a recorded run can be replayed.
    pub file: String,
    /// Over what it is reached.
    pub transport: Transport,
    /// The tool that makes the effect.
    pub tool: Tool,
    /// Where the key sits.
    pub key: Key,
    /// The scope column's value, by role.
    pub scopes: BTreeMap<Role, String>,
    /// What it promises.
    pub promise: Promise,
    /// What its effects are.
    pub effect: Effect,
    /// How it recovers.
    pub recovery: Recovery,
    /// Its bounds on time.
    pub limits: Limits,
    /// How its replies read.
    pub replies: Replies,
}

impl Target {
    /// What judging may know of it. `file` is where it was read from.
    pub fn facts(&self, file: &str) -> TargetFacts {
        TargetFacts {
            name: self.name.clone(),
            file: file.to_owned(),
            transport: self.reach.transport,
            tool: self.main().clone(),
            key: self.key.clone(),
            scopes: self.principals.iter().map(|p| (p.role, p.scope.clone())).collect(),
            promise: self.promise.clone(),
            effect: self.effect.clone(),
            recovery: self.recovery.clone(),
            limits: self.limits.clone(),
            replies: self.replies.clone(),
        }
    }

    /// The tool that makes the effect.
    pub fn main(&self) -> &Tool {
        self.tools.get("main").expect("checked when the file was read")
    }

    /// The hook at a place, if the target has one.
    pub fn hook(&self, at: At) -> Option<&Hook> {
        self.hooks.iter().find(|hook| hook.point == at)
    }
}

/// Reads one target file.
///
/// # Errors
/// The first thing that does not fit: a word, a type, a placeholder, or a contradiction.
pub fn parse(source: Source<'_>) -> Result<Target, InputError> {
    let target: Target = source.parse()?;
    check::target(source, &target)?;
    Ok(target)
}
