//! Faults as data: at which message or step, and what is done there. Never by time or probability.

use serde::{Deserialize, Serialize};

/// Where a fault stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum At {
    /// The request of the call, on its way to the server.
    Request,
    /// The request was read, nothing is written yet.
    Begin,
    /// A claim marker is durable; a server without markers stands at `begin`.
    Claimed,
    /// The first of the writes of the action is done, a later one is not.
    BetweenWrites,
    /// Every write is done, none is committed for good.
    BeforeCommit,
    /// Everything is committed, the reply is not sent.
    AfterCommit,
    /// The reply of the call, on its way back.
    Reply,
}

/// What is done where the fault stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Do {
    /// The message is taken off the wire and nobody is told; the connection stays usable.
    Drop,
    /// The stream is closed after `bytes` bytes of the message, or at the place that `where` names.
    Cut,
    /// The same, but the connection is reset instead of closed.
    Reset,
    /// The same bytes are delivered a second time, after the first copy was answered.
    Duplicate,
    /// The same bytes are delivered twice at one time, each copy over a connection of its own.
    Double,
    /// The message or the call stands still until it is released; of a reply nothing is read meanwhile.
    Hold,
    /// The worker's whole process tree is ended with SIGKILL.
    Crash,
    /// The worker's whole process tree is stopped with SIGSTOP, until it is resumed.
    Pause,
    /// The call fails inside the server, which lives on.
    Error,
    /// The reply is read by something between server and caller, which answers with a `status` of its own.
    Answer,
}

/// A place in a message where its stream breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spot {
    /// It has begun, and nothing of it is let through.
    BeforeFirstByte,
    /// HTTP: its head is through, and nothing of its body.
    AfterHeaders,
    /// A reply in a stream of events: in the middle of the event that carries it.
    MidEvent,
    /// All but its last byte is through.
    BeforeLastByte,
}

impl Spot {
    /// The word as it is written in scenarios.
    pub fn word(self) -> &'static str {
        match self {
            Spot::BeforeFirstByte => "before-first-byte",
            Spot::AfterHeaders => "after-headers",
            Spot::MidEvent => "mid-event",
            Spot::BeforeLastByte => "before-last-byte",
        }
    }
}

/// What a gateway answers in a server's place: moved, not let in, not there, no answer from behind, too busy.
pub const GATEWAY: [u16; 5] = [307, 401, 404, 502, 503];

impl At {
    /// Every place, in the order a call passes them.
    pub const ALL: [At; 7] = [
        At::Request,
        At::Begin,
        At::Claimed,
        At::BetweenWrites,
        At::BeforeCommit,
        At::AfterCommit,
        At::Reply,
    ];

    /// Whether the place is inside the server, where only a hook can reach it.
    pub fn is_point(self) -> bool {
        !matches!(self, At::Request | At::Reply)
    }

    /// The word as it is written in scenarios and targets.
    pub fn word(self) -> &'static str {
        match self {
            At::Request => "request",
            At::Begin => "begin",
            At::Claimed => "claimed",
            At::BetweenWrites => "between-writes",
            At::BeforeCommit => "before-commit",
            At::AfterCommit => "after-commit",
            At::Reply => "reply",
        }
    }
}

impl Do {
    /// Every deed.
    pub const ALL: [Do; 10] = [
        Do::Drop,
        Do::Cut,
        Do::Reset,
        Do::Duplicate,
        Do::Double,
        Do::Hold,
        Do::Crash,
        Do::Pause,
        Do::Error,
        Do::Answer,
    ];

    /// The word as it is written in scenarios.
    pub fn word(self) -> &'static str {
        match self {
            Do::Drop => "drop",
            Do::Cut => "cut",
            Do::Reset => "reset",
            Do::Duplicate => "duplicate",
            Do::Double => "double",
            Do::Hold => "hold",
            Do::Crash => "crash",
            Do::Pause => "pause",
            Do::Error => "error",
            Do::Answer => "answer",
        }
    }

    /// Whether this can be done at that place: a message can be dropped, a point cannot.
    pub fn is_legal(self, at: At) -> bool {
        match self {
            Do::Drop | Do::Cut | Do::Reset | Do::Duplicate => !at.is_point(),
            Do::Double => at == At::Request,
            Do::Error | Do::Pause => at.is_point(),
            Do::Hold | Do::Crash => true,
            Do::Answer => at == At::Reply,
        }
    }
}

/// One fault on one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Fault {
    /// Where it stands.
    pub at: At,
    /// What it does.
    #[serde(rename = "do")]
    pub deed: Do,
    /// For `cut` and `reset`: how many bytes of the message pass first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// For `cut` and `reset`: at which place of the message.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "where")]
    pub spot: Option<Spot>,
    /// For `answer`: the HTTP status that the caller is told instead, one of [`GATEWAY`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

impl Fault {
    /// What does not fit in it, with the cure: it has to be possible where it stands, and carries only the words
    /// that belong to it.
    pub(crate) fn mistake(self) -> Option<(String, String)> {
        let Fault { at, deed, bytes, status, spot } = self;
        let found = |message: String, cure: &str| Some((message, cure.to_owned()));
        if !deed.is_legal(at) {
            let legal: Vec<_> = Do::ALL.into_iter().filter(|deed| deed.is_legal(at)).map(Do::word).collect();
            return found(
                format!("`{}` cannot be done at `{}`", deed.word(), at.word()),
                &format!("there, one of: {}", legal.join(", ")),
            );
        }
        let breaks = matches!(deed, Do::Cut | Do::Reset);
        let misplaced = [("bytes", bytes.is_some()), ("where", spot.is_some())];
        if let Some((word, _)) = misplaced.iter().find(|(_, said)| *said && !breaks) {
            return found(format!("`{word}` belongs to `cut` and `reset`"), "leave it out");
        }
        if bytes.is_some() && spot.is_some() {
            return found("`bytes` and `where` both say where the stream breaks".into(), "leave one out");
        }
        if spot == Some(Spot::MidEvent) && at != At::Reply {
            return found("only a reply comes as an event".into(), "say `at = \"reply\"`, or another place");
        }
        let known: Vec<_> = GATEWAY.iter().map(u16::to_string).collect();
        match status {
            Some(_) if deed != Do::Answer => found("`status` belongs to `answer`".into(), "leave it out"),
            None if deed == Do::Answer => {
                let cure = format!("add `status = …`, one of: {}", known.join(", "));
                found("what is answered is not said".into(), &cure)
            }
            Some(status) if !GATEWAY.contains(&status) => {
                found(format!("no gateway answers {status} here"), &format!("one of: {}", known.join(", ")))
            }
            _ => None,
        }
    }
}
