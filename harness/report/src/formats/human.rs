//! For people: the verdict first, then the worst breach with everything that shows it.

mod finding;
mod lists;
mod page;

use std::collections::BTreeSet;

use nottwice_model::clauses;
use nottwice_model::report::{Exit, Repeat, Report};

use self::page::Page;
use crate::counts::Counts;
use crate::format::Format;
use crate::untrusted::{brief, shortened};

/// Text for a terminal of 100 columns, without colours.
pub(super) struct Human;

/// More of a name than this does not help.
const NAME_MOST: usize = 60;
/// More of why nothing could be played than this does not help.
const FAILURE_MOST: usize = 2_000;

impl Format for Human {
    fn name(&self) -> &'static str {
        "human"
    }

    fn summary(&self) -> &'static str {
        "text for people, worst breach first"
    }

    fn render(&self, report: &Report) -> String {
        let mut page = Page::default();
        summary(&mut page, report);
        failure(&mut page, report);
        lists::trouble(&mut page, report);
        no_promise(&mut page, report);
        finding::all(&mut page, report);
        lists::could_not_tell(&mut page, report);
        lists::blocked(&mut page, report);
        lists::waived(&mut page, report);
        lists::in_vain(&mut page, report);
        page.gap();
        lists::held(&mut page, report);
        lists::not_asked(&mut page, report);
        lists::not_played(&mut page, report);
        page.gap();
        cost(&mut page, report);
        page.prose("", 0, &ending(report));
        page.finish()
    }
}

fn summary(page: &mut Page, report: &Report) {
    let scenarios: BTreeSet<_> = report.cases.iter().map(|case| &case.run.plan.scenario).collect();
    let played = match scenarios.len() {
        1 => "1 scenario".to_owned(),
        count => format!("{count} scenarios"),
    };
    let target =
        report.target.as_ref().map_or("no target".to_owned(), |target| brief(&target.name, NAME_MOST));
    page.line(&format!("{target} · contract {} · {played}", clauses::EDITION));
    let counts = Counts::of(report);
    let mut words = vec![format!("violated {}", counts.violated)];
    if counts.warned > 0 {
        words.push(format!("warned {}", counts.warned));
    }
    if counts.blocked > 0 {
        words.push(format!("blocked {}", counts.blocked));
    }
    words.push(format!("could not tell {}", counts.could_not_tell));
    words.push(format!("held {}", counts.held));
    if counts.waived > 0 {
        words.push(format!("waived {}", counts.waived));
    }
    words.push(format!("not asked {}", counts.not_asked()));
    page.line(&words.join(" · "));
}

fn failure(page: &mut Page, report: &Report) {
    let Some(failure) = &report.failure else { return };
    page.gap();
    page.line("COULD NOT RUN");
    // The text may hold what the server printed when it died; the indent keeps it from posing as ours.
    for line in shortened(failure, FAILURE_MOST).lines().filter(|line| !line.trim().is_empty()) {
        let (begin, indent) = if line.trim_start().starts_with("cure:") { ("  ", 8) } else { ("  ", 4) };
        page.prose(begin, indent, line);
    }
}

fn no_promise(page: &mut Page, report: &Report) {
    let Some(open) = report.no_promise() else { return };
    page.gap();
    page.line("NO PROMISE");
    page.prose("  ", 2, if open {
        "The target promises nothing about retries, and says so: `[promise] kind = \"none\"`. A caller that \
         loses a reply must not simply call again."
    } else {
        "The target promises nothing about retries: it takes no key and declares no promise. A caller that \
         loses a reply must not simply call again. If that is meant, say it openly with \
         `[promise] kind = \"none\"`; if there is a key, say where it sits with `[key] at`."
    });
    let repeats = report.repeats();
    if repeats.is_empty() {
        return;
    }
    page.line("  What calling again does today:");
    let row =
        |(scenario, repeat): &(&str, Repeat)| vec![brief(scenario, NAME_MOST), words(*repeat).to_owned()];
    for line in page::columns(&repeats.iter().map(row).collect::<Vec<_>>()) {
        page.line(&format!("    {line}"));
    }
}

/// What a repeated call did, in words.
fn words(repeat: Repeat) -> &'static str {
    match repeat {
        Repeat::OneSame => "one effect, the same answer",
        Repeat::OneDifferent => "one effect, another answer",
        Repeat::OneUnseen => "one effect, and the first answer was never seen",
        Repeat::Many => "an effect for each call",
        Repeat::CouldNotTell => "could not tell",
    }
}

/// What the run cost, beside the floor that no harness could go below.
fn cost(page: &mut Page, report: &Report) {
    let Some(figures) = &report.figures else { return };
    let floor = figures.floor();
    let ratio = figures.ratio().map_or(String::new(), |ratio| format!("{ratio:.2} × "));
    page.prose("", 0, &format!(
        "played {} in {:.2} s: {ratio}the floor of {:.2} s (longest declared wait {:.2} s, servers {:.2} s on {} \
         cores); harness {:.2} ms each",
        match figures.plans {
            1 => "1 plan".to_owned(),
            plans => format!("{plans} plans"),
        },
        figures.wall.as_secs_f64(),
        floor.as_secs_f64(),
        figures.waits.as_secs_f64(),
        figures.servers.as_secs_f64(),
        figures.cores,
        figures.own_for_each().as_secs_f64() * 1_000.0,
    ));
}

/// The exit code and its reason.
fn ending(report: &Report) -> String {
    let exit = report.exit();
    let why = match exit {
        Exit::Held if report.no_promise().is_some() => "nothing that was asked is broken",
        Exit::Held if Counts::of(report).waived > 0 => {
            "every clause that was asked and MUST hold is kept, but for those that are waived"
        }
        Exit::Held => "every clause that was asked and MUST hold is kept",
        Exit::Violated => "a clause that MUST hold is broken",
        Exit::Usage => "the command line or a file is wrong",
        Exit::Harness => "the harness itself failed",
        Exit::Nothing if report.cases.is_empty() => "nothing was played",
        Exit::Nothing => "the target promises nothing about retries and does not say so",
        Exit::CouldNotTell if report.failure.is_some() => {
            "the target could not be started, reached or counted"
        }
        Exit::CouldNotTell => "the evidence is not enough for a verdict",
        Exit::Interrupted => "interrupted; what was done is written",
    };
    format!("exit {}: {why}", exit as i32)
}
