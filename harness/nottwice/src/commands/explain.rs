//! `nottwice explain`: what a clause, scenario, defect, preset or exit code is about, each in one fixed form.

use nottwice_model::clause::Clause;
use nottwice_model::report::Exit;
use nottwice_model::scenario::Scenario;
use nottwice_model::{clauses, plan};

use crate::output::print;
use crate::{Failure, shelf};

/// The exit codes and what each says.
const EXITS: [(Exit, &str); 7] = [
    (Exit::Held, "every clause that was asked is kept"),
    (Exit::Violated, "a clause that MUST hold is broken"),
    (Exit::Usage, "the command line or a file is wrong"),
    (Exit::Harness, "the harness itself failed; this says nothing about the target"),
    (Exit::Nothing, "nothing was selected, or the target promises nothing and does not say so"),
    (Exit::CouldNotTell, "not started, not reached, not counted, or a fault did not fire"),
    (Exit::Interrupted, "interrupted; what was played is recorded"),
];

/// Before the name of a preset, since some have the names of what they are like.
const PRESET: &str = "preset:";

pub(super) fn explain(name: &str) -> Result<Exit, Failure> {
    let scenarios = shelf::scenarios()?;
    let text = if let Some(clause) = clauses::find(name) {
        of_clause(clause, &scenarios)
    } else if let Some(scenario) = scenarios.iter().find(|scenario| scenario.name == name) {
        of_scenario(scenario)
    } else if let Some(defect) = nottwice_fixtures::defects().iter().find(|defect| defect.name == name) {
        of_defect(defect, &scenarios)
    } else if let Some(name) = name.strip_prefix(PRESET) {
        of_preset(name)?
    } else if let Some((exit, text)) = EXITS.iter().find(|(exit, _)| (*exit as i32).to_string() == name) {
        format!("exit code {}: {text}\n", *exit as i32)
    } else {
        return Err(Failure::usage(
            format!("there is nothing named `{name}` to explain"),
            "`nottwice list clauses`, `list scenarios`, `list defects` and `list presets` show the names",
        ));
    };
    print(&text)?;
    Ok(Exit::Held)
}

fn page(title: &str, rows: &[(&str, String)]) -> String {
    let mut text = format!("{title}\n");
    for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
        text.push_str(&format!("\n  {name}\n"));
        for line in value.lines() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text
}

fn of_clause(clause: &Clause, scenarios: &[Scenario]) -> String {
    let level = format!("{:?}", clause.level).to_uppercase();
    let made_for = scenarios.iter().filter(|s| s.catches.values().any(|c| c.contains(clause.id)));
    let broken_by = made_for.clone().flat_map(|s| {
        s.catches.iter().filter(|(_, clauses)| clauses.contains(clause.id)).map(|(defect, _)| defect.clone())
    });
    let broken_by: std::collections::BTreeSet<_> = broken_by.collect();
    page(
        &format!("{} ({level})", clause.id),
        &[
            ("what it asks", clause.statement.to_owned()),
            ("why it matters", clause.why.to_owned()),
            ("the shortest history that breaks it", clause.shortest.to_owned()),
            ("how servers usually keep it", clause.cure.to_owned()),
            ("what it needs of a target", lines(clause.needs)),
            (
                "by what of a target it is judged",
                clause.policies.iter().map(|axis| format!("{axis}\n")).collect(),
            ),
            ("whose breaking explains it", clause.presupposes.join("\n")),
            ("scenarios made for it", made_for.map(|s| s.name.clone()).collect::<Vec<_>>().join("\n")),
            ("defects that break it", broken_by.into_iter().collect::<Vec<_>>().join("\n")),
            ("where it comes from", clause.source.to_owned()),
        ],
    )
}

fn of_scenario(scenario: &Scenario) -> String {
    let needs: std::collections::BTreeSet<_> = plan::needs(scenario).into_iter().collect();
    let catches = scenario.catches.iter().map(|(defect, clauses)| {
        format!("{defect}: {}", clauses.iter().cloned().collect::<Vec<_>>().join(", "))
    });
    page(
        &scenario.name,
        &[
            ("what happens", scenario.title.clone()),
            ("what it needs of a target", lines(needs.iter())),
            ("what it catches", catches.collect::<Vec<_>>().join("\n")),
            ("where it comes from", scenario.source.clone()),
        ],
    )
}

fn of_defect(defect: &nottwice_fixtures::Defect, scenarios: &[Scenario]) -> String {
    let caught = scenarios.iter().filter_map(|scenario| {
        let clauses = scenario.catches.get(defect.name)?;
        Some(format!("{}: {}", scenario.name, clauses.iter().cloned().collect::<Vec<_>>().join(", ")))
    });
    page(
        defect.name,
        &[
            ("what it does wrong", defect.summary.to_owned()),
            ("why a sensible team writes it", defect.reason.to_owned()),
            ("what catches it", caught.collect::<Vec<_>>().join("\n")),
            ("see it fail", format!("nottwice demo {}", defect.name)),
        ],
    )
}

fn of_preset(name: &str) -> Result<String, Failure> {
    let presets = shelf::presets()?;
    let Some(preset) = presets.iter().find(|preset| preset.name == name) else {
        let names: Vec<_> = presets.iter().map(|preset| preset.name).collect();
        let message = format!("there is no preset `{name}`");
        return Err(Failure::usage(message, format!("one of: {}", names.join(", "))));
    };
    let rows = preset.text.find("\n[").map_or("", |at| preset.text[at..].trim());
    Ok(page(
        &format!("{PRESET}{name}"),
        &[
            ("whose rows these are", preset.summary.clone()),
            ("how a target takes them", format!("preset = \"{name}\"")),
            ("the rows, each of which the target may say otherwise", rows.to_owned()),
            ("where they come from", preset.source.clone()),
        ],
    ))
}

fn lines<'a>(abilities: impl IntoIterator<Item = &'a nottwice_model::ability::Ability>) -> String {
    abilities.into_iter().map(|need| format!("{need}: {}\n", need.cure())).collect()
}
