//! Where a target is played: its file with every placeholder filled.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nottwice_model::scenario::Role;
use nottwice_model::target::{Credential, FileWrite, Target};
use nottwice_model::template;
use rusqlite::Connection;

use crate::error::DriveError;
use crate::state::{self, StateFolder};
use crate::worker::Who;

/// A target and what the file cannot know: where it was read, and which program `{self}` is.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The target.
    pub target: Target,
    /// Where its file was read from.
    pub file: String,
    /// What `{self}` stands for.
    pub program: PathBuf,
}

/// One play's place: a fresh state folder, and the words that the target's texts are filled with.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) setting: Setting,
    /// Databases that stay open between two counts, while no process of the server begins or ends.
    kept: Mutex<Kept>,
    pub(crate) state: StateFolder,
    /// How many of the owner's credentials are used up.
    rotated: AtomicUsize,
}

/// Databases by their path, each with the file's number: a file made anew under the path is another one.
pub(crate) type Kept = BTreeMap<PathBuf, (u64, Connection)>;

impl Place {
    /// Makes the state folder and the files that the target wants in it.
    pub(crate) fn new(setting: &Setting) -> Result<Place, DriveError> {
        let (state, rotated) = (StateFolder::new()?, AtomicUsize::new(0));
        let place = Place { setting: setting.clone(), state, kept: Mutex::default(), rotated };
        for file in &place.target().files {
            state::write_whole(
                &PathBuf::from(place.fill(&file.path, None)?),
                &place.fill(&file.content, None)?,
            )?;
        }
        Ok(place)
    }

    /// What is kept open.
    pub(crate) fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes what was kept open: a server that begins or ends, and whoever takes a lock, must find the store
    /// as it would be if nobody counted.
    pub(crate) fn close(&self) {
        self.kept().clear();
    }

    pub(crate) fn target(&self) -> &Target {
        &self.setting.target
    }

    /// Fills `{state}`, `{self}`, `{port}` and `${ENV}`.
    pub(crate) fn fill(&self, text: &str, port: Option<u16>) -> Result<String, DriveError> {
        let state = self.state.path().display().to_string();
        let program = self.setting.program.display().to_string();
        let port = port.map(|port| port.to_string()).unwrap_or_default();
        let filled = template::fill(text, &[("state", &state), ("self", &program), ("port", &port)]);
        fill_env(&filled)
    }

    /// Writes one of the files that a hook names.
    pub(crate) fn write(&self, file: &FileWrite) -> Result<(), DriveError> {
        let path = PathBuf::from(self.fill(&file.write, None)?);
        state::write_whole(&path, &self.fill(&file.content, None)?)
    }

    /// Who asks the server where it counts for itself.
    pub(crate) fn askers(&self) -> Vec<Who> {
        let asked = self.target().stores.iter().filter_map(|store| store.asked.as_ref());
        asked.map(|ask| Who { role: ask.role, place: ask.workspace }).collect()
    }

    /// How a caller says who it is and for which workspace it calls.
    pub(crate) fn credentials(&self, who: Who) -> Vec<&Credential> {
        let workspaces = self.target().workspaces.iter().filter(|workspace| workspace.place == who.place);
        let workspace = workspaces.map(|workspace| &workspace.credential);
        self.credential(who.role).into_iter().chain(workspace).collect()
    }

    /// How whoever plays a role says who it is now; a target without principals has one nameless caller.
    pub(crate) fn credential(&self, role: Role) -> Option<&Credential> {
        let known = &self.target().principals.iter().find(|principal| principal.role == role)?.credentials;
        let used = if role == Role::Owner { self.rotated.load(Ordering::SeqCst) } else { 0 };
        known.get(used).or(known.last())
    }

    /// Lets the owner go on with its next credential; says which one that is, from 1.
    pub(crate) fn rotate(&self) -> usize {
        self.rotated.fetch_add(1, Ordering::SeqCst) + 2
    }
}

fn fill_env(text: &str) -> Result<String, DriveError> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            filled.push_str("${");
            rest = after;
            continue;
        };
        filled.push_str(&std::env::var(name).map_err(|_| DriveError::MissingEnv(name.to_owned()))?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}
