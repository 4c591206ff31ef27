//! One caller's attempt: one request on the wire, and whatever its fault does to it.

mod point;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use nottwice_model::fault::{At, Fault};
use nottwice_model::history::{Outcome, What, Why};
use nottwice_model::plan::{Plan, PlannedCall};
use nottwice_model::reply::{self, Class};
use nottwice_model::scenario::KeyForm;
use nottwice_model::target::{Credential, Era, KeyPlace, Transport};
use tokio::sync::{Notify, watch};

use crate::connect::Line;
use crate::error::DriveError;
use crate::mcp;
use crate::place::Place;
use crate::recorder::Recorder;
use crate::transport::{Later, Lost, Reply, Request};

/// Which attempt this is.
#[derive(Debug, Clone)]
pub(crate) struct Attempt {
    pub(crate) call: String,
    pub(crate) identity: usize,
    pub(crate) variant: usize,
    pub(crate) keyed: bool,
    pub(crate) form: KeyForm,
    pub(crate) worker: u8,
    pub(crate) request_id: u64,
    pub(crate) fault: Option<Fault>,
}

impl Attempt {
    /// The attempt that a plan asks for.
    pub(crate) fn of(call: &PlannedCall) -> Attempt {
        Attempt {
            call: call.name.clone(),
            identity: call.identity,
            variant: call.variant,
            keyed: call.keyed,
            form: call.sent_as(),
            worker: call.worker,
            request_id: call.request_id,
            fault: call.fault,
        }
    }
}

/// What the steps of a play and a standing call say to each other.
#[derive(Debug)]
pub(crate) struct Signals {
    /// Whether the fault has fired.
    pub(crate) reached: watch::Sender<bool>,
    /// Lets a held call go on.
    pub(crate) release: Notify,
    /// Whether the caller has said that it waits no longer.
    pub(crate) cancelled: watch::Sender<bool>,
}

impl Signals {
    pub(crate) fn new() -> Arc<Signals> {
        let (reached, cancelled) = (watch::channel(false).0, watch::channel(false).0);
        Arc::new(Signals { reached, release: Notify::new(), cancelled })
    }
}

/// Everything one attempt needs. `second` is a further link, for the second copy of a message.
pub(crate) struct Caller {
    pub(crate) plan: Arc<Plan>,
    pub(crate) place: Arc<Place>,
    pub(crate) recorder: Recorder,
    pub(crate) line: Line,
    pub(crate) second: Option<Line>,
    pub(crate) attempt: Attempt,
    pub(crate) signals: Arc<Signals>,
}

impl Caller {
    /// Makes the attempt, and writes down how it ended for its caller.
    pub(crate) async fn attempt(self) -> Outcome {
        let outcome = self.play().await;
        self.recorder.add(What::Ended { call: self.attempt.call.clone(), outcome: outcome.clone() });
        outcome
    }

    async fn play(&self) -> Outcome {
        let request = self.request();
        let bytes = self.line.link.encode(&request);
        match self.attempt.fault {
            None => self.plain(&bytes).await,
            Some(fault) => {
                self.recorder.add(What::Armed { call: self.attempt.call.clone(), fault });
                match fault.at {
                    At::Request => self.on_request(fault, &bytes).await,
                    At::Reply => self.on_reply(fault, &bytes).await,
                    _ => self.at_point(fault, &bytes).await,
                }
            }
        }
    }

    fn request(&self) -> Request {
        let Attempt { identity, variant, form, request_id, .. } = self.attempt;
        let plan = &self.plan;
        let mut headers = Vec::new();
        if let Some(Credential::Header { name, value }) = self.workspace() {
            headers.push((name.clone(), value.clone()));
        }
        let key = plan.carried(identity, form);
        if let (KeyPlace::Header(name), Some(key)) = (&plan.target.key.at, &key) {
            let text = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
            let again = plan.carried_again(identity, form);
            headers.extend(
                [text]
                    .into_iter()
                    .chain(again)
                    .map(|value| (name.clone(), plan.target.key.in_header(&value))),
            );
        }
        if let Some(name) = &self.place.target().reach.request_id {
            headers.push((name.clone(), request_id.to_string()));
        }
        if let Some(Credential::Header { name, value }) =
            self.place.credential(plan.identities[identity].role)
        {
            headers.push((name.clone(), value.clone()));
        }
        let meta = match (&plan.target.key.at, key) {
            (KeyPlace::Meta(name), Some(key)) => vec![(name.clone(), key)],
            _ => Vec::new(),
        };
        let arguments = plan.arguments(identity, variant, form);
        if plan.target.transport == Transport::McpHttp && plan.survey.era == Some(Era::Modern) {
            let schema = &plan.survey.described["inputSchema"];
            headers.extend(mcp::repeated(schema, &arguments));
        }
        let tool = plan.target.tool(plan.identities[identity].tool).clone();
        Request { id: request_id, tool, arguments, meta, headers }
    }

    /// How the call says for which workspace it is, beside its caller's credential.
    fn workspace(&self) -> Option<&Credential> {
        let place = self.plan.identities[self.attempt.identity].place;
        let mut known = self.place.target().workspaces.iter();
        known.find(|workspace| workspace.place == place).map(|workspace| &workspace.credential)
    }

