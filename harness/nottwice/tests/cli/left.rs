//! What a harness that has ended left behind: processes that carry its mark, folders with its number.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The processes that a harness started and that still run. A zombie has no environment and is none.
pub(crate) fn processes(harness: u32) -> Vec<u32> {
    let mark = format!("NOTTWICE_OWNER={harness}.");
    let entries = fs::read_dir("/proc").expect("these tests run where there is a /proc");
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_marked = |pid: &u32| {
        let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|variable| variable.starts_with(mark.as_bytes()))
    };
    pids.filter(is_marked).collect()
}

/// The state folders of a harness, in memory or where it puts temporary files.
pub(crate) fn folders(harness: u32, temp: &Path) -> Vec<PathBuf> {
    let begin = format!("nottwice-{harness}-");
    let parents = [Path::new("/dev/shm"), temp];
    let entries = parents.iter().filter_map(|parent| fs::read_dir(parent).ok()).flatten().flatten();
    let is_its = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin.as_str()))
    };
    entries.map(|entry| entry.path()).filter(is_its).collect()
}

/// What is left, as lines; nothing if all is well.
pub(crate) fn all(harness: u32, temp: &Path) -> Vec<String> {
    let command = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).replace('\0', " ")
    };
    let processes = processes(harness).into_iter().map(|pid| format!("process {pid}: {}", command(&pid)));
    let folders = folders(harness, temp).into_iter().map(|path| format!("folder {}", path.display()));
    processes.chain(folders).collect()
}

/// Clears away what is left, so that a failing test does not leave it too.
pub(crate) fn clear(harness: u32, temp: &Path) {
    for pid in processes(harness) {
        let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    }
    for folder in folders(harness, temp) {
        let _ = fs::remove_dir_all(folder);
    }
}
