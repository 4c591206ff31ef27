//! `nottwice replay`: play a recorded run again, with fresh keys and labels.

use std::path::PathBuf;

use nottwice_model::report::{Exit, Report};

use super::{block_on, records, setting, show};
use crate::cli::{Output, Runs};
use crate::{Failure, campaign, shelf};

pub(super) fn replay(
    record: &PathBuf,
    target: Option<&str>,
    runs: &Runs,
    output: &Output,
) -> Result<Exit, Failure> {
    let (run, _) = records(std::slice::from_ref(record))?.remove(0);
    let file = target.unwrap_or(&run.plan.target.file).to_owned();
    let setting = setting(&file, shelf::target(&file)?)?;
    // The claims are those of the target file as it is now; what was asked and broken is the record's.
    let mut plan = run.plan.renewed(campaign::nonce());
    plan.target = setting.target.facts(&file);
    let folder = runs.runs.join("replayed");
    std::fs::create_dir_all(&folder).map_err(|source| Failure::Read { path: folder.clone(), source })?;
    let path = folder.join(record.file_name().unwrap_or_default());
    let played = block_on(async { Ok(nottwice_driver::play(&setting, &plan, Some(&path)).await?) })?;
    show(&Report::of(None, vec![(played.run, path.display().to_string())], Vec::new()), output)
}
