//! A mistake in a file that a person wrote: where it stands, what it is, how to mend it.

use std::ops::Range;

use serde::de::DeserializeOwned;

/// Stands between the message and the cure of a type that refuses a value and knows what to write instead.
pub(crate) const CURE: &str = "; cure: ";

/// An error in a scenario, target or record, told so that its author can mend it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}\n  cure: {cure}")]
pub struct InputError {
    /// The file as the user named it.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to write instead.
    pub cure: String,
}

/// The text of one file, kept together with its name so that errors can point into it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The file as the user named it.
    pub file: &'a str,
    /// Its whole text.
    pub text: &'a str,
}

impl Source<'_> {
    /// An error at a byte range of the text.
    pub fn error(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        cure: impl Into<String>,
    ) -> InputError {
        let before = &self.text[..span.start.min(self.text.len())];
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        InputError {
            file: self.file.to_owned(),
            line,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
            cure: cure.into(),
        }
    }

    /// Reads the text as TOML into the flat shape of what was typed.
    ///
    /// # Errors
    /// The position of the first word that does not fit, with what would.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, InputError> {
        toml::from_str(self.text).map_err(|error| {
            let message = error.message().trim().replace('\n', " ");
            let (message, cure) = message.split_once(CURE).unwrap_or((&message, cure_of(&message)));
            self.error(error.span().unwrap_or(0..0), message, cure)
        })
    }
}

fn cure_of(message: &str) -> &'static str {
    if message.starts_with("unknown field") || message.starts_with("unknown variant") {
        "use one of the words listed; a word that is missing here is a change of the format"
    } else if message.starts_with("missing field") {
        "add the field; `nottwice explain` and the shipped files show its form"
    } else if message.starts_with("invalid type") || message.starts_with("invalid value") {
        "write the value in the type that is expected"
    } else {
        "mend the TOML at this place"
    }
}
