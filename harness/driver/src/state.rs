//! The state folder of one play: the only place that the server under test may call its own.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::DriveError;
use crate::leftovers::Identity;

/// What a play's state may need at most before memory-backed storage is thought too small.
const ROOM: u64 = 256 * 1024 * 1024;

/// Memory-backed storage, where the system has it.
const MEMORY: &str = "/dev/shm";

/// A fresh folder, removed with everything in it when the play is over.
#[derive(Debug)]
pub(crate) struct StateFolder {
    folder: TempDir,
}

impl StateFolder {
    /// Makes one, in memory where there is room.
    pub(crate) fn new() -> Result<StateFolder, DriveError> {
        let parent = parent();
        let folder = tempfile::Builder::new()
            .prefix(&Identity::own().folder())
            .tempdir_in(&parent)
            .map_err(|source| DriveError::File { path: parent, source })?;
        let state = StateFolder { folder };
        for name in ["state", "home", "tmp"] {
            let path = state.folder.path().join(name);
            fs::create_dir(&path).map_err(|source| DriveError::File { path, source })?;
        }
        Ok(state)
    }

    /// The folder that holds all that the server may call its own.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// What `{state}` stands for.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// The home of the server's processes.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Where the server's processes put temporary files.
    pub(crate) fn temp(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }
}

/// Where the folders of plays can lie.
pub(crate) fn parents() -> [PathBuf; 2] {
    [PathBuf::from(MEMORY), std::env::temp_dir()]
}

fn parent() -> PathBuf {
    let memory = Path::new(MEMORY);
    let room = nix::sys::statvfs::statvfs(memory).map(|stat| stat.blocks_available() * stat.fragment_size());
    if room.is_ok_and(|room| room >= ROOM) { memory.to_owned() } else { std::env::temp_dir() }
}

/// Writes a file whole: under another name first, then renamed, so that no reader sees half of it.
pub(crate) fn write_whole(path: &Path, content: &str) -> Result<(), DriveError> {
    let error = |source| DriveError::File { path: path.to_owned(), source };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(error)?;
    }
    let half = path.with_extension("nottwice-half");
    fs::write(&half, content).map_err(error)?;
    fs::rename(&half, path).map_err(error)
}
