//! What happened, in one order: what was sent, what came back, which faults provably fired.

use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::ledger::Ledger;
use crate::reply::{Answer, Class};
use crate::scenario::{Bound, Side};

/// Everything that happened, in the order in which it was seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct History {
    /// The events; an event's place is its sequence number.
    pub events: Vec<Event>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Nanoseconds since the play began, on a monotonic clock.
    pub at: u64,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum What {
    /// A worker answered for the first time.
    Started {
        /// Which worker.
        worker: u8,
        /// How often it has been started, from 1.
        incarnation: u32,
        /// Its process.
        pid: u32,
    },
    /// A worker's process tree is gone.
    Exited {
        /// Which worker.
        worker: u8,
        /// Its process.
        pid: u32,
        /// Whether the harness ended it.
        by_us: bool,
        /// How it ended, in words.
        status: String,
    },
    /// A request was given to the wire.
    Sent {
        /// The attempt.
        call: String,
        /// Which identity of the plan it is an attempt of.
        identity: usize,
        /// Which variant of its arguments it carries.
        variant: usize,
        /// Which worker it went to.
        worker: u8,
        /// That worker's incarnation.
        incarnation: u32,
        /// Its process; 0 where the harness did not start it.
        pid: u32,
        /// Over which connection, counted over the whole play.
        connection: u32,
        /// The id that it carries on the wire.
        request_id: String,
        /// Whether it carries its key.
        keyed: bool,
        /// Its bytes as text, credentials taken out.
        bytes: String,
    },
    /// A whole reply came off the wire, whether or not the caller was told.
    Replied {
        /// The attempt.
        call: String,
        /// Its bytes as text, credentials taken out.
        bytes: String,
        /// What it says, read by the rules of the target.
        outcome: Outcome,
        /// Whether it says that the same request may be made again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retryable: Option<bool>,
        /// The operation that it names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operation: Option<String>,
    },
    /// The caller's attempt is over.
    Ended {
        /// The attempt.
        call: String,
        /// How, as far as the caller can know.
        outcome: Outcome,
    },
    /// A fault was prepared.
    Armed {
        /// On which attempt.
        call: String,
        /// Which.
        fault: Fault,
    },
    /// A fault provably happened.
    Fired {
        /// On which attempt.
        call: String,
        /// What proves it.
        evidence: String,
    },
    /// What stood was let go.
    Released {
        /// Which attempt.
        call: String,
    },
    /// The caller gave the attempt up and closed its connection.
    Abandoned {
        /// Which attempt.
        call: String,
    },
    /// The caller closed its side of the connection and waits on; some servers take that for its leave.
    HalfClosed {
        /// Which attempt.
        call: String,
    },
    /// The caller said that it waits no longer, and the server was given the word.
    Cancelled {
        /// Which attempt.
        call: String,
    },
    /// A worker was asked to stop: SIGTERM, and its standard input closed.
    AskedToStop {
        /// Which worker.
        worker: u8,
        /// Its process.
        pid: u32,
    },
    /// A worker's process tree was stopped with SIGSTOP.
    Paused {
        /// Which worker.
        worker: u8,
    },
    /// A worker's process tree goes on.
    Resumed {
        /// Which worker.
        worker: u8,
    },
    /// A competing write transaction is held on the store.
    LockHeld {
        /// What proves it: a further connection was refused the lock.
        proof: String,
    },
    /// That transaction ended without a change.
    LockFreed {
        /// Whether it was still held just before, as a further connection saw.
        held: bool,
    },
    /// Time went by until a limit was nearly or just over.
    Passed {
        /// Which limit.
        limit: Bound,
        /// To which side of it.
        to: Side,
    },
    /// The owner's access was taken away or given back.
    Access {
        /// Whether it is taken away now.
        revoked: bool,
    },
    /// The owner was given its next credential, and carries it from now on.
    Rotated {
        /// Which of its credentials that is, from 1.
        credential: usize,
    },
    /// By how much the harness itself was late at most, in milliseconds: no bound on the server's time is
    /// broken within it.
    Lag {
        /// How late.
        millis: u64,
    },
    /// The stores were counted. The count speaks of some moment between its beginning and its place here.
    Counted {
        /// How many events there were when counting began.
        began: usize,
        /// From the running server's database, or from a copy of a dead one's.
        from: CountedFrom,
        /// What was there.
        ledger: Ledger,
    },
    /// The steps are over and every fault has stopped; what follows is retried to a final answer.
    Settling,
    /// The bound for recovery passed while an identity had no final answer.
    GaveUp {
        /// Which identity.
        identity: usize,
        /// How often it was retried.
        retries: u32,
    },
    /// A worker printed something that is no part of the protocol.
    Printed {
        /// Which worker.
        worker: u8,
        /// `stdout` or `stderr`.
        stream: String,
        /// What, shortened.
        text: String,
    },
    /// The harness could not do its part; nothing that hangs on it may be judged.
    Trouble {
        /// What went wrong, in one sentence.
        what: String,
    },
}

/// From where the stores were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountedFrom {
    /// The server runs; its database was read through its own locks.
    Running,
    /// The server runs; it was asked itself, at least for a part.
    Asked,
    /// The server is dead; a copy was opened, so that recovery is left to the server.
    Copy,
}

/// How an attempt ended, as far as its caller can know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// Done.
    Acked(Answer),
    /// Taken on, not done yet.
    Pending,
    /// Definitely refused; this attempt adds no effect.
    Refused {
        /// As what.
        class: Class,
        /// For how long the server asks the caller to wait, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
    },
    /// Zero or one effect, for the rest of the history.
    Unknown {
        /// Why nothing more is known.
        why: Why,
    },
}

/// Why the outcome of an attempt is unknown. None of these is an error of the server by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// No reply came.
    NoReply,
    /// The reply ended in the middle.
    CutReply,
    /// The caller had no more patience.
    TimedOut,
    /// The reply is not of the protocol.
    Unreadable,
    /// No rule of the target says what the reply means.
    Unclassified,
    /// The server itself says that it does not know.
    SaidUnknown,
    /// Something between server and caller answered in the server's place.
    Gateway,
    /// The caller said that it waits no longer.
    Cancelled,
}

impl Outcome {
    /// Whether retrying can end here: a success, or a refusal for good.
    pub fn is_final(&self) -> bool {
        match self {
            Outcome::Acked(_) => true,
            Outcome::Refused { class, .. } => !matches!(class, Class::InProgress | Class::Busy),
            Outcome::Pending | Outcome::Unknown { .. } => false,
        }
    }

    /// The answer of a success.
    pub fn acked(&self) -> Option<&Answer> {
        match self {
            Outcome::Acked(answer) => Some(answer),
            _ => None,
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Outcome::Acked(answer) => {
                f.write_str(if answer.replayed { "replayed" } else { "ok" })?;
                answer.id.iter().try_for_each(|id| write!(f, " (id {id})"))
            }
            Outcome::Pending => f.write_str("accepted"),
            Outcome::Refused { class, .. } => write!(f, "refused: {}", word(class)),
            Outcome::Unknown { why } => write!(f, "unknown: {}", word(why)),
        }
    }
}

/// The word that a unit variant has in files.
fn word<T: Serialize>(variant: &T) -> String {
    match serde_json::to_value(variant) {
        Ok(serde_json::Value::String(word)) => word.replace('-', " "),
        _ => String::new(),
    }
}
