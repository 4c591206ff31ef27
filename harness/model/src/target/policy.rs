//! The axes along which honest servers differ. A target says where it stands on each; the clauses that
//! depend on it judge it there, and every finding shows the line.

use serde::{Deserialize, Serialize};

use super::TargetFacts;

/// One axis, as a clause names what it is judged under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// What a key means under another operation.
    Operation,
    /// What a duplicate gets while the original is at work.
    InFlight,
    /// What other arguments under the key get meanwhile.
    Different,
    /// How true a replay is to the first answer.
    Fidelity,
}

impl std::fmt::Display for Axis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Axis::Operation => "[scope] operation",
            Axis::InFlight => "[in_flight] policy",
            Axis::Different => "[in_flight] different",
            Axis::Fidelity => "[replay] fidelity",
        })
    }
}

impl Axis {
    /// The line of a target file by which it stands there.
    pub fn line(self, facts: &TargetFacts) -> String {
        let value = match self {
            Axis::Operation => word(&facts.scope.operation),
            Axis::InFlight => word(&facts.in_flight.policy),
            Axis::Different => word(&facts.in_flight.different),
            Axis::Fidelity => word(&facts.replay.fidelity),
        };
        format!("{self} = {value}")
    }
}

/// A plain value as TOML writes it too.
fn word<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("a plain value is plain data")
}

/// What is answered while the original is at work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InFlight {
    /// To the same call again.
    #[serde(default)]
    pub policy: Meanwhile,
    /// To other arguments under the key.
    #[serde(default)]
    pub different: Rival,
}

/// What a duplicate gets while the original is at work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Meanwhile {
    /// Any honest answer.
    #[default]
    Either,
    /// It waits for the original, up to the declared bound.
    Wait,
    /// It is told at once that the original is at work.
    Refuse,
}

/// What other arguments get while the key is at work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rival {
    /// Any honest refusal.
    #[default]
    Either,
    /// They are a conflict already.
    Conflict,
    /// The key is at work, whatever they are.
    InProgress,
}

/// What a key means under another operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Elsewhere {
    /// Either of the two.
    #[default]
    Either,
    /// Another identity, with an effect and a result of its own.
    Identity,
    /// A conflict.
    Conflict,
}
