//! A standing proxy between any client and any server: the faults of the wire, addressed by message.

mod desk;
mod journal;
mod pipe;
mod stdio;

use std::path::Path;

use nottwice_model::rule::Rule;

use crate::error::DriveError;
use crate::proxy::desk::Desk;
use crate::proxy::journal::Journal;

/// What came of the rules of a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// How many faults were done, and proved.
    pub fired: usize,
    /// Those that were not.
    pub unfired: Vec<Amiss>,
    /// Those that kept a message which never went on, as if it had been dropped.
    pub lost: Vec<Amiss>,
}

/// A fault that was not done as its rule says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amiss {
    /// What it is called.
    pub name: String,
    /// The line of its file, counted from 1.
    pub line: usize,
    /// Why not.
    pub why: String,
}

/// Starts a server and stands between it and this process's own standard input and output, until either side
/// ends, a fault ends the session, or `stop` does. When it returns, nothing of the server is left. What happened
/// is written to the log line by line, or to standard error.
///
/// # Errors
/// The log cannot be written, or the server cannot be started.
pub async fn proxy_stdio(
    rules: Vec<Rule>,
    log: Option<&Path>,
    command: &[String],
    stop: impl Future<Output = ()>,
) -> Result<Tally, DriveError> {
    let desk = Desk::new(rules, Journal::open(log)?);
    stdio::stand(&desk, command, stop).await?;
    desk.close()
}
