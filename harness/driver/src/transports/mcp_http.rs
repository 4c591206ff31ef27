//! MCP over Streamable HTTP, in both eras: each message is one POST, answered as JSON or as a stream of
//! events.
//!
//! A link is one TCP connection. In the legacy era it stands in a session, which outlives it: what is called
//! after a broken connection, or beside a call that is under way, goes on in the same one, as a client of that
//! era does it; and a link takes another connection if the server has not done with its first one. Nothing is
//! sent again: a redirect, a lost session and a broken stream are answers like others, and the next attempt
//! decides for itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nottwice_model::history::Why;
use nottwice_model::target::Era;
use serde_json::{Value, json};

use crate::cut::Cut;
use crate::events::{events, is_stream};
use crate::http1::{Base, Message, message};
use crate::mcp::{self, Asked};
use crate::socket::Socket;
use crate::transport::{Later, Link, Lost, Reply, Request};

/// How long a stream rests before it is asked to go on, where the server does not say it.
const USUAL_PAUSE: Duration = Duration::from_millis(100);

/// A name and a value.
pub(crate) type Header = (String, String);

/// One connection; it carries one attempt at a time.
pub(crate) struct McpHttpLink {
    number: u32,
    era: Era,
    /// How its caller says who it is, for the messages that are the harness's own.
    caller: Vec<Header>,
    socket: Socket,
    /// Legacy: the session it stands in. Without it the server was not spoken to yet, or let nobody in.
    session: OnceLock<Arc<Session>>,
}

/// What a legacy handshake settled.
pub(crate) struct Session {
    /// Its name, if the server keeps sessions.
    id: Option<String>,
    revision: String,
    over: AtomicBool,
}

impl McpHttpLink {
    /// Connects. `base` is the whole address of the server's one endpoint.
    pub(crate) async fn connect(
        number: u32,
        base: &str,
        era: Era,
        caller: Vec<Header>,
    ) -> std::io::Result<McpHttpLink> {
        let socket = Socket::connect(Base::of(base)).await?;
        Ok(McpHttpLink { number, era, caller, socket, session: OnceLock::new() })
    }

    /// Stands in a session that another link has begun.
    pub(crate) fn join(&self, session: Arc<Session>) {
        self.session.get_or_init(|| session);
    }

    /// The session it stands in.
    pub(crate) fn session(&self) -> Option<&Arc<Session>> {
        self.session.get()
    }

    /// The bytes of one POST. The names of method and tool are repeated in headers from 2026-07-28 on.
    fn post(&self, message: &Value, headers: &[Header]) -> Vec<u8> {
        let mut all =
            vec![("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json")];
        let text = |pointer| message.pointer(pointer).and_then(Value::as_str);
        if self.era == Era::Modern {
            all.extend([("MCP-Protocol-Version", mcp::MODERN)]);
            all.extend(text("/method").map(|method| ("Mcp-Method", method)));
            all.extend(text("/params/name").map(|name| ("Mcp-Name", name)));
        }
        let body = message.to_string();
        let length = body.len().to_string();
        all.push(("Content-Length", &length));
        (self.head("POST", &all, headers) + &body).into_bytes()
    }

    /// Writes a request of the harness's own.
    async fn say(&self, bytes: &[u8]) -> Result<(), Lost> {
        let said = async {
            self.socket.renew().await?;
            self.socket.occupy();
            self.socket.write(bytes).await
        };
        said.await.map_err(|_: std::io::Error| Lost::new(Why::NoReply))
    }

    /// A reply, if one was read.
    fn reply(&self, read: Result<(Vec<u8>, Message), Lost>, id: u64) -> Result<Reply, Lost> {
        let (bytes, message) = read?;
        self.told(message.status);
        match document(&message, id) {
            Some(document) => Ok(Reply { bytes: message.unframed(&bytes), document }),
            None => Err(Lost { why: Why::CutReply, bytes }),
        }
    }

