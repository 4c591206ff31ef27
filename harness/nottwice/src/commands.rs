//! The list of commands.

mod check;
mod demo;
mod explain;
mod hold_lock;
mod judge;
mod list;
mod matrix;
mod replay;
mod run;
mod serve;

use nottwice_driver::Cleared;
use nottwice_model::report::Exit;

use crate::Failure;
use crate::cli::{Cli, Command};
use crate::output::warn;

/// Whoever starts servers first ends those of a harness that was killed and could not.
fn clear_leftovers() {
    let Cleared { processes, folders } = nottwice_driver::clear_leftovers();
    if processes + folders > 0 {
        warn(&format!(
            "an earlier run was killed: {processes} processes and {folders} folders that it left are cleared away"
        ));
    }
}

pub(crate) fn dispatch(cli: Cli) -> Result<Exit, Failure> {
    if matches!(
        cli.command,
        Command::Run(_) | Command::Replay { .. } | Command::Matrix { .. } | Command::Demo { .. }
    ) {
        clear_leftovers();
    }
    match cli.command {
        Command::Run(run) => run::run(*run),
        Command::Check { files } => check::check(&files),
        Command::List { what } => list::list(what),
        Command::Explain { name } => explain::explain(&name),
        Command::Judge { records, output } => judge::judge(&records, &output),
        Command::Replay { record, target, runs, output } => {
            replay::replay(&record, target.as_deref(), &runs, &output)
        }
        Command::Matrix { jobs } => matrix::matrix(&jobs),
        Command::Demo { defect, output } => demo::demo(&defect, &output),
        Command::HoldLock { database } => hold_lock::hold_lock(&database),
        Command::Serve { arguments } => serve::serve(&arguments),
    }
}
