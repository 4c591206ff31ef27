//! The shape of a scenario file as it is typed: flat, so that errors name the right line.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::Spanned;

use super::{Arguments, Bound, Connection, KeyForm, Part, Place, Role, Side, Until};
use crate::ability::Ability;
use crate::fault::Fault;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WrittenScenario {
    pub(super) title: Spanned<String>,
    pub(super) source: Spanned<String>,
    #[serde(default)]
    pub(super) needs: BTreeSet<Ability>,
    #[serde(default)]
    pub(super) catches: BTreeMap<String, BTreeSet<String>>,
    #[serde(rename = "step", default)]
    pub(super) steps: Vec<Spanned<WrittenStep>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct WrittenStep {
    pub(super) call: Option<Spanned<String>>,
    pub(super) r#await: Option<Spanned<String>>,
    pub(super) act: Option<Spanned<ActWord>>,
    pub(super) of: Option<Spanned<String>>,
    pub(super) intent: Option<Spanned<String>>,
    pub(super) role: Option<Spanned<Role>>,
    pub(super) tool: Option<Spanned<Part>>,
    pub(super) worker: Option<Spanned<u8>>,
    pub(super) workers: Option<Spanned<u8>>,
    pub(super) different: Option<Spanned<bool>>,
    pub(super) connection: Option<Connection>,
    pub(super) key: Option<Spanned<KeyForm>>,
    pub(super) key_of: Option<Spanned<String>>,
    pub(super) arguments_of: Option<Spanned<String>>,
    pub(super) arguments: Option<Arguments>,
    pub(super) workspace: Option<Spanned<Place>>,
    pub(super) limit: Option<Bound>,
    pub(super) to: Option<Side>,
    pub(super) times: Option<Spanned<u16>>,
    pub(super) request_id_of: Option<Spanned<String>>,
    pub(super) fault: Option<Spanned<Fault>>,
    pub(super) until: Option<Spanned<Until>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ActWord {
    Kill,
    Stop,
    Restart,
    Release,
    Abandon,
    HalfClose,
    NotifyCancelled,
    Observe,
    Resume,
    HoldLock,
    ReleaseLock,
    Pass,
    Revoke,
    Grant,
    Rotate,
    Fill,
}
