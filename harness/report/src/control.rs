//! The control of a finding: the same calls with nothing broken, or the nearest run that kept the clause.

use nottwice_model::clause::{Finding, Ruling};
use nottwice_model::report::{Case, Control, Report};
use nottwice_model::story::Story;

use crate::timeline::counted;

/// The control of what one case broke, as a sentence.
pub(crate) fn of(report: &Report, number: usize, clause: &str, finding: &Finding) -> Option<String> {
    let case = report.cases.get(number)?;
    match &case.control {
        Some(control) => played(control, clause, finding),
        None => nearest(report, case, clause),
    }
}

/// What the same calls did with nothing broken on purpose.
fn played(control: &Control, clause: &str, finding: &Finding) -> Option<String> {
    let story = Story::of(&control.run);
    let (_, ledger) = control.run.last_count()?;
    let effects = counted(story.all_rows(ledger, finding.identity).len(), "effect");
    let verdict = match control.verdict.rulings.get(clause)? {
        Ruling::Broken { .. } | Ruling::Blocked { .. } => "and the clause is broken there too",
        Ruling::Held { .. } => "and the clause is kept",
        Ruling::CouldNotTell { .. } => "and the clause could not be told",
        Ruling::NotExercised { .. } | Ruling::NotApplicable { .. } => "and the clause was not asked",
    };
    Some(format!("the same calls with nothing broken on purpose left {effects}, {verdict}"))
}

/// Of all cases in calmer circumstances that kept the clause, the nearest.
fn nearest(report: &Report, case: &Case, clause: &str) -> Option<String> {
    let weather = case.run.plan.circumstances();
    let calmer = report.cases.iter().filter_map(|other| {
        let kept = matches!(other.verdict.rulings.get(clause), Some(Ruling::Held { .. }));
        let calm = other.run.plan.circumstances();
        (kept && calm.is_subset(&weather) && calm != weather).then_some((calm, other))
    });
    // The first of several equally near ones, so that the order of the runs decides and nothing else.
    let (calm, nearest) =
        calmer.reduce(|best, next| if next.0.len() > best.0.len() { next } else { best })?;
    let without: Vec<_> = weather.difference(&calm).cloned().collect();
    Some(format!("{} keeps it, without {}", nearest.run.plan.scenario, without.join(", ")))
}
