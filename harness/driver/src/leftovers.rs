//! What a killed harness left: it could clear nothing away, so the next one does.
//!
//! Everything that a harness starts or makes carries its identity: process id, start time, and the namespace
//! in which that id means anything. Only what belongs to nobody who lives in this namespace is touched.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::process::{MARK, ROUND, every_process};
use crate::state;

/// So many rounds are waited for a process to be gone; one that hangs in the system cannot be waited for.
const ROUNDS: usize = 2_000;

/// Who a harness is, as it stands in marks and names of folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pid: u32,
    /// In clock ticks since the machine started; 0 where the system does not say.
    started: u64,
    /// The inode of its process namespace; 0 where the system does not say.
    namespace: u64,
}

impl Identity {
    /// This process.
    pub(crate) fn own() -> Identity {
        static OWN: OnceLock<Identity> = OnceLock::new();
        *OWN.get_or_init(|| {
            let pid = std::process::id();
            Identity { pid, started: started(pid).unwrap_or(0), namespace: namespace(pid).unwrap_or(0) }
        })
    }

    /// How marks begin.
    pub(crate) fn mark(self) -> String {
        format!("{}.{}.{}.", self.pid, self.started, self.namespace)
    }

    /// How names of folders begin.
    pub(crate) fn folder(self) -> String {
        format!("nottwice-{}-{}-{}-", self.pid, self.started, self.namespace)
    }

    /// What a mark or the name of a folder says, without the word before it.
    fn parse(text: &str, between: char) -> Option<Identity> {
        let mut parts = text.split(between);
        let (pid, started) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Identity { pid, started, namespace: parts.next()?.parse().ok()? })
    }

    /// Whether it is known to be gone: of this namespace, and no longer there under that start time.
    fn is_gone(self, here: u64) -> bool {
        self.namespace == here && started(self.pid) != Some(self.started)
    }
}

/// What was cleared away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cleared {
    /// Processes that were ended.
    pub processes: usize,
    /// Folders that were removed.
    pub folders: usize,
}

/// Ends the processes and removes the folders of this user's harnesses that were killed. Nothing where the
/// system does not list processes.
pub fn clear_leftovers() -> Cleared {
    let own = std::process::id();
    let (Some(here), Some(user)) = (namespace(own), user(own)) else {
        return Cleared { processes: 0, folders: 0 };
    };
    let mut processes = 0;
    for _ in 0..ROUNDS {
        let left: Vec<_> = every_process().into_iter().filter(|pid| is_left(*pid, here, user)).collect();
        if left.is_empty() {
            break;
        }
        processes = left.len().max(processes);
        for pid in left {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        std::thread::sleep(ROUND);
    }
    let folders = folders(here, user);
    let removed = folders.iter().filter(|folder| fs::remove_dir_all(folder).is_ok());
    Cleared { processes, folders: removed.count() }
}

/// Whether a process of this user was started by a harness that is gone.
fn is_left(pid: i32, here: u64, user: u32) -> bool {
    if u32::try_from(pid).ok().and_then(self::user) != Some(user) {
        return false;
    }
    let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let mark = format!("{MARK}=");
    let marks = environ.split(|byte| *byte == 0).filter_map(|variable| {
        let owner = std::str::from_utf8(variable).ok()?.strip_prefix(&mark)?;
        Identity::parse(owner, '.')
    });
    marks.into_iter().any(|owner| owner.is_gone(here))
}

fn folders(here: u64, user: u32) -> Vec<PathBuf> {
    let entries = state::parents().into_iter().filter_map(|parent| fs::read_dir(parent).ok()).flatten();
    let is_left = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let owner = name.strip_prefix("nottwice-").and_then(|rest| Identity::parse(rest, '-'));
        // What only poses as a folder is nobody's state.
        let of = fs::symlink_metadata(path).ok().filter(|of| of.is_dir() && of.uid() == user);
        of.is_some() && owner.is_some_and(|owner| owner.is_gone(here))
    };
    entries.flatten().map(|entry| entry.path()).filter(is_left).collect()
}

/// When a process started; `None` for one that is gone, or that only waits to be buried.
fn started(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    // The name, in brackets, may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let (state, started) = (fields.next()?, fields.nth(18)?);
    if state == "Z" || state == "X" { None } else { started.parse().ok() }
}

/// Whose a process is.
fn user(pid: u32) -> Option<u32> {
    fs::metadata(format!("/proc/{pid}")).map(|process| process.uid()).ok()
}

fn namespace(pid: u32) -> Option<u64> {
    fs::metadata(format!("/proc/{pid}/ns/pid")).ok().map(|namespace| namespace.ino())
}
