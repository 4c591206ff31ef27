//! What a play does to a server beside the calls: hooks that belong to one call, and access.

use std::collections::BTreeMap;

use nottwice_model::fault::Fault;
use nottwice_model::history::What;
use nottwice_model::scenario::Role;
use nottwice_model::target::{Hook, Signal};

use crate::connect::Line;
use crate::error::DriveError;
use crate::play::Player;
use crate::signal;
use crate::worker::Who;

/// The worker that signals about access are given to; what they change is shared by all.
const FIRST: u8 = 1;

impl Player {
    /// The hook by which a fault is done, if one is needed.
    pub(crate) fn hook(&self, fault: Option<Fault>) -> Option<&Hook> {
        let fault = fault.filter(|fault| fault.at.is_point())?;
        self.place.target().hook(fault.at, fault.deed)
    }

    /// Starts a worker again where the hook of the next call stands in its environment.
    pub(crate) async fn dress(&mut self, worker: u8, fault: Option<Fault>) -> Result<(), DriveError> {
        let signal = fault.and_then(|fault| self.hook(Some(fault))?.signal(fault.deed)).cloned();
        let Some(Signal::Env(env)) = signal else { return Ok(()) };
        if let Some(call) = self.standing_at(worker) {
            let what = format!("worker {worker} cannot be started again for a hook while `{call}` stands");
            return Err(DriveError::Beside(what));
        }
        self.fleet.dress(worker, &env).await
    }

    /// Starts such a worker again as the target says, once the call is over.
    pub(crate) async fn undress(&mut self) -> Result<(), DriveError> {
        for worker in self.fleet.dressed() {
            if self.standing_at(worker).is_none() {
                self.fleet.undress(worker).await?;
            }
        }
        Ok(())
    }

    /// A line for everybody who asks a server that counts for itself; `None` while it cannot be asked:
    /// something is under way, the asker may not ask, or its process is not there.
    pub(crate) async fn askers(&mut self) -> Result<Option<BTreeMap<Who, Line>>, DriveError> {
        let whos = self.place.askers();
        let silenced = self.revoked && whos.iter().any(|who| who.role == Role::Owner);
        let under_way = !self.standing.is_empty()
            || self.lock.is_some()
            || !self.recorder.paused().is_empty()
            || silenced;
        match under_way {
            _ if whos.is_empty() => Ok(Some(BTreeMap::new())),
            true => Ok(None),
            false => self.fleet.askers().await,
        }
    }

    /// Takes the owner's access away, or gives it back.
    pub(crate) async fn access(&mut self, revoked: bool) -> Result<(), DriveError> {
        let Some(access) = self.place.target().access.clone() else { return Ok(()) };
        if let Some(signal) = if revoked { access.revoke } else { access.grant } {
            self.give(&signal).await?;
        }
        self.recorder.add(What::Access { revoked });
        self.revoked = revoked;
        Ok(())
    }

    /// Lets the owner go on with its next credential; where it stands in the environment of a process, the
    /// process is started again with it.
    pub(crate) async fn rotate(&mut self) -> Result<(), DriveError> {
        let signal = self.place.target().access.as_ref().and_then(|access| access.rotate.clone());
        if let Some(signal) = signal {
            self.give(&signal).await?;
        }
        let credential = self.place.rotate();
        self.recorder.add(What::Rotated { credential });
        self.fleet.renew(Role::Owner).await
    }

    /// Gives a signal that is for no call: over the owner's line to the first worker.
    async fn give(&mut self, signal: &Signal) -> Result<(), DriveError> {
        if let Signal::Write(file) = signal {
            return self.place.write(file);
        }
        let line = self.fleet.line(FIRST, Who::default(), false).await?;
        signal::give(signal, &self.place, &line).await
    }
}
