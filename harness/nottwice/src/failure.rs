//! Why a command could not do what was asked, told with file, line and cure.

use std::path::PathBuf;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use nottwice_driver::DriveError;
use nottwice_model::input::InputError;
use nottwice_model::report::Exit;
use nottwice_report::untrusted;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A file that a person wrote has a mistake.
    #[error("{error}")]
    Input {
        /// The mistake.
        error: InputError,
        /// The whole text, to show the line.
        text: String,
    },
    /// A file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The command line asks for something that does not exist or does not fit.
    #[error("{message}\n  cure: {cure}")]
    Usage {
        /// What is wrong.
        message: String,
        /// What to write instead.
        cure: String,
    },
    /// The target could not be started, reached or counted.
    #[error(transparent)]
    Drive(#[from] DriveError),
    /// The harness itself failed.
    #[error("{0}")]
    Harness(String),
    /// Somebody pressed Ctrl-C or sent SIGTERM.
    #[error("interrupted; what was played is recorded")]
    Interrupted,
}

impl Failure {
    /// A mistake on the command line.
    pub fn usage(message: impl Into<String>, cure: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), cure: cure.into() }
    }

    /// The exit code that belongs to it.
    pub fn exit(&self) -> Exit {
        match self {
            Failure::Input { .. } | Failure::Read { .. } | Failure::Usage { .. } => Exit::Usage,
            Failure::Drive(_) => Exit::CouldNotTell,
            Failure::Harness(_) => Exit::Harness,
            Failure::Interrupted => Exit::Interrupted,
        }
    }

    /// Says it on standard error.
    pub fn print(&self) {
        use std::io::Write as _;
        let text = match self {
            Failure::Input { error, text } => snippet(error, text),
            // What a server printed is part of some messages.
            other => {
                let text = other.to_string();
                let lines: Vec<_> = text.lines().map(untrusted::escaped).collect();
                format!("error: {}", lines.join("\n"))
            }
        };
        // Whoever closed standard error does not want to read it.
        let _ = writeln!(anstream::stderr(), "{text}");
    }
}

/// The line with a mark under the word, and the cure below.
fn snippet(error: &InputError, text: &str) -> String {
    let before: usize = text.split_inclusive('\n').take(error.line - 1).map(str::len).sum();
    let line = text.split('\n').nth(error.line - 1).unwrap_or_default();
    let column: usize = line.chars().take(error.column - 1).map(char::len_utf8).sum();
    let start = (before + column).min(text.len());
    let length = line[column.min(line.len())..].find([' ', ']', '}', ',']).unwrap_or(line.len() - column);
    let mark = start..(start + length.max(1)).min(text.len());
    let source = Snippet::source(text).path(&error.file).annotation(AnnotationKind::Primary.span(mark));
    let report = [
        Level::ERROR.primary_title(&error.message).element(source),
        Group::with_title(Level::HELP.secondary_title(&error.cure)),
    ];
    Renderer::styled().render(&report)
}
