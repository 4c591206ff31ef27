//! What is done to a message on its way, and what proves that it was done.

use nottwice_model::fault::{Do, Fault};
use nottwice_model::history::{Outcome, Why};
use serde_json::json;

use super::Caller;
use crate::cut::Cut;
use crate::transport::Reply;

impl Caller {
    pub(super) async fn on_request(&self, fault: Fault, bytes: &[u8]) -> Outcome {
        let call = &self.attempt.call;
        match fault.deed {
            Do::Cut | Do::Reset => self.break_request(fault, bytes).await,
            Do::Duplicate => {
                self.send(&self.line, call, bytes).await;
                let outcome = self.told(self.reply(&self.line, call).await);
                let line = self.second.as_ref().unwrap_or(&self.line);
                let copy = format!("{call} (second copy)");
                self.send(line, &copy, bytes).await;
                if self.reply(line, &copy).await.is_ok() {
                    self.fired("the same bytes were delivered again, and answered");
                }
                outcome
            }
            Do::Double => self.double(bytes).await,
            Do::Hold => {
                self.fired("the request was kept back before its first byte");
                self.held().await;
                self.plain(bytes).await
            }
            Do::Crash => {
                self.crash().await;
                self.fired("the worker was killed before the request was given to it");
                self.send(&self.line, call, bytes).await;
                self.told(self.reply(&self.line, call).await)
            }
            Do::Drop | Do::Error | Do::Pause | Do::Answer => {
                self.fired(format!("{} bytes were taken off the wire before the server", bytes.len()));
                Outcome::Unknown { why: Why::NoReply }
            }
        }
    }

    /// A part of the request is sent, and then its stream breaks.
    async fn break_request(&self, fault: Fault, bytes: &[u8]) -> Outcome {
        let passed = Cut::of(fault, bytes.len() / 2).of_request(bytes);
        self.send(&self.line, &self.attempt.call, &bytes[..passed]).await;
        self.broken(fault, format!("{passed} of {} bytes were sent", bytes.len())).await;
        Outcome::Unknown { why: Why::NoReply }
    }

    /// Both copies are on their way before either is answered; a caller takes what its own connection says.
    async fn double(&self, bytes: &[u8]) -> Outcome {
        let call = &self.attempt.call;
        let copy = format!("{call} (second copy)");
        let line = self.second.as_ref().unwrap_or(&self.line);
        self.send(&self.line, call, bytes).await;
        self.send(line, &copy, bytes).await;
        let (first, second) = tokio::join!(self.reply(&self.line, call), self.reply(line, &copy));
        if first.is_ok() && second.is_ok() {
            self.fired("the same bytes were delivered over two connections at one time, and both answered");
        }
        self.told(first)
    }

    pub(super) async fn on_reply(&self, fault: Fault, bytes: &[u8]) -> Outcome {
        let call = &self.attempt.call;
        self.send(&self.line, call, bytes).await;
        match fault.deed {
            Do::Cut | Do::Reset => self.break_reply(fault).await,
            Do::Hold => {
                let patience = self.place.target().reach.patience.duration();
                let begun = self.line.link.begun(self.attempt.request_id);
                if let Ok(Ok(())) = tokio::time::timeout(patience, begun).await {
                    self.fired("the reply has begun to arrive and is not read");
                    self.held().await;
                }
                self.told(self.reply(&self.line, call).await)
            }
            Do::Drop | Do::Duplicate | Do::Double | Do::Crash | Do::Error | Do::Pause | Do::Answer => {
                let reply = self.reply(&self.line, call).await;
                let Ok(outcome) = reply else { return self.told(reply) };
                match fault.deed {
                    Do::Duplicate => self.fired("the reply was delivered twice; a caller takes the first"),
                    Do::Crash => {
                        self.crash().await;
                        self.fired("the reply was read, and the worker killed before anybody was told");
                    }
                    Do::Answer => return self.gateway(fault.status.unwrap_or_default()),
                    _ => self.fired("the reply was read and given to nobody"),
                }
                let told = fault.deed == Do::Duplicate;
                if told { outcome } else { Outcome::Unknown { why: Why::NoReply } }
            }
        }
    }

    /// A part of the reply is let through, and then its stream breaks.
    async fn break_reply(&self, fault: Fault) -> Outcome {
        let cut = Cut::of(fault, 1);
        let read = self.line.link.read_until(self.attempt.request_id, cut);
        match self.waited(&self.line, read).await {
            Ok(Some(passed)) => {
                self.broken(fault, format!("{} bytes of the reply were let through", passed.len())).await;
                Outcome::Unknown { why: if passed.is_empty() { Why::NoReply } else { Why::CutReply } }
            }
            // There is no such place in it.
            Ok(None) => self.told(self.reply(&self.line, &self.attempt.call).await),
            Err(lost) => self.told(Err(lost)),
        }
    }

    /// The stream breaks as the fault says, after what has passed.
    async fn broken(&self, fault: Fault, passed: String) {
        if fault.deed == Do::Cut {
            self.line.link.close().await;
            self.fired(format!("{passed}, then the stream was closed"));
        } else if self.line.link.reset().await.is_ok() {
            self.fired(format!("{passed}, then the connection was reset"));
        }
    }

    /// A gateway answers after the server did. Whatever the rules of the target make of its status, it is not
    /// the server's word: the caller knows nothing of the attempt, and no refusal is charged to the server.
    fn gateway(&self, status: u16) -> Outcome {
        self.line.link.told(status);
        let document = json!({"status": status, "headers": {}, "body": ""});
        let read = self.read(&Reply { bytes: Vec::new(), document });
        self.fired(format!(
            "the reply was read, and its caller was told {status} instead, which reads as {read}"
        ));
        Outcome::Unknown { why: Why::Gateway }
    }
}
