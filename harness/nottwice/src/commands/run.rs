//! `nottwice run`: play scenarios against a target and judge it.

use nottwice_model::report::Exit;
use nottwice_model::scenario::Scenario;
use nottwice_model::{clauses, target::Target};

use crate::campaign::{self, Campaign, block_on};
use crate::cli::Run;
use crate::output::{self, finish};
use crate::{Failure, ad_hoc, shelf};

pub(super) fn run(run: Run) -> Result<Exit, Failure> {
    output::format(&run.output.format)?;
    let (file, target, filter) = target(&run)?;
    let scenarios = select(scenarios(&run)?, &filter)?;
    let campaign = Campaign {
        setting: shelf::place(&file, target)?,
        scenarios,
        seed: run.seed,
        runs: Some(run.runs.runs.clone()),
        slots: campaign::slots(run.jobs.jobs),
        repeat: run.repeat,
        controls: true,
    };
    campaign.check_names()?;
    let done = block_on(campaign.play())?;
    finish(&done, &run.output)
}

/// The target, and the words that are left to filter by. A first word that is neither a file nor a
/// shipped target is a filter for the reference.
fn target(run: &Run) -> Result<(String, Target, Vec<String>), Failure> {
    let mut filter: Vec<_> = run.target.iter().chain(&run.filter).cloned().collect();
    if run.ad_hoc.is_used() && filter.first().is_some_and(|word| names_a_target(word)) {
        let message = format!("`{}` is a target, and the flags tell another", filter[0]);
        return Err(Failure::usage(message, "name a target, or tell one in flags"));
    }
    if run.ad_hoc.is_used() {
        let (file, target) = ad_hoc::target(&run.ad_hoc, &run.runs.runs)?;
        return Ok((file, target, filter));
    }
    let file = match filter.first() {
        Some(word) if names_a_target(word) => filter.remove(0),
        _ => shelf::REFERENCE.to_owned(),
    };
    let target = shelf::target(&file)?;
    Ok((file, target, filter))
}

fn names_a_target(word: &str) -> bool {
    word.ends_with(".toml") || std::path::Path::new(word).is_file() || shelf::is_shipped(word)
}

fn scenarios(run: &Run) -> Result<Vec<Scenario>, Failure> {
    if run.scenarios.is_empty() {
        return shelf::scenarios();
    }
    let mut found = Vec::new();
    for path in &run.scenarios {
        found.extend(shelf::scenarios_at(path)?);
    }
    Ok(found)
}

/// The scenarios that a filter names. A word that is a clause selects the scenarios that are made for it.
fn select(scenarios: Vec<Scenario>, filter: &[String]) -> Result<Vec<Scenario>, Failure> {
    if filter.is_empty() {
        return Ok(scenarios);
    }
    let fits = |scenario: &Scenario, word: &String| {
        let catches = scenario.catches.values().any(|clauses| clauses.contains(word));
        scenario.name.contains(word.as_str()) || catches
    };
    for word in filter {
        if !scenarios.iter().any(|scenario| fits(scenario, word)) && clauses::find(word).is_none() {
            let names: Vec<_> = scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
            return Err(Failure::usage(
                format!("`{word}` is no target file, no part of a scenario's name, and no clause"),
                format!("the scenarios are: {}", names.join(", ")),
            ));
        }
    }
    Ok(scenarios.into_iter().filter(|scenario| filter.iter().any(|word| fits(scenario, word))).collect())
}
