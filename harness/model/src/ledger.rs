//! Committed effects, counted by something other than the reply.

use serde::{Deserialize, Serialize};

/// One count of the stores.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Every effect there is, whole.
    pub effects: Vec<Row>,
    /// Every retained receipt, named by its key; absent where the target does not say how to count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipts: Option<Vec<Row>>,
}

/// One row of a store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Row {
    /// What the store calls it.
    pub id: String,
    /// The text in which a plan's label stands.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Whose it is, where the target has scopes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

impl Ledger {
    /// The effects that carry a label and, where the store names scopes, belong to one.
    pub fn with<'l>(&'l self, label: &'l str, scope: Option<&'l str>) -> impl Iterator<Item = &'l Row> {
        self.effects.iter().filter(move |row| {
            let in_scope = match (&row.scope, scope) {
                (Some(found), Some(wanted)) if !wanted.is_empty() => found == wanted,
                _ => true,
            };
            in_scope && row.label.contains(label)
        })
    }
}
