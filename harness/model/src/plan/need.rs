//! What a scenario needs of a target.

use crate::ability::Ability;
use crate::fault::{Do, Fault, Spot};
use crate::scenario::{Act, Arguments, Bound, Call, Connection, KeyForm, Part, Place, Role, Scenario, Step};

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
            Step::Act(Act::Abandon { .. } | Act::HalfClose { .. }) => needs.push(Ability::Connections),
            Step::Act(Act::NotifyCancelled { .. }) => needs.push(Ability::Cancel),
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
    if call.tool != Part::Main {
        needs.push(Ability::Tool(call.tool));
    }
    if call.role == Role::Other {
        needs.push(Ability::Principals(2));
    }
    if call.key_of.is_some() || call.key != KeyForm::Own {
        needs.push(Ability::Key);
    }
    match call.key {
        KeyForm::TooLong => needs.push(Ability::KeyMax),
        KeyForm::WrongType => needs.push(Ability::KeyType),
        KeyForm::Doubled | KeyForm::WithAnother => needs.push(Ability::KeyHeader),
        form if form.is_of_the_intent() => needs.push(Ability::KeyGrammar),
        _ => {}
    }
    if call.arguments != Arguments::Base {
        needs.push(Ability::Change(call.arguments));
    }
    if call.workspace != Place::Home {
        needs.push(Ability::Workspace(call.workspace));
    }
    if call.worker.max(call.workers) > 1 {
        needs.push(Ability::Workers(call.worker.max(call.workers)));
    }
    if call.connection == Connection::New {
        needs.push(Ability::Connections);
    }
    if call.request_id_of.is_some() {
        needs.push(Ability::RequestId);
    }
    if let Some(Fault { at, deed, spot, .. }) = call.fault {
        if deed == Do::Crash {
            needs.push(Ability::Restart);
        }
        match deed {
            Do::Answer => needs.push(Ability::Status),
            Do::Reset | Do::Double => needs.push(Ability::Connections),
            _ => {}
        }
        match spot {
            Some(Spot::AfterHeaders) => needs.push(Ability::Headers),
            Some(Spot::MidEvent) => needs.push(Ability::Events),
            _ => {}
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
