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

use nottwice_model::history::Why;
use nottwice_model::target::Era;
use serde_json::{Value, json};

use crate::http1::{Base, Message, Socket};
use crate::mcp::{self, Asked};
use crate::transport::{Later, Link, Lost, Reply, Request};

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
            Ok(self.read(id, None).await?.document)
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
            self.socket.read(None, |_| false).await.map(drop)
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

    fn read(&self, id: u64, most: Option<usize>) -> Later<'_, Result<Reply, Lost>> {
        Box::pin(async move {
            let (bytes, message) = self.socket.read(most, |message| in_stream(message, id).is_some()).await?;
            let stood_in = self.session().filter(|_| message.status == 404);
            if stood_in.is_some_and(|session| session.end()) {
                // Who calls next begins another.
                self.socket.close().await;
            }
            match document(&message, id) {
                Some(document) => Ok(Reply { bytes: message.unframed(&bytes), document }),
                None => Err(Lost { why: Why::CutReply, bytes }),
            }
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
                let _ = self.socket.read(None, |_| false).await;
            }
        })
    }

    fn close(&self) -> Later<'_, ()> {
        Box::pin(self.socket.close())
    }

    fn is_free(&self) -> bool {
        match self.era {
            Era::Legacy => self.socket.is_idle() && !self.session().is_some_and(|session| session.is_over()),
            Era::Modern => self.socket.is_free(),
        }
    }
}

fn is_stream(message: &Message) -> bool {
    message.header("content-type").is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
}

/// The answer to a request among the events of a stream, once it is whole. Whatever else the server sends in
/// it (progress, a log, questions of its own, an event without data) is left aside.
fn in_stream(message: &Message, id: u64) -> Option<Value> {
    if !is_stream(message) {
        return None;
    }
    let text = String::from_utf8_lossy(&message.body).replace("\r\n", "\n").replace('\r', "\n");
    // An event ends with an empty line; what comes after the last one is not whole.
    let (events, _) = text.rsplit_once("\n\n")?;
    let data = |event: &str| {
        let lines = event.lines().filter_map(|line| line.strip_prefix("data:"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    };
    let mut messages = events.split("\n\n").filter_map(|event| serde_json::from_str(&data(event)).ok());
    messages.find(|message| mcp::answers(message) == Some(id))
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
