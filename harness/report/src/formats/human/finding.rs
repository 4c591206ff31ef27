//! One broken clause in full: the rows first, then what happened, then how to see it again.

use nottwice_model::clause::{Clause, Finding, Level};
use nottwice_model::clauses;
use nottwice_model::report::{Case, Line, Report};
use serde_json::Value;

use super::page::{Page, WIDTH, columns, width};
use crate::control;
use crate::evidence::{self, Evidence};
use crate::policy;
use crate::timeline;
use crate::untrusted::{brief, shortened};

/// More bytes of a message than this are in the record and not on the page.
const BYTES_MOST: usize = 600;
/// More of one value than this does not help.
const VALUE_MOST: usize = 60;
/// More of a name than this does not help, and a table of three has room for it.
const CELL_MOST: usize = 24;
/// The same for the text in which a label stands.
const LABEL_MOST: usize = 36;
/// More of a query than this does not help.
const QUERY_MOST: usize = 200;
/// More of a sentence about what happened than this does not help.
const WHAT_MOST: usize = 300;
/// More further findings of one clause than this are only counted.
const ALSO_MOST: usize = 10;
/// A longer timeline shows only what is near a deciding line.
const LINES_MOST: usize = 40;
/// How near.
const NEAR: usize = 3;

/// Every broken clause: its first finding in full, its others in a line each.
pub(super) fn all(page: &mut Page, report: &Report) {
    let findings = report.findings();
    for group in findings.chunk_by(|(one, ..), (two, ..)| one.clause == two.clause) {
        page.gap();
        clause(page, report, group);
    }
}

fn clause(page: &mut Page, report: &Report, group: &[(Line, usize, Finding)]) {
    let [(line, number, finding), others @ ..] = group else { return };
    let (Some(case), Some(clause)) = (report.cases.get(*number), clauses::find(line.clause)) else { return };
    let head = if line.level == Level::Must { "VIOLATED" } else { "WARNING" };
    page.line(&format!("{head}  {}  ({}, {})", clause.id, word(&line.level), word(&clause.harm)));
    page.prose("  ", 2, clause.statement);
    let plan = &case.run.plan;
    let place = format!("scenario {}, seed {}: ", plan.scenario, plan.seed);
    page.prose("  ", 4, &format!("{place}{}", shortened(&finding.what, WHAT_MOST)));
    page.gap();
    full(page, case, clause, finding, control::of(report, *number, clause.id, finding));
    if !others.is_empty() {
        page.gap();
    }
    also(page, report, others);
}

fn full(page: &mut Page, case: &Case, clause: &Clause, finding: &Finding, control: Option<String>) {
    let evidence = evidence::of(&case.run, finding);
    store(page, case, &evidence);
    happened(page, case, finding);
    if let Some(control) = control {
        page.field("the control", &control);
    }
    messages(page, &evidence);
    let policy = policy::lines(clause, &case.run, &evidence.deciding);
    if !policy.is_empty() {
        page.block("judged by", &policy);
    }
    page.field("checked", &evidence.checked().join("; "));
    page.command("once more", &replay(&case.record));
    page.command("the clause", &format!("nottwice explain {}", clause.id));
}

/// The rows of the intent at the last deciding count.
fn store(page: &mut Page, case: &Case, evidence: &Evidence<'_>) {
    let Some((_, ledger)) = evidence.count else {
        return page.field("at the store", "never counted");
    };
    if evidence.rows.is_empty() {
        let labels: Vec<_> = evidence.labels().into_iter().map(|label| brief(label, LABEL_MOST)).collect();
        page.field("at the store", &format!("no row carries the label {}", labels.join(" or ")));
    } else {
        let scoped = evidence.rows.iter().any(|row| row.scope.is_some());
        let mut rows = vec![vec!["id".to_owned(), "label".to_owned()]];
        rows[0].extend(scoped.then(|| "scope".to_owned()));
        rows.extend(evidence.rows.iter().map(|row| {
            let mut cells = vec![brief(&row.id, CELL_MOST), labelled(&row.label, evidence.labels())];
            cells.extend(scoped.then(|| brief(row.scope.as_deref().unwrap_or("-"), CELL_MOST)));
            cells
        }));
        page.block("at the store", &columns(&rows));
    }
    let mut notes: Vec<_> = case
        .run
        .plan
        .target
        .counts
        .iter()
        .map(|query| format!("counted by: {}", brief(query, QUERY_MOST)))
        .collect();
    if evidence.foreign {
        notes.push("in the scope of somebody else".to_owned());
    }
    if let Some(receipts) = evidence.receipts() {
        notes.push(format!("receipts for the key: {receipts}"));
    }
    if evidence.other_rows() > 0 {
        notes.push(format!("rows of other intents: {} of {}", evidence.other_rows(), ledger.effects.len()));
    }
    if !notes.is_empty() {
        page.field("", &notes.join("; "));
    }
}

