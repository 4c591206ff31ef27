//! The control of a finding: the run that lacks what broke it, and in which the same promise was kept.

use nottwice_model::clause::Ruling;
use nottwice_model::report::Report;

/// A run in calmer circumstances in which the clause was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control<'r> {
    /// Its scenario.
    pub scenario: &'r str,
    /// What the broken run has and this one lacks, each as a phrase.
    pub without: Vec<String>,
}

/// The control of a clause that one case broke: of all calmer cases that kept it, the nearest.
pub fn of<'r>(report: &'r Report, case: usize, clause: &str) -> Option<Control<'r>> {
    let weather = report.cases.get(case)?.run.plan.circumstances();
    let calmer = report.cases.iter().filter_map(|other| {
        let kept = matches!(other.verdict.rulings.get(clause), Some(Ruling::Held { .. }));
        let calm = other.run.plan.circumstances();
        (kept && calm.is_subset(&weather) && calm != weather).then_some((calm, other))
    });
    // The first of several equally near ones, so that the order of the runs decides and nothing else.
    let (calm, nearest) =
        calmer.reduce(|best, next| if next.0.len() > best.0.len() { next } else { best })?;
    let without = weather.difference(&calm).cloned().collect();
    Some(Control { scenario: &nearest.run.plan.scenario, without })
}
