//! What of a target lies on disk: its stores, and the hooks by which a call is stopped inside it.

use serde::Deserialize;

use crate::fault::At;

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

impl Store {
    /// How effects are counted in it, in the words of the target.
    pub(super) fn counts(&self) -> Option<String> {
        self.effects.clone().or_else(|| Some(self.command.as_ref()?.join(" ")))
    }
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
