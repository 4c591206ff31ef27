//! The lives of the workers: ended, asked to stop, started again, with more in their environment or less.

use std::collections::BTreeMap;

use nottwice_model::scenario::Role;
use nottwice_model::target::Start;

use super::{Fleet, LOOK};
use crate::error::DriveError;
use crate::worker::Seat;

impl Fleet {
    /// Ends every process of a worker with SIGKILL.
    pub(crate) async fn kill(&mut self, worker: u8) {
        self.forget(worker);
        for seat in self.seats(worker) {
            if let Some(worker) = self.workers.remove(&seat) {
                worker.kill().await;
            }
        }
    }

    /// Nothing more is said to a worker over what is open to it.
    pub(super) fn forget(&mut self, worker: u8) {
        self.links.retain(|(of, _), _| *of != worker);
        self.sessions.retain(|(of, _), _| *of != worker);
    }

    /// Asks every process of a worker to stop. Calls that are under way may still be answered.
    pub(crate) async fn stop(&mut self, worker: u8) {
        for ((of, _), links) in &self.links {
            for link in links.iter().filter(|_| *of == worker) {
                link.finish().await;
            }
        }
        self.forget(worker);
        for seat in self.seats(worker) {
            if let Some(worker) = self.workers.remove(&seat) {
                worker.ask_to_stop();
                self.stopping.push(worker);
            }
        }
    }

    /// Lets every process of a worker go on that was paused.
    pub(crate) fn resume(&self, worker: u8) {
        for seat in self.seats(worker) {
            self.workers[&seat].resume();
        }
    }

    /// Starts a worker again on the same state, for every caller that had it.
    pub(crate) async fn restart(&mut self, worker: u8) -> Result<(), DriveError> {
        self.kill(worker).await;
        let seats: Vec<_> = self.starts.keys().copied().filter(|seat| seat.worker == worker).collect();
        for seat in seats {
            self.line(worker, seat.who.unwrap_or_default(), false).await?;
        }
        Ok(())
    }

    /// Starts the processes of one caller again, whose credential stands in their environment; what is dead
    /// stays dead.
    pub(crate) async fn renew(&mut self, role: Role) -> Result<(), DriveError> {
        let seats: Vec<_> = self.workers.keys().copied().collect();
        for seat in seats {
            let Some(who) = seat.who.filter(|who| who.role == role) else { continue };
            if self.workers[&seat].is_alive().await {
                self.links.remove(&(seat.worker, who));
                if let Some(old) = self.workers.remove(&seat) {
                    old.kill().await;
                }
                self.line(seat.worker, who, false).await?;
            }
        }
        Ok(())
    }

    /// How a worker is started just now.
    pub(super) fn start_of(&self, worker: u8) -> Option<Start> {
        let mut start = self.place.target().start.clone()?;
        start.env.extend(self.dressed.get(&worker).cloned().unwrap_or_default());
        Some(start)
    }

    /// Starts a worker again with more in its environment, for one call.
    pub(crate) async fn dress(
        &mut self,
        worker: u8,
        env: &BTreeMap<String, String>,
    ) -> Result<(), DriveError> {
        self.dressed.insert(worker, env.clone());
        self.restart(worker).await
    }

    /// The workers that have more in their environment than the target says.
    pub(crate) fn dressed(&self) -> Vec<u8> {
        self.dressed.keys().copied().collect()
    }

    /// Starts a worker again without it; one that is dead by now stays dead.
    pub(crate) async fn undress(&mut self, worker: u8) -> Result<(), DriveError> {
        self.dressed.remove(&worker);
        for seat in self.seats(worker) {
            if self.workers[&seat].is_alive().await {
                return self.restart(worker).await;
            }
        }
        Ok(())
    }

    /// Notices workers that are gone, and starts again every one that ever ran.
    pub(crate) async fn revive(&mut self) -> Result<(), DriveError> {
        let mut dead = Vec::new();
        for seat in self.starts.keys() {
            let alive = match self.workers.get(seat) {
                Some(worker) => worker.is_alive().await,
                None => false,
            };
            if !alive {
                dead.push(seat.worker);
            }
        }
        dead.dedup();
        for worker in dead {
            self.restart(worker).await?;
        }
        Ok(())
    }

    /// Whether any process of the target still runs, so that its store is read through its locks.
    pub(crate) async fn any_alive(&self) -> bool {
        if self.place.target().start.is_none() {
            return true;
        }
        for worker in self.workers.values().chain(&self.stopping) {
            if worker.is_alive().await {
                return true;
            }
        }
        false
    }

    /// Whether every worker that ever ran still does, so that what it owes the store is on its way.
    pub(crate) async fn all_alive(&self) -> bool {
        for seat in self.starts.keys() {
            match self.workers.get(seat) {
                Some(worker) if worker.is_alive().await => {}
                _ => return false,
            }
        }
        self.stopping.is_empty()
    }

    /// Ends everything.
    pub(crate) async fn end(&mut self) {
        for link in std::mem::take(&mut self.links).into_values().flatten() {
            let _ = tokio::time::timeout(LOOK, link.part()).await;
        }
        let workers = std::mem::take(&mut self.workers).into_values();
        for worker in workers.chain(std::mem::take(&mut self.stopping)) {
            worker.kill().await;
        }
    }

    pub(super) fn seats(&self, worker: u8) -> Vec<Seat> {
        self.workers.keys().copied().filter(|seat| seat.worker == worker).collect()
    }
}
