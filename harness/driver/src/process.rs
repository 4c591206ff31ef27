//! Process trees: every process that a worker started, however it hides, found and ended by id.
//!
//! A worker leads its own process group, and it and its descendants carry a mark in their environment.
//! The group finds ordinary children at once; the mark finds those that left the group or whose parent
//! is gone.

use std::fs;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// The pause between two rounds of killing or stopping: a process needs a moment to be gone or to stand.
const ROUND: Duration = Duration::from_micros(500);

/// The variable that marks the processes of a run.
pub(crate) const MARK: &str = "NOTTWICE_OWNER";

/// Makes this process the parent of every descendant whose own parent dies, so that none can hide.
/// Where the system has no such thing, the whole process table is searched instead.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// The processes below this one whose environment carries a mark.
pub(crate) fn marked(mark: &str) -> Vec<Pid> {
    let wanted = format!("{MARK}={mark}");
    let all = descendants(std::process::id()).unwrap_or_else(every_process);
    all.into_iter().filter(|pid| has_mark(*pid, &wanted)).map(Pid::from_raw).collect()
}

/// Everything below a process; `None` where the system does not list children.
fn descendants(root: u32) -> Option<Vec<i32>> {
    let mut found = Vec::new();
    let mut open = vec![root.to_string()];
    while let Some(parent) = open.pop() {
        // A process that ended meanwhile has no children any more.
        let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else { continue };
        for thread in threads.flatten() {
            let listed = fs::read_to_string(thread.path().join("children"));
            let listed = match listed {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound && thread.path().exists() => {
                    return None;
                }
                other => other.unwrap_or_default(),
            };
            for child in listed.split_whitespace() {
                found.extend(child.parse::<i32>());
                open.push(child.to_owned());
            }
        }
    }
    Some(found)
}

fn every_process() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).collect()
}

fn has_mark(pid: i32, wanted: &str) -> bool {
    // A zombie has no environment left, so it never counts as alive.
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()))
}

/// Sends SIGKILL to everybody of a tree who can be found; says whether somebody beside the leader was
/// there, who may have started others meanwhile. Where nothing can be found the group has to do.
fn kill_round(leader: Pid, mark: &str) -> bool {
    // ESRCH only says that the group is gone already.
    let _ = killpg(leader, Signal::SIGKILL);
    let left = marked(mark);
    let others: Vec<_> = left.into_iter().filter(|pid| *pid != leader).collect();
    for pid in &others {
        let _ = kill(*pid, Signal::SIGKILL);
        // An orphan that came to us is ours to bury; whoever started the leader waits for the leader.
        let _ = waitpid(*pid, Some(WaitPidFlag::WNOHANG));
    }
    !others.is_empty()
}

/// Sends SIGKILL to a whole tree, until nobody of it is left to be found. The leader is waited for by
/// whoever started it.
pub(crate) fn kill_tree(leader: u32, mark: &str) {
    let leader = Pid::from_raw(i32::try_from(leader).expect("a process id fits"));
    while kill_round(leader, mark) {
        std::thread::sleep(ROUND);
    }
}

/// Asks the leader of a tree to stop.
pub(crate) fn ask_to_stop(leader: u32) {
    let leader = Pid::from_raw(i32::try_from(leader).expect("a process id fits"));
    let _ = killpg(leader, Signal::SIGTERM);
}

/// Stops a whole tree with SIGSTOP and waits until nothing of it runs: the signal is taken by one thread,
/// which may have to wait for a processor, and until then the others go on. Says whether all stood in time.
pub(crate) async fn stop(leader: u32, mark: &str, within: Duration) -> bool {
    let group = Pid::from_raw(i32::try_from(leader).expect("a process id fits"));
    let _ = killpg(group, Signal::SIGSTOP);
    // Where no such table is, nothing but the signal can be had.
    if !Path::new("/proc/self/task").exists() {
        return true;
    }
    let all_stand = async {
        loop {
            let tree = marked(mark);
            if tree.is_empty() {
                return false;
            }
            let run: Vec<_> = tree.into_iter().filter(|pid| !stands(*pid)).collect();
            if run.is_empty() {
                return true;
            }
            // Whoever left the group, or was started by somebody who still ran.
            for pid in run {
                let _ = kill(pid, Signal::SIGSTOP);
            }
            tokio::time::sleep(ROUND).await;
        }
    };
    tokio::time::timeout(within, all_stand).await.unwrap_or(false)
}

/// Whether no thread of a process runs; of one that is gone, none does.
fn stands(pid: Pid) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return true };
    threads.flatten().all(|thread| {
        let Ok(stat) = fs::read_to_string(thread.path().join("stat")) else { return true };
        // The name before the state may hold anything, brackets among it.
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        state.is_none_or(|state| "TtZX".contains(state))
    })
}

/// Lets a whole tree go on with SIGCONT.
pub(crate) fn resume(leader: u32, mark: &str) {
    let group = Pid::from_raw(i32::try_from(leader).expect("a process id fits"));
    let _ = killpg(group, Signal::SIGCONT);
    for pid in marked(mark) {
        let _ = kill(pid, Signal::SIGCONT);
    }
}
