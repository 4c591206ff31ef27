//! The kill matrix: every scenario against the reference and each of its defects, and what it must say.
//!
//! A check that cannot fail is a defect of ours. Each defect must be named by the clauses that its
//! scenarios say, and by no other; the reference must keep everything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nottwice_driver::{Setting, Slots};
use nottwice_model::clause::Ruling;
use nottwice_model::clauses;
use nottwice_model::report::{Report, Standing};
use nottwice_model::scenario::Scenario;
use nottwice_model::verdict;
use tokio::task::JoinSet;

use crate::campaign::Campaign;
use crate::{Failure, shelf};

/// The targets whose defects are played.
pub const TARGETS: [&str; 2] = ["reference-stdio", "reference-http"];

/// Defects that show only where a target declares what the usual ones do not, each with that target.
const ELSEWHERE: [(&str, &str); 1] = [("sends-what-it-replays", "dialect-writes-later")];

/// On which targets a defect is played.
fn targets_of(defect: &str) -> Vec<&'static str> {
    match ELSEWHERE.iter().find(|(known, _)| *known == defect) {
        Some((_, target)) => vec![target],
        None => TARGETS.to_vec(),
    }
}

/// The clauses that a scenario found broken, by scenario.
pub type Row = BTreeMap<String, Cell>;

/// What one scenario found of one defect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// The clauses that are accused.
    pub named: BTreeSet<String>,
    /// The clauses whose breaking those explain.
    pub explained: BTreeSet<String>,
}

/// What was seen.
#[derive(Debug)]
pub struct Matrix {
    /// The shipped scenarios.
    pub scenarios: Vec<Scenario>,
    /// What was said of each defect, over all targets, each scenario judged by itself.
    pub defects: BTreeMap<String, Row>,
    /// What is left accused of each defect on each target, all its scenarios judged together.
    pub roots: BTreeMap<(String, &'static str), BTreeSet<String>>,
    /// What was wrong with the reference, or could not be told.
    pub unclean: Vec<String>,
}

/// Plays the whole matrix. `program` is the `nottwice` binary, which embeds the servers.
///
/// # Errors
/// The harness itself failed.
pub async fn play(program: &Path, slots: Slots) -> Result<Matrix, Failure> {
    let scenarios = shelf::scenarios()?;
    let (defects, roots, unclean) = Default::default();
    let mut matrix = Matrix { scenarios, defects, roots, unclean };
    let mut playing = JoinSet::new();
    let references = TARGETS.iter().map(|target| (*target, None));
    let defects = nottwice_fixtures::defects().iter();
    let wrong =
        defects.flat_map(|defect| targets_of(defect.name).into_iter().map(|t| (t, Some(defect.name))));
    for (target, defect) in references.chain(wrong) {
        let campaign = campaign(program, target, defect, matrix.scenarios.clone(), &slots)?;
        playing.spawn(async move { (target, defect, campaign.play().await) });
    }
    let mut exercised = BTreeSet::new();
    while let Some(joined) = playing.join_next().await {
        let (target, defect, done) = joined.map_err(|error| Failure::Harness(error.to_string()))?;
        match defect {
            None => matrix.reference(target, &done?.report, &mut exercised),
            Some(defect) => {
                let report = done?.report;
                matrix.roots.insert((defect.to_owned(), target), accused(&report));
                matrix.defect(defect, &report);
            }
        }
    }
    matrix.play_missed(program, &slots).await?;
    matrix.play_crowded(program, &slots).await?;
    for clause in clauses::ALL.iter().filter(|clause| !exercised.contains(clause.id)) {
        matrix.unclean.push(format!("{} is held by no run of the reference", clause.id));
    }
    Ok(matrix)
}

/// The reference server on one target, with one defect or with none.
fn campaign(
    program: &Path,
    target: &str,
    defect: Option<&str>,
    scenarios: Vec<Scenario>,
    slots: &Slots,
) -> Result<Campaign, Failure> {
    let name = defect.map_or(target.to_owned(), |defect| format!("{target}+{defect}"));
    let file = format!("shipped:{name}");
    let setting = Setting { target: shelf::target(&file)?, file, program: program.to_owned() };
    Ok(Campaign { setting, scenarios, seed: 1, runs: None, slots: slots.clone(), repeat: 1, controls: false })
}

/// How often a promised catch that was not seen is played again, alone.
const AGAIN: usize = 3;

impl Matrix {
    /// Some defects show only in a race that the server may win, so what was promised and not seen is
    /// played again. Nothing of the kind is done for the reference: it must be right every time.
    async fn play_missed(&mut self, program: &Path, slots: &Slots) -> Result<(), Failure> {
        for scenario in self.scenarios.clone() {
            for (defect, said) in &scenario.catches {
                let targets = targets_of(defect);
                for target in targets.iter().cycle().take(AGAIN * targets.len()) {
                    let cell = self.defects.get(defect).and_then(|row| row.get(&scenario.name));
                    if cell.is_some_and(|cell| said.is_subset(&cell.named)) {
                        break;
                    }
                    let alone = campaign(program, target, Some(defect), vec![scenario.clone()], slots)?;
                    self.defect(defect, &alone.play().await?.report);
                }
            }
        }
        Ok(())
    }

