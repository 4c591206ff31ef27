//! A hook at work: armed before a call, seen when the call is there, let go again.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nottwice_model::fault::Do;
use nottwice_model::target::{Hook, Signal};

use crate::connect::Line;
use crate::error::DriveError;
use crate::place::Place;
use crate::sight::{self, Sight};
use crate::signal;

/// One arming of a hook, for the call that goes over a line.
pub(crate) struct Armed {
    hook: Hook,
    deed: Do,
    place: Arc<Place>,
    line: Line,
    sight: Sight,
}

impl Armed {
    /// Arms the hook for the next call, with nothing left over from an earlier one.
    pub(crate) async fn arm(
        place: &Arc<Place>,
        line: &Line,
        hook: &Hook,
        deed: Do,
    ) -> Result<Armed, DriveError> {
        let mut sight = Sight::begin(&hook.reached, place, line)?;
        if let Some(Signal::Write(release)) = &hook.release {
            sight::remove(&PathBuf::from(place.fill(&release.write, None)?))?;
        }
        let signal = hook.signal(deed).expect("the plan asked for this ability");
        signal::give(signal, place, line).await?;
        sight.renew(place, line).await?;
        Ok(Armed { hook: hook.clone(), deed, place: place.clone(), line: line.clone(), sight })
    }

    /// Waits until the call stands at the point, and gives the evidence.
    pub(crate) async fn reached(&mut self) -> String {
        self.sight.seen(&self.place, &self.line).await
    }

    /// The evidence, if it is there when the reply is.
    pub(crate) async fn seen_by_now(&mut self) -> Option<String> {
        self.sight.seen_by_now(&self.place, &self.line).await
    }

    /// Lets the call go on.
    pub(crate) async fn release(&self) -> Result<(), DriveError> {
        match &self.hook.release {
            Some(release) => signal::give(release, &self.place, &self.line).await,
            None => Ok(()),
        }
    }

    /// Takes the arming back, so that no later call runs into it; what a server works on behind its own
    /// reply is let go in advance.
    pub(crate) async fn disarm(&self) -> Result<(), DriveError> {
        let armed = self.hook.signal(self.deed);
        match (&self.hook.disarm, armed) {
            (Some(disarm), _) => signal::give(disarm, &self.place, &self.line).await?,
            (None, Some(Signal::Write(file))) => {
                sight::remove(&PathBuf::from(self.place.fill(&file.write, None)?))?;
            }
            (None, Some(Signal::Http { .. } | Signal::Tool(_))) => {
                let point = self.hook.point.word();
                return Err(DriveError::Beside(format!(
                    "the call never came to `{point}`, and the hook there has no `disarm`: a later call may \
                     run into it"
                )));
            }
            // The process that was started with it is replaced.
            (None, Some(Signal::Env(_)) | None) => {}
        }
        self.release().await
    }
}

/// How long a call that nobody waits for any more may take to leave its point.
const LEAVING: Duration = Duration::from_secs(1);

/// Lets a call go on whose caller has left, and waits until it took notice, so that what it does then is
/// done before anything is counted. A server that leaves its evidence lying is given the whole time.
pub(crate) async fn let_go(place: &Place, line: &Line, hook: &Hook) -> Result<(), DriveError> {
    let leaving = match (&hook.release, hook.holds) {
        (Some(release), _) => {
            signal::give(release, place, line).await?;
            LEAVING
        }
        (None, Some(holds)) => holds.with_tolerance(),
        (None, None) => return Ok(()),
    };
    let _ = tokio::time::timeout(leaving, sight::gone(&hook.reached, place, line)).await;
    Ok(())
}
