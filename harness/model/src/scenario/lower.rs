//! From what was typed to what it means; everything contradictory ends here.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;

use super::written::{ActWord, WrittenScenario, WrittenStep};
use super::{Act, Call, Scenario, Step, Until};
use crate::fault::{Do, Fault};
use crate::input::{InputError, Source};

/// What is known of the calls above the step that is read.
struct Reader<'a> {
    source: Source<'a>,
    calls: BTreeMap<String, Open>,
    intents: BTreeMap<String, ()>,
}

/// Whether a call may still stand when the next step begins.
struct Open {
    standing: bool,
    held: bool,
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

    fn call(&mut self, span: Range<usize>, step: WrittenStep) -> Result<Call, InputError> {
        if let Some(of) = &step.of {
            return Err(self.source.error(of.span(), "`of` belongs to an act", "leave it out of this call"));
        }
        let name = step.call.expect("the caller matched on it");
        let Some(intent) = step.intent else {
            return Err(self.source.error(
                span,
                format!("the call `{}` has no intent", name.get_ref()),
                "say what it means to happen once: `intent = \"note\"`",
            ));
        };
        for other in [&step.key_of, &step.arguments_of].into_iter().flatten() {
            self.known_intent(other)?;
        }
        if let Some(of) = &step.request_id_of {
            self.known_call(of)?;
        }
        let until = step.until.as_ref().map_or(Until::Answered, |until| *until.get_ref());
        if let Some(fault) = &step.fault {
            self.legal(fault)?;
        }
        let fault = step.fault.map(Spanned::into_inner);
        self.fits(&span, fault, until)?;
        let held = fault.is_some_and(|fault| fault.deed == Do::Hold);
        let open = Open { standing: until != Until::Answered, held };
        if self.calls.insert(name.get_ref().clone(), open).is_some() {
            return Err(self.source.error(
                name.span(),
                format!("two calls are named `{}`", name.get_ref()),
                "give each attempt a name of its own; what repeats is the `intent`",
            ));
        }
        self.intents.insert(intent.get_ref().clone(), ());
        Ok(Call {
            name: name.into_inner(),
            intent: intent.into_inner(),
            role: step.role.unwrap_or_default(),
            worker: self.worker(step.worker)?,
            connection: step.connection.unwrap_or_default(),
            key: step.key.unwrap_or_default(),
            key_of: step.key_of.map(Spanned::into_inner),
            arguments_of: step.arguments_of.map(Spanned::into_inner),
            arguments: step.arguments.unwrap_or_default(),
            workspace: step.workspace.unwrap_or_default(),
            request_id_of: step.request_id_of.map(Spanned::into_inner),
            fault,
            until,
        })
    }

    /// A fault must be possible where it stands, and carry only the words that belong to it.
    fn legal(&self, fault: &Spanned<Fault>) -> Result<(), InputError> {
        let Fault { at, deed, bytes } = *fault.get_ref();
        let error = |message: String, cure: &str| Err(self.source.error(fault.span(), message, cure));
        if !deed.is_legal(at) {
            let legal: Vec<_> = Do::ALL.into_iter().filter(|deed| deed.is_legal(at)).map(Do::word).collect();
            return error(
                format!("`{}` cannot be done at `{}`", deed.word(), at.word()),
                &format!("there, one of: {}", legal.join(", ")),
            );
        }
        if bytes.is_some() && deed != Do::Cut {
            return error("`bytes` belongs to `cut`".into(), "leave it out");
        }
        Ok(())
    }

    /// Whether the end of the step can come at all under its fault.
    fn fits(&self, span: &Range<usize>, fault: Option<Fault>, until: Until) -> Result<(), InputError> {
        let deed = fault.map(|fault| fault.deed);
        let waits_for_fault = matches!(until, Until::Reached | Until::ReachedOrAnswered);
        if waits_for_fault && fault.is_none() {
            return Err(self.source.error(
                span.clone(),
                "the step waits for a fault that the call does not have",
                "add a `fault`, or leave `until` out",
            ));
        }
        if deed == Some(Do::Hold) && !waits_for_fault {
            return Err(self.source.error(
                span.clone(),
                "a held call is never answered before its release",
                "say `until = \"reached\"`, then `act = \"release\"` and `await` later",
            ));
        }
        Ok(())
    }

