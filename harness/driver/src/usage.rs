//! What a piece of work costs: time on the clock, and processor time here and in the servers.

use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeVal;

use crate::clock::Clock;

/// Measures from its start.
#[derive(Debug)]
pub struct Meter {
    clock: Clock,
    own: Duration,
    servers: Duration,
}

/// What was spent since a [`Meter`] was started.
#[derive(Debug, Clone, Copy)]
pub struct Spent {
    /// Time on the clock.
    pub wall: Duration,
    /// Processor time of this process.
    pub own: Duration,
    /// Processor time of the processes that it started and that have ended.
    pub servers: Duration,
}

impl Meter {
    /// Starts to measure.
    pub fn start() -> Meter {
        Meter {
            clock: Clock::start(),
            own: processor_time(UsageWho::RUSAGE_SELF),
            servers: processor_time(UsageWho::RUSAGE_CHILDREN),
        }
    }

    /// What was spent until now.
    pub fn spent(&self) -> Spent {
        Spent {
            wall: self.clock.elapsed(),
            own: processor_time(UsageWho::RUSAGE_SELF).saturating_sub(self.own),
            servers: processor_time(UsageWho::RUSAGE_CHILDREN).saturating_sub(self.servers),
        }
    }
}

/// Nothing where the system does not say.
fn processor_time(who: UsageWho) -> Duration {
    let times = |usage: Usage| duration(usage.user_time()) + duration(usage.system_time());
    getrusage(who).map(times).unwrap_or_default()
}

fn duration(time: TimeVal) -> Duration {
    Duration::from_secs(time.tv_sec().try_into().unwrap_or_default())
        + Duration::from_micros(time.tv_usec().try_into().unwrap_or_default())
}
