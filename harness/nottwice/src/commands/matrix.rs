//! `nottwice matrix`: every scenario against the reference and each of its defects.

use nottwice_model::report::Exit;

use crate::campaign::block_on;
use crate::cli::Jobs;
use crate::matrix::{self, Matrix};
use crate::output::{print, warn};
use crate::{Failure, campaign, shelf};

pub(super) fn matrix(jobs: &Jobs) -> Result<Exit, Failure> {
    let program = shelf::this_program()?;
    let matrix: Matrix = block_on(matrix::play(&program, campaign::slots(jobs.jobs)))?;
    print(&matrix.table())?;
    let complaints = matrix.complaints();
    for complaint in &complaints {
        warn(complaint);
    }
    Ok(if complaints.is_empty() { Exit::Held } else { Exit::Violated })
}
