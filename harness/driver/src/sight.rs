//! The evidence that a call is at its point, as it is looked for.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nottwice_model::target::{Evidence, Route};
use serde_json::Value;
use tokio::sync::broadcast::{self, error::TryRecvError};

use crate::connect::Line;
use crate::error::DriveError;
use crate::place::Place;
use crate::signal;

/// How often it is looked at. There is no event to wait on that every system has.
const GLANCE: Duration = Duration::from_millis(1);
/// How often a server is asked for it, which costs more than a look at a file.
const ASKING: Duration = Duration::from_millis(5);
/// How long evidence may be on its way while the reply is there already: it comes through another pipe.
const ON_ITS_WAY: Duration = Duration::from_secs(1);
/// How much of a printed line is shown.
const SHOWN_MOST: usize = 200;

/// Evidence that is looked for on behalf of one call.
#[derive(Debug)]
pub(crate) enum Sight {
    /// A file that appears.
    File(PathBuf),
    /// A line on standard error.
    Stderr { text: String, lines: broadcast::Receiver<Arc<str>> },
    /// The end of the process.
    Exit,
    /// An answer that contains a text.
    Http { route: Route, contains: String },
}

impl Sight {
    /// Begins to look, before the hook is armed, with nothing left over from an earlier call.
    pub(crate) fn begin(evidence: &Evidence, place: &Place, line: &Line) -> Result<Sight, DriveError> {
        Ok(match evidence {
            Evidence::File(file) => {
                let path = PathBuf::from(place.fill(file, None)?);
                remove(&path)?;
                Sight::File(path)
            }
            Evidence::Stderr(text) => {
                let worker = line.worker.as_ref().expect("checked: this evidence needs a start");
                Sight::Stderr { text: text.clone(), lines: worker.lines.listen() }
            }
            Evidence::Exit => Sight::Exit,
            Evidence::Http { route, contains } => {
                Sight::Http { route: route.clone(), contains: contains.clone() }
            }
        })
    }

    /// Leaves out what came of the arming itself, before the request is sent.
    pub(crate) async fn renew(&mut self, place: &Place, line: &Line) -> Result<(), DriveError> {
        match self {
            Sight::Stderr { lines, .. } => *lines = lines.resubscribe(),
            Sight::Http { route, contains } if asked(route, contains, place, line).await? => {
                let what = format!("`{route}` contains {contains:?} before the call, and so proves nothing");
                return Err(DriveError::Beside(what));
            }
            Sight::File(_) | Sight::Exit | Sight::Http { .. } => {}
        }
        Ok(())
    }

    /// The evidence, if it is there.
    async fn look(&mut self, place: &Place, line: &Line) -> Option<String> {
        match self {
            Sight::File(path) => {
                let content = std::fs::read_to_string(&*path).ok()?;
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let content = content.trim();
                Some(if content.is_empty() {
                    format!("`{name}` appeared")
                } else {
                    format!("`{name}` says {content:?}")
                })
            }
            Sight::Stderr { text, lines } => loop {
                match lines.try_recv() {
                    Ok(printed) if printed.contains(text.as_str()) => {
                        let shown: String = printed.chars().take(SHOWN_MOST).collect();
                        return Some(format!("standard error says {shown:?}"));
                    }
                    Ok(_) | Err(TryRecvError::Lagged(_)) => {}
                    Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
                }
            },
            Sight::Exit => {
                let status = line.worker.as_ref()?.ended().await?;
                Some(format!("the worker ended by itself ({status})"))
            }
            Sight::Http { route, contains } => {
                // A server that does not answer just now shows nothing just now.
                let there = asked(route, contains, place, line).await.unwrap_or(false);
                there.then(|| format!("`{route}` contains {contains:?}"))
            }
        }
    }

    /// Waits until the evidence is there, and gives it.
    pub(crate) async fn seen(&mut self, place: &Place, line: &Line) -> String {
        loop {
            if let Some(evidence) = self.look(place, line).await {
                return evidence;
            }
            tokio::time::sleep(self.pause()).await;
        }
    }

    /// The evidence, if it is there once the reply is: what does not come by the same way may be late.
    pub(crate) async fn seen_by_now(&mut self, place: &Place, line: &Line) -> Option<String> {
        match self {
            Sight::File(_) | Sight::Http { .. } => self.look(place, line).await,
            Sight::Stderr { .. } | Sight::Exit => {
                tokio::time::timeout(ON_ITS_WAY, self.seen(place, line)).await.ok()
            }
        }
    }

    fn pause(&self) -> Duration {
        if matches!(self, Sight::Http { .. }) { ASKING } else { GLANCE }
    }
}

/// Waits until evidence is taken away again; a line that was printed never is.
pub(crate) async fn gone(evidence: &Evidence, place: &Place, line: &Line) {
    let mut sight = match evidence {
        Evidence::File(file) => match place.fill(file, None) {
            Ok(path) => Sight::File(PathBuf::from(path)),
            Err(_) => return,
        },
        Evidence::Http { route, contains } => {
            Sight::Http { route: route.clone(), contains: contains.clone() }
        }
        Evidence::Stderr(_) | Evidence::Exit => return std::future::pending().await,
    };
    while sight.look(place, line).await.is_some() {
        tokio::time::sleep(sight.pause()).await;
    }
}

async fn asked(route: &Route, contains: &str, place: &Place, line: &Line) -> Result<bool, DriveError> {
    let reply = signal::ask_route(place, line, route, &Value::Null, Vec::new()).await?;
    let text = match reply.document.get("body") {
        Some(Value::String(text)) => text.clone(),
        Some(body) => body.to_string(),
        None => String::new(),
    };
    Ok(text.contains(contains))
}

/// Removes a file that need not be there.
pub(crate) fn remove(path: &PathBuf) -> Result<(), DriveError> {
    match std::fs::remove_file(path) {
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|source| DriveError::File { path: path.clone(), source }),
    }
}
