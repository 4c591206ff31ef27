//! Who may call a target, and how they say who they are.

use serde::Deserialize;

use crate::scenario::Role;

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
