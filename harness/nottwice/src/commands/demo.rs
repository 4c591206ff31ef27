//! `nottwice demo`: play one defect of the reference server and show the failing report.

use nottwice_model::report::Exit;
use nottwice_model::scenario::Scenario;

use crate::campaign::{self, Campaign, block_on};
use crate::cli::Output;
use crate::output::{finish, warn};
use crate::{Failure, shelf};

pub(super) fn demo(defect: &str, output: &Output) -> Result<Exit, Failure> {
    let known = shelf::defect(defect)?;
    let file = format!("{}+{defect}", shelf::REFERENCE);
    warn(&format!("{}: {}\n", known.name, known.summary));
    // One scenario shows it; the others that do would only repeat it.
    let shows = |scenario: &Scenario| scenario.catches.contains_key(defect);
    let scenarios = shelf::scenarios()?.into_iter().find(shows).into_iter().collect();
    let campaign = Campaign {
        setting: shelf::setting(&file)?,
        scenarios,
        seed: 1,
        runs: Some("reports/runs".into()),
        slots: campaign::slots(None),
        repeat: 1,
        controls: true,
    };
    finish(&block_on(campaign.play())?, output)
}
