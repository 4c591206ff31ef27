//! One call step: its words must agree with each other and with the calls above it.

use std::ops::Range;

use toml::Spanned;

use super::{Open, Reader, Whose};
use crate::fault::{At, Do, Fault};
use crate::input::InputError;
use crate::scenario::written::WrittenStep;
use crate::scenario::{Call, KeyForm, Part, Until};

/// As many callers as one scenario can bring together.
const CROWD_MOST: u16 = 256;

impl Reader<'_> {
    pub(super) fn call(&mut self, span: Range<usize>, step: WrittenStep) -> Result<Call, InputError> {
        if let Some(of) = &step.of {
            return Err(self.source.error(of.span(), "`of` belongs to an act", "leave it out of this call"));
        }
        let whose = self.whose(&span, &step)?;
        let (times, workers) = self.crowd(&step)?;
        let different = step.different.as_ref().is_some_and(|different| *different.get_ref());
        let key = self.key(&step)?;
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
        let disturbed = fault.is_some_and(|fault| fault.at == At::Request);
        let open = Open { standing: until != Until::Answered, held, disturbed };
        if self.calls.insert(name.get_ref().clone(), open).is_some() {
            return Err(self.source.error(
                name.span(),
                format!("two calls are named `{}`", name.get_ref()),
                "give each attempt a name of its own; what repeats is the `intent`",
            ));
        }
        self.intents.insert(intent.get_ref().clone(), whose);
        Ok(Call {
            name: name.into_inner(),
            intent: intent.into_inner(),
            role: whose.role,
            tool: whose.tool,
            worker: self.worker(step.worker)?,
            connection: step.connection.unwrap_or_default(),
            key,
            key_of: step.key_of.map(Spanned::into_inner),
            arguments_of: step.arguments_of.map(Spanned::into_inner),
            arguments: step.arguments.unwrap_or_default(),
            workspace: whose.place,
            request_id_of: step.request_id_of.map(Spanned::into_inner),
            fault,
            until,
            times,
            workers,
            different,
        })
    }

    /// The form of the key: one that belongs to the key itself is said once, by the first call that has it.
    fn key(&self, step: &WrittenStep) -> Result<KeyForm, InputError> {
        let Some(key) = &step.key else { return Ok(KeyForm::Own) };
        let form = *key.get_ref();
        let error = |message: &str, cure: &str| Err(self.source.error(key.span(), message, cure));
        let known = step.intent.as_ref().is_some_and(|intent| self.intents.contains_key(intent.get_ref()));
        if form.is_of_the_intent() && known {
            return error("an earlier call has made the key of this intent", "leave `key` out of this call");
        }
        match (form.is_kin(), &step.key_of) {
            (true, None) => error("this form is made from another key", "say which: `key-of = \"…\"`"),
            (false, Some(_)) if form == KeyForm::Longest => {
                error("a key of its own is no other intent's", "leave `key` or `key-of` out")
            }
            _ => Ok(form),
        }
    }

    /// Who calls which tool for which workspace: said by the first call of an intent, and the same for all.
    fn whose(&self, span: &Range<usize>, step: &WrittenStep) -> Result<Whose, InputError> {
        let role = step.role.as_ref().map(|role| *role.get_ref());
        let tool = step.tool.as_ref().map(|tool| *tool.get_ref());
        let place = step.workspace.as_ref().map(|place| *place.get_ref());
        let known = step.intent.as_ref().and_then(|intent| self.intents.get(intent.get_ref()));
        if let Some(known) = known {
            let others = [
                ("role", role.is_some_and(|role| role != known.role)),
                ("tool", tool.is_some_and(|tool| tool != known.tool)),
                ("workspace", place.is_some_and(|place| place != known.place)),
            ];
            if let Some((word, _)) = others.iter().find(|(_, differs)| *differs) {
                let message = format!("an earlier call of this intent has another `{word}`");
                let cure = "give this call an intent of its own, with `key-of` if the key is to be the same";
                return Err(self.source.error(span.clone(), message, cure));
            }
        }
        let tool = tool.or(known.map(|known| known.tool)).unwrap_or_default();
        if tool != Part::Main && step.arguments.is_some() {
            let message = "only the main tool has other arguments than its ordinary ones";
            return Err(self.source.error(span.clone(), message, "leave `arguments` out of this call"));
        }
        let said = Whose { role: role.unwrap_or_default(), tool, place: place.unwrap_or_default() };
        Ok(known.copied().unwrap_or(said))
    }

    /// How many callers make this call at one time, and over how many workers they are spread.
    fn crowd(&self, step: &WrittenStep) -> Result<(u16, u8), InputError> {
        let Some(times) = &step.times else {
            if let Some(different) = &step.different {
                let message = "one call is one intent";
                return Err(self.source.error(different.span(), message, "leave it out, or add `times = …`"));
            }
            return match &step.workers {
                Some(workers) => {
                    let message = "one call goes to one worker";
                    Err(self.source.error(workers.span(), message, "write `worker = …`, or add `times = …`"))
                }
                None => Ok((1, 1)),
            };
        };
        if !(2..=CROWD_MOST).contains(times.get_ref()) {
            let cure = format!("from 2 to {CROWD_MOST} callers can call at one time");
            return Err(self.source.error(times.span(), "this is no crowd", cure));
        }
        let alone = [
            ("fault", step.fault.is_some()),
            ("until", step.until.is_some()),
            ("connection", step.connection.is_some()),
            ("request-id-of", step.request_id_of.is_some()),
            ("worker", step.worker.is_some()),
        ];
        if let Some((word, _)) = alone.iter().find(|(_, said)| *said) {
            let message = format!("`{word}` belongs to a call that is made once");
            return Err(self.source.error(times.span(), message, format!("leave `times` or `{word}` out")));
        }
        let workers = step.workers.as_ref().map_or(Ok(1), |workers| match *workers.get_ref() {
            0 => {
                Err(self.source.error(workers.span(), "there is at least one worker", "write `workers = 2`"))
            }
            workers => Ok(workers),
        })?;
        Ok((*times.get_ref(), workers))
    }

    /// A fault must be possible where it stands, and carry only the words that belong to it.
    fn legal(&self, fault: &Spanned<Fault>) -> Result<(), InputError> {
        match fault.get_ref().mistake() {
            None => Ok(()),
            Some((message, cure)) => Err(self.source.error(fault.span(), message, cure)),
        }
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
}