    /// Asks for the rest of a stream that ended without its answer, for as long as the server lets it go on.
    /// Nothing is called again by that: it names the last event that came, and a stream without one is lost.
    async fn resume(&self, lost: Lost, id: u64) -> Result<Reply, Lost> {
        let (mut last, mut pause) = (None, USUAL_PAUSE);
        let mut came = lost.bytes.clone();
        while let Some(so_far) = message(&came).ok().flatten().filter(is_stream) {
            for event in events(&so_far) {
                last = event.id.or(last);
                pause = event.retry.unwrap_or(pause);
            }
            let Some(last) = &last else { break };
            tokio::time::sleep(pause).await;
            match self.rest(last, id).await {
                Ok((_, message)) if !is_stream(&message) => {
                    self.told(message.status);
                    break;
                }
                rest => match self.reply(rest, id) {
                    Ok(reply) => return Ok(reply),
                    Err(other) => came = other.bytes,
                },
            }
        }
        Err(lost)
    }

    /// What follows an event of a stream, over a connection of its own.
    async fn rest(&self, last: &str, id: u64) -> Result<(Vec<u8>, Message), Lost> {
        let socket =
            Socket::connect(self.socket.base().clone()).await.map_err(|_| Lost::new(Why::NoReply))?;
        let head = self.head("GET", &[("Accept", mcp::EVENTS), ("Last-Event-ID", last)], &self.caller);
        socket.write(head.as_bytes()).await.map_err(|_| Lost::new(Why::NoReply))?;
        socket.read(|message| in_stream(message, id).is_some()).await
    }

    fn head(&self, method: &str, own: &[(&str, &str)], headers: &[Header]) -> String {
        let Base { authority, path } = self.socket.base();
        let path = if path.is_empty() { "/" } else { path };
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {authority}\r\n");
        let session = self.session().map_or(Vec::new(), |session| session.headers());
        let given = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.iter().copied().chain(session).chain(given) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head + "\r\n"
    }
}

impl Session {
    /// Whether it has ended: nothing more can be said in it.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Ends it; whether it was there to end.
    fn end(&self) -> bool {
        self.id.is_some() && !self.over.swap(true, Ordering::SeqCst)
    }

    fn headers(&self) -> Vec<(&str, &str)> {
        let id = self.id.as_deref().map(|id| ("Mcp-Session-Id", id));
        [("MCP-Protocol-Version", self.revision.as_str())].into_iter().chain(id).collect()
    }
}

impl Asked for McpHttpLink {
    fn era(&self) -> Era {
        self.era
    }

    fn ask<'a>(&'a self, id: u64, method: &'a str, params: Value) -> Later<'a, Result<Value, Lost>> {
        Box::pin(async move {
            self.say(&self.post(&mcp::message(self.era, id, method, params), &self.caller)).await?;
            Ok(self.read(id).await?.document)
        })
    }

    /// Keeps what was settled and says so. Who is not let in for the handshake has no session; his calls are
    /// sent all the same, so that their answer is the server's own word.
    fn initialized<'a>(&'a self, answer: &'a Value) -> Later<'a, Result<(), Lost>> {
        Box::pin(async move {
            let text = |pointer| answer.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
            let Some(revision) = text("/result/protocolVersion") else {
                let shut_out = answer.get("status").is_some_and(|status| status == 401 || status == 403);
                return if shut_out { Ok(()) } else { Err(mcp::unexpected(answer)) };
            };
            let id = text("/headers/mcp-session-id");
            self.join(Arc::new(Session { id, revision, over: AtomicBool::new(false) }));
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            self.say(&self.post(&ready, &self.caller)).await?;
            self.socket.read(|_| false).await.map(drop)
        })
    }
}

impl Link for McpHttpLink {
    fn number(&self) -> u32 {
        self.number
    }

    fn encode(&self, request: &Request) -> Vec<u8> {
        self.post(&mcp::call(self.era, request), &request.headers)
    }

    fn expect(&self, _id: u64) {
        self.socket.occupy();
    }

    /// A legacy server may end a stream long after the answer in it; waiting for that is nobody's business, and
    /// the session does not hang on it.
    fn write<'a>(&'a self, bytes: &'a [u8]) -> Later<'a, std::io::Result<()>> {
        Box::pin(async move {
            if self.era == Era::Legacy {
                self.socket.renew().await?;
            }
            self.socket.write(bytes).await
        })
    }

