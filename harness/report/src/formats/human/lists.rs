//! What is told in a few words: what could not be told, what held, what was not asked.

use nottwice_model::clause::{Level, Ruling};
use nottwice_model::report::{Case, Line, Report, Standing};

use super::finding::replay;
use super::page::Page;
use crate::untrusted::shortened;

/// More of a reason than this does not help.
const REASON_MOST: usize = 400;
/// Where the items of a list begin.
const LIST: usize = 16;

/// Names in the order of their first reason, gathered under it.
struct Gathered<R> {
    groups: Vec<(R, Vec<String>)>,
}

impl<R: PartialEq> Gathered<R> {
    fn of(pairs: impl IntoIterator<Item = (R, String)>) -> Gathered<R> {
        let mut gathered = Gathered { groups: Vec::new() };
        for (reason, name) in pairs {
            match gathered.groups.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => gathered.groups.push((reason, vec![name])),
            }
        }
        gathered
    }
}

fn standing(report: &Report, standing: Standing) -> Vec<Line> {
    report.lines().into_iter().filter(|line| line.standing == standing).collect()
}

/// What the harness itself could not do, by scenario.
pub(super) fn trouble(page: &mut Page, report: &Report) {
    for case in &report.cases {
        let Some(trouble) = case.run.trouble() else { continue };
        page.gap();
        page.line(&format!("HARNESS  scenario {}", case.run.plan.scenario));
        page.prose("  ", 4, &shortened(trouble, REASON_MOST));
        page.line(&format!("  {}", replay(&case.record)));
    }
}

/// The clauses that could not be told, gathered by reason.
pub(super) fn could_not_tell(page: &mut Page, report: &Report) {
    let lines = standing(report, Standing::CouldNotTell);
    let pairs = lines.iter().flat_map(|line| {
        let reasons = report.cases.iter().filter_map(|case| untold(case, line.clause));
        reasons.map(|reason| (reason, line.clause.to_owned()))
    });
    for (reason, names) in Gathered::of(pairs).groups {
        page.gap();
        page.prose("COULD NOT TELL  ", LIST, &by_level(&lines, &names));
        page.prose("  ", 4, &shortened(reason, REASON_MOST));
        let says_so = |case: &&Case| names.iter().any(|name| untold(case, name) == Some(reason));
        let cases: Vec<_> = report.cases.iter().filter(says_so).collect();
        let scenarios: Vec<_> = cases.iter().map(|case| case.run.plan.scenario.as_str()).collect();
        page.prose("  in ", 5, &scenarios.join(", "));
        // Of trouble the harness has said already how to see it again.
        if let Some(case) = cases.first().filter(|case| case.run.trouble() != Some(reason)) {
            page.line(&format!("  {}", replay(&case.record)));
        }
    }
}

/// The clauses of those names, each level with its word after it.
fn by_level(lines: &[Line], names: &[String]) -> String {
    let of = |level: Level, word: &str| {
        let lines = lines.iter().filter(|line| line.level == level && names.iter().any(|n| n == line.clause));
        let ids: Vec<_> = lines.map(|line| line.clause).collect();
        (!ids.is_empty()).then(|| format!("{}\u{a0}({word})", ids.join(", ")))
    };
    let levels = [of(Level::Must, "MUST"), of(Level::Should, "SHOULD")];
    levels.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Why a case could not tell a clause.
fn untold<'r>(case: &'r Case, clause: &str) -> Option<&'r str> {
    match case.verdict.rulings.get(clause) {
        Some(Ruling::CouldNotTell { reason }) => Some(reason),
        _ => None,
    }
}

/// The clauses whose breaking another clause explains.
pub(super) fn blocked(page: &mut Page, report: &Report) {
    let lines = standing(report, Standing::Blocked);
    if lines.is_empty() {
        return;
    }
    page.gap();
    for line in lines {
        page.prose("BLOCKED  ", 9, &format!("{} — {}", line.clause, line.because.unwrap_or_default()));
    }
}

/// The clauses by which the target asks not to be judged, and its reasons.
pub(super) fn waived(page: &mut Page, report: &Report) {
    for line in standing(report, Standing::Waived) {
        page.gap();
        let reason = shortened(&line.because.unwrap_or_default(), REASON_MOST);
        page.prose("WAIVED  ", 8, &format!("{} — {reason}", line.clause));
    }
}

/// Scenarios that were played and exercised no clause at all: the reason for which a run may not be held.
pub(super) fn in_vain(page: &mut Page, report: &Report) {
    if report.no_promise().is_some() {
        return;
    }
    let exercised = |ruling: &Ruling| {
        matches!(ruling, Ruling::Held { .. } | Ruling::Broken { .. } | Ruling::Blocked { .. })
    };
    let missing = |case: &Case| {
        let mut rulings = case.verdict.rulings.values();
        rulings.find_map(|ruling| match ruling {
            Ruling::NotExercised { missing } => Some(missing.clone()),
            _ => None,
        })
    };
    for case in &report.cases {
        let silent = !case.verdict.rulings.values().any(exercised) && case.run.trouble().is_none();
        if let (true, Some(missing)) = (silent, missing(case)) {
            page.gap();
            page.prose("PLAYED IN VAIN  ", 4, &format!("{}: {missing}", case.run.plan.scenario));
        }
    }
}

/// The clauses that were kept, and how often.
pub(super) fn held(page: &mut Page, report: &Report) {
    let held = standing(report, Standing::Held);
    if !held.is_empty() {
        // A name and its number stay on one line.
        let names: Vec<_> = held.iter().map(|line| format!("{}\u{a0}×{}", line.clause, line.held)).collect();
        page.prose(&format!("{:<LIST$}", "HELD"), LIST, &names.join(", "));
    }
}

/// The clauses that were not asked, and why.
pub(super) fn not_asked(page: &mut Page, report: &Report) {
    for (wanted, head) in
        [(Standing::NotExercised, "NOT EXERCISED"), (Standing::NotApplicable, "NOT APPLICABLE")]
    {
        // Without a single run no clause was asked, and there is no reason but that.
        let pairs = standing(report, wanted)
            .into_iter()
            .filter_map(|line| Some((line.because?, line.clause.to_owned())));
        listed(page, head, Gathered::of(pairs), |names, reason| format!("{names}: {reason}"));
    }
}

/// The scenarios that were not played, and the line that would bring them in.
pub(super) fn not_played(page: &mut Page, report: &Report) {
    let pairs = report
        .skipped
        .iter()
        .map(|skipped| (format!("lacks {}: {}", skipped.lacks, skipped.cure), skipped.scenario.clone()));
    listed(page, "NOT PLAYED", Gathered::of(pairs), |names, reason| format!("{names} ({reason})"));
}

/// Groups under one head, each with its reason.
fn listed(page: &mut Page, head: &str, gathered: Gathered<String>, words: fn(&str, &str) -> String) {
    let mut begin = format!("{head:<LIST$}");
    for (reason, names) in gathered.groups {
        page.prose(&begin, LIST + 2, &words(&names.join(", "), &shortened(&reason, REASON_MOST)));
        begin = " ".repeat(LIST);
    }
}
