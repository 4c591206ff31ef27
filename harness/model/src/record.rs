//! A run on disk: versioned JSON lines, both ways.
//!
//! The first line is the plan, each following line one event, and the last line says that the play came
//! to its end. A record without that last line is of an interrupted run: it is judged as far as it goes.

use serde::{Deserialize, Serialize};

use crate::history::{Event, History};
use crate::input::{InputError, Source};
use crate::plan::Plan;
use crate::run::Run;

/// The version of the format that this program writes and reads.
pub const VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    nottwice: String,
    version: u32,
    plan: Plan,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tail {
    complete: bool,
}

/// The first line of a record.
pub fn head(plan: &Plan) -> String {
    let head = Head { nottwice: "run".to_owned(), version: VERSION, plan: plan.clone() };
    serde_json::to_string(&head).expect("a plan is plain data")
}

/// One event as a line.
pub fn line(event: &Event) -> String {
    serde_json::to_string(event).expect("an event is plain data")
}

/// The last line of a record that came to its end.
pub fn tail() -> String {
    serde_json::to_string(&Tail { complete: true }).expect("one flag is plain data")
}

/// A whole run as text.
pub fn write(run: &Run) -> String {
    let mut text = head(&run.plan);
    for event in &run.history.events {
        text.push('\n');
        text.push_str(&line(event));
    }
    if run.complete {
        text.push('\n');
        text.push_str(&tail());
    }
    text.push('\n');
    text
}

/// Reads a record. A last line without its end, as a full disk or a kill leaves it, is left out.
///
/// # Errors
/// The line that does not fit, and why.
pub fn read(source: Source<'_>) -> Result<Run, InputError> {
    let mut lines = Lines { source, at: 0 };
    let Some((span, first)) = lines.next() else {
        return Err(source.error(0..0, "the file is empty", "name a file that `nottwice run` recorded"));
    };
    let plan = plan(source, span, first)?;
    let mut run = Run { plan, history: History::default(), complete: false };
    let whole = source.text.ends_with('\n');
    for (span, text) in lines.by_ref() {
        if run.complete {
            return Err(source.error(span, "a line after the end of the run", "one file holds one run"));
        }
        let is_last = span.end >= source.text.trim_end_matches('\n').len();
        match serde_json::from_str::<Event>(text) {
            Ok(event) => run.history.events.push(event),
            Err(_) if serde_json::from_str::<Tail>(text).is_ok_and(|tail| tail.complete) => {
                run.complete = true
            }
            Err(_) if is_last && !whole => break,
            Err(error) => {
                let column = span.start + error.column().saturating_sub(1);
                let message = format!("this is no event of a run: {error}");
                return Err(source.error(column..column, message, "record the run again, or mend the line"));
            }
        }
    }
    check(source, &run)?;
    Ok(run)
}

fn plan(source: Source<'_>, span: std::ops::Range<usize>, first: &str) -> Result<Plan, InputError> {
    #[derive(Deserialize)]
    struct Version {
        nottwice: String,
        version: u32,
    }
    let cure = "name a file that `nottwice run` recorded";
    let version: Version = serde_json::from_str(first)
        .map_err(|error| source.error(span.clone(), format!("this is no record of a run: {error}"), cure))?;
    if version.nottwice != "run" || version.version != VERSION {
        let message =
            format!("a record of version {}, and this program reads version {VERSION}", version.version);
        return Err(source.error(span, message, "judge it with the program that wrote it"));
    }
    let head: Head = serde_json::from_str(first)
        .map_err(|error| source.error(span.clone(), format!("the plan does not fit: {error}"), cure))?;
    Ok(head.plan)
}

/// Events may speak only of identities and variants that the plan has; the clauses rely on it.
fn check(source: Source<'_>, run: &Run) -> Result<(), InputError> {
    use crate::history::What;
    let identities = &run.plan.identities;
    let label = |variant: &crate::plan::Variant| variant.label < run.plan.labels.len();
    let sound = identities.iter().all(|identity| {
        !identity.variants.is_empty()
            && identity.variants.iter().all(label)
            && identity.key.is_none_or(|key| key < run.plan.keys.len())
    });
    let known = run.history.events.iter().all(|event| match &event.what {
        What::Sent { identity, variant, .. } => {
            identities.get(*identity).is_some_and(|of| *variant < of.variants.len())
        }
        What::GaveUp { identity, .. } => *identity < identities.len(),
        _ => true,
    });
    if sound && known {
        return Ok(());
    }
    Err(source.error(0..0, "the events do not belong to the plan of this record", "record the run again"))
}

/// The lines of a text with their byte ranges.
struct Lines<'a> {
    source: Source<'a>,
    at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (std::ops::Range<usize>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.source.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let length = rest.find('\n').unwrap_or(rest.len());
        let span = self.at..self.at + length;
        self.at = (span.end + 1).min(self.source.text.len());
        Some((span.clone(), &self.source.text[span]))
    }
}
