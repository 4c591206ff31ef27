//! The workers of one play and the links to them: started when first called, opened when asked for.

mod meet;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use nottwice_model::scenario::Role;
use nottwice_model::target::{Credential, Era, Start, Transport};
use serde_json::Value;

use crate::clock::Clock;
use crate::error::DriveError;
use crate::listener::{self, Owner};
use crate::mcp;
use crate::outside;
use crate::place::Place;
use crate::recorder::Recorder;
use crate::transport::Link;
use crate::transports::http::HttpLink;
use crate::transports::mcp_http::Session;
use crate::transports::mcp_stdio::StdioLink;
use crate::worker::{Seat, Who, Worker};

/// How often a starting server is looked at: a listening socket sends no event to others.
const GLANCE: Duration = Duration::from_millis(2);

/// How long one look at a starting server may take.
const LOOK: Duration = Duration::from_secs(1);

/// Everything that runs and is open in one play. Dropping it ends every process.
pub(crate) struct Fleet {
    pub(crate) place: Arc<Place>,
    era: Era,
    pub(crate) recorder: Recorder,
    workers: BTreeMap<Seat, Arc<Worker>>,
    starts: BTreeMap<Seat, u32>,
    links: BTreeMap<(u8, Who), Vec<Arc<dyn Link>>>,
    /// MCP over HTTP, legacy: the last session of each caller with each worker.
    sessions: BTreeMap<(u8, Who), Arc<Session>>,
    /// Workers that were asked to stop and are not gone yet.
    stopping: Vec<Arc<Worker>>,
    opened: u32,
    /// Sockets of the workers that are known to lead to nobody else.
    sockets: BTreeSet<String>,
    /// What a worker finds in its environment beside what the target says, while a hook belongs to a call.
    dressed: BTreeMap<u8, BTreeMap<String, String>>,
}

/// A link, and whose it is.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) link: Arc<dyn Link>,
    pub(crate) worker: Option<Arc<Worker>>,
}

impl Line {
    /// How often the worker at the other end has been started.
    pub(crate) fn incarnation(&self) -> u32 {
        self.worker.as_ref().map_or(1, |worker| worker.incarnation)
    }
}

impl Fleet {
    pub(crate) fn new(place: Arc<Place>, era: Era, recorder: Recorder) -> Fleet {
        let (workers, starts, links, sessions, stopping, sockets, dressed) = Default::default();
        let opened = 0;
        Fleet { place, era, recorder, workers, starts, links, sessions, stopping, opened, sockets, dressed }
    }

    /// Where a caller's requests to a worker go: where callers are told apart by the environment, each
    /// has a process of its own.
    fn seat(&self, worker: u8, who: Who) -> Seat {
        let credentials = self.place.credentials(who);
        let by_env = credentials.iter().any(|credential| matches!(credential, Credential::Env { .. }));
        Seat { worker, who: by_env.then_some(who) }
    }

    /// Begins another plan's turn on what runs: its record names the workers that it finds, and over sockets
    /// its connections are its own.
    pub(crate) fn next_turn(&mut self) {
        if self.place.target().reach.transport == Transport::Http {
            self.links.clear();
            self.opened = 0;
        }
        for worker in self.workers.values() {
            worker.started();
        }
    }

    /// A link from a caller to a worker: the one there is, or a fresh one. A worker that was never
    /// started, or whose only connection is closed, is started.
    pub(crate) async fn line(&mut self, worker: u8, who: Who, fresh: bool) -> Result<Line, DriveError> {
        let seat = self.seat(worker, who);
        let open = self.links.entry((worker, who)).or_default();
        open.retain(|link| link.is_free());
        if let (Some(link), false) = (open.last(), fresh) {
            return Ok(Line { link: link.clone(), worker: self.workers.get(&seat).cloned() });
        }
        let running = self.running(seat).await?;
        self.opened += 1;
        let link: Arc<dyn Link> = match (self.place.target().reach.transport, &running) {
            (Transport::McpStdio, Some(worker)) => Arc::new(self.greet(worker).await?),
            (Transport::McpHttp, _) => Arc::new(self.meet(running.as_deref(), (worker, who), fresh).await?),
            _ => Arc::new(self.dial(running.as_deref()).await?),
        };
        self.links.entry((worker, who)).or_default().push(link.clone());
        Ok(Line { link, worker: running })
    }

    /// The worker of a seat, started where it is not there; over stdio a connection is a process of its own.
    async fn running(&mut self, seat: Seat) -> Result<Option<Arc<Worker>>, DriveError> {
        let Some(start) = self.start_of(seat.worker) else { return Ok(None) };
        if self.place.target().reach.transport.over_http() {
            if let Some(running) = self.workers.get(&seat) {
                return Ok(Some(running.clone()));
            }
        } else if let Some(deaf) = self.workers.remove(&seat) {
            deaf.hang_up();
            self.stopping.push(deaf);
        }
        self.start(seat, &start).await.map(Some)
    }

