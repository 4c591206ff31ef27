//! A scenario for one target with every choice made: printable, storable, replayable.

mod control;
mod name;
mod need;
mod planner;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use self::need::needs;
pub use self::planner::plan;
use crate::circumstance;
use crate::fault::Fault;
use crate::ledger::Ledger;
use crate::scenario::{Act, Arguments, Connection, KeyForm, Part, Place, Role, Until};
use crate::sharing;
use crate::survey::Survey;
use crate::target::{KeyPlace, TargetFacts, Tool};
use crate::{template, waiting};

/// One scenario for one target, every choice made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The scenario's name.
    pub scenario: String,
    /// The seed of every random choice.
    pub seed: u64,
    /// Renewed for every play, so that no receipt of an earlier play can answer this one.
    pub nonce: u64,
    /// The claims that the run is judged by.
    pub target: TargetFacts,
    /// What the target was found to be able to do.
    pub survey: Survey,
    /// Idempotency keys, by number.
    pub keys: Vec<String>,
    /// The keys that are no UUIDs, by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shapes: BTreeMap<usize, Shape>,
    /// Labels, by number; a label stands in the arguments and is looked for at the store.
    pub labels: Vec<String>,
    /// What is meant to happen once each.
    pub identities: Vec<Identity>,
    /// What happens, in order.
    pub steps: Vec<PlannedStep>,
    /// Whether this is the control of another plan: the same calls with nothing broken on purpose.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
}

/// A key that is made for what it has in common with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// What is special about it.
    pub form: KeyForm,
    /// The number of the key that it is made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<usize>,
}

/// One durable identity: whoever calls, one key, and the arguments that belong to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The intent that it was planned for.
    pub intent: String,
    /// Who calls.
    pub role: Role,
    /// Which tool is called.
    #[serde(default)]
    pub tool: Part,
    /// For which workspace.
    pub place: Place,
    /// The number of its key; absent where the target takes none.
    pub key: Option<usize>,
    /// Each kind of arguments that it is attempted with.
    pub variants: Vec<Variant>,
}

/// One set of arguments of an identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// The number of its label.
    pub label: usize,
    /// Which of the tool's arguments these are.
    pub arguments: Arguments,
}

/// One step, every choice made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlannedStep {
    /// One attempt.
    Call(PlannedCall),
    /// Attempts that begin at one time and are waited for together.
    Together(Vec<PlannedCall>),
    /// Wait for a call that was left standing.
    Await(String),
    /// Something done to the server or by the harness.
    Act(Act),
}

/// One attempt, every choice made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCall {
    /// Its name.
    pub name: String,
    /// The number of its identity.
    pub identity: usize,
    /// The number of the variant it carries.
    pub variant: usize,
    /// Whether it carries its key, once and as it is.
    pub keyed: bool,
    /// What it carries instead of its key.
    #[serde(default, skip_serializing_if = "KeyForm::is_plain_for_a_call")]
    pub form: KeyForm,
    /// Which worker it goes to.
    pub worker: u8,
    /// Over which connection.
    pub connection: Connection,
    /// The id that it carries on the wire.
    pub request_id: u64,
    /// What goes wrong with it.
    pub fault: Option<Fault>,
    /// When the step ends.
    pub until: Until,
}

impl PlannedCall {
    /// In which form the key is sent.
    pub fn sent_as(&self) -> KeyForm {
        if self.form.is_plain() && !self.keyed { KeyForm::Missing } else { self.form }
    }
}

/// Ids below this one belong to the harness itself: the handshake and the settling retries of a connection.
pub const FIRST_REQUEST_ID: u64 = 1_000;

impl Plan {
    /// The same plan with fresh keys and labels.
    pub fn renewed(&self, nonce: u64) -> Plan {
        let (mut keys, labels) = name::names(self.seed, nonce, self.keys.len(), self.labels.len());
        name::shape(&mut keys, &self.shapes, self.target.key.max);
        Plan { nonce, keys, labels, ..self.clone() }
    }

