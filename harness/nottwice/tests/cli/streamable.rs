//! MCP over Streamable HTTP: one attempt is one request, whatever the server answers.

use std::io::{BufRead, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::project::Project;

/// How the small server answers a call of its tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum How {
    /// With the result, in a stream with other events around it.
    Streamed,
    /// By sending the caller to itself.
    Moved,
    /// By closing the connection before the first byte.
    Closed,
    /// With a status and no MCP.
    Busy,
    /// As if the session had never been.
    Forgotten,
    /// With the result, but the session of a first call is lost: the reply is in no other place than one that is
    /// begun anew. It is so again for whoever comes after a session was ended.
    Lost,
    /// With a stream that ends before the result, which comes only to whoever asks for the rest of it.
    Resumed,
    /// Likewise, as a server of the modern era, which has no rest to ask for.
    Unfinished,
    /// With the result, and as a server of the modern era, which wants an argument repeated in a header.
    Modern,
}

/// What came in, in order: the HTTP method, and the method of MCP where there is one.
pub(crate) type Seen = Arc<Mutex<Vec<String>>>;

/// A small legacy server with sessions, on a thread of its own for as long as the test runs.
pub(crate) fn listen(how: How) -> (u16, Seen) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let seen = Seen::default();
    let server =
        Arc::new(Small { port, how, seen: seen.clone(), begun: AtomicUsize::new(0), lost: Mutex::default() });
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let server = server.clone();
            thread::spawn(move || server.converse(stream));
        }
    });
    (port, seen)
}

/// One small server.
struct Small {
    port: u16,
    how: How,
    seen: Seen,
    /// How many sessions there were.
    begun: AtomicUsize,
    /// The one that is lost, if it is that kind of server.
    lost: Mutex<Option<String>>,
}

/// One request.
struct Asked {
    method: String,
    session: Option<String>,
    /// The last event that came.
    last: Option<String>,
    message: Value,
}

impl How {
    fn is_modern(self) -> bool {
        matches!(self, How::Modern | How::Unfinished)
    }
}

impl Small {
    fn converse(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().expect("a socket can be shared"));
        while let Some(asked) = request(&mut reader) {
            let Some(answer) = self.answer(&asked) else { return };
            if stream.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }

    fn answer(&self, asked: &Asked) -> Option<String> {
        let method = asked.message["method"].as_str().unwrap_or_default();
        self.seen
            .lock()
            .expect("nothing panics")
            .push(format!("{} {method}", asked.method).trim().to_owned());
        let id = &asked.message["id"];
        let known = asked.session.as_ref().is_some_and(|session| session.starts_with('s'));
        Some(match method {
            "server/discover" if self.how.is_modern() => {
                let about = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"]});
                streamed(&json!({"jsonrpc": "2.0", "id": id, "result": about}))
            }
            "initialize" if !self.how.is_modern() => {
                let session = self.begun.fetch_add(1, Ordering::SeqCst);
                let server = json!({"name": "small", "version": "1"});
                let result =
                    json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": server});
                let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
                json_reply("200 OK", &format!("Mcp-Session-Id: s{session}\r\n"), &message)
            }
            _ if !self.how.is_modern() && !known => json_reply("400 Bad Request", "", &json!("no session")),
            "notifications/initialized" => json_reply("202 Accepted", "", &Value::Null),
            "tools/list" => {
                let text = json!({"type": "string", "x-mcp-header": "Text"});
                let schema = json!({"type": "object", "properties": {"text": text}});
                let tool = json!({"name": "create", "inputSchema": schema});
                streamed(&json!({"jsonrpc": "2.0", "id": id, "result": {"tools": [tool]}}))
            }
            "tools/call" => return self.called(asked, id),
            _ if asked.method == "GET" => rest(asked),
            _ if asked.method == "DELETE" => {
                self.lost.lock().expect("nothing panics").take();
                json_reply("200 OK", "", &Value::Null)
            }
            _ => json_reply("200 OK", "", &Value::Null),
        })
    }