    /// On a busy machine a window can pass between two calls that have nothing to do with windows, so a defect
    /// that is accused of several things is played again, with nothing beside it.
    async fn play_crowded(&mut self, program: &Path, slots: &Slots) -> Result<(), Failure> {
        for ((defect, target), roots) in self.roots.iter_mut().filter(|(_, roots)| roots.len() > 1) {
            let alone = campaign(program, target, Some(defect), self.scenarios.clone(), slots)?;
            *roots = accused(&alone.play().await?.report);
        }
        Ok(())
    }

    fn reference(&mut self, target: &str, report: &Report, exercised: &mut BTreeSet<String>) {
        self.unclean.extend(report.failure.iter().map(|why| format!("{target}: {why}")));
        for case in &report.cases {
            let scenario = &case.run.plan.scenario;
            for (clause, ruling) in &case.verdict.rulings {
                let wrong = match ruling {
                    Ruling::Broken { findings } | Ruling::Blocked { findings, .. } => &findings[0].what,
                    Ruling::CouldNotTell { reason } => reason,
                    Ruling::Held { .. } => {
                        exercised.insert(clause.clone());
                        continue;
                    }
                    Ruling::NotExercised { .. } | Ruling::NotApplicable { .. } => continue,
                };
                self.unclean.push(format!("{target}, {scenario}: the reference and {clause}: {wrong}"));
            }
        }
    }

    fn defect(&mut self, defect: &str, report: &Report) {
        let row = self.defects.entry(defect.to_owned()).or_default();
        for case in &report.cases {
            let cell = row.entry(case.run.plan.scenario.clone()).or_default();
            for (clause, ruling) in &verdict::judge(&case.run).rulings {
                match ruling {
                    Ruling::Broken { .. } => cell.named.insert(clause.clone()),
                    Ruling::Blocked { .. } => cell.explained.insert(clause.clone()),
                    _ => continue,
                };
            }
        }
        row.retain(|_, cell| *cell != Cell::default());
    }

    /// Everything that must hold of the matrix and does not.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints = self.unclean.clone();
        complaints.extend(self.differences());
        complaints.extend(self.idle());
        complaints.extend(self.twins());
        complaints.extend(self.crowds());
        complaints
    }

    /// What the scenarios say they catch, and did not.
    fn differences(&self) -> Vec<String> {
        let nothing = BTreeSet::new();
        let mut found = Vec::new();
        for scenario in &self.scenarios {
            for (defect, row) in &self.defects {
                let seen = row.get(&scenario.name).map_or(&nothing, |cell| &cell.named);
                let said = scenario.catches.get(defect).unwrap_or(&nothing);
                for clause in said.difference(seen) {
                    let name = &scenario.name;
                    found.push(format!("{name} says that {clause} names {defect}; it was named by {seen:?}"));
                }
            }
            for defect in scenario.catches.keys().filter(|defect| !self.defects.contains_key(*defect)) {
                found.push(format!("{}: there is no defect `{defect}`", scenario.name));
            }
        }
        found
    }

