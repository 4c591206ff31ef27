//! The list of commands.

mod ad_hoc;
mod check;
mod demo;
mod explain;
mod judge;
mod list;
mod matrix;
mod replay;
mod run;
mod serve;

use std::io::Write as _;

use nottwice_driver::Setting;
use nottwice_model::report::{Exit, Report};
use nottwice_model::target::Target;

use crate::cli::{Cli, Command, Output};
use crate::{Failure, shelf};

pub(crate) fn dispatch(cli: Cli) -> Result<Exit, Failure> {
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
        Command::Serve { arguments } => serve::serve(&arguments),
    }
}

/// Prints a text on standard output. Whoever closed the pipe has seen enough.
fn print(text: &str) {
    let _ = anstream::stdout().write_all(text.as_bytes());
}

/// Prints a line on standard error.
fn warn(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Shows a verdict in the format asked for, and gives its exit code.
fn show(report: &Report, output: &Output) -> Result<Exit, Failure> {
    print(&format(&output.format)?.render(report));
    Ok(report.exit())
}

fn format(name: &str) -> Result<&'static dyn nottwice_report::format::Format, Failure> {
    nottwice_report::formats::find(name).ok_or_else(|| {
        let known: Vec<_> = nottwice_report::formats::ALL.iter().map(|format| format.name()).collect();
        Failure::usage(format!("there is no format `{name}`"), format!("one of: {}", known.join(", ")))
    })
}

/// A target at its place.
fn setting(file: &str, target: Target) -> Result<Setting, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::Harness(format!("this program cannot find itself: {error}")))?;
    Ok(Setting { target, file: file.to_owned(), program })
}

/// Runs something asynchronous to its end, or until somebody interrupts it; then everything that it
/// started is ended before this returns.
fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Harness(error.to_string()))?;
    runtime.block_on(work)
}

/// Reads records from disk.
fn records(paths: &[std::path::PathBuf]) -> Result<Vec<(nottwice_model::run::Run, String)>, Failure> {
    let mut runs = Vec::new();
    for path in paths {
        let file = path.display().to_string();
        let text = shelf::read(path)?;
        let source = nottwice_model::input::Source { file: &file, text: &text };
        let run = nottwice_model::record::read(source)
            .map_err(|error| Failure::Input { error, text: text.clone() })?;
        runs.push((run, file));
    }
    Ok(runs)
}
