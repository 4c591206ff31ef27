//! What the harness says to a server beside the calls, and how it sees what came of it.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::input::CURE;

/// What the harness says to a server beside the calls, so that something happens inside it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "WrittenSignal")]
pub enum Signal {
    /// A file is written.
    Write(FileWrite),
    /// A request to the worker, on a connection of its own; any status from 200 to 299 is success.
    Http {
        /// Method and path.
        route: Route,
        /// Its JSON body; none if null.
        body: Value,
    },
    /// An MCP tool is called, under an id of the harness's own; a result without `isError` is success.
    Tool(ToolCall),
    /// The worker is started again with these variables, for one call.
    Env(BTreeMap<String, String>),
}

/// A file that the harness writes, whole and by rename.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileWrite {
    /// The file.
    pub write: String,
    /// What it holds.
    pub content: String,
}

/// A tool that the harness calls for itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

/// A method and a path: `GET /faults`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The method.
    pub method: String,
    /// The path, below the target's base.
    pub path: String,
}

impl FromStr for Route {
    type Err = String;

    fn from_str(text: &str) -> Result<Route, String> {
        match text.split_once(' ') {
            Some((method, path)) if is_method(method) && path.starts_with('/') && !path.contains(' ') => {
                Ok(Route { method: method.to_owned(), path: path.to_owned() })
            }
            _ => Err(format!("`{text}` is no method and path{CURE}write `\"POST /path\"`")),
        }
    }
}

fn is_method(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

impl std::fmt::Display for Route {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

impl<'de> Deserialize<'de> for Route {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Route, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(Error::custom)
    }
}

/// A signal as it is typed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSignal {
    write: Option<String>,
    content: Option<String>,
    http: Option<Route>,
    body: Option<Value>,
    tool: Option<String>,
    arguments: Option<Value>,
    env: Option<BTreeMap<String, String>>,
}

impl TryFrom<WrittenSignal> for Signal {
    type Error = String;

    fn try_from(written: WrittenSignal) -> Result<Signal, String> {
        let WrittenSignal { write, content, http, body, tool, arguments, env } = written;
        let strays = [
            ("content", content.is_some() && write.is_none(), "write"),
            ("body", body.is_some() && http.is_none(), "http"),
            ("arguments", arguments.is_some() && tool.is_none(), "tool"),
        ];
        if let Some((word, _, of)) = strays.iter().find(|(_, stray, _)| *stray) {
            return Err(format!("`{word}` belongs to `{of}`{CURE}leave it out, or add `{of} = …`"));
        }
        match (write, http, tool, env) {
            (Some(write), None, None, None) => {
                Ok(Signal::Write(FileWrite { write, content: content.unwrap_or_default() }))
            }
            (None, Some(route), None, None) => Ok(Signal::Http { route, body: body.unwrap_or(Value::Null) }),
            (None, None, Some(name), None) => {
                let arguments = arguments.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
                Ok(Signal::Tool(ToolCall { name, arguments }))
            }
            (None, None, None, Some(env)) if env.is_empty() => Err(format!(
                "an environment without a variable says nothing{CURE}write `env = {{ NAME = \"…\" }}`"
            )),
            (None, None, None, Some(env)) => Ok(Signal::Env(env)),
            _ => Err(format!(
                "a signal is exactly one of `write`, `http`, `tool` and `env`{CURE}keep one of them, with \
                 what belongs to it"
            )),
        }
    }
}

/// How it is seen that a call stands at a point, or failed there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// A file appears.
    File(String),
    /// A line with this text is printed on standard error after the hook was armed.
    Stderr(String),
    /// The worker's process ends by itself after the request was sent.
    Exit,
    /// A route's answer contains a text that it did not contain before the request was sent.
    Http {
        /// Method and path.
        route: Route,
        /// The text.
        contains: String,
    },
}

/// Evidence as it is typed where it is more than a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenEvidence {
    file: Option<String>,
    stderr: Option<String>,
    exit: Option<bool>,
    http: Option<Route>,
    contains: Option<String>,
}

impl TryFrom<WrittenEvidence> for Evidence {
    type Error = String;

    fn try_from(written: WrittenEvidence) -> Result<Evidence, String> {
        let WrittenEvidence { file, stderr, exit, http, contains } = written;
        let filled = |text: &String| !text.is_empty();
        match (file, stderr, exit, http, contains) {
            (Some(file), None, None, None, None) => Ok(Evidence::File(file)),
            (None, Some(text), None, None, None) if filled(&text) => Ok(Evidence::Stderr(text)),
            (None, None, Some(true), None, None) => Ok(Evidence::Exit),
            (None, None, None, Some(route), Some(text)) if filled(&text) => {
                Ok(Evidence::Http { route, contains: text })
            }
            _ => Err(format!(
                "evidence is exactly one of a file, a line and an exit, or a route with a text{CURE}write \
                 `{{ file = \"…\" }}`, `{{ stderr = \"…\" }}`, `{{ exit = true }}` or `{{ http = \"GET /…\", \
                 contains = \"…\" }}`"
            )),
        }
    }
}

impl<'de> Deserialize<'de> for Evidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Evidence, D::Error> {
        deserializer.deserialize_any(EitherForm)
    }
}

/// Reads the short form, which is a file, and the long one.
struct EitherForm;

impl<'de> Visitor<'de> for EitherForm {
    type Value = Evidence;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a file, or a table that says what is seen")
    }

    fn visit_str<E: Error>(self, file: &str) -> Result<Evidence, E> {
        Ok(Evidence::File(file.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Evidence, A::Error> {
        let written = WrittenEvidence::deserialize(MapAccessDeserializer::new(members))?;
        Evidence::try_from(written).map_err(Error::custom)
    }
}
