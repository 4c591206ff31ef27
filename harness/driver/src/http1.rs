//! HTTP/1.1 on a socket of our own: every byte is seen, nothing is ever sent again by itself, and
//! redirects are not followed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use nottwice_model::history::Why;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use crate::transport::Lost;

/// A head or body longer than this is not read.
const LONGEST: usize = 16 * 1024 * 1024;
/// More headers than any server sends.
const MOST_HEADERS: usize = 128;

/// Where a server is: `http://HOST:PORT` with an optional path.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    /// Host and port, as the `Host` header says them.
    pub(crate) authority: String,
    /// The path as it is written, with its first slash; empty where there is none.
    pub(crate) path: String,
}

impl Base {
    pub(crate) fn of(base: &str) -> Base {
        let rest = base.strip_prefix("http://").unwrap_or(base);
        let path = rest.find('/').map_or("", |at| &rest[at..]);
        Base { authority: rest[..rest.len() - path.len()].to_owned(), path: path.to_owned() }
    }

    fn address(&self) -> String {
        let Base { authority, .. } = self;
        if authority.contains(':') { authority.clone() } else { format!("{authority}:80") }
    }
}

/// One message from the server, as far as it has come.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// The body without the framing of its chunks.
    pub(crate) body: Vec<u8>,
    /// Whether its end has come.
    pub(crate) whole: bool,
    /// How many bytes its head has.
    head: usize,
    keeps_open: bool,
}

impl Message {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// What came of it, without the framing of its chunks, which may stand anywhere in the text.
    pub(crate) fn unframed(&self, bytes: &[u8]) -> Vec<u8> {
        [&bytes[..self.head], &self.body].concat()
    }

    /// Status, headers and body, the body as JSON where it is JSON.
    pub(crate) fn document(&self) -> Value {
        let body = serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&self.body).into_owned()));
        json!({"status": self.status, "headers": self.headers, "body": body})
    }
}

/// One connection; it carries one request at a time.
pub(crate) struct Socket {
    base: Base,
    open: Mutex<Option<Open>>,
    free: AtomicBool,
}

/// The stream, and what has come of the reply that is under way.
struct Open {
    stream: TcpStream,
    seen: Vec<u8>,
}

impl Socket {
    /// Connects.
    pub(crate) async fn connect(base: Base) -> std::io::Result<Socket> {
        let open = Mutex::new(Some(dial(&base).await?));
        Ok(Socket { base, open, free: AtomicBool::new(true) })
    }

    /// Connects again unless the next request can go over the connection that there is.
    pub(crate) async fn renew(&self) -> std::io::Result<()> {
        let mut open = self.open.lock().await;
        if !open.as_mut().is_some_and(Open::is_silent) {
            *open = Some(dial(&self.base).await?);
        }
        Ok(())
    }

    pub(crate) fn base(&self) -> &Base {
        &self.base
    }

    /// Says that a request is about to be written.
    pub(crate) fn occupy(&self) {
        self.free.store(false, Ordering::SeqCst);
    }

    pub(crate) async fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut open = self.open.lock().await;
        let Some(Open { stream, .. }) = open.as_mut() else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        stream.write_all(bytes).await
    }

    /// Waits until the first byte of a reply is there, and takes nothing of it.
    pub(crate) async fn begun(&self) -> Result<(), Lost> {
        let mut open = self.open.lock().await;
        let Some(Open { stream, seen }) = open.as_mut() else { return Err(Lost::new(Why::NoReply)) };
        if !seen.is_empty() {
            return Ok(());
        }
        match stream.peek(&mut [0]).await {
            Ok(1) => Ok(()),
            _ => Err(Lost::new(Why::NoReply)),
        }
    }

    /// Reads until there is enough of a message, and keeps it for [`Socket::read`].
    pub(crate) async fn wait(&self, enough: impl Fn(&Message) -> bool) -> Result<(), Lost> {
        let mut open = self.open.lock().await;
        let Some(open) = open.as_mut() else { return Err(Lost::new(Why::NoReply)) };
        while !message(&open.seen)?.is_some_and(|message| message.whole || enough(&message)) {
            more(&mut open.stream, &mut open.seen, None).await?;
        }
        Ok(())
    }

    /// Reads one message, to its end or until there is enough of it, and gives its bytes with it. With
    /// `most`, only so many bytes are let through, and then the stream is closed.
    pub(crate) async fn read(
        &self,
        most: Option<usize>,
        enough: impl Fn(&Message) -> bool,
    ) -> Result<(Vec<u8>, Message), Lost> {
        let mut place = self.open.lock().await;
        let Some(open) = place.as_mut() else { return Err(Lost::new(Why::NoReply)) };
        let read = read(open, most, enough).await;
        match &read {
            Ok((_, message)) => {
                // What is still to come of the message is taken off before the next request.
                if message.whole {
                    open.seen.clear();
                }
                if !message.keeps_open {
                    *place = None;
                }
                self.free.store(true, Ordering::SeqCst);
            }
            Err(_) => *place = None,
        }
        read
    }

    pub(crate) async fn close(&self) {
        self.free.store(false, Ordering::SeqCst);
        self.open.lock().await.take();
    }

    /// Whether nothing is under way and nothing was cut off.
    pub(crate) fn is_idle(&self) -> bool {
        self.free.load(Ordering::SeqCst)
    }

    /// Whether nothing is under way, and the next request can go over the connection that there is.
    pub(crate) fn is_free(&self) -> bool {
        self.is_idle()
            && self.open.try_lock().is_ok_and(|mut open| open.as_mut().is_some_and(Open::is_silent))
    }
}

