//! The list of oracles.

mod command;
mod sqlite;

use nottwice_model::target::Store;

use crate::oracle::Oracle;

/// The oracle that can count a store.
pub(crate) fn of(store: &Store) -> &'static dyn Oracle {
    if store.command.is_some() { &command::Command } else { &sqlite::Sqlite }
}
