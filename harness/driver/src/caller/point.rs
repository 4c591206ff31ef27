//! A call that is stopped inside the server, through the hook that the target declares there.

use nottwice_model::fault::{Do, Fault};
use nottwice_model::history::Outcome;
use nottwice_model::target::{Evidence, Hook};

use super::Caller;
use crate::hook::Armed;
use crate::transport::Lost;

impl Caller {
    /// Stops the call inside the server, through the hook that the target declares there.
    pub(super) async fn at_point(&self, fault: Fault, bytes: &[u8]) -> Outcome {
        let hook = self.place.target().hook(fault.at, fault.deed).expect("the plan asked for this ability");
        let mut armed = match Armed::arm(&self.place, &self.line, hook, fault.deed).await {
            Ok(armed) => armed,
            Err(error) => return self.trouble(error),
        };
        self.send(&self.line, &self.attempt.call, bytes).await;
        let reply = self.reply(&self.line, &self.attempt.call);
        tokio::pin!(reply);
        let evidence = tokio::select! {
            biased;
            evidence = armed.reached() => evidence,
            early = &mut reply => return self.early(fault, armed, early).await,
        };
        match fault.deed {
            Do::Crash => {
                self.crash().await;
                self.fired(crashed(hook, evidence));
            }
            Do::Hold => {
                self.fired(evidence);
                self.held().await;
                if let Err(error) = armed.release().await {
                    return self.trouble(error);
                }
            }
            Do::Pause => {
                if let Err(error) = self.pause().await {
                    return self.trouble(error);
                }
                self.fired(format!("{evidence}; then the worker was stopped with SIGSTOP"));
                // It goes on where it stood once the worker is resumed.
                if let Err(error) = armed.release().await {
                    return self.trouble(error);
                }
            }
            _ => self.fired(evidence),
        }
        self.told(reply.await)
    }

    /// The reply was there before the call was seen at the point: it failed there, or never came there.
    async fn early(&self, fault: Fault, mut armed: Armed, reply: Result<Outcome, Lost>) -> Outcome {
        match armed.seen_by_now().await {
            Some(evidence) => {
                if fault.deed == Do::Crash {
                    self.crash().await;
                }
                self.fired(evidence);
            }
            None => {
                if let Err(error) = armed.disarm().await {
                    return self.trouble(error);
                }
            }
        }
        self.told(reply)
    }
}

/// What proves a crash: the evidence, and who ended the worker then.
fn crashed(hook: &Hook, evidence: String) -> String {
    if hook.reached == Evidence::Exit { evidence } else { format!("{evidence}; then the worker was killed") }
}
