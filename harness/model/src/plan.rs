//! A scenario for one target with every choice made: printable, storable, replayable.

use std::collections::BTreeMap;

use chacha20::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ability::Ability;
use crate::circumstance;
use crate::fault::{Do, Fault};
use crate::scenario::{Act, Arguments, Bound, Call, Connection, KeyForm, Place, Role, Scenario, Step, Until};
use crate::survey::Survey;
use crate::target::{KeyPlace, TargetFacts, Tool};
use crate::template;

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
    /// Labels, by number; a label stands in the arguments and is looked for at the store.
    pub labels: Vec<String>,
    /// What is meant to happen once each.
    pub identities: Vec<Identity>,
    /// What happens, in order.
    pub steps: Vec<PlannedStep>,
}

/// One durable identity: whoever calls, one key, and the arguments that belong to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The intent that it was planned for.
    pub intent: String,
    /// Who calls.
    pub role: Role,
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
    /// Whether it carries its key.
    pub keyed: bool,
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

/// Plans a scenario for a target. Pure: the same four values give the same plans.
///
/// # Errors
/// The first ability that the scenario needs and the target lacks.
pub fn plan(
    scenario: &Scenario,
    facts: &TargetFacts,
    survey: &Survey,
    seed: u64,
    nonce: u64,
) -> Result<Vec<Plan>, Ability> {
    if let Some(missing) = needs(scenario).into_iter().find(|need| !survey.abilities.contains_key(need)) {
        return Err(missing);
    }
    let mut planner = Planner { facts, identities: Vec::new(), intents: BTreeMap::new(), keys: 0, labels: 0 };
    let mut request_ids: BTreeMap<String, u64> = BTreeMap::new();
    let mut steps = Vec::new();
    for step in scenario.steps.iter().flat_map(spread) {
        steps.push(match step {
            Step::Await(call) => PlannedStep::Await(call),
            Step::Act(act) => PlannedStep::Act(act),
            Step::Call(call) => {
                let own = FIRST_REQUEST_ID + request_ids.len() as u64;
                let id = call.request_id_of.as_ref().map_or(own, |of| request_ids[of]);
                request_ids.insert(call.name.clone(), id);
                PlannedStep::Call(planner.call(&call, id))
            }
        });
    }
    let (keys, labels) = names(seed, nonce, planner.keys, planner.labels);
    Ok(vec![Plan {
        scenario: scenario.name.clone(),
        seed,
        nonce,
        target: facts.clone(),
        survey: survey.clone(),
        keys,
        labels,
        identities: planner.identities,
        steps,
    }])
}

/// A step as the player takes it: other intents that fill the store are ordinary calls.
fn spread(step: &Step) -> Vec<Step> {
    let Step::Act(Act::Fill { times }) = step else { return vec![step.clone()] };
    let other = |number| Step::Call(Call::plain(format!("other {number}")));
    (1..=*times).map(other).collect()
}

/// Ids below this one belong to the harness itself: the handshake and the settling retries of a connection.
pub const FIRST_REQUEST_ID: u64 = 1_000;

/// What a scenario needs: what its steps imply, and what it says beyond that.
pub fn needs(scenario: &Scenario) -> Vec<Ability> {
    let mut needs: Vec<Ability> = scenario.needs.iter().copied().collect();
    for step in &scenario.steps {
        match step {
            Step::Call(call) => needs.extend(call_needs(call)),
            Step::Act(Act::Kill { .. } | Act::Stop { .. } | Act::Restart { .. }) => {
                needs.push(Ability::Restart)
            }
            Step::Act(Act::Resume { .. }) => needs.push(Ability::Restart),
            Step::Act(Act::Abandon { .. }) => needs.push(Ability::Connections),
            Step::Act(Act::HoldLock | Act::ReleaseLock) => needs.push(Ability::Lock),
            Step::Act(Act::Pass { limit: Bound::Retention, .. }) => needs.push(Ability::Retention),
            Step::Act(Act::Pass { limit: Bound::Lease, .. }) => needs.push(Ability::Lease),
            Step::Act(Act::Revoke | Act::Grant) => needs.push(Ability::Access),
            Step::Act(Act::Rotate) => needs.push(Ability::Rotate),
            Step::Act(Act::Fill { .. }) => needs.push(Ability::Key),
            Step::Act(Act::Release { .. } | Act::Observe) | Step::Await(_) => {}
        }
    }
    needs
}

