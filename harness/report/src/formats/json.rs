//! For programs: one JSON object whose members have a fixed order.

use std::collections::BTreeMap;

use nottwice_model::ability::Ability;
use nottwice_model::clause::{Finding, Level, Ruling};
use nottwice_model::clauses;
use nottwice_model::figures::Figures;
use nottwice_model::ledger::Row;
use nottwice_model::report::{Repeat, Report, Skipped, Standing};
use serde::Serialize;

use crate::counts::Counts;
use crate::format::Format;
use crate::{evidence, untrusted};

/// One JSON object, pretty printed.
pub(super) struct Json;

/// The version of this format.
const VERSION: u32 = 1;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn summary(&self) -> &'static str {
        "one JSON object for programs"
    }

    fn render(&self, report: &Report) -> String {
        let mut text =
            serde_json::to_string_pretty(&document(report)).expect("a report is plain data with string keys");
        text.push('\n');
        inert(&text)
    }
}

/// The same JSON with every character that acts written as `\uXXXX`. Outside of strings JSON has none but
/// the line break, so that this changes how a string is written and not what it says.
fn inert(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && untrusted::acts(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(c);
        }
    }
    text
}

#[derive(Serialize)]
struct Document<'r> {
    nottwice: &'static str,
    version: u32,
    target: Option<&'r str>,
    contract: &'static str,
    exit: i32,
    counts: Counts,
    clauses: Vec<Clause<'r>>,
    scenarios: Vec<Scenario<'r>>,
    skipped: Vec<NotPlayed<'r>>,
    repeats: Vec<Repeated<'r>>,
    failure: Option<&'r str>,
    trouble: Vec<Trouble<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    figures: Option<Cost>,
}

/// What the run cost, in microseconds.
#[derive(Serialize)]
struct Cost {
    plans: usize,
    wall: u128,
    floor: u128,
    waits: u128,
    servers: u128,
    own: u128,
    cores: usize,
}

#[derive(Serialize)]
struct Clause<'r> {
    clause: &'static str,
    level: Level,
    standing: Standing,
    held: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<Breach<'r>>,
}

#[derive(Serialize)]
struct Breach<'r> {
    scenario: &'r str,
    seed: u64,
    record: &'r str,
    what: String,
    identity: usize,
    events: Vec<usize>,
    rows: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    control: Option<Unbroken<'r>>,
}

/// The same calls with nothing broken on purpose.
#[derive(Serialize)]
struct Unbroken<'r> {
    record: &'r str,
    /// How the clause stands there.
    ruling: &'static str,
}

#[derive(Serialize)]
struct Scenario<'r> {
    name: &'r str,
    seed: u64,
    record: &'r str,
    complete: bool,
    rulings: BTreeMap<&'r str, &'static str>,
}

#[derive(Serialize)]
struct NotPlayed<'r> {
    scenario: &'r str,
    lacks: Ability,
    cure: &'r str,
}

#[derive(Serialize)]
struct Repeated<'r> {
    scenario: &'r str,
    repeat: Repeat,
}

#[derive(Serialize)]
struct Trouble<'r> {
    scenario: &'r str,
    what: &'r str,
}

fn document(report: &Report) -> Document<'_> {
    Document {
        nottwice: "report",
        version: VERSION,
        target: report.target.as_ref().map(|target| target.name.as_str()),
        contract: clauses::EDITION,
        exit: report.exit() as i32,
        counts: Counts::of(report),
        clauses: clauses(report),
        scenarios: scenarios(report),
        skipped: report.skipped.iter().map(not_played).collect(),
        repeats: report
            .repeats()
            .into_iter()
            .map(|(scenario, repeat)| Repeated { scenario, repeat })
            .collect(),
        failure: report.failure.as_deref(),
        trouble: trouble(report),
        figures: report.figures.as_ref().map(cost),
    }
}

fn cost(figures: &Figures) -> Cost {
    let Figures { plans, wall, waits, servers, own, cores } = figures;
    Cost {
        plans: *plans,
        wall: wall.as_micros(),
        floor: figures.floor().as_micros(),
        waits: waits.as_micros(),
        servers: servers.as_micros(),
        own: own.as_micros(),
        cores: *cores,
    }
}

fn not_played(skipped: &Skipped) -> NotPlayed<'_> {
    let Skipped { scenario, lacks, cure } = skipped;
    NotPlayed { scenario, lacks: *lacks, cure }
}

fn clauses(report: &Report) -> Vec<Clause<'_>> {
    let lines = report.lines().into_iter();
    lines
        .map(|line| Clause {
            clause: line.clause,
            level: line.level,
            standing: line.standing,
            held: line.held,
            because: line.because,
            findings: line
                .findings
                .into_iter()
                .map(|(case, finding)| breach(report, line.clause, case, finding))
                .collect(),
        })
        .collect()
}

fn breach<'r>(report: &'r Report, clause: &str, case: usize, finding: Finding) -> Breach<'r> {
    let case = &report.cases[case];
    let control = case.control.as_ref().and_then(|control| {
        let ruling = word(control.verdict.rulings.get(clause)?);
        Some(Unbroken { record: &control.record, ruling })
    });
    let rows = evidence::of(&case.run, &finding).rows.into_iter().cloned().collect();
    Breach {
        scenario: &case.run.plan.scenario,
        seed: case.run.plan.seed,
        record: &case.record,
        what: finding.what,
        identity: finding.identity,
        events: finding.events,
        rows,
        control,
    }
}

fn scenarios(report: &Report) -> Vec<Scenario<'_>> {
    let cases = report.cases.iter();
    cases
        .map(|case| Scenario {
            name: &case.run.plan.scenario,
            seed: case.run.plan.seed,
            record: &case.record,
            complete: case.run.complete,
            rulings: case.verdict.rulings.iter().map(|(id, ruling)| (id.as_str(), word(ruling))).collect(),
        })
        .collect()
}

fn word(ruling: &Ruling) -> &'static str {
    match ruling {
        Ruling::NotApplicable { .. } => "not-applicable",
        Ruling::NotExercised { .. } => "not-exercised",
        Ruling::Held { .. } => "held",
        Ruling::Broken { .. } => "broken",
        Ruling::Blocked { .. } => "blocked",
        Ruling::CouldNotTell { .. } => "could-not-tell",
    }
}

fn trouble(report: &Report) -> Vec<Trouble<'_>> {
    let cases = report.cases.iter();
    cases
        .filter_map(|case| Some(Trouble { scenario: &case.run.plan.scenario, what: case.run.trouble()? }))
        .collect()
}
