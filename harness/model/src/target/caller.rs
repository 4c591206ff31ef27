//! Who may call a target, and how they say who they are.

use serde::{Deserialize, Serialize};

use super::signal::Signal;
use crate::input::CURE;
use crate::scenario::{Place, Role};

/// One caller that the server tells apart.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WrittenPrincipal")]
pub struct Principal {
    /// The part it plays in scenarios.
    pub role: Role,
    /// Its name in the scope column of the store.
    pub scope: String,
    /// How it says who it is: one credential, and those that it is given later. There is at least one.
    pub credentials: Vec<Credential>,
}

/// A principal as it is typed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPrincipal {
    role: Role,
    #[serde(default)]
    scope: String,
    credential: Option<Credential>,
    credentials: Option<Vec<Credential>>,
}

impl TryFrom<WrittenPrincipal> for Principal {
    type Error = String;

    fn try_from(written: WrittenPrincipal) -> Result<Principal, String> {
        let WrittenPrincipal { role, scope, credential, credentials } = written;
        let credentials = match (credential, credentials) {
            (Some(one), None) => vec![one],
            (None, Some(several)) if !several.is_empty() => several,
            _ => {
                return Err(format!(
                    "a principal has one `credential`, or a list of `credentials`{CURE}write `credential = \
                     {{ … }}`, or `credentials = [{{ … }}, {{ … }}]` where it is given a new one"
                ));
            }
        };
        Ok(Principal { role, scope, credentials })
    }
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

/// How the owner's access is taken away and given back, and how it gets a new credential.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Given to take it away.
    #[serde(default)]
    pub revoke: Option<Signal>,
    /// Given to give it back.
    #[serde(default)]
    pub grant: Option<Signal>,
    /// Given before the owner's next credential is used; without it both are valid all the time.
    #[serde(default)]
    pub rotate: Option<Signal>,
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
