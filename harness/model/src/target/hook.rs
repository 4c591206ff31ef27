//! The hooks by which a call is stopped inside the server.

use serde::Deserialize;

use super::limit::Limit;
use super::signal::{Evidence, Signal};
use crate::fault::{At, Do};

/// Where a call can be stopped inside the server: how it is armed, how it is seen, how it is let go.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hook {
    /// Which place of the call.
    pub point: At,
    /// Given before the request is sent, so that the call stands at the point, or the process ends there.
    #[serde(default)]
    pub arm: Option<Signal>,
    /// Given before the request is sent, so that the call fails at the point.
    #[serde(default)]
    pub error: Option<Signal>,
    /// What is seen when the call is there.
    pub reached: Evidence,
    /// Given to let the call go on; without it the call can only be ended there.
    #[serde(default)]
    pub release: Option<Signal>,
    /// Instead of a release: after so long a call that stands at the point goes on by itself.
    #[serde(default)]
    pub holds: Option<Limit>,
    /// Given when the call never came to the point, so that no later call runs into it; a file that armed
    /// the hook is removed without it.
    #[serde(default)]
    pub disarm: Option<Signal>,
}

impl Hook {
    /// The signal that prepares a deed, if the hook can prepare it.
    pub fn signal(&self, deed: Do) -> Option<&Signal> {
        match deed {
            Do::Error => self.error.as_ref(),
            Do::Hold | Do::Pause => self.arm.as_ref().filter(|_| self.lets_go()),
            _ => self.arm.as_ref(),
        }
    }

    /// Whether a call that stands at the point goes on again.
    pub fn lets_go(&self) -> bool {
        self.release.is_some() || self.holds.is_some()
    }

    /// Whether a process is started again for a call that is stopped here.
    pub fn restarts(&self) -> bool {
        [&self.arm, &self.error].into_iter().flatten().any(|signal| matches!(signal, Signal::Env(_)))
    }
}
