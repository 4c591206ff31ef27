//! Streams of events, as HTML defines them: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.

use std::time::Duration;

use crate::http1::Message;
use crate::mcp;

/// One event, whole.
#[derive(Debug, Default)]
pub(crate) struct Event {
    /// Where a stream goes on after it.
    pub(crate) id: Option<String>,
    /// How long to wait before asking for the rest of a stream that has ended.
    pub(crate) retry: Option<Duration>,
    /// What it carries; empty if nothing.
    pub(crate) data: String,
}

/// Whether a message is a stream of events.
pub(crate) fn is_stream(message: &Message) -> bool {
    message.header("content-type").is_some_and(|kind| kind.trim_start().starts_with(mcp::EVENTS))
}

/// The events of a message that are whole; none if it is no stream.
pub(crate) fn events(message: &Message) -> Vec<Event> {
    if !is_stream(message) {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&message.body).replace("\r\n", "\n").replace('\r', "\n");
    // An event ends with an empty line; what comes after the last one is not whole.
    let whole = text.rsplit_once("\n\n").map(|(whole, _)| whole);
    whole.into_iter().flat_map(|whole| whole.split("\n\n")).map(event).collect()
}

fn event(text: &str) -> Event {
    let mut event = Event::default();
    let mut data = Vec::new();
    for line in text.lines() {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => data.push(value),
            "id" => event.id = Some(value.to_owned()),
            "retry" => event.retry = value.parse().ok().map(Duration::from_millis),
            _ => {}
        }
    }
    event.data = data.join("\n");
    event
}
