//! `nottwice demo`: play one defect of the reference server and show the failing report.

use nottwice_model::report::Exit;

use super::{block_on, setting, show, warn};
use crate::campaign::{self, Campaign};
use crate::cli::Output;
use crate::{Failure, shelf};

pub(super) fn demo(defect: &str, output: &Output) -> Result<Exit, Failure> {
    let known = shelf::defect(defect)?;
    let file = format!("{}+{defect}", shelf::REFERENCE);
    warn(&format!("{}: {}\n", known.name, known.summary));
    let scenarios = shelf::scenarios()?.into_iter().filter(|s| s.catches.contains_key(defect)).collect();
    let campaign = Campaign {
        setting: setting(&file, shelf::target(&file)?)?,
        scenarios,
        seed: 1,
        runs: Some("reports/runs".into()),
        jobs: campaign::usual_jobs(),
    };
    show(&block_on(campaign.play())?.report, output)
}