    fn called(&self, asked: &Asked, id: &Value) -> Option<String> {
        let done = || streamed(&done(id));
        Some(match self.how {
            How::Streamed | How::Modern => done(),
            How::Moved => {
                let there = format!("Location: http://127.0.0.1:{}/mcp\r\n", self.port);
                json_reply("307 Temporary Redirect", &there, &Value::Null)
            }
            How::Closed => return None,
            How::Busy => json_reply("503 Service Unavailable", "Retry-After: 0\r\n", &Value::Null),
            How::Forgotten => json_reply("404 Not Found", "", &json!("no such session")),
            How::Lost => {
                let mut lost = self.lost.lock().expect("nothing panics");
                let lost = lost.get_or_insert_with(|| asked.session.clone().unwrap_or_default());
                let there = asked.session.as_ref() != Some(lost);
                if there { done() } else { json_reply("404 Not Found", "", &json!("no such session")) }
            }
            How::Resumed | How::Unfinished => chunked(&format!("id: call-{id}\nretry: 10\ndata:\n\n")),
        })
    }
}

/// The rest of a stream, to whoever names where it ended.
fn rest(asked: &Asked) -> String {
    let of = asked.last.as_ref().and_then(|last| last.strip_prefix("call-")?.parse::<u64>().ok());
    of.map_or_else(
        || json_reply("405 Method Not Allowed", "", &Value::Null),
        |id| streamed(&done(&json!(id))),
    )
}

fn done(id: &Value) -> Value {
    let result = json!({"content": [{"type": "text", "text": "done"}]});
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn request(reader: &mut impl BufRead) -> Option<Asked> {
    let (mut first, mut session, mut last, mut length) = (String::new(), None, None, 0);
    reader.read_line(&mut first).ok().filter(|read| *read != 0)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().ok()?,
            "mcp-session-id" => session = Some(value.to_owned()),
            "last-event-id" => last = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let message = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Asked { method: first.split(' ').next()?.to_owned(), session, last, message })
}

fn json_reply(status: &str, headers: &str, body: &Value) -> String {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let length = body.len();
    let kind = "Content-Type: application/json\r\n";
    format!("HTTP/1.1 {status}\r\n{headers}{kind}Content-Length: {length}\r\n\r\n{body}")
}

/// A message in a stream, after all that a server may send before it, in chunks that end anywhere.
fn streamed(message: &Value) -> String {
    let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}});
    let ping = json!({"jsonrpc": "2.0", "id": message["id"], "method": "ping"});
    let body = format!(
        "id: 1\nretry: 3000\ndata:\n\n: nothing\n\ndata: {log}\r\n\r\nevent: message\ndata: {ping}\n\n\
         id: 2\ndata: {message}\n\n"
    );
    chunked(&body)
}

fn chunked(body: &str) -> String {
    let (one, two) = body.split_at(body.len() / 2);
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\n\r\n",
        one.len(),
        two.len()
    )
}

/// A target without a key, at a server that somebody else runs.
pub(crate) fn target(port: u16) -> String {
    format!(
        "name = \"mine\"\n\n[reach]\ntransport = \"mcp-http\"\nbase = \"http://127.0.0.1:{port}/mcp\"\n\n\
         [tool.main]\nname = \"create\"\narguments = {{ text = \"{{label}}\" }}\n"
    )
}

/// What came of two calls of one intent.
struct Played {
    /// What the server saw.
    seen: Vec<String>,
    /// The attempts that the record has, as bytes.
    sent: Vec<String>,
    /// How they ended for their caller.
    ended: Vec<Value>,
}

fn played(how: How) -> Played {
    played_with(how, "")
}

/// With more lines in the target file.
fn played_with(how: How, lines: &str) -> Played {
    let (port, seen) = listen(how);
    let project = Project::new().with("mine.toml", target(port) + lines);
    project.run("run mine.toml receipt/plain-retry");
    let record = project.read("reports/runs/mine/receipt-plain-retry.jsonl");
    let events: Vec<Value> = record.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let sent = events.iter().filter(|event| event["event"] == "sent");
    let sent = sent.map(|event| event["bytes"].as_str().unwrap_or_default().to_owned()).collect();
    let ended = events.iter().filter(|event| event["event"] == "ended");
    let ended = ended.map(|event| event["outcome"].clone()).collect();
    let seen = seen.lock().expect("nothing panics").clone();
    Played { seen, sent, ended }
}

impl Played {
    fn outcomes(&self) -> Vec<&str> {
        self.ended.iter().filter_map(|outcome| outcome["outcome"].as_str()).collect()
    }

    fn times(&self, asked: &str) -> usize {
        self.seen.iter().filter(|seen| *seen == asked).count()
    }
}

