//! How hard the weather of a plan is: the set of things in it that a plain retry does not have.
//!
//! A promise that breaks in calm weather explains its breaking in worse weather, so a plan whose
//! circumstances are a subset of another's can take the blame for it.

use std::collections::BTreeSet;

use crate::fault::Do;
use crate::plan::{Plan, PlannedStep};
use crate::scenario::{Act, Arguments, Connection, Place, Role, Until};
use crate::target::Transport;

/// More intents than this in one plan are a crowd.
const CROWD: usize = 10;

/// A kill is a restart in worse weather.
const KILLED: [&str; 2] = ["restart", "kill"];

/// The circumstances of a plan, each as a word.
pub fn of(plan: &Plan) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let by_connection = plan.target.transport == Transport::Http;
    let mut request_ids = BTreeSet::new();
    for step in &plan.steps {
        match step {
            PlannedStep::Call(call) => {
                if let Some(fault) = call.fault {
                    found.insert(format!("{} {}", fault.at.word(), fault.deed.word()));
                    if fault.deed == Do::Crash || plan.survey.restarting.contains(&fault.at) {
                        found.extend(KILLED.map(str::to_owned));
                    }
                    // Over stdio the one connection is the process.
                    if fault.deed == Do::Cut {
                        found.insert(if by_connection { "new connection" } else { "restart" }.to_owned());
                    }
                }
                if call.until != Until::Answered {
                    found.insert("overlap".to_owned());
                    found.extend(by_connection.then(|| "new connection".to_owned()));
                }
                if call.worker > 1 {
                    found.insert("other worker".to_owned());
                }
                if call.connection == Connection::New {
                    found.insert("new connection".to_owned());
                }
                if plan.identities[call.identity].role == Role::Other {
                    found.insert("second principal".to_owned());
                }
                let arguments = plan.identities[call.identity].variants[call.variant].arguments;
                if arguments != Arguments::Base {
                    found.insert(format!("{} arguments", arguments.word()));
                }
                if plan.identities[call.identity].place != Place::Home {
                    found.insert("other workspace".to_owned());
                }
                if plan.identities[call.identity].key.is_some() && !call.keyed {
                    found.insert("missing key".to_owned());
                }
                if !request_ids.insert(call.request_id) {
                    found.insert("reused request id".to_owned());
                }
            }
            PlannedStep::Act(Act::Kill { .. }) => found.extend(KILLED.map(str::to_owned)),
            PlannedStep::Act(Act::Stop { .. } | Act::Restart { .. }) => found.extend(["restart".to_owned()]),
            PlannedStep::Act(Act::Abandon { .. }) => {
                found.extend(["abandoned", "new connection"].map(str::to_owned));
            }
            PlannedStep::Act(Act::HoldLock) => found.extend(["store locked".to_owned()]),
            PlannedStep::Act(Act::Pass { .. }) => found.extend(["time passes".to_owned()]),
            PlannedStep::Act(Act::Rotate) => {
                found.insert("refreshed credential".to_owned());
                // Over stdio it stands in the environment of the process.
                found.extend((!by_connection).then(|| "restart".to_owned()));
            }
            PlannedStep::Act(Act::Revoke) => found.extend(["access revoked".to_owned()]),
            PlannedStep::Act(_) | PlannedStep::Await(_) => {}
        }
    }
    if plan.identities.len() > CROWD {
        found.insert("many others".to_owned());
    }
    let intents: BTreeSet<_> = plan.identities.iter().map(|identity| identity.variants[0].label).collect();
    if intents.len() < plan.identities.len() {
        found.insert("equal arguments".to_owned());
    }
    found
}
