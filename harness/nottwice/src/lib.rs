//! The referee for tool servers: the reply was lost and the caller retries; does it happen twice?
//!
//! This crate knows every other and decides nothing: it reads files, hands values from verb to verb, and
//! turns the end into an exit code.

mod ad_hoc;
pub mod campaign;
mod cli;
mod commands;
mod failure;
mod leftovers;
pub mod matrix;
mod output;
mod schedule;
pub mod shelf;

use std::ffi::OsString;

use clap::Parser as _;
use nottwice_model::report::Exit;

pub use crate::failure::Failure;

/// Runs the command line and says how it ended.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let cli = match cli::Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors, and clap knows to which stream each belongs.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Held };
            let _ = error.print();
            return exit;
        }
    };
    match commands::dispatch(cli) {
        Ok(exit) => exit,
        Err(failure) => {
            failure.print();
            failure.exit()
        }
    }
}
