//! The list of clauses, in the order in which reports show them.

mod atomicity;
mod contention;
mod effect;
mod fidelity;
mod input;
mod leak;
mod operation;
mod outcome;
mod race;
mod receipt;
mod recovery;
mod refused;
mod retained;
mod retention;
mod scope;

use crate::clause::Clause;

/// The edition of the contract that these clauses are of.
pub const EDITION: &str = "1";

/// Every clause that is judged.
pub static ALL: &[&Clause] = &[
    &effect::PERFORMED,
    &effect::AT_MOST_ONCE,
    &effect::ACKNOWLEDGED_EXISTS,
    &effect::DURABLE,
    &refused::NONE_ON_REFUSAL,
    &effect::DISTINCT_INTENTS,
    &effect::DONE_MEANS_DONE,
    &atomicity::ALL_OR_NOTHING,
    &atomicity::ATOMIC,
    &receipt::REPLAY,
    &receipt::CONFLICT,
    &receipt::BINDING,
    &receipt::INCIDENTAL_IGNORED,
    &receipt::SURVIVES_RESTART,
    &receipt::ANY_RESULT,
    &fidelity::FAITHFUL,
    &fidelity::DISCRIMINATING,
    &retained::ERROR_AFTER_COMMIT,
    &retained::TRANSIENT_NOT_FROZEN,
    &retained::REFUSAL_NOT_FROZEN,
    &scope::PRINCIPAL,
    &scope::WORKSPACE,
    &operation::OPERATION,
    &scope::SERVER_RESOLVED,
    &scope::AUTHORIZE_BEFORE_REPLAY,
    &leak::NO_LEAK,
    &contention::SINGLE_WINNER,
    &contention::NO_LOST_EFFECT,
    &race::RACING_CONFLICT,
    &race::LOSERS_TYPED,
    &contention::BUSY_RETRYABLE,
    &contention::HEALS,
    &recovery::RESOLVES,
    &recovery::REISSUE,
    &recovery::OTHER_WORKER,
    &recovery::GRACEFUL_STOP,
    &recovery::ZOMBIE_FENCED,
    &recovery::SLOW_OWNER,
    &recovery::DISCONNECT_IS_NOT_UNDO,
    &outcome::ACTIONABLE,
    &outcome::RETRYABLE_TRUTHFUL,
    &outcome::REPLAYED_MARKED,
    &outcome::OPERATION_ID_STABLE,
    &outcome::SCHEMA_VALID,
    &retention::WINDOW,
    &retention::LATE_ARRIVAL,
    &retention::NO_SILENT_REPEAT,
    &input::KEY_REQUIRED,
    &input::KEY_OPAQUE,
    &input::KEY_UNFORGEABLE,
    &input::ARGUMENTS_CHECKED,
];

/// The clause of that name.
pub fn find(id: &str) -> Option<&'static Clause> {
    ALL.iter().find(|clause| clause.id == id).copied()
}
