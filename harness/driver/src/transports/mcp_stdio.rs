//! MCP over standard input and output: one JSON-RPC message a line, replies found by their id.
//!
//! A process is one connection. Closing it means closing its standard input and no longer reading.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use nottwice_model::history::Why;
use nottwice_model::target::Era;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;

use crate::cut::Cut;
use crate::mcp::{self, Asked};
use crate::recorder::Recorder;
use crate::transport::{Later, Link, Lost, Reply, Request};
use crate::worker::Said;

/// A line longer than this is no message of the protocol.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// The pipes of one process.
pub(crate) struct StdioLink {
    number: u32,
    era: Era,
    stdin: tokio::sync::Mutex<Option<ChildStdin>>,
    replies: Arc<Replies>,
    reader: tokio::task::AbortHandle,
}

/// What came off the pipe and is waited for.
#[derive(Debug)]
struct Replies {
    waiting: Mutex<BTreeMap<u64, Vec<Reply>>>,
    /// Counts arrivals, so that waiters look again; carries why there will be no more.
    arrived: watch::Sender<(u64, Option<Why>)>,
}

impl StdioLink {
    /// Begins to read the process's standard output.
    pub(crate) fn new(
        number: u32,
        worker: u8,
        era: Era,
        pipes: (ChildStdin, ChildStdout),
        recorder: Recorder,
        said: Said,
    ) -> StdioLink {
        let (stdin, stdout) = pipes;
        let replies = Arc::new(Replies { waiting: Mutex::default(), arrived: watch::channel((0, None)).0 });
        let reader = tokio::spawn(read_lines(stdout, replies.clone(), worker, recorder, said)).abort_handle();
        StdioLink { number, era, stdin: tokio::sync::Mutex::new(Some(stdin)), replies, reader }
    }
}

impl Asked for StdioLink {
    fn era(&self) -> Era {
        self.era
    }

    fn ask<'a>(&'a self, id: u64, method: &'a str, params: Value) -> Later<'a, Result<Value, Lost>> {
        Box::pin(async move {
            self.expect(id);
            let message = mcp::message(self.era, id, method, params);
            let sent = self.write(format!("{message}\n").as_bytes()).await;
            sent.map_err(|_| Lost::new(Why::NoReply))?;
            Ok(self.read(id).await?.document)
        })
    }

    fn initialized<'a>(&'a self, _answer: &'a Value) -> Later<'a, Result<(), Lost>> {
        Box::pin(async move {
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            let sent = self.write(format!("{ready}\n").as_bytes()).await;
            sent.map_err(|_| Lost::new(Why::NoReply))
        })
    }
}

impl Link for StdioLink {
    fn number(&self) -> u32 {
        self.number
    }

    fn encode(&self, request: &Request) -> Vec<u8> {
        format!("{}\n", mcp::call(self.era, request)).into_bytes()
    }

    fn expect(&self, id: u64) {
        self.replies.lock().entry(id).or_default();
    }

    fn write<'a>(&'a self, bytes: &'a [u8]) -> Later<'a, std::io::Result<()>> {
        Box::pin(async move {
            let mut stdin = self.stdin.lock().await;
            let Some(stdin) = stdin.as_mut() else { return Err(std::io::ErrorKind::BrokenPipe.into()) };
            stdin.write_all(bytes).await?;
            stdin.flush().await
        })
    }

    fn begun(&self, id: u64) -> Later<'_, Result<(), Lost>> {
        Box::pin(async move { self.replies.until(|waiting| waiting.get(&id)?.first().map(|_| ())).await })
    }

    fn read(&self, id: u64) -> Later<'_, Result<Reply, Lost>> {
        Box::pin(async move {
            let take = |waiting: &mut BTreeMap<u64, Vec<Reply>>| {
                let queue = waiting.get_mut(&id).filter(|queue| !queue.is_empty())?;
                let reply = queue.remove(0);
                waiting.remove(&id);
                Some(reply)
            };
            self.replies.until(take).await
        })
    }

    fn read_until(&self, id: u64, cut: Cut) -> Later<'_, Result<Option<Vec<u8>>, Lost>> {
        Box::pin(async move {
            let Reply { bytes, .. } = self.read(id).await?;
            Ok(Some(bytes[..cut.of_line(bytes.len())].to_vec()))
        })
    }

    fn cancel(&self, id: u64) -> Later<'_, Result<(), Lost>> {
        Box::pin(async move {
            let written = self.write(format!("{}\n", mcp::cancelled(id)).as_bytes()).await;
            written.map_err(|_| Lost::new(Why::NoReply))
        })
    }

    fn finish(&self) -> Later<'_, ()> {
        Box::pin(async move { drop(self.stdin.lock().await.take()) })
    }

    fn close(&self) -> Later<'_, ()> {
        Box::pin(async move {
            self.reader.abort();
            self.stdin.lock().await.take();
            self.replies.end(Why::NoReply);
        })
    }

    fn is_free(&self) -> bool {
        self.replies.arrived.borrow().1.is_none()
    }
}

impl Drop for StdioLink {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Replies {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Vec<Reply>>> {
        self.waiting.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Waits until a look at the replies finds something, or until there will be no more.
    async fn until<T>(&self, look: impl Fn(&mut BTreeMap<u64, Vec<Reply>>) -> Option<T>) -> Result<T, Lost> {
        let mut arrivals = self.arrived.subscribe();
        loop {
            let ended = arrivals.borrow_and_update().1;
            if let Some(found) = look(&mut self.lock()) {
                return Ok(found);
            }
            if let Some(why) = ended {
                return Err(Lost::new(why));
            }
            if arrivals.changed().await.is_err() {
                return Err(Lost::new(Why::NoReply));
            }
        }
    }

    fn end(&self, why: Why) {
        self.arrived.send_modify(|(count, ended)| {
            *count += 1;
            ended.get_or_insert(why);
        });
    }

    /// Keeps a reply that is waited for; gives back what is none.
    fn take(&self, line: Vec<u8>) -> Result<(), Vec<u8>> {
        let Ok(document) = serde_json::from_slice::<Value>(&line) else { return Err(line) };
        let Some(id) = mcp::answers(&document) else { return Err(line) };
        let mut waiting = self.lock();
        let Some(queue) = waiting.get_mut(&id) else { return Err(line) };
        queue.push(Reply { bytes: line, document: mcp::with_text(document) });
        drop(waiting);
        self.arrived.send_modify(|(count, _)| *count += 1);
        Ok(())
    }
}

async fn read_lines(stdout: ChildStdout, replies: Arc<Replies>, worker: u8, recorder: Recorder, said: Said) {
    let mut reader = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let read = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line).await;
        match read {
            Err(_) | Ok(0) => return replies.end(Why::NoReply),
            Ok(_) if line.last() != Some(&b'\n') => {
                recorder.printed(worker, "stdout", &line);
                let whole = (line.len() as u64) < LONGEST_LINE;
                return replies.end(if whole { Why::CutReply } else { Why::Unreadable });
            }
            Ok(_) => {
                if let Err(other) = replies.take(line) {
                    recorder.printed(worker, "stdout", &other);
                    said.add(&other);
                }
            }
        }
    }
}
