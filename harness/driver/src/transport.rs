//! What a transport is: one link to one worker, over which single messages go and come.
//!
//! Nothing here ever sends a message twice or retries by itself: one attempt is one request on the wire.
//! Faults are decided by the caller's side, which is why a link offers the bytes themselves.

use std::future::Future;
use std::pin::Pin;

use nottwice_model::history::Why;
use nottwice_model::target::Tool;
use serde_json::Value;

use crate::cut::Cut;

/// A future behind a trait object.
pub(crate) type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One call as it is meant, before any transport gave it a form.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The id on the wire.
    pub(crate) id: u64,
    /// The tool or route.
    pub(crate) tool: Tool,
    /// Its arguments, the key among them where it sits there.
    pub(crate) arguments: Value,
    /// MCP: entries of `_meta`, the key among them where it sits there.
    pub(crate) meta: Vec<(String, Value)>,
    /// HTTP: headers beyond those of every request, the key and the credential among them.
    pub(crate) headers: Vec<(String, String)>,
}

/// One whole reply.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
    /// The document that the target's rules point into.
    pub(crate) document: Value,
}

/// Why there is no whole reply.
#[derive(Debug, Clone)]
pub(crate) struct Lost {
    /// What the caller knows.
    pub(crate) why: Why,
    /// What came nevertheless.
    pub(crate) bytes: Vec<u8>,
}

impl Lost {
    pub(crate) fn new(why: Why) -> Lost {
        Lost { why, bytes: Vec::new() }
    }
}

/// One connection to one worker.
pub(crate) trait Link: Send + Sync {
    /// Its number over the whole play.
    fn number(&self) -> u32;

    /// The bytes that carry a request.
    fn encode(&self, request: &Request) -> Vec<u8>;

    /// Says that a reply to this id is waited for; to be called before its request is written.
    fn expect(&self, id: u64);

    /// Writes bytes of a request.
    fn write<'a>(&'a self, bytes: &'a [u8]) -> Later<'a, std::io::Result<()>>;

    /// Waits until a reply has begun to arrive, and gives it to nobody.
    fn begun(&self, id: u64) -> Later<'_, Result<(), Lost>>;

    /// Reads the whole reply.
    fn read(&self, id: u64) -> Later<'_, Result<Reply, Lost>>;

    /// Reads a reply up to the place of a cut and gives what is let through; the stream stays as it is. `None`
    /// if the reply is whole and has no such place: it is still to be read.
    fn read_until(&self, id: u64, cut: Cut) -> Later<'_, Result<Option<Vec<u8>>, Lost>>;

    /// Says that no more requests will come, and still reads; over a socket there is nothing to say.
    fn finish(&self) -> Later<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Says in the protocol's own word that nobody waits for the answer to this request any more, while its
    /// connection stays open. A plan asks for it only where there is such a word.
    fn cancel(&self, _id: u64) -> Later<'_, Result<(), Lost>> {
        Box::pin(std::future::ready(Err(Lost::new(Why::NoReply))))
    }

    /// The caller has no more patience; where the connection carried this one attempt, it is closed.
    fn give_up(&self) -> Later<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Takes leave where the protocol has a word for it; for a link that is not used again.
    fn part(&self) -> Later<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Its caller was told a status in the place of a reply, by something in between.
    fn told(&self, _status: u16) {}

    /// Closes the connection, both ways.
    fn close(&self) -> Later<'_, ()>;

    /// Closes this side of the connection, and still reads; only a socket can.
    fn half_close(&self) -> Later<'_, std::io::Result<()>> {
        Box::pin(std::future::ready(Err(std::io::ErrorKind::Unsupported.into())))
    }

    /// Resets the connection; only a socket can.
    fn reset(&self) -> Later<'_, std::io::Result<()>> {
        Box::pin(std::future::ready(Err(std::io::ErrorKind::Unsupported.into())))
    }

    /// Whether another request may be sent over it while others are under way.
    fn is_free(&self) -> bool;
}
