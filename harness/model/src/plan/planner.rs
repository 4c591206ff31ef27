//! From a scenario to its plans: every choice is made here.

use std::collections::BTreeMap;

use super::name::{names, shape};
use super::{FIRST_REQUEST_ID, Identity, Plan, PlannedCall, PlannedStep, Shape, Variant, needs};
use crate::ability::Ability;
use crate::scenario::{Act, Arguments, Call, KeyForm, Part, Scenario, Step};
use crate::survey::Survey;
use crate::target::{KeyPlace, TargetFacts};

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
    let mut planner = Planner::new(facts);
    let mut steps = Vec::new();
    for step in scenario.steps.iter().flat_map(spread) {
        steps.push(match step {
            Step::Await(call) => PlannedStep::Await(call),
            Step::Act(act) => PlannedStep::Act(act),
            Step::Call(call) if call.times > 1 => PlannedStep::Together(planner.crowd(&call)),
            Step::Call(call) => PlannedStep::Call(planner.call(&call)),
        });
    }
    let (mut keys, labels) = names(seed, nonce, planner.keys, planner.labels);
    shape(&mut keys, &planner.shapes, facts.key.max);
    Ok(vec![Plan {
        scenario: scenario.name.clone(),
        seed,
        nonce,
        target: facts.clone(),
        survey: survey.clone(),
        keys,
        shapes: planner.shapes,
        labels,
        identities: planner.identities,
        steps,
        control: false,
    }])
}

/// A step as the player takes it: other intents that fill the store are ordinary calls.
fn spread(step: &Step) -> Vec<Step> {
    let Step::Act(Act::Fill { times }) = step else { return vec![step.clone()] };
    let other = |number| Step::Call(Call::plain(format!("other {number}")));
    (1..=*times).map(other).collect()
}

struct Planner<'a> {
    facts: &'a TargetFacts,
    identities: Vec<Identity>,
    intents: BTreeMap<String, usize>,
    /// The request id of each call so far.
    request_ids: BTreeMap<String, u64>,
    keys: usize,
    shapes: BTreeMap<usize, Shape>,
    labels: usize,
}

impl<'a> Planner<'a> {
    fn new(facts: &'a TargetFacts) -> Planner<'a> {
        let (identities, intents, request_ids, shapes) = Default::default();
        Planner { facts, identities, intents, request_ids, keys: 0, shapes, labels: 0 }
    }

    /// One call by many callers, spread over the workers in turn: the same, or each with an intent of its own.
    fn crowd(&mut self, call: &Call) -> Vec<PlannedCall> {
        let one = |number: u16| Call {
            name: format!("{} {number}", call.name),
            intent: if call.different { format!("{} {number}", call.intent) } else { call.intent.clone() },
            worker: ((number - 1) % u16::from(call.workers)) as u8 + 1,
            ..call.clone()
        };
        (1..=call.times).map(|number| self.call(&one(number))).collect()
    }

    fn call(&mut self, call: &Call) -> PlannedCall {
        let own = FIRST_REQUEST_ID + self.request_ids.len() as u64;
        let request_id = call.request_id_of.as_ref().map_or(own, |of| self.request_ids[of]);
        self.request_ids.insert(call.name.clone(), request_id);
        let identity = match self.intents.get(&call.intent) {
            Some(known) => *known,
            None => self.identity(call),
        };
        PlannedCall {
            name: call.name.clone(),
            identity,
            variant: self.variant(identity, call.arguments),
            keyed: self.identities[identity].key.is_some() && call.key.is_plain(),
            form: if call.key.is_plain() { KeyForm::Own } else { call.key },
            worker: call.worker,
            connection: call.connection,
            request_id,
            fault: call.fault,
            until: call.until,
        }
    }

    fn identity(&mut self, call: &Call) -> usize {
        let other = call.key_of.as_ref().map(|other| self.identities[self.intents[other]].key);
        let key = match other {
            Some(key) if !call.key.is_kin() => key,
            _ if self.facts.key.at == KeyPlace::None => None,
            _ => {
                self.keys += 1;
                Some(self.keys - 1)
            }
        };
        if let Some(key) = key.filter(|_| call.key.is_of_the_intent()) {
            self.shapes.insert(key, Shape { form: call.key, of: other.flatten() });
        }
        let label = match &call.arguments_of {
            Some(other) => self.identities[self.intents[other]].variants[0].label,
            None => self.fresh_label(),
        };
        let variants = vec![Variant { label, arguments: call.arguments }];
        let (intent, role, tool, place) = (call.intent.clone(), call.role, call.tool, call.workspace);
        self.identities.push(Identity { intent, role, tool, place, key, variants });
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
        let change = self.facts.tool(Part::Main).change.get(&arguments);
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
