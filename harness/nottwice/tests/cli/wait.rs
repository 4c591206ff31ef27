//! Waiting for what announces itself to nobody: a file, a process. Looked for often, and given up at a bound.

use std::thread;
use std::time::Duration;

/// Between two looks.
const GLANCE: Duration = Duration::from_millis(5);
/// Looks until it is given up: a minute, which no loaded machine needs.
const GLANCES: u32 = 12_000;

/// What a look finds, as soon as it finds something.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..GLANCES {
        if let Some(found) = look() {
            return found;
        }
        thread::park_timeout(GLANCE);
    }
    panic!("{what}: not seen within {:?}", GLANCE * GLANCES);
}
