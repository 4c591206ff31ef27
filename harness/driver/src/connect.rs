//! The workers of one play and the links to them: started when first called, opened when asked for.

mod ask;
mod life;
mod meet;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

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

/// How many ports are tried for one worker: whoever takes a free one takes it once.
const PORTS_TRIED: u8 = 4;

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
        let worker = Arc::new(self.launch(seat, start, incarnation).await?);
        self.starts.insert(seat, incarnation);
        self.workers.insert(seat, worker.clone());
        worker.started();
        Ok(worker)
    }

    /// A worker that is ready. A port of our own choice that somebody else took meanwhile is given up for
    /// another one.
    async fn launch(&self, seat: Seat, start: &Start, incarnation: u32) -> Result<Worker, DriveError> {
        let reach = &self.place.target().reach;
        let ours = reach.base.as_deref().is_some_and(|base| base.contains("{port}"));
        let mut left = if ours { PORTS_TRIED } else { 1 };
        loop {
            left -= 1;
            let port = if reach.transport.over_http() { Some(self.port()?) } else { None };
            let worker = Worker::start(&self.place, start, seat, incarnation, port, &self.recorder)?;
            let Some(port) = port else { return Ok(worker) };
            match self.ready(&worker, start, port).await {
                Err(DriveError::Stranger { .. }) if left > 0 => drop(worker),
                ready => return ready.map(|()| worker),
            }
        }
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

    /// Looks whether what runs keeps to its own folders and this machine.
    ///
    /// # Errors
    /// It does not, and the target does not declare it.
    pub(crate) fn keeps_inside(&mut self) -> Result<(), DriveError> {
        let leaders: Vec<_> = self.workers.values().map(|worker| worker.pid).collect();
        outside::check(&self.place, &leaders, &mut self.sockets)
    }
}

/// The port that a base address names.
fn port_of(base: &str) -> u16 {
    let authority = base.trim_start_matches("http://").split('/').next().unwrap_or_default();
    authority.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(80)
}
