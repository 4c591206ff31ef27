//! What a scenario or a clause needs of a target, and what a target can.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::fault::At;
use crate::scenario::{Arguments, Part, Place};

/// One ability of a target, as it is written in `needs` and shown in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ability {
    /// The caller can say which intent a call belongs to.
    Key,
    /// A call without a key is refused.
    KeyRequired,
    /// More keys are legal than UUIDs.
    KeyGrammar,
    /// The target says how long a key may be.
    KeyMax,
    /// The key is a JSON value, and so has a type.
    KeyType,
    /// The key stands in a header, which may come twice.
    KeyHeader,
    /// The harness starts the workers, so it can end and restart them.
    Restart,
    /// Several connections to one worker.
    Connections,
    /// At least this many workers on one state folder.
    Workers(u8),
    /// At least this many callers with scopes of their own.
    Principals(u8),
    /// A call can be stopped at this point.
    Point(At),
    /// A call that was stopped at this point can be let go again.
    Release(At),
    /// A call can be made to fail at this point.
    ErrorAt(At),
    /// The target has a tool that plays this part.
    Tool(Part),
    /// The tool has arguments of this kind beside the base ones.
    Change(Arguments),
    /// The owner has a workspace of this kind beside its usual one.
    Workspace(Place),
    /// A competing transaction can be held on the store.
    Lock,
    /// The target says how long a call waits for a lock.
    LockTimeout,
    /// Access can be taken away and given back.
    Access,
    /// The owner can be given a new credential.
    Rotate,
    /// The target says how long a receipt is kept.
    Retention,
    /// The target says how long a claim is honoured.
    Lease,
    /// Receipts can be counted, and are named by their key.
    Receipts,
    /// The replies say whether to retry.
    Retryable,
    /// The replies carry an operation id.
    OperationId,
    /// A message has a head and a body.
    Headers,
    /// Replies come in a stream of events.
    Events,
    /// The protocol has a word by which a caller says that it waits no longer.
    Cancel,
    /// The tool publishes an output schema.
    OutputSchema,
    /// The request id is the caller's to choose.
    RequestId,
    /// A reply is an HTTP status, so something between server and caller can answer with another.
    Status,
    /// Committed effects can be counted at the store.
    Count,
    /// The replies name the effect they speak of.
    ResultId,
    /// The target says how a replay is marked.
    ReplayMarker,
}

impl fmt::Display for Ability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ability::Key => f.write_str("key"),
            Ability::KeyRequired => f.write_str("key-required"),
            Ability::KeyGrammar => f.write_str("key-grammar"),
            Ability::KeyMax => f.write_str("key-max"),
            Ability::KeyType => f.write_str("key-type"),
            Ability::KeyHeader => f.write_str("key-header"),
            Ability::Restart => f.write_str("restart"),
            Ability::Connections => f.write_str("connections"),
            Ability::Workers(n) => write!(f, "workers:{n}"),
            Ability::Principals(n) => write!(f, "principals:{n}"),
            Ability::Point(at) => write!(f, "point:{}", at.word()),
            Ability::Release(at) => write!(f, "release:{}", at.word()),
            Ability::ErrorAt(at) => write!(f, "error:{}", at.word()),
            Ability::Tool(part) => write!(f, "tool:{}", part.word()),
            Ability::Change(arguments) => write!(f, "change:{}", arguments.word()),
            Ability::Workspace(place) => write!(f, "workspace:{}", word_of(*place)),
            Ability::Lock => f.write_str("lock"),
            Ability::LockTimeout => f.write_str("limit:lock"),
            Ability::Access => f.write_str("access"),
            Ability::Rotate => f.write_str("rotate"),
            Ability::Retention => f.write_str("limit:retention"),
            Ability::Lease => f.write_str("limit:lease"),
            Ability::Receipts => f.write_str("count:receipts"),
            Ability::Retryable => f.write_str("retryable"),
            Ability::OperationId => f.write_str("operation-id"),
            Ability::Headers => f.write_str("headers"),
            Ability::Events => f.write_str("events"),
            Ability::Cancel => f.write_str("cancel"),
            Ability::OutputSchema => f.write_str("output-schema"),
            Ability::RequestId => f.write_str("request-id"),
            Ability::Status => f.write_str("status"),
            Ability::Count => f.write_str("count"),
            Ability::ResultId => f.write_str("result-id"),
            Ability::ReplayMarker => f.write_str("replay-marker"),
        }
    }
}

impl std::str::FromStr for Ability {
    type Err = String;

    fn from_str(word: &str) -> Result<Ability, String> {
        let all = Ability::all();
        all.iter().find(|ability| ability.to_string() == word).copied().ok_or_else(|| {
            let known: Vec<String> = all.iter().map(|ability| format!("`{ability}`")).collect();
            format!("unknown variant `{word}`, expected one of {}", known.join(", "))
        })
    }
}

