//! Plain HTTP/1.1 on a socket of our own: every byte is seen, nothing is ever sent again by itself, and
//! redirects are not followed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use nottwice_model::history::Why;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use crate::transport::{Later, Link, Lost, Reply, Request};

/// A head or body longer than this is not read.
const LONGEST: usize = 16 * 1024 * 1024;
/// More headers than any server sends.
const MOST_HEADERS: usize = 128;

/// One connection; it carries one attempt at a time.
pub(crate) struct HttpLink {
    number: u32,
    authority: String,
    prefix: String,
    stream: Mutex<Option<TcpStream>>,
    free: AtomicBool,
}

impl HttpLink {
    /// Connects. `base` is `http://HOST:PORT` with an optional path before every route.
    pub(crate) async fn connect(number: u32, base: &str) -> std::io::Result<HttpLink> {
        let rest = base.strip_prefix("http://").unwrap_or(base);
        let (authority, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix =
            if prefix.is_empty() { String::new() } else { format!("/{}", prefix.trim_end_matches('/')) };
        let address = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let stream = Mutex::new(Some(stream));
        Ok(HttpLink { number, authority: authority.to_owned(), prefix, stream, free: AtomicBool::new(true) })
    }

    /// One request of the harness's own, with its whole answer.
    pub(crate) async fn get(&self, path: &str) -> Result<Reply, Lost> {
        let head = format!("GET {}{path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.prefix, self.authority);
        self.write(head.as_bytes()).await.map_err(|_| Lost::new(Why::NoReply))?;
        self.read(0, None).await
    }
}

impl Link for HttpLink {
    fn number(&self) -> u32 {
        self.number
    }

    fn encode(&self, request: &Request) -> Vec<u8> {
        let body = match &request.arguments {
            Value::Null => String::new(),
            arguments => arguments.to_string(),
        };
        let mut head = format!(
            "{} {}{} HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\n",
            request.tool.method, self.prefix, request.tool.path, self.authority
        );
        for (name, value) in &request.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len()));
        (head + &body).into_bytes()
    }

    fn expect(&self, _id: u64) {
        self.free.store(false, Ordering::SeqCst);
    }

    fn write<'a>(&'a self, bytes: &'a [u8]) -> Later<'a, std::io::Result<()>> {
        Box::pin(async move {
            let mut stream = self.stream.lock().await;
            let Some(stream) = stream.as_mut() else { return Err(std::io::ErrorKind::BrokenPipe.into()) };
            stream.write_all(bytes).await
        })
    }

    fn begun(&self, _id: u64) -> Later<'_, Result<(), Lost>> {
        Box::pin(async move {
            let mut stream = self.stream.lock().await;
            let Some(stream) = stream.as_mut() else { return Err(Lost::new(Why::NoReply)) };
            match stream.peek(&mut [0]).await {
                Ok(1) => Ok(()),
                _ => Err(Lost::new(Why::NoReply)),
            }
        })
    }

    fn read(&self, _id: u64, most: Option<usize>) -> Later<'_, Result<Reply, Lost>> {
        Box::pin(async move {
            let mut place = self.stream.lock().await;
            let Some(stream) = place.as_mut() else { return Err(Lost::new(Why::NoReply)) };
            let read = read_reply(stream, most).await;
            match &read {
                Ok((_, true)) => self.free.store(true, Ordering::SeqCst),
                _ => *place = None,
            }
            read.map(|(reply, _)| reply)
        })
    }

    fn give_up(&self) -> Later<'_, ()> {
        self.close()
    }

    fn close(&self) -> Later<'_, ()> {
        Box::pin(async move {
            self.free.store(false, Ordering::SeqCst);
            self.stream.lock().await.take();
        })
    }

    fn is_free(&self) -> bool {
        // What can be read while nothing is asked is the end of the stream, or no business of the next call.
        let silent = |stream: &TcpStream| {
            let read = stream.try_read(&mut [0]);
            read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
        };
        self.free.load(Ordering::SeqCst)
            && self.stream.try_lock().is_ok_and(|stream| stream.as_ref().is_some_and(silent))
    }
}

/// What the head of a reply says.
struct Head {
    status: u16,
    headers: BTreeMap<String, String>,
    length: usize,
    keeps_open: bool,
}

/// Reads one reply, and says whether the connection stays open after it.
async fn read_reply(stream: &mut TcpStream, most: Option<usize>) -> Result<(Reply, bool), Lost> {
    let mut seen = Vec::new();
    let head = loop {
        if let Some(head) = head(&seen)? {
            break head;
        }
        more(stream, &mut seen, most).await?;
    };
    let header = |name: &str| head.headers.get(name).map(String::as_str);
    let chunked = header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
    let length = header("content-length").and_then(|value| value.parse::<usize>().ok());
    let bodyless = head.status == 204 || head.status == 304;
    let (body, keeps_open) = loop {
        let rest = &seen[head.length..];
        let whole = match (bodyless, chunked, length) {
            (true, ..) => Some(Vec::new()),
            (_, true, _) => dechunk(rest).map_err(|why| Lost { why, bytes: seen.clone() })?,
            (_, _, Some(length)) if rest.len() >= length => Some(rest[..length].to_vec()),
            _ => None,
        };
        if let Some(body) = whole {
            break (body, head.keeps_open);
        }
        let ends_with_stream = !chunked && length.is_none();
        match more(stream, &mut seen, most).await {
            Err(Lost { why: Why::CutReply, .. }) if ends_with_stream && most.is_none() => {
                break (seen[head.length..].to_vec(), false);
            }
            other => other?,
        }
    };
    if let Some(most) = most {
        seen.truncate(most);
        return Err(Lost { why: Why::CutReply, bytes: seen });
    }
    let document = document(head.status, &head.headers, &body);
    Ok((Reply { bytes: seen, document }, keeps_open))
}

fn document(status: u16, headers: &BTreeMap<String, String>, body: &[u8]) -> Value {
    let body = serde_json::from_slice(body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()));
    json!({"status": status, "headers": headers, "body": body})
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

fn head(seen: &[u8]) -> Result<Option<Head>, Lost> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut reply = httparse::Response::new(&mut headers);
    let unreadable = || Lost { why: Why::Unreadable, bytes: seen.to_vec() };
    let httparse::Status::Complete(length) = reply.parse(seen).map_err(|_| unreadable())? else {
        return Ok(None);
    };
    let headers: BTreeMap<_, _> = reply
        .headers
        .iter()
        .map(|header| (header.name.to_ascii_lowercase(), String::from_utf8_lossy(header.value).into_owned()))
        .collect();
    let asks_to_close = headers.get("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    let keeps_open = reply.version == Some(1) && !asks_to_close;
    Ok(Some(Head { status: reply.code.unwrap_or(0), headers, length, keeps_open }))
}

/// The body of a chunked message once its last chunk is there.
fn dechunk(mut rest: &[u8]) -> Result<Option<Vec<u8>>, Why> {
    let mut body = Vec::new();
    loop {
        let (start, size) = match httparse::parse_chunk_size(rest) {
            Ok(httparse::Status::Complete((start, size))) => {
                (start, usize::try_from(size).unwrap_or(usize::MAX))
            }
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err(Why::Unreadable),
        };
        if size == 0 {
            // Trailers end with an empty line; none are kept.
            return Ok(rest[start..].windows(2).any(|end| end == b"\r\n").then_some(body));
        }
        let end = start.saturating_add(size);
        if rest.len() < end.saturating_add(2) {
            return Ok(None);
        }
        body.extend_from_slice(&rest[start..end]);
        rest = &rest[end + 2..];
    }
}
