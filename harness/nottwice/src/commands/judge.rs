//! `nottwice judge`: judge recorded runs again, without starting anything.

use std::path::PathBuf;

use nottwice_model::report::{Exit, Report};

use super::{records, show};
use crate::Failure;
use crate::cli::Output;

pub(super) fn judge(paths: &[PathBuf], output: &Output) -> Result<Exit, Failure> {
    show(&Report::of(None, records(paths)?, Vec::new()), output)
}