impl Ability {
    /// Every ability that can be written, in the order of the list in `explain`.
    pub fn all() -> Vec<Ability> {
        let mut all = vec![Ability::Key, Ability::KeyRequired, Ability::Restart, Ability::Connections];
        all.extend([Ability::KeyGrammar, Ability::KeyMax, Ability::KeyType, Ability::KeyHeader]);
        all.extend([Ability::Workers(2), Ability::Principals(2), Ability::RequestId, Ability::Status]);
        all.extend([Ability::Cancel, Ability::Headers, Ability::Events]);
        all.push(Ability::Tool(Part::Quiet));
        all.extend([Arguments::Other, Arguments::Detail, Arguments::Forbidden].map(Ability::Change));
        all.extend([Place::Second, Place::Foreign].map(Ability::Workspace));
        all.extend([
            Ability::Lock,
            Ability::LockTimeout,
            Ability::Access,
            Ability::Rotate,
            Ability::Retention,
            Ability::Lease,
            Ability::Receipts,
        ]);
        all.extend([Ability::Retryable, Ability::OperationId, Ability::OutputSchema]);
        all.extend([Ability::Count, Ability::ResultId, Ability::ReplayMarker]);
        for at in At::ALL.into_iter().filter(|at| at.is_point()) {
            all.extend([Ability::Point(at), Ability::Release(at), Ability::ErrorAt(at)]);
        }
        all
    }

    /// The line of the target file that would bring this ability in.
    pub fn cure(&self) -> String {
        match self {
            Ability::Key => {
                "say where the key sits: `[key] at = \"arguments:/…\"`, `\"meta:…\"` or `\"header:…\"`".into()
            }
            Ability::KeyRequired => "say `[key] required = true` if calls without a key are refused".into(),
            Ability::KeyGrammar => {
                "say that more keys are legal than UUIDs: `[key] grammar = \"printable\"`, `max = …`".into()
            }
            Ability::KeyMax => "say how many characters a key may have: `[key] max = …`".into(),
            Ability::KeyType => "the key has no type where it stands in a header".into(),
            Ability::KeyHeader => "the key comes twice only where it stands in a header".into(),
            Ability::Restart => "say how the server is started: `[start] command = […]`".into(),
            Ability::Connections => {
                "reach the server over HTTP: over stdio a process is one connection".into()
            }
            Ability::Workers(n) => format!("say `[promise] workers = {n}` if that many share one store"),
            Ability::Principals(n) => format!("declare {n} `[[principal]]`s with a scope each"),
            Ability::Point(at) => format!("declare a `[[hook]]` with point = \"{}\"", at.word()),
            Ability::Release(at) => format!("give the `[[hook]]` at \"{}\" a `release`", at.word()),
            Ability::ErrorAt(at) => format!("give the `[[hook]]` at \"{}\" an `error`", at.word()),
            Ability::Tool(part) => format!("name it: `[tool.{}]`", part.word()),
            Ability::Change(arguments) => {
                format!("give the tool such arguments: `[tool.main.change] {} = {{ … }}`", arguments.word())
            }
            Ability::Workspace(place) => {
                format!("declare a `[[workspace]]` with place = \"{}\"", word_of(*place))
            }
            Ability::Lock => "say which SQLite database is the server's: `[[store]] sqlite = \"…\"`".into(),
            Ability::LockTimeout => "say how long a call waits: `[limits] lock_timeout = \"…\"`".into(),
            Ability::Access => "say how access is taken away and given back: `[access]`".into(),
            Ability::Rotate => "give the owner two credentials: `credentials = [{ … }, { … }]`".into(),
            Ability::Retention => "say how long receipts are kept: `[retention] window = \"…\"`".into(),
            Ability::Lease => "say how long a claim is honoured: `[recovery] lease = \"…\"`".into(),
            Ability::Receipts => {
                "count receipts by their key: `[[store]] receipts = \"SELECT key AS id …\"`".into()
            }
            Ability::Retryable => "say where replies tell it: `[replies] retryable = \"/…\"`".into(),
            Ability::OperationId => "say where replies tell it: `[replies] operation = \"/…\"`".into(),
            Ability::Headers => "reach the server over HTTP: over stdio a message is one line".into(),
            Ability::Events => {
                "let the server list its tools in a stream of events (MCP over HTTP, `text/event-stream`)".into()
            }
            Ability::Cancel => {
                "speak MCP over stdio, or in the legacy era over HTTP (`[reach] era = \"legacy\"`): elsewhere a \
                 caller that waits no longer has only its connection to close"
                    .into()
            }
            Ability::OutputSchema => "publish an `outputSchema` for the tool".into(),
            Ability::RequestId => {
                "over HTTP, name the header: `[reach] request_id = \"X-Request-Id\"`".into()
            }
            Ability::Status => "reach the server over HTTP: over stdio nobody stands between".into(),
            Ability::Count => {
                "say how effects are counted: `[[store]] sqlite = \"…\", effects = \"SELECT …\"`".into()
            }
            Ability::ResultId => "say where a reply names its effect: `[replies] id = \"/…\"`".into(),
            Ability::ReplayMarker => "add a `[[replies.rule]]` with class = \"replayed\"".into(),
        }
    }
}

fn word_of(place: Place) -> &'static str {
    match place {
        Place::Home => "home",
        Place::Second => "second",
        Place::Foreign => "foreign",
    }
}

impl Serialize for Ability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Ability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ability, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