    /// Clauses, defects and scenarios that show nothing.
    fn idle(&self) -> Vec<String> {
        let named: BTreeSet<_> =
            self.defects.values().flat_map(BTreeMap::values).flat_map(|cell| &cell.named).collect();
        let clauses = clauses::ALL.iter().filter(|clause| !named.contains(&clause.id.to_owned()));
        let defects = self.defects.iter().filter(|(_, row)| row.is_empty());
        let scenarios = self.scenarios.iter().filter(|scenario| self.column(&scenario.name).is_empty());
        clauses
            .map(|clause| format!("{} is broken by no defect", clause.id))
            .chain(defects.map(|(defect, _)| format!("{defect} is caught by no scenario")))
            .chain(scenarios.map(|scenario| format!("{} catches no defect", scenario.name)))
            .collect()
    }

    /// Two defects with one row cannot be told apart; two scenarios with one column say the same.
    fn twins(&self) -> Vec<String> {
        let rows = self.defects.iter().map(|(name, row)| (name.clone(), row.clone())).collect::<Vec<_>>();
        let columns =
            self.scenarios.iter().map(|s| (s.name.clone(), self.column(&s.name))).collect::<Vec<_>>();
        let pairs = |all: &[(String, Row)], what: &str| {
            let mut found = Vec::new();
            for (place, (one, row)) in all.iter().enumerate() {
                for (other, same) in &all[place + 1..] {
                    if row == same {
                        found.push(format!("{one} and {other} have the same {what}"));
                    }
                }
            }
            found
        };
        [pairs(&rows, "row"), pairs(&columns, "column")].concat()
    }

    /// A defect is one bug, and so one accusation.
    fn crowds(&self) -> Vec<String> {
        let several = self.roots.iter().filter(|(_, roots)| roots.len() > 1);
        several
            .map(|((defect, target), roots)| {
                format!("{target}+{defect} is accused of several things: {}", list(roots))
            })
            .collect()
    }

    /// What one scenario said, by defect.
    fn column(&self, scenario: &str) -> Row {
        let cells = self
            .defects
            .iter()
            .filter_map(|(defect, row)| Some((defect.clone(), row.get(scenario)?.clone())));
        cells.collect()
    }

    /// What was seen, as a table: a line for each defect and scenario.
    pub fn table(&self) -> String {
        let mut text =
            String::from("| defect | scenario | accused | explained by that |\n|---|---|---|---|\n");
        for (defect, row) in &self.defects {
            for (scenario, cell) in row {
                let (named, explained) = (list(&cell.named), list(&cell.explained));
                text.push_str(&format!("| {defect} | {scenario} | {named} | {explained} |\n"));
            }
        }
        text
    }
}

/// The clauses that are accused and explained by no other.
fn accused(report: &Report) -> BTreeSet<String> {
    let lines = report.lines().into_iter().filter(|line| line.standing == Standing::Violated);
    lines.map(|line| line.clause.to_owned()).collect()
}

fn list(clauses: &BTreeSet<String>) -> String {
    clauses.iter().map(|clause| format!("`{clause}`")).collect::<Vec<_>>().join(", ")
}

/// What the scenarios promise to catch, as a page. Playing the matrix proves it; what is caught beyond that
/// may depend on how things fall in time, so it is no part of the page.
pub fn page(scenarios: &[Scenario]) -> String {
    let mut rows: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    for scenario in scenarios {
        for (defect, clauses) in &scenario.catches {
            rows.entry(defect).or_default().push(format!("| {} | {} |", scenario.name, list(clauses)));
        }
    }
    let mut text = String::from(
        "# Kill matrix\n\nEach defect of the reference server, and the scenarios that must show it with the \
         clauses that must be\naccused. `nottwice matrix` plays it and prints what else was seen; a test does \
         the same.\n\n| defect | scenario | accused |\n|---|---|---|\n",
    );
    for (defect, cells) in rows {
        for cell in cells {
            text.push_str(&format!("| {defect} {cell}\n"));
        }
    }
    text
}
