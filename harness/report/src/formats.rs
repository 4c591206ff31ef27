//! The list of formats, in the order in which help shows them.

mod human;
mod json;

use crate::format::Format;

/// Every format.
pub static ALL: &[&dyn Format] = &[&human::Human, &json::Json];

/// The format of that name.
pub fn find(name: &str) -> Option<&'static dyn Format> {
    ALL.iter().find(|format| format.name() == name).copied()
}
