//! The list of oracles.

mod asked;
mod command;
mod sqlite;

use nottwice_model::target::Store;

use crate::oracle::Oracle;

/// The oracle that can count a store.
pub(crate) fn of(store: &Store) -> &'static dyn Oracle {
    match store {
        Store { asked: Some(_), .. } => &asked::Asked,
        Store { command: Some(_), .. } => &command::Command,
        _ => &sqlite::Sqlite,
    }
}
