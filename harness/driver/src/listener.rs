//! Proof that a listening port belongs to a process that this run started.
//!
//! A server left over from an aborted run answers the next run's requests on the same port, with
//! plausible successes and no rows. On Linux the listening socket is looked for in the worker's tree;
//! elsewhere the port was free before, and the worker is alive.

use std::fs;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::descriptor;
use crate::error::DriveError;
use crate::process;

/// The ports that are handed out: below those that systems give to outgoing connections, so that none of
/// these can take a port between its choice and the server's bind.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// The golden section of the ports: its multiples are spread evenly over them.
const APART: u32 = 7_417;

/// The state code of a listening socket in `/proc/net/tcp`.
const LISTEN: &str = "0A";

/// A port that is free now and that this process has not handed out before it went round once.
pub(crate) fn free_port() -> Result<u16, DriveError> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Harnesses that run side by side, whose numbers are close together, begin far from one another.
    let first = std::process::id().wrapping_mul(APART);
    for _ in PORTS {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = PORTS.start + ((first + step) % u32::from(PORTS.end - PORTS.start)) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    let source = std::io::Error::from(std::io::ErrorKind::AddrInUse);
    Err(DriveError::Start { command: "a server on a free port".to_owned(), source })
}

/// Who listens on a port.
#[derive(Debug)]
pub(crate) enum Owner {
    /// Nobody yet.
    Nobody,
    /// A process of the worker's tree; or the system does not say.
    Ours,
    /// Somebody else; the process, where it can be seen. A moment's look can be wrong about this: a
    /// socket that is just being closed has no visible owner.
    Stranger(String),
}

/// Looks who listens on a port.
pub(crate) fn owner(port: u16, leader: u32, mark: &str) -> Owner {
    if descriptor::guessed_to_listen(leader, port) || process::tree(leader).any(|pid| listens(pid, port)) {
        return Owner::Ours;
    }
    let Some(inodes) = listening(port) else { return Owner::Ours };
    if inodes.is_empty() {
        return Owner::Nobody;
    }
    let ours = process::marked(leader, mark);
    if inodes.iter().any(|inode| ours.iter().any(|pid| holds(pid.as_raw(), inode))) {
        return Owner::Ours;
    }
    Owner::Stranger(holder(&inodes).unwrap_or_else(|| "unknown".to_owned()))
}

/// Whether a fixed port can be listened on by a server that is started now.
pub(crate) fn must_be_free(port: u16) -> Result<(), DriveError> {
    match TcpListener::bind(("127.0.0.1", port)) {
        Ok(_) => Ok(()),
        Err(_) => {
            let inodes = listening(port).unwrap_or_default();
            Err(DriveError::Stranger { port, pid: holder(&inodes).unwrap_or_else(|| "unknown".to_owned()) })
        }
    }
}

/// The inodes of the sockets that listen on a port; `None` where the system does not say.
fn listening(port: u16) -> Option<Vec<String>> {
    let wanted = format!(":{port:04X}");
    let v4 = fs::read_to_string("/proc/net/tcp").ok()?;
    let v6 = fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    let inode = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let [_, local, _, state, _, _, _, _, _, inode, ..] = fields.as_slice() else { return None };
        (local.ends_with(&wanted) && *state == LISTEN).then(|| (*inode).to_owned())
    };
    Some(v4.lines().chain(v6.lines()).filter_map(inode).collect())
}

/// Whether a process is seen to listen on a port.
fn listens(pid: u32, port: u16) -> bool {
    let open = descriptor::open(pid);
    open.iter().any(|open| open.is_socket() && descriptor::listens(pid, open) == Some(port))
}

fn holds(pid: i32, inode: &str) -> bool {
    let wanted = format!("socket:[{inode}]");
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    open.flatten().any(|fd| fs::read_link(fd.path()).is_ok_and(|link| link.as_os_str() == wanted.as_str()))
}

fn holder(inodes: &[String]) -> Option<String> {
    let pids = fs::read_dir("/proc").ok()?.flatten();
    let mut pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.find(|pid| inodes.iter().any(|inode| holds(*pid, inode))).map(|pid| pid.to_string())
}
