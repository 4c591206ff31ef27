//! The list of clauses, in the order in which reports show them.

mod contention;
mod effect;
mod input;
mod outcome;
mod receipt;
mod recovery;
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
    &effect::NONE_ON_REFUSAL,
    &effect::DISTINCT_INTENTS,
    &effect::DONE_MEANS_DONE,
    &receipt::REPLAY,
    &receipt::CONFLICT,
    &receipt::BINDING,
    &receipt::INCIDENTAL_IGNORED,
    &receipt::SURVIVES_RESTART,
    &scope::PRINCIPAL,
    &contention::SINGLE_WINNER,
    &contention::NO_LOST_EFFECT,
    &recovery::RESOLVES,
    &recovery::REISSUE,
    &recovery::OTHER_WORKER,
    &recovery::DISCONNECT_IS_NOT_UNDO,
    &outcome::REPLAYED_MARKED,
    &input::KEY_REQUIRED,
];

/// The clause of that name.
pub fn find(id: &str) -> Option<&'static Clause> {
    ALL.iter().find(|clause| clause.id == id).copied()
}
