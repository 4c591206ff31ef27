//! The list of commands.

mod check;
mod demo;
mod explain;
mod hold_lock;
mod judge;
mod list;
mod matrix;
mod proxy;
mod replay;
mod run;
mod serve;

use nottwice_model::report::Exit;

use crate::Failure;
use crate::cli::{Cli, Command};
use crate::leftovers::clear_leftovers;

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
        Command::Proxy(proxy) => proxy::proxy(&proxy),
        Command::HoldLock { database } => hold_lock::hold_lock(&database),
        Command::Serve { arguments } => serve::serve(&arguments),
    }
}
