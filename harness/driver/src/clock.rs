//! The one place where time is read: a monotonic clock that begins with the play.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// How often the harness looks whether it is late itself.
const LOOK: Duration = Duration::from_millis(10);

/// Measures by how much the harness itself is late, which no server may be blamed for.
#[derive(Debug)]
pub(crate) struct Watchdog {
    latest: Arc<AtomicU64>,
    task: tokio::task::JoinHandle<()>,
}

impl Watchdog {
    /// Begins to look.
    pub(crate) fn start() -> Watchdog {
        let latest = Arc::new(AtomicU64::new(0));
        let seen = latest.clone();
        let task = tokio::spawn(async move {
            loop {
                let clock = Clock::start();
                tokio::time::sleep(LOOK).await;
                let late = clock.elapsed().saturating_sub(LOOK);
                seen.fetch_max(u64::try_from(late.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
            }
        });
        Watchdog { latest, task }
    }

    /// Stops looking, and says by how many milliseconds it was late at most.
    pub(crate) fn stop(&self) -> u64 {
        self.task.abort();
        self.latest.load(Ordering::Relaxed)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.task.abort();
    }
}
