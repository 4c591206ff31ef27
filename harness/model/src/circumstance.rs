//! How hard the weather of a plan is: the set of things in it that a plain retry does not have.
//!
//! A promise that breaks in calm weather explains its breaking in worse weather, so a plan whose
//! circumstances are a subset of another's can take the blame for it.

use std::collections::BTreeSet;

use crate::fault::{At, Do, Fault};
use crate::plan::{Identity, Plan, PlannedCall, PlannedStep};
use crate::scenario::{Act, Arguments, Connection, KeyForm, Part, Place, Role, Until};

/// More intents than this in one plan are a crowd.
const CROWD: usize = 10;

/// The points from the first write on, in the order in which a call passes them.
const WRITING: [At; 3] = [At::BetweenWrites, At::BeforeCommit, At::AfterCommit];

/// Another process answers, with nothing of the memory of the first.
const RESTARTED: [&str; 1] = ["other process"];
/// A kill is a restart in worse weather.
const KILLED: [&str; 2] = ["other process", "kill"];
/// Calls that overlap contend for the store, as with somebody else who holds its lock.
const OVERLAPPING: [&str; 2] = ["overlap", "store locked"];

/// The circumstances of a plan, each as a word.
pub fn of(plan: &Plan) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut request_ids = BTreeSet::new();
    for step in &plan.steps {
        match step {
            PlannedStep::Call(call) => of_call(plan, call, &mut found),
            PlannedStep::Together(calls) => {
                calls.iter().for_each(|call| of_call(plan, call, &mut found));
                add(&mut found, &OVERLAPPING);
                add(&mut found, &["burst"]);
                add(&mut found, if by_connection(plan) { &["new connection"] } else { &[] });
            }
            PlannedStep::Act(act) => of_act(act, &mut found),
            PlannedStep::Await(_) => {}
        }
    }
    if plan.calls().any(|call| !request_ids.insert(call.request_id)) {
        found.insert("reused request id".to_owned());
    }
    if plan.identities.len() > CROWD {
        found.insert("many others".to_owned());
    }
    let intents: BTreeSet<_> = plan.identities.iter().map(|identity| identity.variants[0].label).collect();
    if intents.len() < plan.identities.len() {
        add(&mut found, &["key and content differ"]);
    }
    // Over stdio a credential stands in the environment of the process.
    if found.contains("refreshed credential") && !by_connection(plan) {
        add(&mut found, &RESTARTED);
    }
    if found.contains("other process") && by_connection(plan) {
        add(&mut found, &["new connection"]);
    }
    found
}

fn add(found: &mut BTreeSet<String>, words: &[&str]) {
    found.extend(words.iter().map(|word| (*word).to_owned()));
}

/// Whether a new connection is less than a new process.
fn by_connection(plan: &Plan) -> bool {
    plan.target.transport.over_http()
}

fn of_call(plan: &Plan, call: &PlannedCall, found: &mut BTreeSet<String>) {
    let Identity { role, tool, place, key, variants, .. } = &plan.identities[call.identity];
    if let Some(fault) = call.fault {
        of_fault(plan, fault, found);
    }
    let overlaps = call.until != Until::Answered;
    add(found, if overlaps { &OVERLAPPING } else { &[] });
    add(
        found,
        match variants[call.variant].arguments {
            Arguments::Base => &[],
            Arguments::Other => &["key and content differ"],
            Arguments::Detail => &["key and content differ", "detail arguments"],
            Arguments::Forbidden => &["forbidden arguments"],
        },
    );
    let words = [
        (overlaps && by_connection(plan), "new connection"),
        (call.connection == Connection::New, "new connection"),
        (call.worker > 1, "other process"),
        (call.worker > 1, "other worker"),
        (*role == Role::Other, "other scope"),
        (*place != Place::Home, "other scope"),
        (*place != Place::Home, "other workspace"),
        (*tool != Part::Main, "other tool"),
        (call.form.is_illegal() || (key.is_some() && !call.keyed && call.form.is_plain()), "missing key"),
        (matches!(call.form, KeyForm::Empty | KeyForm::TooLong | KeyForm::WrongType), "illegal key"),
        (call.form.is_twice(), "doubled key"),
        (key.is_some_and(|key| plan.shapes.contains_key(&key)), "unusual key"),
    ];
    words.iter().filter(|(is, _)| *is).for_each(|(_, word)| add(found, &[word]));
}

fn of_fault(plan: &Plan, fault: Fault, found: &mut BTreeSet<String>) {
    let at = |deed: Do| format!("{} {}", fault.at.word(), deed.word());
    match fault.deed {
        // A call that is held overlaps with others; where it has begun to write it shows them what an error
        // would leave. One that is paused overlaps on a worker that is slow.
        Do::Hold if WRITING.contains(&fault.at) => found.extend(errors(fault.at)),
        Do::Hold => {}
        Do::Error => found.extend(errors(fault.at)),
        Do::Pause => add(found, &["overlap", "store locked", "pause"]),
        // A crash is an error after which nothing of the process is left.
        Do::Crash => {
            found.extend(errors(fault.at));
            found.insert(at(Do::Crash));
            add(found, &KILLED);
        }
        // A reset is a cut in worse weather.
        Do::Reset => found.extend([at(Do::Cut), at(Do::Reset)]),
        // Copies that come at one time are a race.
        Do::Double => {
            found.extend([at(Do::Duplicate), at(Do::Double)]);
            add(found, &OVERLAPPING);
            add(found, &["reused request id", "new connection"]);
        }
        deed => drop(found.insert(at(deed))),
    }
    // Its worker is started for the call, and again after it.
    if plan.survey.restarting.contains(&fault.at) {
        add(found, &KILLED);
    }
    // Over stdio the one connection is the process.
    if matches!(fault.deed, Do::Cut | Do::Reset) {
        add(found, if by_connection(plan) { &["new connection"] } else { &RESTARTED });
    }
}

/// An error at a point, and at each earlier one since the first write: the later, the more is left behind.
fn errors(at: At) -> Vec<String> {
    let place = WRITING.iter().position(|known| *known == at);
    let until = place.map_or(vec![at], |place| WRITING[..=place].to_vec());
    until.into_iter().map(|at| format!("{} {}", at.word(), Do::Error.word())).collect()
}

fn of_act(act: &Act, found: &mut BTreeSet<String>) {
    add(
        found,
        match act {
            Act::Kill { .. } => &KILLED,
            Act::Stop { .. } | Act::Restart { .. } => &RESTARTED,
            Act::Abandon { .. } | Act::HalfClose { .. } => &["abandoned", "new connection"],
            Act::NotifyCancelled { .. } => &["cancelled"],
            Act::HoldLock => &["store locked"],
            Act::Pass { .. } => &["time passes"],
            Act::Rotate => &["refreshed credential"],
            Act::Revoke => &["access revoked"],
            _ => &[],
        },
    );
}
