//! Why the driver could not do its part. None of these is an error of the server under test.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why nothing could be played.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// The target names an environment variable that is not set.
    #[error("the target needs the environment variable {0}, which is not set")]
    MissingEnv(String),
    /// The program could not be started.
    #[error("`{command}` could not be started: {source}")]
    Start {
        /// What was to be started.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// The server ended before it answered.
    #[error("the server ended before it was ready ({status}){said}")]
    Died {
        /// How it ended.
        status: String,
        /// The last it printed on standard error, if anything.
        said: String,
    },
    /// The server did not answer in time.
    #[error("the server was not ready within {within}{said}")]
    NotReady {
        /// The declared bound.
        within: String,
        /// The last it printed on standard error, if anything.
        said: String,
    },
    /// Something else answers on the port.
    #[error(
        "port {port} is served by process {pid}, which this run did not start: \
         nothing that it says can be judged"
    )]
    Stranger {
        /// The port.
        port: u16,
        /// Who listens there.
        pid: String,
    },
    /// The processes of a worker were told to stop with SIGSTOP, and did not all stand still.
    #[error("the processes of worker {worker} did not all stand still within {within:?} of SIGSTOP")]
    NotStopped {
        /// Which worker.
        worker: u8,
        /// How long they were given.
        within: Duration,
    },
    /// The stores cannot be counted.
    #[error("the effects cannot be counted: {0}")]
    Count(String),
    /// A process of the server has a file open for writing that is not in its own folders.
    #[error(
        "the server has {path} open for writing, outside of the folders that it was given\n  \
         cure: keep it in {{state}}, or declare it: `[start] may_write = [{path:?}]`"
    )]
    Writes {
        /// The file.
        path: PathBuf,
    },
    /// A process of the server is connected to somebody who is not on this machine.
    #[error(
        "the server is connected to {address}, which is not on this machine\n  \
         cure: give it a stand-in on loopback, or declare it: `[start] may_connect = [{address:?}]`"
    )]
    Connects {
        /// To whom.
        address: String,
    },
    /// What the harness said or asked beside the calls was not taken.
    #[error("beside the calls: {0}")]
    Beside(String),
    /// A file of the harness's own could not be made.
    #[error("{path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The server does not speak the protocol.
    #[error("the server does not speak the protocol: {0}")]
    Protocol(String),
}