/// A cell with the label of a plan in it; of a long text only the label is shown.
fn labelled(text: &str, labels: Vec<&str>) -> String {
    let label = labels.into_iter().find(|label| text.contains(label));
    match label {
        Some(label) if width(text) > LABEL_MOST => format!("…{}…", brief(label, LABEL_MOST)),
        _ => brief(text, LABEL_MOST),
    }
}

/// The timeline, the deciding lines marked.
fn happened(page: &mut Page, case: &Case, finding: &Finding) {
    page.line("  what happened   (lines that decide are marked ▸; first column milliseconds)");
    let lines = timeline::of(&case.run);
    let decides: Vec<bool> = lines.iter().map(|line| line.holds(&finding.events)).collect();
    let lane = lines.iter().map(|line| width(&line.lane)).max().unwrap_or(0).min(WIDTH / 4);
    let time = lines.iter().map(|line| line.millis().len()).max().unwrap_or(0).max(5);
    let near = |at: usize| {
        lines.len() <= LINES_MOST
            || at == 0
            || at + 1 == lines.len()
            || decides[at.saturating_sub(NEAR)..(at + NEAR + 1).min(lines.len())].contains(&true)
    };
    let mut left_out = 0;
    for (at, line) in lines.iter().enumerate() {
        if !near(at) {
            left_out += 1;
            continue;
        }
        gap_in_time(page, &mut left_out);
        let mark = if decides[at] { '▸' } else { ' ' };
        let begin = format!("    {mark} {:>time$}  {:<lane$}  ", line.millis(), line.lane);
        page.prose(&begin, 4 + 2 + time + 2 + lane + 2, &line.what);
    }
    if !case.run.complete {
        page.line("      the run ends here: it was interrupted");
    }
}

fn gap_in_time(page: &mut Page, left_out: &mut usize) {
    if *left_out > 0 {
        page.line(&format!("      … {left_out} more lines, in the record"));
        *left_out = 0;
    }
}

/// The first deciding request, the replies, and where they differ.
fn messages(page: &mut Page, evidence: &Evidence<'_>) {
    if let Some((call, bytes)) = evidence.asked() {
        page.block("the request", &message(call, bytes));
    }
    for (call, bytes) in evidence.replies() {
        page.block("the reply", &message(call, bytes));
    }
    let show = |value: &Option<String>| value.as_ref().map_or("nothing".to_owned(), |v| brief(v, VALUE_MOST));
    let differs: Vec<_> = evidence
        .differences()
        .iter()
        .take(ALSO_MOST)
        .map(|d| format!("≠ {}: {} → {}", brief(&d.at, VALUE_MOST), show(&d.first), show(&d.second)))
        .collect();
    if !differs.is_empty() {
        page.block("what differs", &differs);
    }
}

/// A message under the name of its call. Its own line breaks are kept: the indent before each line shows
/// that none of them is ours.
fn message(call: &str, bytes: &str) -> Vec<String> {
    let short = shortened(&bytes.replace("\r\n", "\n"), BYTES_MOST);
    let name = format!("of {}:", brief(call, CELL_MOST));
    std::iter::once(name).chain(short.trim_end().split('\n').map(str::to_owned)).collect()
}

/// The other findings of the clause.
fn also(page: &mut Page, report: &Report, others: &[(Line, usize, Finding)]) {
    for (_, number, finding) in others.iter().take(ALSO_MOST) {
        let Some(case) = report.cases.get(*number) else { continue };
        let (plan, what) = (&case.run.plan, shortened(&finding.what, WHAT_MOST));
        page.prose("  also in ", 4, &format!("{}, seed {}: {what}", plan.scenario, plan.seed));
        page.line(&format!("    {}", replay(&case.record)));
    }
    if others.len() > ALSO_MOST {
        page.line(&format!("  and {} more", others.len() - ALSO_MOST));
    }
}

/// The command that plays a record again.
pub(super) fn replay(record: &str) -> String {
    if record.is_empty() {
        return "not recorded".to_owned();
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:=@%".contains(c);
    let word = if record.chars().all(plain) {
        record.to_owned()
    } else {
        format!("'{}'", record.replace('\'', "'\\''"))
    };
    format!("nottwice replay {word}")
}

/// The word that a unit variant has in files.
fn word<T: serde::Serialize>(variant: &T) -> String {
    match serde_json::to_value(variant) {
        Ok(Value::String(word)) => word.replace('-', " "),
        _ => String::new(),
    }
}
