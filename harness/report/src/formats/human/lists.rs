//! What is told in a few words: what could not be told, what held, what was not asked.

use nottwice_model::clause::Ruling;
use nottwice_model::report::{Case, Line, Report, Standing};

use super::finding::replay;
use super::page::Page;
use crate::untrusted::shortened;

/// More of a reason than this does not help.
const REASON_MOST: usize = 400;

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
        let reason = move |case: &Case| match case.verdict.rulings.get(line.clause) {
            Some(Ruling::CouldNotTell { reason }) => Some(reason.clone()),
            _ => None,
        };
        let level = if line.level == nottwice_model::clause::Level::Must { "MUST" } else { "SHOULD" };
        let name = format!("{} ({level})", line.clause);
        report.cases.iter().filter_map(reason).map(move |reason| (reason, name.clone())).collect::<Vec<_>>()
    });
    for (reason, names) in Gathered::of(pairs).groups {
        page.gap();
        page.prose("COULD NOT TELL  ", 16, &names.join(", "));
        page.prose("  ", 4, &shortened(&reason, REASON_MOST));
        let says_so = |case: &&Case| {
            case.verdict
                .rulings
                .values()
                .any(|r| matches!(r, Ruling::CouldNotTell { reason: r } if *r == reason))
        };
        let cases: Vec<_> = report.cases.iter().filter(says_so).collect();
        let scenarios: Vec<_> = cases.iter().map(|case| case.run.plan.scenario.as_str()).collect();
        page.prose("  in ", 5, &scenarios.join(", "));
        if let [first, ..] = cases.as_slice() {
            page.line(&format!("  {}", replay(&first.record)));
        }
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
        page.prose("HELD  ", 6, &names.join(", "));
    }
}

/// The clauses that were not asked, and why.
pub(super) fn not_asked(page: &mut Page, report: &Report) {
    let both = [(Standing::NotExercised, "NOT EXERCISED  "), (Standing::NotApplicable, "NOT APPLICABLE  ")];
    for (wanted, head) in both {
        let pairs = standing(report, wanted).into_iter().filter_map(|line| {
            // Without a single run no clause was asked, which the ending says already.
            Some((line.because?, line.clause.to_owned()))
        });
        for (reason, names) in Gathered::of(pairs).groups {
            page.prose(head, 4, &format!("{}: {}", names.join(", "), shortened(&reason, REASON_MOST)));
        }
    }
}

/// The scenarios that were not played, and the line that would bring them in.
pub(super) fn not_played(page: &mut Page, report: &Report) {
    let pairs = report
        .skipped
        .iter()
        .map(|skipped| (format!("lacks {}: {}", skipped.lacks, skipped.cure), skipped.scenario.clone()));
    for (reason, names) in Gathered::of(pairs).groups {
        page.prose("NOT PLAYED  ", 4, &format!("{} ({reason})", names.join(", ")));
    }
}
