//! Where a message is cut: how many of its bytes are let through.

use nottwice_model::fault::{Fault, Spot};

use crate::http1::{Message, message};
use crate::transport::Lost;

/// What stands between head and body.
const END_OF_HEAD: &[u8] = b"\r\n\r\n";

/// The place of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// After so many bytes, or after all of them if there are fewer.
    After(usize),
    /// At a place with a name.
    At(Spot),
}

impl Cut {
    /// What a fault says; unsaid, `usual` bytes pass.
    pub(crate) fn of(fault: Fault, usual: usize) -> Cut {
        match (fault.spot, fault.bytes) {
            (Some(spot), _) => Cut::At(spot),
            (None, bytes) => Cut::After(bytes.unwrap_or(usual)),
        }
    }

    /// How many bytes of a request are let through.
    pub(crate) fn of_request(self, bytes: &[u8]) -> usize {
        let head = bytes.windows(END_OF_HEAD.len()).position(|part| part == END_OF_HEAD);
        match self {
            Cut::At(Spot::AfterHeaders) => head.map_or(0, |at| at + END_OF_HEAD.len()),
            other => other.of_line(bytes.len()),
        }
    }

    /// How many bytes are let through of a message of that length which has no places inside.
    pub(crate) fn of_line(self, length: usize) -> usize {
        match self {
            Cut::After(bytes) => bytes.min(length),
            Cut::At(Spot::BeforeFirstByte | Spot::AfterHeaders | Spot::MidEvent) => 0,
            Cut::At(Spot::BeforeLastByte) => length.saturating_sub(1),
        }
    }
}

/// How many bytes are let through of a reply of which some has come; `None` while that cannot be told, or if
/// it has no such place. `answer` is the length of what a stream of events was opened for, once it is there.
pub(crate) fn place(
    cut: Cut,
    seen: &[u8],
    answer: impl Fn(&Message) -> Option<usize>,
) -> Result<Option<usize>, Lost> {
    let so_far = message(seen)?;
    let answered = so_far.as_ref().and_then(&answer);
    // The answer ends in the shortest beginning that has all of it.
    let ends = || shortest(seen, |part| part.is_some_and(|part| answer(&part).is_some()));
    let whole = so_far.as_ref().is_some_and(|message| message.whole);
    let end = if answered.is_some() { Some(ends()) } else { whole.then_some(seen.len()) };
    Ok(match cut {
        Cut::After(bytes) if !seen.is_empty() && seen.len() >= bytes => Some(bytes),
        Cut::After(_) => end,
        Cut::At(Spot::BeforeFirstByte) => (!seen.is_empty()).then_some(0),
        Cut::At(Spot::AfterHeaders) => so_far.map(|message| message.head),
        // The event is at least as long as the answer in it.
        Cut::At(Spot::MidEvent) => answered.zip(end).map(|(length, end)| end - length / 2),
        Cut::At(Spot::BeforeLastByte) => end.map(|end| end - 1),
    })
}

/// The length of the shortest beginning of some bytes that is enough, where every longer one is so too.
fn shortest(seen: &[u8], enough: impl Fn(Option<Message>) -> bool) -> usize {
    let (mut few, mut many) = (0, seen.len());
    while few < many {
        let half = few.midpoint(many);
        if enough(message(&seen[..half]).ok().flatten()) { many = half } else { few = half + 1 }
    }
    many
}
