//! What is printed, and in which form.

use std::io::Write as _;

use nottwice_model::report::{Exit, Report};
use nottwice_report::format::Format;
use nottwice_report::formats;

use crate::Failure;
use crate::campaign::Done;
use crate::cli::Output;

/// Prints a text on standard output. Whoever closed the pipe has seen enough; any other error is told.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = anstream::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Harness(format!("the output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints a line on standard error.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Shows a verdict in the format asked for, and gives its exit code.
pub(crate) fn show(report: &Report, output: &Output) -> Result<Exit, Failure> {
    print(&format(&output.format)?.render(report))?;
    Ok(report.exit())
}

/// Shows what came of a campaign, and what is wrong with its records.
pub(crate) fn finish(done: &Done, output: &Output) -> Result<Exit, Failure> {
    for warning in &done.warnings {
        warn(&format!("warning: {warning}"));
    }
    show(&done.report, output)
}

/// The format of that name.
pub(crate) fn format(name: &str) -> Result<&'static dyn Format, Failure> {
    formats::find(name).ok_or_else(|| {
        let known: Vec<_> = formats::ALL.iter().map(|format| format.name()).collect();
        Failure::usage(format!("there is no format `{name}`"), format!("one of: {}", known.join(", ")))
    })
}
