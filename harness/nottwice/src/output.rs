//! What is printed, and in which form.

use std::io::Write as _;

use nottwice_model::report::{Exit, Report};
use nottwice_report::format::Format;
use nottwice_report::formats;

use crate::Failure;
use crate::cli::Output;

/// Prints a text on standard output. Whoever closed the pipe has seen enough.
pub(crate) fn print(text: &str) {
    let _ = anstream::stdout().write_all(text.as_bytes());
}

/// Prints a line on standard error.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Shows a verdict in the format asked for, and gives its exit code.
pub(crate) fn show(report: &Report, output: &Output) -> Result<Exit, Failure> {
    print(&format(&output.format)?.render(report));
    Ok(report.exit())
}

/// The format of that name.
pub(crate) fn format(name: &str) -> Result<&'static dyn Format, Failure> {
    formats::find(name).ok_or_else(|| {
        let known: Vec<_> = formats::ALL.iter().map(|format| format.name()).collect();
        Failure::usage(format!("there is no format `{name}`"), format!("one of: {}", known.join(", ")))
    })
}
