//! `nottwice replay`: play a recorded run again, with fresh keys and labels.

use std::path::Path;

use nottwice_model::report::{Exit, Report};

use crate::campaign::{self, block_on, unless_interrupted};
use crate::cli::{Output, Runs};
use crate::output::{show, warn};
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
    let folder = runs.runs.join("replayed").join(&setting.target.name);
    std::fs::create_dir_all(&folder).map_err(|source| Failure::Read { path: folder.clone(), source })?;
    let path = folder.join(record.file_name().unwrap_or_default());
    let played = nottwice_driver::play(&setting, &plan, Some(&path), None);
    let played = block_on(async { Ok(unless_interrupted(played).await??) })?;
    let file = path.display().to_string();
    if let Some(error) = &played.unrecorded {
        warn(&format!("warning: the record {file} ends early: {error}"));
    }
    show(&Report::of(None, vec![(played.run, file)], Vec::new()), output)
}
