//! From what was typed to what it means; everything contradictory ends here.

mod act;
mod call;

use std::collections::BTreeMap;

use toml::Spanned;

use super::written::{WrittenScenario, WrittenStep};
use super::{Part, Place, Role, Scenario, Step};
use crate::input::{InputError, Source};

/// What is known of the calls above the step that is read.
struct Reader<'a> {
    source: Source<'a>,
    calls: BTreeMap<String, Open>,
    intents: BTreeMap<String, Whose>,
}

/// What all attempts of one intent have in common.
#[derive(Clone, Copy)]
struct Whose {
    role: Role,
    tool: Part,
    place: Place,
}

/// Whether a call may still stand when the next step begins.
struct Open {
    standing: bool,
    held: bool,
    /// Whether its fault may keep its request from the server.
    disturbed: bool,
}

pub(super) fn scenario(
    name: &str,
    source: Source<'_>,
    written: WrittenScenario,
) -> Result<Scenario, InputError> {
    for (field, text) in [("title", &written.title), ("source", &written.source)] {
        if text.get_ref().trim().is_empty() {
            return Err(source.error(text.span(), format!("`{field}` is empty"), "say it in one sentence"));
        }
    }
    let mut reader = Reader { source, calls: BTreeMap::new(), intents: BTreeMap::new() };
    let steps = written.steps.into_iter().map(|step| reader.step(step)).collect::<Result<Vec<_>, _>>()?;
    if !steps.iter().any(|step| matches!(step, Step::Call(_))) {
        return Err(source.error(0..0, "a scenario without a call", "add a `[[step]]` with a `call`"));
    }
    Ok(Scenario {
        name: name.to_owned(),
        title: written.title.into_inner(),
        source: written.source.into_inner(),
        needs: written.needs,
        catches: written.catches,
        steps,
    })
}

impl Reader<'_> {
    fn step(&mut self, step: Spanned<WrittenStep>) -> Result<Step, InputError> {
        let span = step.span();
        let step = step.into_inner();
        match (&step.call, &step.r#await, &step.act) {
            (Some(_), None, None) => self.call(span, step).map(Step::Call),
            (None, Some(_), None) => self.wait(span, step),
            (None, None, Some(_)) => self.act(span, step).map(Step::Act),
            _ => Err(self.source.error(
                span,
                "a step is exactly one of `call`, `await` and `act`",
                "split it, or say which one it is",
            )),
        }
    }

    fn worker(&self, worker: Option<Spanned<u8>>) -> Result<u8, InputError> {
        match worker {
            None => Ok(1),
            Some(worker) if *worker.get_ref() == 0 => {
                Err(self.source.error(worker.span(), "workers are counted from 1", "write `worker = 1`"))
            }
            Some(worker) => Ok(worker.into_inner()),
        }
    }

    fn known_call(&self, name: &Spanned<String>) -> Result<(), InputError> {
        if self.calls.contains_key(name.get_ref()) {
            return Ok(());
        }
        let known: Vec<_> = self.calls.keys().cloned().collect();
        Err(self.source.error(
            name.span(),
            format!("no call `{}` above this step", name.get_ref()),
            format!("calls so far: {}", if known.is_empty() { "none".into() } else { known.join(", ") }),
        ))
    }

    fn known_intent(&self, name: &Spanned<String>) -> Result<(), InputError> {
        if self.intents.contains_key(name.get_ref()) {
            return Ok(());
        }
        Err(self.source.error(
            name.span(),
            format!("no intent `{}` above this step", name.get_ref()),
            "name an intent that an earlier call has",
        ))
    }
}
