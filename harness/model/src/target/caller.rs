//! Who may call a target, and how they say who they are.

use serde::{Deserialize, Serialize};

use super::signal::Signal;
use crate::scenario::{Place, Role};

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

/// One more workspace of the owner.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    /// Whether the owner may use it.
    pub place: Place,
    /// Its name in the scope column of the store.
    #[serde(default)]
    pub scope: String,
    /// How a call says that it is for this workspace; beside the owner's own credential.
    pub credential: Credential,
}

/// How the owner's access is taken away and given back.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Given to take it away.
    pub revoke: Signal,
    /// Given to give it back.
    pub grant: Signal,
}

/// What the scope column of the store says for a caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopeName {
    /// Whose it is.
    pub role: Role,
    /// For which workspace.
    pub place: Place,
    /// The column's value.
    pub scope: String,
}
