//! The messages of HTTP/1.1, as far as they have come.

use std::collections::BTreeMap;

use nottwice_model::history::Why;
use serde_json::{Value, json};

use crate::transport::Lost;

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

    pub(crate) fn address(&self) -> String {
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
    pub(crate) head: usize,
    pub(crate) keeps_open: bool,
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

/// What has come of a message; nothing while its head is not whole.
pub(crate) fn message(seen: &[u8]) -> Result<Option<Message>, Lost> {
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

/// A message without a length of its own, which ends with the stream.
pub(crate) fn until_the_end(seen: &[u8]) -> Option<Message> {
    let message = message(seen).ok().flatten()?;
    let endless = !message.headers.contains_key("content-length") && !is_chunked(&message.headers);
    endless.then_some(Message { whole: true, keeps_open: false, ..message })
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
