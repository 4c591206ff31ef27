//! In which form a call sends its key.

use serde::{Deserialize, Serialize};

/// In which form the key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum KeyForm {
    /// As the intent has it.
    #[default]
    Own,
    /// Not at all.
    Missing,
    /// As an empty text.
    Empty,
    /// One character longer than the longest that the target takes.
    TooLong,
    /// As an object where a text belongs.
    WrongType,
    /// The header that carries it comes twice, with the same value.
    Doubled,
    /// The header that carries it comes a second time, with another value.
    WithAnother,
    /// The intent has the longest key that is legal.
    Longest,
    /// The intent has the key of `key-of` with another last character.
    OtherEnd,
    /// The intent has the key of `key-of` with small letters for capitals and capitals for small ones.
    OtherCase,
    /// The intent has a key that matches the one of `key-of` where it is taken for a pattern.
    AsPattern,
    /// The intent has the key of `key-of` with quotes and separators in it.
    Punctuated,
}

impl KeyForm {
    /// Whether the form belongs to the key itself, and so to every call of the intent.
    pub fn is_of_the_intent(self) -> bool {
        self == KeyForm::Longest || self.is_kin()
    }

    /// Whether the key is made from another one and differs from it.
    pub fn is_kin(self) -> bool {
        matches!(self, KeyForm::OtherEnd | KeyForm::OtherCase | KeyForm::AsPattern | KeyForm::Punctuated)
    }

    /// Whether a call carries its key once, as it is.
    pub fn is_plain(self) -> bool {
        self == KeyForm::Own || self.is_of_the_intent()
    }

    /// The same, of a call for which every choice is made.
    pub(crate) fn is_plain_for_a_call(&self) -> bool {
        self.is_plain()
    }

    /// Whether the header that carries the key comes twice.
    pub fn is_twice(self) -> bool {
        matches!(self, KeyForm::Doubled | KeyForm::WithAnother)
    }

    /// How a call of this form carries its key, as the end of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            KeyForm::Empty => "with an empty key",
            KeyForm::TooLong => "with a key that is too long",
            KeyForm::WrongType => "with an object for a key",
            KeyForm::Doubled => "with its key twice",
            KeyForm::WithAnother => "with its key and another one",
            _ => "without its key",
        }
    }

    /// Whether a call carries no legal key at all.
    pub fn is_illegal(self) -> bool {
        matches!(self, KeyForm::Missing | KeyForm::Empty | KeyForm::TooLong | KeyForm::WrongType)
    }
}