impl Open {
    /// Whether nothing can be read. What can be read while nothing is asked is the rest of the last message,
    /// the end of the stream, or no business of the next request.
    fn is_silent(&mut self) -> bool {
        while !self.seen.is_empty() {
            match message(&self.seen) {
                Ok(Some(message)) if message.whole => self.seen.clear(),
                Ok(Some(_)) if self.stream.try_read_buf(&mut self.seen).is_ok_and(|read| read != 0) => {}
                _ => return false,
            }
        }
        let read = self.stream.try_read(&mut [0]);
        read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }
}

async fn dial(base: &Base) -> std::io::Result<Open> {
    let stream = TcpStream::connect(base.address()).await?;
    stream.set_nodelay(true)?;
    Ok(Open { stream, seen: Vec::new() })
}

async fn read(
    Open { stream, seen }: &mut Open,
    most: Option<usize>,
    enough: impl Fn(&Message) -> bool,
) -> Result<(Vec<u8>, Message), Lost> {
    let message = loop {
        let so_far = message(seen)?;
        if let Some(message) = so_far.filter(|message| message.whole || enough(message)) {
            break message;
        }
        match more(stream, seen, most).await {
            Err(Lost { why: Why::CutReply, bytes }) if most.is_none() => {
                break until_the_end(seen).ok_or(Lost { why: Why::CutReply, bytes })?;
            }
            other => other?,
        }
    };
    if let Some(most) = most {
        seen.truncate(most);
        return Err(Lost { why: Why::CutReply, bytes: std::mem::take(seen) });
    }
    Ok((seen.clone(), message))
}

/// A message without a length of its own, which ends with the stream.
fn until_the_end(seen: &[u8]) -> Option<Message> {
    let message = message(seen).ok().flatten()?;
    let endless = !message.headers.contains_key("content-length") && !is_chunked(&message.headers);
    endless.then_some(Message { whole: true, keeps_open: false, ..message })
}

/// Reads on; `most` bytes are all that the caller lets through.
async fn more(stream: &mut TcpStream, seen: &mut Vec<u8>, most: Option<usize>) -> Result<(), Lost> {
    if most.is_some_and(|most| seen.len() >= most) {
        return Err(Lost { why: Why::CutReply, bytes: std::mem::take(seen) });
    }
    if seen.len() > LONGEST {
        return Err(Lost { why: Why::Unreadable, bytes: std::mem::take(seen) });
    }
    match stream.read_buf(seen).await {
        Ok(0) | Err(_) if seen.is_empty() => Err(Lost::new(Why::NoReply)),
        Ok(0) | Err(_) => Err(Lost { why: Why::CutReply, bytes: seen.clone() }),
        Ok(_) => Ok(()),
    }
}

/// What has come of a message; nothing while its head is not whole.
fn message(seen: &[u8]) -> Result<Option<Message>, Lost> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut reply = httparse::Response::new(&mut headers);
    let unreadable = |_| Lost { why: Why::Unreadable, bytes: seen.to_vec() };
    let httparse::Status::Complete(head) = reply.parse(seen).map_err(unreadable)? else {
        return Ok(None);
    };
    let status = reply.code.unwrap_or(0);
    let headers: BTreeMap<_, _> = reply
        .headers
        .iter()
        .map(|header| (header.name.to_ascii_lowercase(), String::from_utf8_lossy(header.value).into_owned()))
        .collect();
    let asks_to_close = headers.get("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    let keeps_open = reply.version == Some(1) && !asks_to_close;
    let rest = &seen[head..];
    let length = headers.get("content-length").and_then(|value| value.parse::<usize>().ok());
    let (body, whole) = match length {
        _ if status == 204 || status == 304 => (Vec::new(), true),
        _ if is_chunked(&headers) => dechunk(rest).map_err(|why| Lost { why, bytes: seen.to_vec() })?,
        Some(length) => (rest[..rest.len().min(length)].to_vec(), rest.len() >= length),
        None => (rest.to_vec(), false),
    };
    Ok(Some(Message { status, headers, body, whole, head, keeps_open }))
}

fn is_chunked(headers: &BTreeMap<String, String>) -> bool {
    headers.get("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
}

/// What has come of the body of a chunked message, and whether its last chunk is there.
fn dechunk(mut rest: &[u8]) -> Result<(Vec<u8>, bool), Why> {
    let mut body = Vec::new();
    loop {
        let (start, size) = match httparse::parse_chunk_size(rest) {
            Ok(httparse::Status::Complete((start, size))) => {
                (start, usize::try_from(size).unwrap_or(usize::MAX))
            }
            Ok(httparse::Status::Partial) => return Ok((body, false)),
            Err(_) => return Err(Why::Unreadable),
        };
        if size == 0 {
            // Trailers end with an empty line; none are kept.
            return Ok((body, rest[start..].windows(2).any(|end| end == b"\r\n")));
        }
        let end = start.saturating_add(size);
        body.extend_from_slice(&rest[start..end.min(rest.len())]);
        if rest.len() < end.saturating_add(2) {
            return Ok((body, false));
        }
        rest = &rest[end + 2..];
    }
}
