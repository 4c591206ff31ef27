//! What to ask a server, what to break meanwhile, and which defects that must catch.
//!
//! A scenario says nothing of what must hold: scenarios provoke, clauses judge.

mod key;
mod lower;
mod written;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use self::key::KeyForm;
use crate::ability::Ability;
use crate::fault::Fault;
use crate::input::{InputError, Source};

/// One scenario file, validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// `group/name`, from the place of the file.
    pub name: String,
    /// The event, as a sentence.
    pub title: String,
    /// The rule or the observation that this scenario comes from.
    pub source: String,
    /// What a target must be able to do; more than the steps already imply.
    pub needs: BTreeSet<Ability>,
    /// Defects of the reference server that this scenario must show, each with the clauses that name it.
    pub catches: BTreeMap<String, BTreeSet<String>>,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// One step of a scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// One attempt: one request on the wire.
    Call(Call),
    /// Wait for a call that was left standing.
    Await(String),
    /// Something done to the server or by the harness.
    Act(Act),
}

/// One attempt of one intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The name by which later steps speak of it.
    pub name: String,
    /// What the caller means to happen once.
    pub intent: String,
    /// Who calls.
    pub role: Role,
    /// Which tool of the target is called.
    pub tool: Part,
    /// Which worker is called, counted from 1.
    pub worker: u8,
    /// Over which connection.
    pub connection: Connection,
    /// In which form the key is sent.
    pub key: KeyForm,
    /// Uses the key of another intent.
    pub key_of: Option<String>,
    /// Uses the arguments of another intent, label included.
    pub arguments_of: Option<String>,
    /// Which of the tool's arguments it sends.
    pub arguments: Arguments,
    /// Which workspace it is for.
    pub workspace: Place,
    /// Carries the request id of another call.
    pub request_id_of: Option<String>,
    /// What goes wrong with this attempt.
    pub fault: Option<Fault>,
    /// When the step ends.
    pub until: Until,
    /// How often the same request is sent at one time, each over a connection of its own.
    pub times: u16,
    /// Over how many workers those are spread, in turn.
    pub workers: u8,
    /// Whether each of them is an intent of its own.
    pub different: bool,
}

/// The part that a tool of the target plays in scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// It makes the effect; every call is to it unless it says otherwise.
    #[default]
    Main,
    /// It makes an effect of the same kind and answers with an empty body, which is hard to retain.
    Quiet,
}

impl Part {
    /// The word as it is written in scenarios and targets.
    pub fn word(self) -> &'static str {
        match self {
            Part::Main => "main",
            Part::Quiet => "quiet",
        }
    }
}

/// Who calls, in words that every target can fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The first principal; every call is the owner's unless it says otherwise.
    #[default]
    Owner,
    /// A second principal with a scope of its own.
    Other,
}

/// For which workspace a call is, in words that every target can fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The caller's usual one.
    #[default]
    Home,
    /// Another one that the caller may use.
    Second,
    /// One that the caller may not use.
    Foreign,
}

/// Which arguments of the tool a call sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Arguments {
    /// The ordinary ones.
    #[default]
    Base,
    /// Ones that make another effect, told apart at the store by its label.
    Other,
    /// Ones that differ in something that the label does not show.
    Detail,
    /// Ones that the published schema forbids.
    Forbidden,
}

impl Arguments {
    /// The word as it is written in scenarios and targets.
    pub fn word(self) -> &'static str {
        match self {
            Arguments::Base => "base",
            Arguments::Other => "other",
            Arguments::Detail => "detail",
            Arguments::Forbidden => "forbidden",
        }
    }
}

/// Over which connection a call goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Connection {
    /// The one that this role has to this worker; opened when there is none.
    #[default]
    Same,
    /// A fresh one.
    New,
}

/// When a call step ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// With its answer, or with the certainty that there will be none.
    #[default]
    Answered,
    /// When its fault fired.
    Reached,
    /// When its fault fired, or with its answer.
    ReachedOrAnswered,
    /// With its answer, or when the target's bound for waiting has passed.
    AnsweredOrBlocked,
}

/// Something done to the server, or by the harness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "act")]
pub enum Act {
    /// SIGKILL to the worker's whole process tree.
    Kill {
        /// Which worker.
        worker: u8,
    },
    /// SIGTERM, standard input closed, and SIGKILL once the declared time to stop has passed.
    Stop {
        /// Which worker.
        worker: u8,
    },
    /// The worker is started again on the same state; one that still lives is killed first.
    Restart {
        /// Which worker.
        worker: u8,
    },
    /// What a call holds is let go.
    Release {
        /// Which call.
        call: String,
    },
    /// The caller gives a call up: it closes the connection and will never know.
    Abandon {
        /// Which call.
        call: String,
    },
    /// The caller closes its side of the connection, and still waits for the reply.
    HalfClose {
        /// Which call.
        call: String,
    },
    /// The caller says that it waits no longer, in the protocol's own word, and ignores whatever comes. What
    /// the call stands at inside the server stands on, until it is released.
    NotifyCancelled {
        /// Which call.
        call: String,
    },
    /// Effects are counted now.
    Observe,
    /// A worker that was paused goes on.
    Resume {
        /// Which worker.
        worker: u8,
    },
    /// A competing write transaction is begun on the target's store and held.
    HoldLock,
    /// That transaction ends without a change.
    ReleaseLock,
    /// Time goes by until a declared limit, counted from the last answer, is nearly or just over.
    Pass {
        /// Which limit.
        limit: Bound,
        /// To which side of it.
        to: Side,
    },
    /// The owner loses its access.
    Revoke,
    /// The owner gets its access back.
    Grant,
    /// The owner is given its next credential, and uses it from now on.
    Rotate,
    /// So many other intents are called, one after the other.
    Fill {
        /// How many.
        times: u16,
    },
}

/// A limit of a target that a scenario can let pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// How long a receipt is kept.
    Retention,
    /// How long a claim is honoured whose owner is not heard of.
    Lease,
}

/// A side of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// Well before its end, where the promise still holds beyond doubt.
    JustInside,
    /// After its end.
    JustPast,
}

impl Call {
    /// An ordinary first attempt of an intent of its own.
    pub fn plain(name: String) -> Call {
        Call {
            intent: name.clone(),
            name,
            role: Role::default(),
            tool: Part::default(),
            worker: 1,
            connection: Connection::default(),
            key: KeyForm::default(),
            key_of: None,
            arguments_of: None,
            arguments: Arguments::default(),
            workspace: Place::default(),
            request_id_of: None,
            fault: None,
            until: Until::default(),
            times: 1,
            workers: 1,
            different: false,
        }
    }
}

/// Reads one scenario file. `name` is `group/name`.
///
/// # Errors
/// The first thing that does not fit: a word, a type, or a contradiction between steps.
pub fn parse(name: &str, source: Source<'_>) -> Result<Scenario, InputError> {
    lower::scenario(name, source, source.parse()?)
}
