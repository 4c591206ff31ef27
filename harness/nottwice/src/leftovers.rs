//! What a harness that was killed left behind, cleared away and told.

use nottwice_driver::Cleared;

use crate::output::warn;

/// Whoever starts servers first ends those of a harness that was killed and could not.
pub(crate) fn clear_leftovers() {
    let Cleared { processes, folders } = nottwice_driver::clear_leftovers();
    if processes + folders > 0 {
        warn(&format!(
            "an earlier run was killed: {processes} processes and {folders} folders that it left are cleared away"
        ));
    }
}
