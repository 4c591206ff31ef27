//! `nottwice replay`: play a recorded run again, with fresh keys and labels.

use std::path::Path;

use nottwice_model::report::{Exit, Report};

use crate::campaign::{self, block_on};
use crate::cli::{Output, Runs};
use crate::output::show;
use crate::{Failure, shelf};

pub(super) fn replay(
    record: &Path,
    target: Option<&str>,
    runs: &Runs,
    output: &Output,
) -> Result<Exit, Failure> {
    let (run, _) = shelf::record(record)?;
    let file = target.unwrap_or(&run.plan.target.file).to_owned();
    let setting = shelf::setting(&file)?;
    // The claims are those of the target file as it is now; what was asked and broken is the record's.
    let mut plan = run.plan.renewed(campaign::nonce());
    plan.target = setting.target.facts(&file);
    let folder = runs.runs.join("replayed");
    std::fs::create_dir_all(&folder).map_err(|source| Failure::Read { path: folder.clone(), source })?;
    let path = folder.join(record.file_name().unwrap_or_default());
    let played = block_on(async { Ok(nottwice_driver::play(&setting, &plan, Some(&path)).await?) })?;
    show(&Report::of(None, vec![(played.run, path.display().to_string())], Vec::new()), output)
}
