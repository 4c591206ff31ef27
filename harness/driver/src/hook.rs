//! A hook at work: armed before a call, seen when the call is there, let go again.

use std::path::PathBuf;
use std::time::Duration;

use nottwice_model::fault::Do;
use nottwice_model::target::Hook;

use crate::error::DriveError;
use crate::place::Place;

/// How often the evidence is looked for. There is no event to wait on that every system has.
const GLANCE: Duration = Duration::from_millis(1);

/// One arming of a hook.
#[derive(Debug)]
pub(crate) struct Armed {
    hook: Hook,
    reached: PathBuf,
    armed: PathBuf,
}

impl Armed {
    /// Arms the hook for the next call, with nothing left over from an earlier one.
    pub(crate) fn arm(place: &Place, hook: &Hook, deed: Do) -> Result<Armed, DriveError> {
        let file = if deed == Do::Error { &hook.error } else { &hook.arm };
        let file = file.as_ref().expect("the plan asked for this ability");
        let reached = PathBuf::from(place.fill(&hook.reached, None)?);
        let armed = PathBuf::from(place.fill(&file.write, None)?);
        remove(&reached)?;
        if let Some(release) = &hook.release {
            remove(&PathBuf::from(place.fill(&release.write, None)?))?;
        }
        place.write(file)?;
        Ok(Armed { hook: hook.clone(), reached, armed })
    }

    /// Waits until the call stands at the point, and gives the evidence.
    pub(crate) async fn reached(&self) -> String {
        loop {
            if let Some(evidence) = self.seen() {
                return evidence;
            }
            tokio::time::sleep(GLANCE).await;
        }
    }

    /// The evidence, if it is there.
    pub(crate) fn seen(&self) -> Option<String> {
        let content = std::fs::read_to_string(&self.reached).ok()?;
        let name = self.reached.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let content = content.trim();
        Some(if content.is_empty() {
            format!("`{name}` appeared")
        } else {
            format!("`{name}` says {content:?}")
        })
    }

    /// Lets the call go on.
    pub(crate) fn release(&self, place: &Place) -> Result<(), DriveError> {
        self.hook.release.as_ref().map_or(Ok(()), |release| place.write(release))
    }

    /// Takes the arming back, so that no later call runs into it; what a server works on behind its own
    /// reply is let go in advance.
    pub(crate) fn disarm(&self, place: &Place) -> Result<(), DriveError> {
        remove(&self.armed)?;
        self.release(place)
    }
}

/// How long a call that nobody waits for any more may take to leave its point.
const LEAVING: Duration = Duration::from_secs(1);

/// Lets a call go on whose caller has left, and waits until it took notice, so that what it does then is
/// done before anything is counted. A server that leaves its evidence lying is given the whole time.
pub(crate) async fn let_go(place: &Place, hook: &Hook) -> Result<(), DriveError> {
    let Some(release) = &hook.release else { return Ok(()) };
    let reached = PathBuf::from(place.fill(&hook.reached, None)?);
    place.write(release)?;
    let gone = async {
        while reached.exists() {
            tokio::time::sleep(GLANCE).await;
        }
    };
    let _ = tokio::time::timeout(LEAVING, gone).await;
    Ok(())
}

fn remove(path: &PathBuf) -> Result<(), DriveError> {
    match std::fs::remove_file(path) {
        Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|source| DriveError::File { path: path.clone(), source }),
    }
}
