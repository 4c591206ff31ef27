//! Process trees: every process that a worker started, however it hides, found and ended by id.
//!
//! A worker leads its own process group, and it and its descendants carry a mark in their environment.
//! The group finds ordinary children at once; the mark finds those that left the group or whose parent
//! is gone.

use std::fs;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

/// The variable that marks the processes of a run.
pub(crate) const MARK: &str = "NOTTWICE_OWNER";

/// The processes whose environment carries a mark. Where there is no `/proc` the group has to do.
pub(crate) fn marked(mark: &str) -> Vec<Pid> {
    let wanted = format!("{MARK}={mark}");
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| has_mark(*pid, &wanted)).map(Pid::from_raw).collect()
}

fn has_mark(pid: i32, wanted: &str) -> bool {
    // A zombie has no environment left, so it never counts as alive.
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()))
}

/// Sends SIGKILL to a whole tree, until nobody of it is left to be found.
pub(crate) fn kill_tree(leader: u32, mark: &str) {
    let group = Pid::from_raw(i32::try_from(leader).expect("a process id fits"));
    // ESRCH only says that the group is gone already.
    let _ = killpg(group, Signal::SIGKILL);
    // A process can fork while the list is read; each round kills what the last one missed.
    loop {
        let left: Vec<_> = marked(mark).into_iter().filter(|pid| kill(*pid, Signal::SIGKILL).is_ok()).collect();
        if left.iter().all(|pid| *pid == group) {
            return;
        }
        std::thread::yield_now();
    }
}

/// Asks the leader of a tree to stop.
pub(crate) fn ask_to_stop(leader: u32) {
    let leader = Pid::from_raw(i32::try_from(leader).expect("a process id fits"));
    let _ = killpg(leader, Signal::SIGTERM);
}

/// Stops a whole group with SIGSTOP, or lets it go on with SIGCONT.
pub(crate) fn hold(leader: u32, stopped: bool) {
    let group = Pid::from_raw(i32::try_from(leader).expect("a process id fits"));
    let _ = killpg(group, if stopped { Signal::SIGSTOP } else { Signal::SIGCONT });
}
