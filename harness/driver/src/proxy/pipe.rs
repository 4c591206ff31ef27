//! This process's own standard input and output as streams that wait for nobody.

use std::fs::OpenOptions;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

/// Standard input. A pipe is opened anew, so that the setting of the one that others share stays as it is;
/// what is no pipe is read by a thread.
pub(crate) fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    match pipe::OpenOptions::new().open_receiver("/proc/self/fd/0") {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdin()),
    }
}

/// Standard output, likewise.
pub(crate) fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    match pipe::OpenOptions::new().open_sender("/proc/self/fd/1") {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdout()),
    }
}

/// Lets go of standard output, so that whoever reads it sees its end while this process still runs.
pub(crate) fn close_output() {
    if let Ok(null) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = nix::unistd::dup2_stdout(null);
    }
}