    /// The arguments of one variant of an identity, key included where it sits among them.
    pub fn arguments(&self, identity: usize, variant: usize, form: KeyForm) -> Value {
        let of = &self.identities[identity];
        let Variant { label, arguments: kind } = &of.variants[variant];
        let Tool { arguments, change, .. } = self.target.tool(of.tool);
        let key = self.carried(identity, form);
        let word = key.as_ref().and_then(Value::as_str).unwrap_or_default();
        let words = [("label", self.labels[*label].as_str()), ("key", word)];
        let mut filled = template::fill_json(arguments, &words);
        for (pointer, value) in change.get(kind).into_iter().flatten() {
            template::set(&mut filled, pointer, template::fill_json(value, &words));
        }
        if let (KeyPlace::Arguments(pointer), Some(key)) = (&self.target.key.at, key) {
            template::set(&mut filled, pointer, key);
        }
        filled
    }

    /// What a call sends in the place of its key.
    pub fn carried(&self, identity: usize, form: KeyForm) -> Option<Value> {
        let key = self.key(identity)?;
        match form {
            KeyForm::Missing => None,
            KeyForm::Empty => Some("".into()),
            KeyForm::TooLong => Some(name::longer(key, self.target.key.max).into()),
            KeyForm::WrongType => Some(json!({ "key": key })),
            _ => Some(key.into()),
        }
    }

    /// What a header that carries the key comes with a second time, where it does.
    pub fn carried_again(&self, identity: usize, form: KeyForm) -> Option<String> {
        let key = self.key(identity)?;
        match form {
            KeyForm::Doubled => Some(key.to_owned()),
            KeyForm::WithAnother => Some(key.chars().rev().collect()),
            _ => None,
        }
    }

    /// The key that an identity's is made from and differs from, where there is one.
    pub fn kin(&self, identity: usize) -> Option<usize> {
        let shape = self.shapes.get(&self.identities[identity].key?)?;
        shape.form.is_kin().then_some(shape.of)?
    }

    /// The key of an identity.
    pub fn key(&self, identity: usize) -> Option<&str> {
        self.identities[identity].key.map(|number| self.keys[number].as_str())
    }

    /// The label of one variant of an identity.
    pub fn label(&self, identity: usize, variant: usize) -> &str {
        &self.labels[self.identities[identity].variants[variant].label]
    }

    /// The scope of an identity in the words of the store, where the target names one.
    pub fn scope(&self, identity: usize) -> Option<&str> {
        let Identity { role, place, .. } = &self.identities[identity];
        let mut names = self.target.scopes.iter();
        names.find(|name| name.role == *role && name.place == *place).map(|name| name.scope.as_str())
    }

    /// Every planned attempt, in the order of the steps.
    pub fn calls(&self) -> impl Iterator<Item = &PlannedCall> {
        self.steps.iter().flat_map(|step| match step {
            PlannedStep::Call(call) => std::slice::from_ref(call),
            PlannedStep::Together(calls) => calls.as_slice(),
            PlannedStep::Await(_) | PlannedStep::Act(_) => &[],
        })
    }

    /// What is hard about this plan, in words that can be compared between plans.
    pub fn circumstances(&self) -> std::collections::BTreeSet<String> {
        circumstance::of(self)
    }
    /// Whether it may be played on a server that other plans use too, one after the other: it breaks only
    /// its own messages, and whatever it makes carries a label or key of its own.
    pub fn shares(&self) -> bool {
        sharing::shares(self)
    }

    /// What of a shared store is its own.
    pub fn own(&self, ledger: &Ledger) -> Ledger {
        sharing::own(self, ledger)
    }

    /// How long it waits for limits that the target declares, which nothing can make shorter.
    pub fn waits(&self) -> Duration {
        waiting::of(self)
    }
}