    /// A stream of events may begin long before the reply is in it.
    fn begun(&self, id: u64) -> Later<'_, Result<(), Lost>> {
        Box::pin(async move {
            self.socket.begun().await?;
            self.socket.wait(|message| !is_stream(message) || in_stream(message, id).is_some()).await
        })
    }

    fn read(&self, id: u64) -> Later<'_, Result<Reply, Lost>> {
        Box::pin(async move {
            let read = self.socket.read(|message| in_stream(message, id).is_some()).await;
            match self.reply(read, id) {
                Err(lost) if self.era == Era::Legacy => self.resume(lost, id).await,
                read => read,
            }
        })
    }

    fn read_until(&self, id: u64, cut: Cut) -> Later<'_, Result<Option<Vec<u8>>, Lost>> {
        let answer = move |message: &Message| in_stream(message, id).map(|answer| answer.to_string().len());
        Box::pin(self.socket.read_until(cut, answer))
    }

    /// Who stands in a session and is told that there is none has lost it, and whoever calls next begins
    /// another.
    fn told(&self, status: u16) {
        if status == 404
            && let Some(session) = self.session()
        {
            session.end();
        }
    }

    /// The connection of the request is taken, so the word goes beside it, in the same session.
    fn cancel(&self, id: u64) -> Later<'_, Result<(), Lost>> {
        Box::pin(async move {
            let message = self.post(&mcp::cancelled(id), &self.caller);
            let beside = Socket::connect(self.socket.base().clone()).await;
            let beside = beside.map_err(|_| Lost::new(Why::NoReply))?;
            beside.write(&message).await.map_err(|_| Lost::new(Why::NoReply))?;
            let (bytes, answer) = beside.read(|_| false).await?;
            let taken = (200..300).contains(&answer.status);
            if taken { Ok(()) } else { Err(Lost { why: Why::Unclassified, bytes }) }
        })
    }

    fn give_up(&self) -> Later<'_, ()> {
        self.close()
    }

    fn part(&self) -> Later<'_, ()> {
        Box::pin(async move {
            // Whether the server minds is its own affair; the session is not used again.
            if self.is_free()
                && self.session().is_some_and(|session| session.end())
                && self.say(self.head("DELETE", &[], &self.caller).as_bytes()).await.is_ok()
            {
                let _ = self.socket.read(|_| false).await;
            }
        })
    }

    fn close(&self) -> Later<'_, ()> {
        Box::pin(self.socket.close())
    }

    fn half_close(&self) -> Later<'_, std::io::Result<()>> {
        Box::pin(self.socket.half_close())
    }

    fn reset(&self) -> Later<'_, std::io::Result<()>> {
        Box::pin(self.socket.reset())
    }

    fn is_free(&self) -> bool {
        match self.era {
            Era::Legacy => self.socket.is_idle() && !self.session().is_some_and(|session| session.is_over()),
            Era::Modern => self.socket.is_free(),
        }
    }
}

/// The document that rules point into: the message of MCP, with the status and headers that it came under.
/// What is no such message stands under `body`. Nothing if a stream has ended without an answer.
fn document(message: &Message, id: u64) -> Option<Value> {
    let whole = message.document();
    let mut document = if is_stream(message) {
        in_stream(message, id)?
    } else {
        let body = &whole["body"];
        // An error about a request that could not be read has no id to name.
        let is_ours = body.get("id").is_none_or(Value::is_null) || mcp::answers(body) == Some(id);
        let is_answer = body.get("result").is_some() || body.get("error").is_some_and(Value::is_object);
        if !(is_ours && is_answer && body.get("jsonrpc").is_some()) {
            return Some(whole);
        }
        body.clone()
    };
    document["status"] = whole["status"].clone();
    document["headers"] = whole["headers"].clone();
    Some(mcp::with_text(document))
}

/// The answer to a request among the events of a stream, once it is whole. Whatever else the server sends in
/// it (progress, a log, questions of its own, an event without data) is left aside.
fn in_stream(message: &Message, id: u64) -> Option<Value> {
    let mut messages = events(message).into_iter().filter_map(|event| serde_json::from_str(&event.data).ok());
    messages.find(|message| mcp::answers(message) == Some(id))
}
