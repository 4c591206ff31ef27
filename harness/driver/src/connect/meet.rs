//! The first words with a server that speaks MCP.

use nottwice_model::history::Why;
use nottwice_model::target::{Credential, Era};
use serde_json::json;

use super::{Fleet, LOOK};
use crate::error::DriveError;
use crate::mcp::{self, Asked as _, Listed};
use crate::transport::{Link as _, Lost};
use crate::transports::mcp_http::McpHttpLink;
use crate::worker::{Who, Worker};

/// So many characters of an answer that was not expected are shown.
const MOST_SHOWN: usize = 300;

impl Fleet {
    /// Connects a caller to a worker. In the legacy era the link joins the caller's session there, unless it
    /// is to be fresh or there is none; then it speaks the handshake.
    pub(super) async fn meet(
        &mut self,
        worker: Option<&Worker>,
        (number, who): (u8, Who),
        fresh: bool,
    ) -> Result<McpHttpLink, DriveError> {
        let base = self.base(worker.and_then(|worker| worker.port))?;
        let caller = self.place.credentials(who).into_iter().filter_map(|credential| match credential {
            Credential::Header { name, value } => Some((name.clone(), value.clone())),
            Credential::Env { .. } => None,
        });
        let link = McpHttpLink::connect(self.opened, &base, self.era, caller.collect()).await;
        let link =
            link.map_err(|source| DriveError::Protocol(format!("{base} cannot be reached: {source}")))?;
        let known = self.sessions.get(&(number, who)).filter(|session| !fresh && !session.is_over());
        match (self.era, known) {
            (Era::Modern, _) => {}
            (Era::Legacy, Some(session)) => link.join(session.clone()),
            (Era::Legacy, None) => {
                self.answered(worker, mcp::greet(&link)).await?;
                self.sessions.extend(link.session().map(|session| ((number, who), session.clone())));
            }
        }
        Ok(link)
    }

    /// The tools that a server over HTTP lists, in a process of its own if the harness starts it.
    pub(crate) async fn tools(&mut self) -> Result<Listed, DriveError> {
        let who = Who::default();
        let worker = self.running(self.seat(1, who)).await?;
        let link = self.meet(worker.as_deref(), (1, who), true).await?;
        let asked = async {
            // Every modern server must know this question, and no legacy one knows it.
            if self.era == Era::Modern {
                let about = link.ask(1, "server/discover", json!({})).await?;
                about.get("result").ok_or_else(|| mcp::unexpected(&about))?;
            }
            mcp::tools(&link).await
        };
        let tools = self.answered(worker.as_deref(), asked).await;
        let _ = tokio::time::timeout(LOOK, link.part()).await;
        tools
    }

    /// What a worker says to a question of the harness's own, within the time that it has to get ready.
    pub(super) async fn answered<T>(
        &self,
        worker: Option<&Worker>,
        asked: impl Future<Output = Result<T, Lost>>,
    ) -> Result<T, DriveError> {
        let target = self.place.target();
        let within = target.start.as_ref().map_or(target.reach.patience, |start| start.ready_within);
        let lost = match tokio::time::timeout(within.duration(), asked).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(lost)) => Some(lost),
            Err(_) => None,
        };
        // Only a closed connection is a sign that the server is ending.
        let (status, said) = match (worker, &lost) {
            (Some(worker), Some(Lost { why: Why::NoReply | Why::CutReply, .. })) => worker.last_words().await,
            (worker, _) => (None, worker.map(Worker::said).unwrap_or_default()),
        };
        Err(match (lost, status) {
            (None, _) => DriveError::NotReady { within: within.to_string(), said },
            (_, Some(status)) => DriveError::Died { status, said },
            (Some(lost), None) if lost.bytes.is_empty() => {
                DriveError::Protocol(format!("no answer to the handshake{said}"))
            }
            (Some(lost), None) => {
                let text = String::from_utf8_lossy(&lost.bytes);
                let start: String = text.chars().take(MOST_SHOWN).collect();
                DriveError::Protocol(format!("it answers the handshake with {start}{said}"))
            }
        })
    }
}
