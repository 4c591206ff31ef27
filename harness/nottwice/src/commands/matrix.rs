//! `nottwice matrix`: every scenario against the reference and each of its defects.

use nottwice_model::report::Exit;

use super::{block_on, print};
use crate::cli::Jobs;
use crate::matrix::{self, Matrix};
use crate::{Failure, campaign};

pub(super) fn matrix(jobs: &Jobs) -> Result<Exit, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::Harness(format!("this program cannot find itself: {error}")))?;
    let jobs = jobs.jobs.unwrap_or_else(campaign::usual_jobs);
    let matrix: Matrix = block_on(matrix::play(&program, jobs))?;
    print(&matrix.markdown());
    let complaints = matrix.complaints();
    for complaint in &complaints {
        super::warn(complaint);
    }
    Ok(if complaints.is_empty() { Exit::Held } else { Exit::Violated })
}
