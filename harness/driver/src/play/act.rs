//! What a play does to the server or to its own callers between the calls.

use std::time::Duration;

use nottwice_model::history::What;
use nottwice_model::scenario::{Act, Bound, Side};
use nottwice_model::target::Limit;
use nottwice_model::waiting;

use super::Player;
use crate::error::DriveError;
use crate::hook;
use crate::lock::Lock;

impl Player {
    pub(super) async fn act(&mut self, act: &Act) -> Result<(), DriveError> {
        match act {
            Act::Kill { worker } => self.fleet.kill(*worker).await,
            Act::Stop { worker } => self.fleet.stop(*worker).await,
            Act::Restart { worker } => self.fleet.restart(*worker).await?,
            Act::Release { call } => self.release(call),
            Act::Abandon { call } => self.abandon(call).await?,
            Act::HalfClose { call } => self.half_close(call).await,
            Act::NotifyCancelled { call } => self.notify_cancelled(call).await,
            Act::Resume { worker } => self.fleet.resume(*worker),
            Act::HoldLock => self.hold_lock().await?,
            Act::ReleaseLock => self.release_lock().await?,
            Act::Pass { limit, to } => self.pass(*limit, *to).await,
            Act::Revoke => self.access(true).await?,
            Act::Grant => self.access(false).await?,
            Act::Rotate => self.rotate().await?,
            // The planner has spread it into calls.
            Act::Observe | Act::Fill { .. } => {}
        }
        Ok(())
    }

    async fn hold_lock(&mut self) -> Result<(), DriveError> {
        let lock = Lock::hold(&self.place).await?;
        self.recorder.add(What::LockHeld { proof: lock.proof.clone() });
        self.lock = Some(lock);
        Ok(())
    }

    pub(super) async fn release_lock(&mut self) -> Result<(), DriveError> {
        if let Some(lock) = self.lock.take() {
            let held = lock.release().await?;
            self.recorder.add(What::LockFreed { held });
        }
        Ok(())
    }

    /// Waits until a limit is nearly or just over. A receipt's window counts from the last answer; a lease
    /// counts from now, since only the server knows when it was taken.
    async fn pass(&self, limit: Bound, to: Side) {
        let facts = &self.plan.target;
        let (bound, since) = match limit {
            Bound::Retention => (facts.retention.window, self.recorder.since_last_end()),
            Bound::Lease => (facts.recovery.lease, Duration::ZERO),
        };
        let Some(bound) = bound.map(Limit::duration) else { return };
        let until = bound.mul_f64(waiting::part(to));
        self.linger(until.saturating_sub(since)).await;
        self.recorder.add(What::Passed { limit, to });
    }

    pub(super) fn release(&mut self, call: &str) {
        if let Some(standing) = self.standing.get_mut(call) {
            standing.signals.release.notify_one();
            standing.hold = false;
        }
    }

    /// The caller leaves: its task ends, and with it the connection. What the call stands at inside the
    /// server is let go, or it would stand there for ever.
    async fn abandon(&mut self, call: &str) -> Result<(), DriveError> {
        let Some(mut standing) = self.standing.remove(call) else { return Ok(()) };
        standing.task.abort();
        let _ = (&mut standing.task).await;
        standing.line.link.close().await;
        self.recorder.add(What::Abandoned { call: call.to_owned() });
        if let Some(hook) = &standing.hook {
            hook::let_go(&self.place, &standing.line, hook).await?;
            self.recorder.add(What::Released { call: call.to_owned() });
        }
        Ok(())
    }

    /// The caller closes its side; where that cannot be done any more, nothing has happened.
    async fn half_close(&self, call: &str) {
        let Some(standing) = self.standing.get(call).filter(|standing| !standing.task.is_finished()) else {
            return;
        };
        if standing.line.link.half_close().await.is_ok() {
            self.recorder.add(What::HalfClosed { call: call.to_owned() });
        }
    }

    /// The server is told that nobody waits for a call any more. Where it does not take the word, the call is
    /// not cancelled and its caller waits on.
    async fn notify_cancelled(&self, call: &str) {
        let Some(standing) = self.standing.get(call).filter(|standing| !standing.task.is_finished()) else {
            return;
        };
        let patience = self.place.target().reach.patience.duration();
        let told = tokio::time::timeout(patience, standing.line.link.cancel(standing.request_id)).await;
        if matches!(told, Ok(Ok(()))) {
            self.recorder.add(What::Cancelled { call: call.to_owned() });
            standing.signals.cancelled.send_replace(true);
        }
    }
}