    fn wait(&mut self, span: Range<usize>, step: WrittenStep) -> Result<Step, InputError> {
        let name = step.r#await.expect("the caller matched on it");
        if step.intent.is_some() || step.fault.is_some() || step.of.is_some() {
            return Err(self.source.error(span, "an `await` has no other words", "leave them out"));
        }
        self.known_call(&name)?;
        let open = self.calls.get_mut(name.get_ref()).expect("just looked up");
        if !open.standing {
            return Err(self.source.error(
                name.span(),
                format!("the call `{}` has already ended here", name.get_ref()),
                "leave the `await` out, or give the call an `until`",
            ));
        }
        if open.held {
            return Err(self.source.error(
                name.span(),
                format!("the call `{}` is still held here", name.get_ref()),
                "release it first: `act = \"release\"`, `of = \"…\"`",
            ));
        }
        open.standing = false;
        Ok(Step::Await(name.into_inner()))
    }

    fn act(&mut self, span: Range<usize>, step: WrittenStep) -> Result<Act, InputError> {
        if step.intent.is_some() || step.fault.is_some() {
            return Err(self.source.error(
                span,
                "an act has no intent and no fault",
                "give them to a `call` of their own",
            ));
        }
        let word = *step.act.as_ref().expect("the caller matched on it").get_ref();
        self.only_words_of(&span, word, &step)?;
        let worker = self.worker(step.worker)?;
        let lacks = |word: &str| {
            let message = format!("this act needs `{word}`");
            self.source.error(span.clone(), message, format!("add `{word} = …`"))
        };
        let (limit, to) = (step.limit.ok_or_else(|| lacks("limit")), step.to.ok_or_else(|| lacks("to")));
        let times = step.times.ok_or_else(|| lacks("times"));
        let mut of = || self.standing_call(&span, step.of.as_ref());
        Ok(match word {
            ActWord::Kill => Act::Kill { worker },
            ActWord::Stop => Act::Stop { worker },
            ActWord::Restart => Act::Restart { worker },
            ActWord::Release => Act::Release { call: of()? },
            ActWord::Abandon => {
                let call = of()?;
                if let Some(open) = self.calls.get_mut(&call) {
                    open.standing = false;
                }
                Act::Abandon { call }
            }
            ActWord::Observe => Act::Observe,
            ActWord::Resume => Act::Resume { worker },
            ActWord::HoldLock => Act::HoldLock,
            ActWord::ReleaseLock => Act::ReleaseLock,
            ActWord::Pass => Act::Pass { limit: limit?, to: to? },
            ActWord::Revoke => Act::Revoke,
            ActWord::Grant => Act::Grant,
            ActWord::Rotate => Act::Rotate,
            ActWord::Fill => Act::Fill { times: times? },
        })
    }

    /// Words that an act does not have are mistakes, not decoration.
    fn only_words_of(
        &self,
        span: &Range<usize>,
        word: ActWord,
        step: &WrittenStep,
    ) -> Result<(), InputError> {
        let of = matches!(word, ActWord::Release | ActWord::Abandon);
        let worker = matches!(word, ActWord::Kill | ActWord::Stop | ActWord::Restart | ActWord::Resume);
        let pass = word == ActWord::Pass;
        let idle = [
            ("of", step.of.is_some() && !of),
            ("worker", step.worker.is_some() && !worker),
            ("limit", step.limit.is_some() && !pass),
            ("to", step.to.is_some() && !pass),
            ("times", step.times.is_some() && word != ActWord::Fill),
            ("role", step.role.is_some()),
            ("connection", step.connection.is_some()),
            ("key", step.key.is_some()),
            ("key-of", step.key_of.is_some()),
            ("arguments", step.arguments.is_some()),
            ("arguments-of", step.arguments_of.is_some()),
            ("workspace", step.workspace.is_some()),
            ("request-id-of", step.request_id_of.is_some()),
            ("until", step.until.is_some()),
        ];
        match idle.iter().find(|(_, idle)| *idle) {
            None => Ok(()),
            Some((name, _)) => {
                let message = format!("`{name}` means nothing in this act");
                Err(self.source.error(span.clone(), message, "leave it out"))
            }
        }
    }

    /// The call an act speaks of, which must still stand there.
    fn standing_call(
        &mut self,
        span: &Range<usize>,
        of: Option<&Spanned<String>>,
    ) -> Result<String, InputError> {
        let Some(name) = of else {
            return Err(self.source.error(span.clone(), "this act needs a call", "say `of = \"…\"`"));
        };
        self.known_call(name)?;
        let open = self.calls.get_mut(name.get_ref()).expect("just looked up");
        if !open.standing {
            return Err(self.source.error(
                name.span(),
                format!("the call `{}` has already ended here", name.get_ref()),
                "give the call an `until`, so that it still stands",
            ));
        }
        open.held = false;
        Ok(name.get_ref().clone())
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
