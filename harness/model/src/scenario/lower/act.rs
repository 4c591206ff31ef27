//! What is no call: waiting for one, and what is done to the server or by the harness.

use std::ops::Range;

use toml::Spanned;

use super::Reader;
use crate::input::InputError;
use crate::scenario::written::{ActWord, WrittenStep};
use crate::scenario::{Act, Step};

impl Reader<'_> {
    pub(super) fn wait(&mut self, span: Range<usize>, step: WrittenStep) -> Result<Step, InputError> {
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

    pub(super) fn act(&mut self, span: Range<usize>, step: WrittenStep) -> Result<Act, InputError> {
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
        let times = step.times.as_ref().map(|times| *times.get_ref()).ok_or_else(|| lacks("times"));
        let of = || self.standing_call(&span, step.of.as_ref());
        Ok(match word {
            ActWord::Kill => Act::Kill { worker },
            ActWord::Stop => Act::Stop { worker },
            ActWord::Restart => Act::Restart { worker },
            ActWord::Release => {
                let call = of()?;
                self.calls.entry(call.clone()).and_modify(|open| open.held = false);
                Act::Release { call }
            }
            ActWord::Abandon => {
                let call = of()?;
                self.calls.entry(call.clone()).and_modify(|open| open.standing = false);
                Act::Abandon { call }
            }
            ActWord::HalfClose => Act::HalfClose { call: self.sent_call(&span, of()?)? },
            ActWord::NotifyCancelled => Act::NotifyCancelled { call: self.sent_call(&span, of()?)? },
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
        let of = matches!(
            word,
            ActWord::Release | ActWord::Abandon | ActWord::HalfClose | ActWord::NotifyCancelled
        );
        let worker = matches!(word, ActWord::Kill | ActWord::Stop | ActWord::Restart | ActWord::Resume);
        let pass = word == ActWord::Pass;
        let idle = [
            ("of", step.of.is_some() && !of),
            ("worker", step.worker.is_some() && !worker),
            ("limit", step.limit.is_some() && !pass),
            ("to", step.to.is_some() && !pass),
            ("times", step.times.is_some() && word != ActWord::Fill),
            ("role", step.role.is_some()),
            ("tool", step.tool.is_some()),
            ("workers", step.workers.is_some()),
            ("different", step.different.is_some()),
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
    fn standing_call(&self, span: &Range<usize>, of: Option<&Spanned<String>>) -> Result<String, InputError> {
        let Some(name) = of else {
            return Err(self.source.error(span.clone(), "this act needs a call", "say `of = \"…\"`"));
        };
        self.known_call(name)?;
        if !self.calls[name.get_ref()].standing {
            return Err(self.source.error(
                name.span(),
                format!("the call `{}` has already ended here", name.get_ref()),
                "give the call an `until`, so that it still stands",
            ));
        }
        Ok(name.get_ref().clone())
    }

    /// Who leaves a call must have asked for something.
    fn sent_call(&self, span: &Range<usize>, call: String) -> Result<String, InputError> {
        if self.calls[&call].disturbed {
            let message = format!("the request of `{call}` may never have come to the server");
            let cure = "let its fault stand at a point inside the server, or at the reply";
            return Err(self.source.error(span.clone(), message, cure));
        }
        Ok(call)
    }
}
