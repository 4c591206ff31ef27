//! `nottwice judge`: judge recorded runs again, without starting anything.

use std::collections::BTreeMap;
use std::path::PathBuf;

use nottwice_model::report::{Exit, Report};
use nottwice_model::run::Run;

use crate::cli::Output;
use crate::output::show;
use crate::{Failure, shelf};

pub(super) fn judge(paths: &[PathBuf], output: &Output) -> Result<Exit, Failure> {
    let mut targets: BTreeMap<String, Vec<(Run, String)>> = BTreeMap::new();
    for path in paths {
        let (run, file) = shelf::record(path)?;
        targets.entry(run.plan.target.name.clone()).or_default().push((run, file));
    }
    // Each target is judged on its own; the command ends as the worst of them does.
    let mut exit = Exit::Held;
    for runs in targets.into_values() {
        let shown = show(&Report::of(None, runs, Vec::new()), output)?;
        exit = if exit == Exit::Violated || shown == Exit::Held { exit } else { shown };
    }
    Ok(exit)
}
