//! What a target claims: its promise, its bounds, and how its replies read. Declared, then checked.

use serde::{Deserialize, Serialize};

use super::limit::Limit;
use super::policy::Elsewhere;
use crate::reply::Rule;

/// What an identity is made of beside operation and key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// The parts that the server resolves from the caller.
    #[serde(default = "principal_part")]
    pub parts: Vec<ScopePart>,
    /// What a key means under another operation.
    #[serde(default)]
    pub operation: Elsewhere,
}

impl Default for Scope {
    fn default() -> Scope {
        Scope { parts: principal_part(), operation: Elsewhere::default() }
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

/// A clause by which a target asks not to be judged. It is shown on the first line of every report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// Which clause.
    pub clause: String,
    /// Why its author can live without it.
    pub reason: String,
}

/// What the effects are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// Whether equal arguments are one effect by nature, whatever the key.
    #[serde(default)]
    pub natural_key: bool,
    /// How long after a reply, or after a start, its effect may still be on its way to the store: an outbox, a
    /// read replica. Absent, an effect is there before the reply. Every count then waits for so long, and none
    /// is made while the server cannot deliver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible: Option<Limit>,
}

/// How a target recovers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// How long after the faults stopped a final answer may take.
    #[serde(default = "Limit::one_minute")]
    pub bound: Limit,
    /// How long a claim is honoured whose owner is not heard of.
    #[serde(default)]
    pub lease: Option<Limit>,
}

impl Default for Recovery {
    fn default() -> Recovery {
        Recovery { bound: Limit::one_minute(), lease: None }
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
    /// Where a reply says whether the same request may be made again.
    #[serde(default)]
    pub retryable: Option<String>,
    /// Where a reply names its operation.
    #[serde(default)]
    pub operation: Option<String>,
    /// Where the business result stands, which a retry is compared by.
    #[serde(default)]
    pub value: Option<String>,
    /// Which reply is of which class; the first rule that fits decides.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// How long a target keeps receipts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// From completion until the receipt may go.
    #[serde(default)]
    pub window: Option<Limit>,
    /// What a late retry gets.
    #[serde(default)]
    pub after: After,
    /// Whether a receipt may be there for longer.
    #[serde(default)]
    pub purge: Purge,
}

/// What a retry after the window gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum After {
    /// It is refused as expired.
    #[default]
    Expired,
    /// It runs as new.
    New,
}

/// When a receipt goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purge {
    /// Some time after the window.
    #[default]
    Lazy,
    /// With the end of the window.
    Exact,
}

/// How true a replay is to the first answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// What has to be equal.
    #[serde(default)]
    pub fidelity: Fidelity,
    /// Members of the business result that may differ, by JSON pointer.
    #[serde(default)]
    pub ignore: Vec<String>,
}

/// What of a replay has to be equal to the first answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// Over plain HTTP: the status and the body, byte by byte.
    Bytes,
    /// The business result, as JSON values.
    #[default]
    Fields,
    /// The id of the effect, and each member of the business result, whatever it says by now.
    Current,
    /// The id of the effect alone.
    Id,
}
