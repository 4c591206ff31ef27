//! One attempt: one request on the wire, with everything that the history says of it.

use crate::fault::{At, Do, Fault};
use crate::history::Outcome;
use crate::scenario::KeyForm;

/// One request on the wire, with everything that the history says of it.
#[derive(Debug, Clone)]
pub struct Attempt<'r> {
    /// Its name.
    pub call: &'r str,
    /// The number of its identity.
    pub identity: usize,
    /// The number of the variant it carries.
    pub variant: usize,
    /// Which worker it went to.
    pub worker: u8,
    /// That worker's incarnation.
    pub incarnation: u32,
    /// Over which connection.
    pub connection: u32,
    /// The id that it carries on the wire.
    pub request_id: &'r str,
    /// Whether it carries its key.
    pub keyed: bool,
    /// What it carries instead of its key.
    pub form: KeyForm,
    /// Whether the plan asked for a connection of its own.
    pub fresh: bool,
    /// When it was sent.
    pub sent: usize,
    /// When its whole reply came off the wire, and what that says, whether or not the caller was told.
    pub replied: Option<(usize, &'r Outcome)>,
    /// When it was over for its caller, and how.
    pub ended: Option<(usize, &'r Outcome)>,
    /// When it was sent, in nanoseconds since the play began.
    pub sent_at: u64,
    /// When it was over for its caller, likewise.
    pub ended_at: Option<u64>,
    /// The bytes of its reply.
    pub bytes: Option<&'r str>,
    /// Whether its reply says that the same request may be made again.
    pub retryable: Option<bool>,
    /// The operation that its reply names.
    pub operation: Option<&'r str>,
    /// Whether its caller's access was taken away when it was sent.
    pub revoked: bool,
    /// Its fault, if it has one.
    pub fault: Option<Fault>,
    /// When its fault provably fired.
    pub fired: Option<usize>,
    /// When it was let go, where its fault made it stand.
    pub released: Option<usize>,
    /// When its caller left it, or seemed to: it closed its connection or its side of it, or said that it waits
    /// no longer.
    pub left: Option<usize>,
    /// The process that it went to; 0 where the harness did not start it.
    pub pid: u32,
    /// When that process was gone.
    pub exited: Option<usize>,
}

impl<'r> Attempt<'r> {
    /// What the server said, told or not. Evidence of what it did, never an acknowledgement by itself.
    pub fn said(&self) -> Option<&'r Outcome> {
        self.replied.or(self.ended).map(|(_, outcome)| outcome)
    }

    /// The moment up to which the attempt may still act inside the server: its reply, or the end of the
    /// process. A caller that knows nothing more does not end it.
    pub fn until(&self) -> usize {
        let definite = self.ended.filter(|(_, outcome)| !matches!(outcome, Outcome::Unknown { .. }));
        let answered = self.replied.or(definite).map(|(seq, _)| seq);
        answered.or(self.exited).unwrap_or(usize::MAX)
    }

    /// Whether its process was killed on purpose before its result could be retained. A window that is counted
    /// from completion has not begun with it.
    pub fn cut_short(&self) -> bool {
        let unfinished = |at| matches!(at, At::Begin | At::Claimed | At::BetweenWrites | At::BeforeCommit);
        let killed = self.exited.is_some() && self.replied.is_none();
        killed && self.fault.is_some_and(|fault| fault.deed == Do::Crash && unfinished(fault.at))
    }

    /// When it stood inside the server, its work begun and not committed: from the proof of it to its release.
    pub fn stood(&self) -> Option<(usize, usize)> {
        let inside = |at| matches!(at, At::Claimed | At::BetweenWrites | At::BeforeCommit);
        self.fault.filter(|fault| fault.deed == Do::Hold && inside(fault.at))?;
        Some((self.fired?, self.released?))
    }

    /// Whether both were under way at one time.
    pub fn overlaps(&self, other: &Attempt<'_>) -> bool {
        self.sent < other.until() && other.sent < self.until()
    }
}
