//! The control of a plan: the same calls with nothing broken on purpose.

use super::{Plan, PlannedCall, PlannedStep};
use crate::scenario::{Act, Until};

impl Plan {
    /// The same calls, one after the other, with fresh keys and labels and without any fault; `None` where the
    /// plan has none, and so is its own control.
    pub fn control(&self, nonce: u64) -> Option<Plan> {
        let steps: Vec<_> = self.steps.iter().filter_map(unbroken).collect();
        let differs = steps != self.steps;
        differs.then(|| Plan { steps, control: true, ..self.renewed(nonce) })
    }
}

/// A step without what it breaks; nothing is left of one that breaks or only waits for what is broken.
fn unbroken(step: &PlannedStep) -> Option<PlannedStep> {
    match step {
        PlannedStep::Call(call) => {
            let call = PlannedCall { fault: None, until: Until::Answered, ..call.clone() };
            Some(PlannedStep::Call(call))
        }
        PlannedStep::Together(calls) => Some(PlannedStep::Together(calls.clone())),
        PlannedStep::Act(act @ (Act::Observe | Act::Fill { .. })) => Some(PlannedStep::Act(act.clone())),
        PlannedStep::Act(_) | PlannedStep::Await(_) => None,
    }
}
