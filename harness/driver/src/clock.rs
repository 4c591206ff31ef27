//! The one place where time is read: a monotonic clock that begins with the play.

use std::time::{Duration, Instant};

/// A monotonic clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    began: Instant,
}

impl Clock {
    /// A clock that begins now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place where time is read")]
    pub(crate) fn start() -> Clock {
        Clock { began: Instant::now() }
    }

    /// How long ago it began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// The same in whole nanoseconds; enough for five hundred years.
    pub(crate) fn nanos(&self) -> u64 {
        u64::try_from(self.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
