//! The lines of a target file that a finding was judged under, so that a wrong claim is found at once.

use nottwice_model::ability::Ability;
use nottwice_model::attempt::Attempt;
use nottwice_model::clause::Clause;
use nottwice_model::history::{Outcome, What, Why};
use nottwice_model::preset::{self, Preset};
use nottwice_model::reply::{Class, Rule};
use nottwice_model::run::Run;
use nottwice_model::scenario::Place;
use nottwice_model::target::{PromiseKind, TargetFacts};
use serde::Serialize;

/// The policy lines that matter to a clause in a run, as they stand in a target file.
pub fn lines(clause: &Clause, run: &Run, deciding: &[Attempt<'_>]) -> Vec<String> {
    let facts = &run.plan.target;
    let mut lines = Vec::new();
    match facts.promise.kind {
        Some(PromiseKind::Keyed) => lines.push("[promise] kind = \"keyed\"".to_owned()),
        Some(PromiseKind::None) => lines.push("[promise] kind = \"none\"".to_owned()),
        None => {}
    }
    let presets = presets(facts);
    lines.extend(facts.presets.iter().map(|name| {
        let source = presets.iter().find(|preset| preset.name == name).map(|preset| &preset.source);
        format!("preset = {}   # {}", json(name), source.map_or("not known here", String::as_str))
    }));
    lines.extend(clause.policies.iter().map(|axis| with_origin(axis.line(facts), &presets)));
    for need in clause.needs {
        lines.extend(claim(facts, *need));
    }
    if facts.effect.natural_key {
        lines.push("[effect] natural_key = true".to_owned());
    }
    let restarted = run
        .history
        .events
        .iter()
        .any(|event| matches!(event.what, What::GaveUp { .. } | What::Started { incarnation: 2.., .. }));
    if restarted {
        lines.push(format!("[recovery] bound = {}", json(&facts.recovery.bound)));
    }
    let classes = deciding.iter().filter_map(Attempt::said).filter_map(class);
    for class in classes {
        for line in rule(facts, class).into_iter().chain(limit(facts, class)) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

/// The presets of a target, in its own order.
fn presets(facts: &TargetFacts) -> Vec<Preset> {
    let known = preset::all().unwrap_or_default();
    let named = |name: &String| known.iter().find(|preset| preset.name == name).cloned();
    facts.presets.iter().filter_map(named).collect()
}

/// A line, and which preset has it so.
fn with_origin(line: String, presets: &[Preset]) -> String {
    match presets.iter().find(|preset| preset.has(&line)) {
        Some(preset) => format!("{line}   # as in preset {}", preset.name),
        None => line,
    }
}

/// The line that declares an ability.
fn claim(facts: &TargetFacts, need: Ability) -> Option<String> {
    match need {
        Ability::Key => Some(format!("[key] at = {}", json(&facts.key.at))),
        Ability::KeyRequired => Some(format!("[key] required = {}", facts.key.required)),
        Ability::Workers(_) => Some(format!("[promise] workers = {}", facts.promise.workers)),
        Ability::Principals(_) => {
            let home = facts.scopes.iter().filter(|name| name.place == Place::Home);
            let scopes: Vec<_> = home.map(|name| json(&name.scope)).collect();
            Some(format!("[[principal]] scope = {}", scopes.join(" and ")))
        }
        Ability::Workspace(place) => {
            let name = facts.scopes.iter().find(|name| name.place == place)?;
            Some(format!("[[workspace]] scope = {}", json(&name.scope)))
        }
        Ability::Retention => {
            let retention = &facts.retention;
            let window = retention.window.map(|window| format!("[retention] window = {}", json(&window)));
            let rest = format!("after = {}, purge = {}", json(&retention.after), json(&retention.purge));
            window.map(|window| format!("{window}, {rest}"))
        }
        Ability::LockTimeout => {
            facts.limits.lock_timeout.map(|limit| format!("[limits] lock_timeout = {}", json(&limit)))
        }
        Ability::Retryable => {
            facts.replies.retryable.as_ref().map(|at| format!("[replies] retryable = {}", json(at)))
        }
        Ability::OperationId => {
            facts.replies.operation.as_ref().map(|at| format!("[replies] operation = {}", json(at)))
        }
        Ability::ResultId => facts.replies.id.as_ref().map(|id| format!("[replies] id = {}", json(id))),
        Ability::ReplayMarker => rule(facts, Class::Replayed),
        _ => None,
    }
}

/// The class that a reply was read as.
fn class(outcome: &Outcome) -> Option<Class> {
    match outcome {
        Outcome::Acked(answer) if answer.replayed => Some(Class::Replayed),
        Outcome::Acked(_) => Some(Class::Ok),
        Outcome::Pending => Some(Class::Accepted),
        Outcome::Refused { class, .. } => Some(*class),
        Outcome::Unknown { why: Why::SaidUnknown } => Some(Class::Unknown),
        Outcome::Unknown { .. } => None,
    }
}

/// The first rule that gives a class; a record does not say which of several fitted.
fn rule(facts: &TargetFacts, class: Class) -> Option<String> {
    let Rule { class, at, equals, contains } = facts.replies.rules.iter().find(|rule| rule.class == class)?;
    let equals = equals.as_ref().map(|value| format!(", equals = {value}"));
    let contains = contains.as_ref().map(|text| format!(", contains = {}", json(text)));
    let (equals, contains) = (equals.unwrap_or_default(), contains.unwrap_or_default());
    Some(format!("[[replies.rule]] class = {}, at = {}{equals}{contains}", json(class), json(at)))
}

/// The bound on time that belongs to a class.
fn limit(facts: &TargetFacts, class: Class) -> Option<String> {
    match class {
        Class::Busy => facts.limits.lock_timeout.map(|l| format!("[limits] lock_timeout = {}", json(&l))),
        Class::InProgress => facts.limits.in_flight.map(|l| format!("[limits] in_flight = {}", json(&l))),
        _ => None,
    }
}

/// A plain value as TOML writes it too.
fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("a plain value is plain data")
}
