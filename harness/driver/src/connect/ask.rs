//! Lines for questions of the harness's own, beside the calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use nottwice_model::target::Transport;

use super::{Fleet, Line};
use crate::error::DriveError;
use crate::transport::Link;
use crate::worker::{Seat, Who};

impl Fleet {
    /// A line for a question of the harness's own: over a socket a connection of its own to a worker that
    /// runs, over pipes those of the asker's own process. `None` while no such process runs; one that was
    /// never started is started.
    pub(crate) async fn asker(&mut self, who: Who) -> Result<Option<Line>, DriveError> {
        if self.place.target().start.is_none() {
            return Ok(Some(Line { link: Arc::new(self.dial(None).await?), worker: None }));
        }
        let mut running = BTreeSet::new();
        for (seat, worker) in &self.workers {
            if worker.is_alive().await {
                running.insert(*seat);
            }
        }
        let numbers: BTreeSet<_> = running.iter().map(|seat| seat.worker).collect();
        for number in numbers {
            let seat = self.seat(number, who);
            if !self.starts.contains_key(&seat) {
                return self.line(number, who, false).await.map(Some);
            }
            let Some(worker) = self.workers.get(&seat).filter(|_| running.contains(&seat)).cloned() else {
                continue;
            };
            let link: Option<Arc<dyn Link>> = match self.place.target().reach.transport {
                Transport::Http => Some(Arc::new(self.dial(Some(&worker)).await?)),
                Transport::McpHttp => Some(Arc::new(self.meet(Some(&worker), (number, who), false).await?)),
                Transport::McpStdio => self.open_link(seat),
            };
            if let Some(link) = link {
                return Ok(Some(Line { link, worker: Some(worker) }));
            }
        }
        Ok(None)
    }

    /// A line for everybody who asks a server that counts for itself; `None` while one cannot be asked.
    pub(crate) async fn askers(&mut self) -> Result<Option<BTreeMap<Who, Line>>, DriveError> {
        let mut askers = BTreeMap::new();
        for who in self.place.askers() {
            let Some(line) = self.asker(who).await? else { return Ok(None) };
            askers.insert(who, line);
        }
        Ok(Some(askers))
    }

    /// The link to a seat that can be used, if there is one.
    fn open_link(&self, seat: Seat) -> Option<Arc<dyn Link>> {
        let to_seat = |(of, _): &(&(u8, Who), &Vec<Arc<dyn Link>>)| self.seat(of.0, of.1) == seat;
        let mut links = self.links.iter().filter(to_seat).flat_map(|(_, links)| links);
        links.find(|link| link.is_free()).cloned()
    }
}
