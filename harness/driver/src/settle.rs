//! After the last step: faults have stopped, dead workers run again, and every keyed intent is retried
//! under the server's own guidance until its answer is final or the declared bound has passed.

use std::time::Duration;

use nottwice_model::history::{Outcome, What};
use nottwice_model::scenario::KeyForm;

use crate::caller::{Attempt, Signals};
use crate::clock::Clock;
use crate::error::DriveError;
use crate::play::Player;

/// The first pause between two retries where the server gives no guidance; it doubles up to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LAST_PAUSE: Duration = Duration::from_millis(500);

/// Request ids of settling retries begin here, below those of any plan.
const FIRST_ID: u64 = 100;

/// One identity to settle: the attempt that its caller would repeat.
struct Open {
    identity: usize,
    variant: usize,
    worker: u8,
}

impl Player {
    /// Settles every identity and counts for the last time.
    pub(crate) async fn settle(&mut self) -> Result<(), DriveError> {
        self.recorder.add(What::Settling);
        self.fleet.revive().await?;
        let mut id = FIRST_ID;
        let open = self.open();
        if open.is_empty() {
            return self.count().await;
        }
        for open in open {
            self.until_final(&open, &mut id).await?;
            self.count().await?;
        }
        Ok(())
    }

    /// Each identity that was attempted with its key, with the arguments that it was first attempted with.
    fn open(&self) -> Vec<Open> {
        let mut open: Vec<Open> = Vec::new();
        for call in self.plan.calls().filter(|call| call.keyed) {
            if !open.iter().any(|known| known.identity == call.identity) {
                open.push(Open { identity: call.identity, variant: call.variant, worker: call.worker });
            }
        }
        open
    }

    async fn until_final(&mut self, open: &Open, id: &mut u64) -> Result<(), DriveError> {
        let clock = Clock::start();
        let bound = self.plan.target.recovery.bound.with_tolerance();
        let mut pause = FIRST_PAUSE;
        for retry in 1.. {
            let outcome = self.retry(open, *id, retry).await?;
            *id += 1;
            if outcome.is_final() {
                return Ok(());
            }
            let asked = match outcome {
                Outcome::Refused { retry_after: Some(millis), .. } => Duration::from_millis(millis),
                _ => pause,
            };
            let left = bound.saturating_sub(clock.elapsed());
            if left.is_zero() {
                self.recorder.add(What::GaveUp { identity: open.identity, retries: retry });
                return Ok(());
            }
            tokio::time::sleep(asked.min(left)).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
        unreachable!("the loop ends by its bound")
    }

    async fn retry(&mut self, open: &Open, id: u64, retry: u32) -> Result<Outcome, DriveError> {
        self.fleet.revive().await?;
        let who = self.who(open.identity);
        let line = self.fleet.line(open.worker, who, false).await?;
        let attempt = Attempt {
            call: format!("settle {} #{retry}", self.plan.identities[open.identity].intent),
            identity: open.identity,
            variant: open.variant,
            keyed: true,
            form: KeyForm::Own,
            worker: open.worker,
            request_id: self.request_id(id),
            fault: None,
        };
        Ok(self.caller(line, None, attempt, Signals::new()).attempt().await)
    }
}
