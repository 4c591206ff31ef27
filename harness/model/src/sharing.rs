//! Which plans may take turns on one running server, and which rows of a shared store belong to whom.
//!
//! A server that another plan uses too must not notice: a plan shares only if it breaks nothing but its own
//! messages, and if every row that it can make carries a name of its own.

use crate::ability::Ability;
use crate::fault::{At, Do};
use crate::ledger::{Ledger, Row};
use crate::plan::{Plan, PlannedCall, PlannedStep};
use crate::scenario::Act;
use crate::target::Transport;

/// The placeholder of a label in a tool's arguments.
const LABEL: &str = "{label}";

/// Whether a plan may be played on a server that other plans use too, one after the other.
pub(crate) fn shares(plan: &Plan) -> bool {
    let abilities = &plan.survey.abilities;
    // Whoever cannot start a server of its own cannot play a suspicious plan again on one.
    let told_apart =
        [Ability::Restart, Ability::Key, Ability::Count].iter().all(|a| abilities.contains_key(a))
            && plan.target.tools.values().all(|tool| tool.arguments.to_string().contains(LABEL));
    // What is on its way may arrive in somebody else's turn.
    let at_once = plan.target.effect.visible.is_none();
    told_apart && at_once && plan.steps.iter().all(|step| spares_the_server(step, plan.target.transport))
}

fn spares_the_server(step: &PlannedStep, transport: Transport) -> bool {
    // Over stdio the one connection is the process.
    let may_close = transport.over_http();
    match step {
        PlannedStep::Call(call) => call.worker == 1 && spares(call, may_close),
        PlannedStep::Together(calls) => calls.iter().all(|call| call.worker == 1),
        PlannedStep::Await(_) => true,
        PlannedStep::Act(Act::Observe | Act::Release { .. } | Act::Fill { .. }) => true,
        PlannedStep::Act(Act::NotifyCancelled { .. }) => true,
        PlannedStep::Act(Act::Abandon { .. } | Act::HalfClose { .. }) => may_close,
        PlannedStep::Act(_) => false,
    }
}

fn spares(call: &PlannedCall, may_close: bool) -> bool {
    let Some(fault) = call.fault else { return true };
    let on_the_wire = matches!(fault.at, At::Request | At::Reply);
    on_the_wire
        && match fault.deed {
            Do::Drop | Do::Duplicate | Do::Double | Do::Hold | Do::Answer => true,
            Do::Cut | Do::Reset => may_close,
            Do::Crash | Do::Pause | Do::Error => false,
        }
}

/// The rows of a shared store that belong to one plan: effects that carry one of its labels, and receipts
/// that are named by one of its keys.
pub(crate) fn own(plan: &Plan, ledger: &Ledger) -> Ledger {
    let of = |rows: &[Row], is_own: fn(&Plan, &Row) -> bool| {
        rows.iter().filter(|row| is_own(plan, row)).cloned().collect()
    };
    Ledger {
        effects: of(&ledger.effects, is_own_effect),
        receipts: ledger.receipts.as_ref().map(|rows| of(rows, is_own_receipt)),
    }
}

fn is_own_effect(plan: &Plan, row: &Row) -> bool {
    plan.labels.iter().any(|label| row.label.contains(label))
}

fn is_own_receipt(plan: &Plan, row: &Row) -> bool {
    plan.keys.iter().any(|key| row.id.contains(key))
}

/// Whether a shared store holds a row that was not there before the first of these plans and that none of
/// them owns. Receipts count only where they were seen to be named by their key.
pub fn has_foreign_rows(plans: &[&Plan], before: &Ledger, after: &Ledger) -> bool {
    let effect = |row: &&Row| !before.effects.contains(row);
    let strange = |row: &Row| !plans.iter().any(|plan| is_own_effect(plan, row));
    let named = plans.iter().all(|plan| plan.survey.abilities.contains_key(&Ability::Receipts));
    let known = before.receipts.as_deref().unwrap_or_default();
    let mut receipts = after.receipts.iter().flatten().filter(|row| named && !known.contains(row));
    after.effects.iter().filter(effect).any(strange)
        || receipts.any(|row| !plans.iter().any(|plan| is_own_receipt(plan, row)))
}