    /// Gives bytes to the wire and writes down that they were sent.
    async fn send(&self, line: &Line, call: &str, bytes: &[u8]) {
        let Attempt { identity, variant, keyed, worker, request_id, .. } = self.attempt;
        line.link.expect(request_id);
        self.recorder.add(What::Sent {
            call: call.to_owned(),
            identity,
            variant,
            worker,
            incarnation: line.incarnation(),
            pid: line.worker.as_ref().map_or(0, |worker| worker.pid),
            connection: line.link.number(),
            request_id: request_id.to_string(),
            keyed,
            bytes: self.recorder.text(bytes),
        });
        // A pipe that is closed already shows in the reply that does not come.
        let _ = line.link.write(bytes).await;
    }

    async fn plain(&self, bytes: &[u8]) -> Outcome {
        self.send(&self.line, &self.attempt.call, bytes).await;
        self.told(self.reply(&self.line, &self.attempt.call).await)
    }

    /// What a link gives within the caller's patience, and for as long as the caller waits at all.
    async fn waited<T>(&self, line: &Line, read: Later<'_, Result<T, Lost>>) -> Result<T, Lost> {
        let patience = self.place.target().reach.patience.duration();
        let mut cancelled = self.signals.cancelled.subscribe();
        let cancelled = async { drop(cancelled.wait_for(|cancelled| *cancelled).await) };
        tokio::select! {
            biased;
            // What comes now is ignored.
            () = cancelled => Err(Lost::new(Why::Cancelled)),
            read = tokio::time::timeout(patience, read) => match read {
                Ok(read) => read,
                Err(_) => {
                    line.link.give_up().await;
                    Err(Lost::new(Why::TimedOut))
                }
            },
        }
    }

    /// Reads a reply and writes down what came off the wire.
    async fn reply(&self, line: &Line, call: &str) -> Result<Outcome, Lost> {
        let read = self.waited(line, line.link.read(self.attempt.request_id)).await;
        let reply = read.inspect_err(|lost| {
            if !lost.bytes.is_empty() {
                self.recorder.printed(self.attempt.worker, "a reply that ends in the middle", &lost.bytes);
            }
        })?;
        let outcome = self.read(&reply);
        let bytes = self.recorder.text(&reply.bytes);
        let rules = &self.plan.target.replies;
        let retryable = rules.retryable.as_deref().and_then(|at| reply.document.pointer(at)?.as_bool());
        let operation = reply::named(rules.operation.as_ref(), &reply.document);
        self.recorder.add(What::Replied {
            call: call.to_owned(),
            bytes,
            outcome: outcome.clone(),
            retryable,
            operation,
        });
        Ok(outcome)
    }

    /// What a reply says, by the rules of the target.
    fn read(&self, reply: &Reply) -> Outcome {
        let facts = &self.plan.target;
        match reply::classify(&facts.replies, facts.transport, &reply.document) {
            None => Outcome::Unknown { why: Why::Unclassified },
            Some(class @ (Class::Ok | Class::Replayed)) => {
                Outcome::Acked(reply::answer(&facts.replies, facts.transport, class, &reply.document))
            }
            Some(Class::Accepted) => Outcome::Pending,
            Some(Class::Unknown) => Outcome::Unknown { why: Why::SaidUnknown },
            Some(class) => Outcome::Refused { class, retry_after: retry_after(reply) },
        }
    }

    fn told(&self, reply: Result<Outcome, Lost>) -> Outcome {
        reply.unwrap_or_else(|lost| Outcome::Unknown { why: lost.why })
    }

    fn fired(&self, evidence: impl Into<String>) {
        // What a server prints may hold what must not be written down.
        let evidence = self.recorder.text(evidence.into().as_bytes());
        self.recorder.add(What::Fired { call: self.attempt.call.clone(), evidence });
        self.signals.reached.send_replace(true);
    }

    async fn held(&self) {
        self.signals.release.notified().await;
        self.recorder.add(What::Released { call: self.attempt.call.clone() });
    }

    async fn crash(&self) {
        match &self.line.worker {
            Some(worker) => worker.kill().await,
            None => unreachable!("a crash needs the ability to restart, which needs a worker of ours"),
        }
    }

    async fn pause(&self) -> Result<(), DriveError> {
        match &self.line.worker {
            Some(worker) => worker.pause().await,
            None => unreachable!("a pause needs the ability to restart, which needs a worker of ours"),
        }
    }

    fn trouble(&self, error: DriveError) -> Outcome {
        self.recorder.add(What::Trouble { what: error.to_string() });
        Outcome::Unknown { why: Why::NoReply }
    }
}

/// For how long a reply asks its caller to wait, in milliseconds.
fn retry_after(reply: &Reply) -> Option<u64> {
    let header = reply.document.pointer("/headers/retry-after")?.as_str()?;
    header.trim().parse::<u64>().ok().map(|seconds| Duration::from_secs(seconds).as_millis() as u64)
}
