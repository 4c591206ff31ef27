//! The log of a proxy: one JSON value a line for each fault that was done, with what proves it.
//!
//! Of the messages themselves it holds lengths and a digest and never a byte, because credentials go through.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use nottwice_model::rule::Rule;
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::error::DriveError;

/// What proves that a fault was done to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// How many bytes of the message were read from its sender.
    pub(crate) read: usize,
    /// How many bytes were delivered to its receiver, every copy counted.
    pub(crate) passed: usize,
    /// A digest of what was read, so that two messages can be told apart.
    pub(crate) digest: u64,
    /// What was done.
    pub(crate) says: String,
}

impl Evidence {
    /// Of a message that was read so far.
    pub(crate) fn of(read: &[u8], passed: usize, says: impl Into<String>) -> Evidence {
        Evidence { read: read.len(), passed, digest: digest(EMPTY, read), says: says.into() }
    }
}

/// The digest of nothing.
pub(crate) const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// The digest of what came before and these bytes: FNV-1a over 64 bits.
pub(crate) fn digest(before: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(before, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Where lines are written.
pub(crate) struct Journal {
    clock: Clock,
    path: PathBuf,
    to: Box<dyn Write + Send>,
    /// The first error of writing; from then on nothing more is written, so that every line is whole.
    failed: Option<std::io::Error>,
}

impl Journal {
    /// Begins a log in that file, or on standard error.
    pub(crate) fn open(path: Option<&Path>) -> Result<Journal, DriveError> {
        let to: Box<dyn Write + Send> = match path {
            None => Box::new(std::io::stderr()),
            Some(path) => Box::new(
                File::create(path).map_err(|source| DriveError::File { path: path.to_owned(), source })?,
            ),
        };
        let path = path.unwrap_or(Path::new("standard error")).to_owned();
        Ok(Journal { clock: Clock::start(), path, to, failed: None })
    }

    /// A fault that was done.
    pub(crate) fn fired(&mut self, rule: &Rule, evidence: &Evidence) {
        let Evidence { read, passed, digest, says } = evidence;
        self.write(json!({
            "event": "fired", "fault": rule.name, "line": rule.line, "on": rule.on.to_string(), "nth": rule.nth,
            "where": rule.fault.at.word(), "do": rule.fault.deed.word(), "read": read, "passed": passed,
            "digest": format!("{digest:016x}"), "says": says,
        }));
    }

    /// A held message that was delivered.
    pub(crate) fn released(&mut self, rule: &Rule) {
        self.write(json!({"event": "released", "fault": rule.name, "line": rule.line}));
    }

    /// A fault that was never done.
    pub(crate) fn unfired(&mut self, rule: &Rule, why: &str) {
        self.write(json!({"event": "unfired", "fault": rule.name, "line": rule.line, "why": why}));
    }

    /// A held message that was never delivered.
    pub(crate) fn lost(&mut self, rule: &Rule, why: &str) {
        self.write(json!({"event": "lost", "fault": rule.name, "line": rule.line, "why": why}));
    }

    /// The end; without this line the log is not whole.
    ///
    /// # Errors
    /// A line could not be written.
    pub(crate) fn end(&mut self, fired: usize) -> Result<(), DriveError> {
        self.write(json!({"event": "ended", "fired": fired}));
        match self.failed.take() {
            None => Ok(()),
            Some(source) => Err(DriveError::File { path: self.path.clone(), source }),
        }
    }

    fn write(&mut self, mut line: Value) {
        line["at"] = self.clock.nanos().into();
        if self.failed.is_none() {
            let written = self.to.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.to.flush());
            self.failed = written.err();
        }
    }
}
