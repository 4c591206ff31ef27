//! Writes the history down while it happens: in memory, and line by line on disk.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use nottwice_model::history::{Event, History, What};
use nottwice_model::plan::Plan;
use nottwice_model::record;

use crate::clock::Clock;
use crate::error::DriveError;

/// How much of a server's own printing is kept for each text.
const PRINTED_MOST: usize = 4_096;

/// How much of everything that the servers of one play print is kept, counting something for each text:
/// a server that never stops printing must not fill memory or disk.
const PRINTED_ALL: usize = 256 * 1024;
const PRINTED_EACH: usize = 128;

/// Shared by everything that sees something happen; the order of its lock is the order of the history.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    /// Begins with the play.
    clock: Clock,
    history: History,
    file: Option<File>,
    /// The first error of writing; from then on nothing more is written, so that every line is whole.
    failed: Option<std::io::Error>,
    secrets: Vec<String>,
    printed: usize,
}

impl Recorder {
    /// A recorder whose history nobody reads, until a play begins.
    pub(crate) fn idle(secrets: Vec<String>) -> Recorder {
        let inner = Inner {
            clock: Clock::start(),
            history: History::default(),
            file: None,
            failed: None,
            secrets,
            printed: 0,
        };
        Recorder { inner: Arc::new(Mutex::new(inner)) }
    }

    /// Begins the record of a play. Credentials never reach what is written.
    pub(crate) fn begin(&self, plan: &Plan, path: Option<&Path>) -> Result<(), DriveError> {
        let file = path.map(|path| {
            // A record that somebody else is just writing stays theirs: ours is a new file of that name.
            if path.is_file() {
                let _ = std::fs::remove_file(path);
            }
            File::create(path).map_err(|source| DriveError::File { path: path.to_owned(), source })
        });
        let file = file.transpose()?;
        let mut inner = self.lock();
        let secrets = std::mem::take(&mut inner.secrets);
        let (clock, history) = (Clock::start(), History::default());
        *inner = Inner { clock, history, file, failed: None, secrets, printed: 0 };
        if inner.file.is_some() {
            inner.write(&record::head(plan));
        }
        Ok(())
    }

    /// Adds one event.
    pub(crate) fn add(&self, what: What) {
        let mut inner = self.lock();
        let event = Event { at: inner.clock.nanos(), what };
        if inner.file.is_some() {
            let line = record::line(&event);
            inner.write(&line);
        }
        inner.history.events.push(event);
    }

    /// How many events there are so far.
    pub(crate) fn len(&self) -> usize {
        self.lock().history.events.len()
    }

    /// How long ago the last attempt was over for its caller.
    pub(crate) fn since_last_end(&self) -> Duration {
        let inner = self.lock();
        let ends = inner.history.events.iter().rev();
        let last = ends.filter(|event| matches!(event.what, What::Ended { .. })).map(|event| event.at).next();
        Duration::from_nanos(inner.clock.nanos() - last.unwrap_or(0))
    }

    /// The workers that were paused and do not go on yet.
    pub(crate) fn paused(&self) -> Vec<u8> {
        let mut paused = Vec::new();
        for event in &self.lock().history.events {
            match event.what {
                What::Paused { worker } => paused.push(worker),
                What::Resumed { worker } | What::Exited { worker, .. } => {
                    paused.retain(|other| *other != worker)
                }
                _ => {}
            }
        }
        paused
    }

    /// Whether the server has acknowledged any call, and so must have made its store.
    pub(crate) fn has_acknowledged(&self) -> bool {
        let acked = |what: &What| matches!(what, What::Replied { outcome, .. } if outcome.acked().is_some());
        self.lock().history.events.iter().any(|event| acked(&event.what))
    }

    /// Bytes as text, credentials taken out.
    pub(crate) fn text(&self, bytes: &[u8]) -> String {
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        for secret in &self.lock().secrets {
            text = text.replace(secret.as_str(), "[credential]");
        }
        text
    }

    /// Adds what a worker printed, shortened.
    pub(crate) fn printed(&self, worker: u8, stream: &str, bytes: &[u8]) {
        let shown = &bytes[..bytes.len().min(PRINTED_MOST)];
        let room = {
            let mut inner = self.lock();
            inner.printed += shown.len() + PRINTED_EACH;
            inner.printed <= PRINTED_ALL
        };
        if room {
            let text = self.text(shown);
            self.add(What::Printed { worker, stream: stream.to_owned(), text });
        }
    }

    /// Ends the record and gives the history away, with the first error of writing it.
    pub(crate) fn finish(&self, complete: bool) -> (History, Option<std::io::Error>) {
        let mut inner = self.lock();
        if complete {
            inner.write(&record::tail());
        }
        inner.file = None;
        (std::mem::take(&mut inner.history), inner.failed.take())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic elsewhere cannot leave the list of events half-changed.
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Inner {
    fn write(&mut self, line: &str) {
        if let (Some(file), None) = (&mut self.file, &self.failed) {
            let written = file.write_all(format!("{line}\n").as_bytes());
            self.failed = written.err();
        }
    }
}