fn call_needs(call: &Call) -> Vec<Ability> {
    let mut needs = Vec::new();
    if call.role == Role::Other {
        needs.push(Ability::Principals(2));
    }
    if call.key_of.is_some() || call.key == KeyForm::Missing {
        needs.push(Ability::Key);
    }
    if call.arguments != Arguments::Base {
        needs.push(Ability::Change(call.arguments));
    }
    if call.workspace != Place::Home {
        needs.push(Ability::Workspace(call.workspace));
    }
    if call.worker > 1 {
        needs.push(Ability::Workers(call.worker));
    }
    if call.connection == Connection::New {
        needs.push(Ability::Connections);
    }
    if call.request_id_of.is_some() {
        needs.push(Ability::RequestId);
    }
    if let Some(Fault { at, deed, .. }) = call.fault {
        if deed == Do::Crash {
            needs.push(Ability::Restart);
        }
        if at.is_point() {
            needs.push(match deed {
                Do::Error => Ability::ErrorAt(at),
                Do::Hold => Ability::Release(at),
                _ => Ability::Point(at),
            });
            if deed == Do::Pause {
                needs.extend([Ability::Restart, Ability::Release(at)]);
            }
        }
    }
    needs
}

struct Planner<'a> {
    facts: &'a TargetFacts,
    identities: Vec<Identity>,
    intents: BTreeMap<String, usize>,
    keys: usize,
    labels: usize,
}

impl Planner<'_> {
    fn call(&mut self, call: &Call, request_id: u64) -> PlannedCall {
        let identity = match self.intents.get(&call.intent) {
            Some(known) => *known,
            None => self.identity(call),
        };
        PlannedCall {
            name: call.name.clone(),
            identity,
            variant: self.variant(identity, call.arguments),
            keyed: self.identities[identity].key.is_some() && call.key == KeyForm::Own,
            worker: call.worker,
            connection: call.connection,
            request_id,
            fault: call.fault,
            until: call.until,
        }
    }

    fn identity(&mut self, call: &Call) -> usize {
        let key = match &call.key_of {
            Some(other) => self.identities[self.intents[other]].key,
            None if self.facts.key.at == KeyPlace::None => None,
            None => {
                self.keys += 1;
                Some(self.keys - 1)
            }
        };
        let label = match &call.arguments_of {
            Some(other) => self.identities[self.intents[other]].variants[0].label,
            None => self.fresh_label(),
        };
        let variants = vec![Variant { label, arguments: call.arguments }];
        let (intent, role, place) = (call.intent.clone(), call.role, call.workspace);
        self.identities.push(Identity { intent, role, place, key, variants });
        let number = self.identities.len() - 1;
        self.intents.insert(call.intent.clone(), number);
        number
    }

    fn variant(&mut self, identity: usize, arguments: Arguments) -> usize {
        let known = &self.identities[identity].variants;
        if let Some(found) = known.iter().position(|variant| variant.arguments == arguments) {
            return found;
        }
        let shared = known[0].label;
        let change = self.facts.tool.change.get(&arguments);
        let tells_apart =
            change.is_some_and(|members| members.values().any(|value| value.to_string().contains("{label}")));
        let label = if tells_apart { self.fresh_label() } else { shared };
        self.identities[identity].variants.push(Variant { label, arguments });
        self.identities[identity].variants.len() - 1
    }

    fn fresh_label(&mut self) -> usize {
        self.labels += 1;
        self.labels - 1
    }
}

/// Keys are UUIDs (version 4) and labels `nt-…`, all of one length so that none is a part of another.
fn names(seed: u64, nonce: u64, keys: usize, labels: usize) -> (Vec<String>, Vec<String>) {
    let mut state = [0; 32];
    state[..8].copy_from_slice(&seed.to_le_bytes());
    state[8..16].copy_from_slice(&nonce.to_le_bytes());
    let mut random = ChaCha8Rng::from_seed(state);
    let mut key = || {
        let mut bytes = [0; 16];
        random.fill_bytes(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    };
    let keys = (0..keys).map(|_| key()).collect();
    let stem = random.next_u32();
    let labels = (0..labels).map(|number| format!("nt-{stem:08x}-{number:03}")).collect();
    (keys, labels)
}

impl Plan {
    /// The same plan with fresh keys and labels.
    pub fn renewed(&self, nonce: u64) -> Plan {
        let (keys, labels) = names(self.seed, nonce, self.keys.len(), self.labels.len());
        Plan { nonce, keys, labels, ..self.clone() }
    }

    /// The arguments of one variant of an identity, key included where it sits among them.
    pub fn arguments(&self, identity: usize, variant: usize, keyed: bool) -> Value {
        let of = &self.identities[identity];
        let Variant { label, arguments: kind } = &of.variants[variant];
        let Tool { arguments, change, .. } = &self.target.tool;
        let key = of.key.filter(|_| keyed).map(|number| self.keys[number].as_str());
        let words = [("label", self.labels[*label].as_str()), ("key", key.unwrap_or_default())];
        let mut filled = template::fill_json(arguments, &words);
        for (pointer, value) in change.get(kind).into_iter().flatten() {
            template::set(&mut filled, pointer, template::fill_json(value, &words));
        }
        if let (KeyPlace::Arguments(pointer), Some(key)) = (&self.target.key.at, key) {
            template::set(&mut filled, pointer, Value::String(key.to_owned()));
        }
        filled
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

    /// What is hard about this plan, in words that can be compared between plans.
    pub fn circumstances(&self) -> std::collections::BTreeSet<String> {
        circumstance::of(self)
    }
}
