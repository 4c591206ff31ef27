//! `nottwice judge`: judge recorded runs again, without starting anything.

use std::path::PathBuf;

use nottwice_model::report::{Exit, Report};

use crate::cli::Output;
use crate::output::show;
use crate::{Failure, shelf};

pub(super) fn judge(paths: &[PathBuf], output: &Output) -> Result<Exit, Failure> {
    let runs = paths.iter().map(|path| shelf::record(path)).collect::<Result<_, _>>()?;
    show(&Report::of(None, runs, Vec::new()), output)
}
