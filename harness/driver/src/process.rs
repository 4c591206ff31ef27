//! Process trees: every process that a worker started, however it hides, found and ended by id.
//!
//! A worker leads its own process group, and it and its descendants carry a mark in their environment.
//! The group finds ordinary children at once; the mark finds those that left the group or whose parent
//! is gone.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

/// The pause between two rounds of killing or stopping: a process needs a moment to be gone or to stand.
pub(crate) const ROUND: Duration = Duration::from_micros(500);

/// The variable that marks the processes of a run.
pub(crate) const MARK: &str = "NOTTWICE_OWNER";

/// Makes this process the parent of every descendant whose own parent dies, so that none can hide.
/// Where the system has no such thing, the whole process table is searched instead.
pub(crate) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// The leaders of the trees that this process started and did not end yet.
static LEADERS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn leaders() -> MutexGuard<'static, BTreeSet<u32>> {
    // A panic elsewhere cannot leave the set half-changed.
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says that a process leads a tree of ours.
pub(crate) fn lead(leader: u32) {
    leaders().insert(leader);
}

/// Says that nothing is left of a tree.
pub(crate) fn forget(leader: u32) {
    leaders().remove(&leader);
}

/// Every process that may belong to a tree: those below its leader, and those that came to us when their own
/// parent died. `None` where the system does not list children.
fn reachable(leader: u32) -> Option<Vec<i32>> {
    let others = leaders().clone();
    let mine = |child: &u32| *child == leader || !others.contains(child);
    let roots: Vec<_> = children(std::process::id())?.into_iter().filter(mine).collect();
    Some(roots.into_iter().flat_map(tree).filter_map(|pid| i32::try_from(pid).ok()).collect())
}

/// The processes of a tree, found by its leader and its mark.
pub(crate) fn marked(leader: u32, mark: &str) -> Vec<Pid> {
    let wanted = format!("{MARK}={mark}");
    let all = reachable(leader).unwrap_or_else(every_process);
    all.into_iter().filter(|pid| has_mark(*pid, &wanted)).map(Pid::from_raw).collect()
}

/// A process and everything below it.
pub(crate) fn tree(root: u32) -> impl Iterator<Item = u32> {
    let mut open = vec![root];
    let mut last = None;
    std::iter::from_fn(move || {
        // Nobody's children are looked for before somebody asks for more.
        open.extend(last.take().and_then(children).unwrap_or_default());
        last = open.pop();
        last
    })
}

/// A process and what its first thread started, at any remove.
///
/// Nothing of the other threads is asked for: each of them that was looked at makes the system, when the process
/// ends, wait for its entry to be cleared away, which costs more than everything else that a play does.
pub(crate) fn main_tree(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut at = 0;
    while let Some(pid) = found.get(at) {
        let listed = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        found.extend(listed.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        at += 1;
    }
    found
}

/// The children of a process; `None` where the system does not list them.
fn children(parent: u32) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    // A process that ended meanwhile has no children any more.
    let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) else { return Some(found) };
    for thread in threads.flatten() {
        let listed = match fs::read_to_string(thread.path().join("children")) {
            Err(error) if error.kind() == ErrorKind::NotFound && thread.path().exists() => return None,
            other => other.unwrap_or_default(),
        };
        found.extend(listed.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    Some(found)
}

pub(crate) fn every_process() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).collect()
}

fn has_mark(pid: i32, wanted: &str) -> bool {
    // A zombie has no environment left, so it never counts as alive.
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()))
}

/// Sends SIGKILL to the leader of a tree and all who stayed in its group. The leader is waited for by whoever
/// started it.
pub(crate) fn kill_group(leader: u32) {
    // ESRCH only says that the group is gone already.
    let _ = killpg(Pid::from_raw(i32::try_from(leader).expect("a process id fits")), Signal::SIGKILL);
}

/// Sends SIGKILL to everybody of a tree but its leader who can be found; says whether somebody was there, who
/// may have started others meanwhile.
fn kill_round(leader: u32, mark: &str) -> bool {
    let left = marked(leader, mark);
    let others: Vec<_> = left.into_iter().filter(|pid| pid.as_raw().unsigned_abs() != leader).collect();
    for pid in &others {
        let _ = kill(*pid, Signal::SIGKILL);
        // An orphan that came to us is ours to bury; whoever started the leader waits for the leader.
        let _ = waitpid(*pid, Some(WaitPidFlag::WNOHANG));
    }
    !others.is_empty()
}

/// Sends SIGKILL to everybody who is left of a tree, until nobody is left to be found.
pub(crate) fn kill_orphans(leader: u32, mark: &str) {
    while kill_round(leader, mark) {
        std::thread::sleep(ROUND);
    }
}

/// Sends SIGKILL to a whole tree, whose leader may still live.
pub(crate) fn kill_tree(leader: u32, mark: &str) {
    kill_group(leader);
    kill_orphans(leader, mark);
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
            let tree = marked(leader, mark);
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
    for pid in marked(leader, mark) {
        let _ = kill(pid, Signal::SIGCONT);
    }
}