#[test]
fn one_attempt_is_one_request() {
    for how in [How::Streamed, How::Moved, How::Closed, How::Busy, How::Forgotten, How::Modern] {
        let played = played(how);
        let seen = &played.seen;
        assert_eq!((played.times("POST tools/call"), played.sent.len()), (2, 2), "{how:?}: {seen:#?}");
        assert!(!seen.iter().any(|asked| asked.starts_with("GET")), "{how:?}: {seen:#?}");
    }
}

#[test]
fn a_reply_is_found_among_the_events_of_a_stream() {
    let played = played(How::Streamed);
    assert!(played.ended.iter().all(|outcome| outcome["outcome"] == "acked"), "{:#?}", played.ended);
}

/// The survey and the play have a session each, and take leave of it.
#[test]
fn a_session_is_kept_and_ended() {
    let played = played(How::Streamed);
    let seen = &played.seen;
    assert_eq!((played.times("POST notifications/initialized"), played.times("DELETE")), (2, 2), "{seen:#?}");
}

/// A session outlives its connections; one that the server has forgotten is not used again.
#[test]
fn only_a_lost_session_is_begun_anew() {
    assert_eq!(played(How::Closed).times("POST notifications/initialized"), 2);
    assert_eq!(played(How::Forgotten).times("POST notifications/initialized"), 3);
}

/// Both calls carry one key, and only the second comes to its reply, in a session of its own.
#[test]
fn a_reply_behind_a_lost_session_is_reached_with_the_same_key() {
    let played = played_with(How::Lost, "\n[key]\nat = \"header:Idempotency-Key\"\n");
    assert_eq!(played.outcomes()[..2], ["unknown", "acked"], "{:#?}", played.ended);
    let key =
        |sent: &String| sent.lines().find(|line| line.starts_with("Idempotency-Key: ")).map(str::to_owned);
    let keys: Vec<_> = played.sent.iter().map(key).collect();
    assert!(keys[0].is_some() && keys[0] == keys[1], "{keys:?}");
    let session =
        |sent: &String| sent.lines().find(|line| line.starts_with("Mcp-Session-Id: ")).map(str::to_owned);
    assert_ne!(session(&played.sent[0]), session(&played.sent[1]));
}

/// The call is sent once; what is asked for is the rest of its stream.
#[test]
fn a_reply_in_the_rest_of_a_stream_is_reached_by_resuming_it() {
    let played = played(How::Resumed);
    assert_eq!(played.outcomes(), ["acked", "acked"], "{:#?}", played.ended);
    assert_eq!((played.times("POST tools/call"), played.times("GET")), (2, 2), "{:#?}", played.seen);
}

/// In the modern era a stream that has ended is over.
#[test]
fn nothing_is_resumed_in_the_modern_era() {
    let played = played(How::Unfinished);
    assert_eq!(played.outcomes(), ["unknown", "unknown"], "{:#?}", played.ended);
    assert_eq!((played.times("POST tools/call"), played.times("GET")), (2, 0), "{:#?}", played.seen);
}

#[test]
fn a_key_can_sit_in_meta_or_in_a_header() {
    let key = |at: &str| format!("\n[key]\nat = \"{at}\"\n");
    for sent in played_with(How::Streamed, &key("meta:example/key")).sent {
        let (_, body) = sent.split_once("\r\n\r\n").expect("a head and a body");
        let body: Value = serde_json::from_str(body).expect("a message");
        assert!(body["params"]["_meta"]["example/key"].is_string(), "{body:#}");
        assert!(body["params"]["arguments"].get("example/key").is_none(), "{body:#}");
    }
    for sent in played_with(How::Streamed, &key("header:Idempotency-Key")).sent {
        assert!(sent.contains("\r\nIdempotency-Key: "), "{sent}");
    }
}

#[test]
fn a_modern_request_stands_alone() {
    let played = played(How::Modern);
    assert_eq!(played.times("POST initialize") + played.times("DELETE"), 0, "{:#?}", played.seen);
    for sent in &played.sent {
        for header in [
            "MCP-Protocol-Version: 2026-07-28",
            "Mcp-Method: tools/call",
            "Mcp-Name: create",
            "Mcp-Param-Text: nt-",
        ] {
            assert!(sent.contains(&format!("\r\n{header}")), "{header}: {sent}");
        }
        assert!(!sent.contains("Mcp-Session-Id"), "{sent}");
        assert!(sent.contains("\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\""), "{sent}");
    }
}
