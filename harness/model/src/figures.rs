//! What a run cost, beside what no harness could have done without.

use std::time::Duration;

/// What a run cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// How many plans were played.
    pub plans: usize,
    /// Time on the clock, from the survey to the verdict.
    pub wall: Duration,
    /// The longest chain of declared limits that one of the plans has to wait for, each limit once.
    pub waits: Duration,
    /// Processor time of the server's processes.
    pub servers: Duration,
    /// Processor time of the harness itself.
    pub own: Duration,
    /// How many processors there are.
    pub cores: usize,
}

impl Figures {
    /// The time that no order of playing could beat: somebody has to wait, and the servers have to work.
    pub fn floor(&self) -> Duration {
        self.waits.max(self.servers / u32::try_from(self.cores.max(1)).unwrap_or(u32::MAX))
    }

    /// How many times the floor the run took; absent where there is no floor.
    pub fn ratio(&self) -> Option<f64> {
        let floor = self.floor().as_secs_f64();
        (floor > 0.0).then(|| self.wall.as_secs_f64() / floor)
    }

    /// The harness's own processor time for each plan; none where nothing was played.
    pub fn own_for_each(&self) -> Duration {
        self.own / u32::try_from(self.plans.max(1)).unwrap_or(u32::MAX)
    }
}
