//! The declared limits that a plan has to wait for, which no harness can make shorter.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::fault::{At, Do};
use crate::plan::{Plan, PlannedStep};
use crate::scenario::{Act, Bound, Side};
use crate::target::Limit;

/// Which part of a limit goes by until a side of it is reached: far enough inside that a busy machine does
/// not reach its end, and so far past it that a clock which runs a little behind has reached it too.
pub fn part(to: Side) -> f64 {
    match to {
        Side::JustInside => 0.55,
        Side::JustPast => 1.1,
    }
}

/// How long a plan waits for declared limits, each limit counted once.
pub(crate) fn of(plan: &Plan) -> Duration {
    let facts = &plan.target;
    let mut waits: BTreeMap<&str, Duration> = BTreeMap::new();
    let mut wait = |limit: &'static str, bound: Option<Limit>, part: f64| {
        let long = bound.map_or(Duration::ZERO, Limit::duration).mul_f64(part);
        let known = waits.entry(limit).or_default();
        *known = long.max(*known);
    };
    if let Some(visible) = facts.effect.visible {
        let counts = plan.steps.len() + plan.identities.len() + 1;
        wait("visible", Some(visible), counts as f64);
    }
    for step in &plan.steps {
        match step {
            PlannedStep::Act(Act::Pass { limit: Bound::Retention, to }) => {
                wait("retention", facts.retention.window, part(*to));
            }
            PlannedStep::Act(Act::Pass { limit: Bound::Lease, to }) => {
                wait("lease", facts.recovery.lease, part(*to));
            }
            PlannedStep::Act(Act::HoldLock) => wait("lock", facts.limits.lock_timeout, 1.0),
            // A claim whose owner was killed is honoured until its lease is over.
            PlannedStep::Call(call)
                if call.fault.is_some_and(|fault| fault.at == At::Claimed && fault.deed == Do::Crash) =>
            {
                wait("lease", facts.recovery.lease, 1.0);
            }
            PlannedStep::Call(_) | PlannedStep::Together(_) | PlannedStep::Await(_) | PlannedStep::Act(_) => {
            }
        }
    }
    waits.into_values().sum()
}