    async fn start(&mut self, seat: Seat, start: &Start) -> Result<Arc<Worker>, DriveError> {
        for old in self.stopping.extract_if(.., |old| old.seat == seat) {
            old.stopped(start.stop_within.duration()).await;
        }
        let incarnation = self.starts.get(&seat).copied().unwrap_or(0) + 1;
        let http = self.place.target().reach.transport.over_http();
        let port = if http { Some(self.port()?) } else { None };
        let worker = Worker::start(&self.place, start, seat, incarnation, port, &self.recorder)?;
        let worker = Arc::new(worker);
        if let Some(port) = port {
            self.ready(&worker, start, port).await?;
        }
        self.starts.insert(seat, incarnation);
        self.workers.insert(seat, worker.clone());
        worker.started();
        Ok(worker)
    }

    /// A free port, or the fixed one that the base names, which must be free too.
    fn port(&self) -> Result<u16, DriveError> {
        let base = self.place.target().reach.base.as_deref().unwrap_or_default();
        if base.contains("{port}") {
            return listener::free_port();
        }
        let port = port_of(base);
        listener::must_be_free(port)?;
        Ok(port)
    }

    /// Waits until the worker itself listens and, where the target names a path, answers.
    async fn ready(&self, worker: &Worker, start: &Start, port: u16) -> Result<(), DriveError> {
        let clock = Clock::start();
        let path = self.place.target().reach.ready.clone();
        loop {
            // Who listens is asked only once somebody does: the table of sockets is slow to read.
            let listens = HttpLink::connect(0, &self.base(Some(port))?).await.is_ok();
            let ended = worker.ended().await;
            let late = clock.elapsed() > start.ready_within.duration();
            let owner = if listens || ended.is_some() || late {
                listener::owner(port, worker.pid, &worker.mark)
            } else {
                Owner::Nobody
            };
            match (owner, ended) {
                (Owner::Stranger(pid), Some(_)) => return Err(DriveError::Stranger { port, pid }),
                (Owner::Stranger(pid), None) if late => return Err(DriveError::Stranger { port, pid }),
                (_, Some(status)) => {
                    let (_, said) = worker.last_words().await;
                    return Err(DriveError::Died { status, said });
                }
                (Owner::Ours, None) if self.answers(port, path.as_deref()).await? => return Ok(()),
                _ if late => {
                    let within = start.ready_within.to_string();
                    return Err(DriveError::NotReady { within, said: worker.said() });
                }
                _ => tokio::time::sleep(GLANCE).await,
            }
        }
    }

    /// Whether the worker takes a connection and, where the target names a path, answers on it.
    async fn answers(&self, port: u16, path: Option<&str>) -> Result<bool, DriveError> {
        let Ok(link) = HttpLink::connect(0, &self.base(Some(port))?).await else { return Ok(false) };
        Ok(match path {
            None => true,
            Some(path) => {
                // A server that takes the connection and says nothing is not ready yet.
                let reply = tokio::time::timeout(LOOK, link.get(path)).await;
                let status = |document: &Value| document.pointer("/status").and_then(Value::as_u64);
                matches!(reply, Ok(Ok(reply)) if status(&reply.document).is_some_and(|status| status < 500))
            }
        })
    }

    fn base(&self, port: Option<u16>) -> Result<String, DriveError> {
        self.place.fill(self.place.target().reach.base.as_deref().unwrap_or_default(), port)
    }

    async fn dial(&self, worker: Option<&Worker>) -> Result<HttpLink, DriveError> {
        let base = self.base(worker.and_then(|worker| worker.port))?;
        HttpLink::connect(self.opened, &base)
            .await
            .map_err(|source| DriveError::Protocol(format!("{base} cannot be reached: {source}")))
    }

    /// Takes a worker's pipes and speaks the handshake.
    async fn greet(&self, worker: &Worker) -> Result<StdioLink, DriveError> {
        let pipes = worker.take_pipes().ok_or_else(|| DriveError::Protocol("the pipes are taken".into()))?;
        let number = worker.seat.worker;
        let link =
            StdioLink::new(self.opened, number, self.era, pipes, self.recorder.clone(), worker.heard.clone());
        self.answered(Some(worker), mcp::greet(&link)).await?;
        Ok(link)
    }

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
    fn forget(&mut self, worker: u8) {
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

    /// How a worker is started just now.
    fn start_of(&self, worker: u8) -> Option<Start> {
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

    /// Looks whether what runs keeps to its own folders and this machine.
    ///
    /// # Errors
    /// It does not, and the target does not declare it.
    pub(crate) fn keeps_inside(&mut self) -> Result<(), DriveError> {
        let leaders: Vec<_> = self.workers.values().map(|worker| worker.pid).collect();
        outside::check(&self.place, &leaders, &mut self.sockets)
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

    fn seats(&self, worker: u8) -> Vec<Seat> {
        self.workers.keys().copied().filter(|seat| seat.worker == worker).collect()
    }
}

/// The port that a base address names.
fn port_of(base: &str) -> u16 {
    let authority = base.trim_start_matches("http://").split('/').next().unwrap_or_default();
    authority.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(80)
}
