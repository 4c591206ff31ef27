//! `nottwice hold-lock`: the process that holds a competing write transaction during a play.

use std::path::Path;

use nottwice_model::report::Exit;

use crate::Failure;

pub(super) fn hold_lock(database: &Path) -> Result<Exit, Failure> {
    nottwice_driver::hold_lock(database)?;
    Ok(Exit::Held)
}
