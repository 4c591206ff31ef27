//! A rule of a standing proxy: which message between any client and any server, and the fault that it bears.
//!
//! A message is addressed by what it is and by its number, never by time or probability.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::fault::{At, Do, Fault, Spot};
use crate::input::{CURE, InputError, Source};
use crate::target::Limit;

/// The one method of MCP whose messages also have a tool.
const TOOL_CALL: &str = "tools/call";

/// What a proxy stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Standard input and output of a server that it starts: one JSON-RPC message a line.
    Stdio,
    /// TCP connections that carry HTTP/1.1.
    Http,
}

/// Which messages are counted for a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// Messages of JSON-RPC, alone in a line or in the body of a POST.
    Message {
        /// Their method.
        method: String,
        /// Of `tools/call`, only calls of this tool.
        tool: Option<String>,
    },
    /// Requests of HTTP.
    Request {
        /// Their method, in capitals.
        method: String,
        /// Their path, without what stands behind a `?`.
        path: String,
    },
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Message { method, tool: None } => f.write_str(method),
            Address::Message { method, tool: Some(tool) } => write!(f, "{method} of {tool}"),
            Address::Request { method, path } => write!(f, "{method} {path}"),
        }
    }
}

/// When a held message goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// As soon as another message of the same address has come.
    NextRequest,
    /// As soon as another message of the same address was answered.
    NextReply,
    /// After so long.
    After(Limit),
}

impl FromStr for Release {
    type Err = String;

    fn from_str(text: &str) -> Result<Release, String> {
        match text {
            "next-request" => Ok(Release::NextRequest),
            "next-reply" => Ok(Release::NextReply),
            time => time.parse().map(Release::After).map_err(|_| {
                let cure = "write `next-request`, `next-reply`, or a time like `300ms`";
                format!("`{time}` releases nothing{CURE}{cure}")
            }),
        }
    }
}

impl<'de> Deserialize<'de> for Release {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Release, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(Error::custom)
    }
}

/// One message and its fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What it is called in the log; unless its file says so, its address, number and deed.
    pub name: String,
    /// The line of its file where it begins, counted from 1.
    pub line: usize,
    /// Which messages are counted.
    pub on: Address,
    /// Which of them bears the fault, counted from 1 since the proxy was started.
    pub nth: u64,
    /// The fault.
    pub fault: Fault,
    /// For `hold`: when the message goes on.
    pub until: Option<Release>,
}

/// A file of rules as it is typed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default, rename = "fault")]
    faults: Vec<Spanned<WrittenRule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    name: Option<String>,
    on: Spanned<WrittenAddress>,
    at: At,
    #[serde(rename = "do")]
    deed: Do,
    bytes: Option<usize>,
    #[serde(rename = "where")]
    spot: Option<Spot>,
    status: Option<u16>,
    until: Option<Release>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAddress {
    method: String,
    tool: Option<String>,
    path: Option<String>,
    nth: Option<u64>,
}

/// Reads a file of rules for a proxy on that wire.
///
/// # Errors
/// The first mistake: a word that there is not, a fault that cannot be where it stands or on that wire, a rule
/// that no message can meet, or two that meet in one message or share a name.
pub fn parse(source: Source<'_>, wire: Wire) -> Result<Vec<Rule>, InputError> {
    let Written { faults } = source.parse()?;
    if faults.is_empty() {
        let cure = "add one: `[[fault]]`, then `on = { method = \"tools/call\", nth = 1 }`, `at` and `do`";
        return Err(source.error(0..0, "there is no fault in this file", cure));
    }
    let (mut rules, mut names, mut places) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for written in faults {
        let span = written.span();
        let error = |(message, cure): (String, String)| source.error(span.clone(), message, cure);
        let rule = rule(source, written, wire)?;
        if let Some(line) = names.insert(rule.name.clone(), rule.line) {
            let message = format!("the fault in line {line} has the name `{}` already", rule.name);
            return Err(error((message, "give one of them another `name`".to_owned())));
        }
        if let Some(line) = places.insert((rule.on.clone(), rule.nth), rule.line) {
            let message = format!("the message of the fault in line {line} bears two faults");
            return Err(error((message, "one message bears one fault: let `nth` differ".to_owned())));
        }
        rules.push(rule);
    }
    Ok(rules)
}

fn rule(source: Source<'_>, written: Spanned<WrittenRule>, wire: Wire) -> Result<Rule, InputError> {
    let span = written.span();
    let WrittenRule { name, on, at, deed, bytes, spot, status, until } = written.into_inner();
    let fault = Fault { at, deed, bytes, spot, status };
    let on_span = on.span();
    let nth = on.get_ref().nth.unwrap_or(1);
    let on =
        address(on.into_inner()).map_err(|(message, cure)| source.error(on_span.clone(), message, cure))?;
    let mistakes = [
        (span.clone(), outside(fault)),
        (span.clone(), fault.mistake()),
        (on_span, unreachable(&on, nth, fault, wire)),
        (span.clone(), wire_mistake(fault, wire)),
        (span.clone(), release_mistake(fault, until)),
    ];
    for (span, mistake) in mistakes {
        if let Some((message, cure)) = mistake {
            return Err(source.error(span, message, cure));
        }
    }
    let name = name.unwrap_or_else(|| format!("{on}, {nth}: {} {}", at.word(), deed.word()));
    let line = source.error(span, "", "").line;
    Ok(Rule { name, line, on, nth, fault, until })
}

/// A mistake and its cure.
type Mistake = (String, String);

fn mistake(message: &str, cure: &str) -> Option<Mistake> {
    Some((message.to_owned(), cure.to_owned()))
}

fn address(written: WrittenAddress) -> Result<Address, Mistake> {
    let WrittenAddress { method, tool, path, .. } = written;
    match (tool, path) {
        (Some(_), Some(_)) => Err((
            "a tool is called by a message of JSON-RPC, and a path is of a request".to_owned(),
            "leave `tool` or `path` out".to_owned(),
        )),
        (None, Some(path)) if is_verb(&method) && path.starts_with('/') && !path.contains('?') => {
            Ok(Address::Request { method, path })
        }
        (None, Some(_)) => Err((
            "this is no request of HTTP".to_owned(),
            "write the method in capitals and the path alone: `method = \"POST\", path = \"/notes\"`"
                .to_owned(),
        )),
        (None, None) if is_verb(&method) => Err((
            format!("`{method}` is a method of HTTP, and its path is not said"),
            "add `path = \"/…\"`".to_owned(),
        )),
        (Some(_), None) if method != TOOL_CALL => Err((
            format!("`{method}` calls no tool"),
            format!("write `method = \"{TOOL_CALL}\"`, or leave `tool` out"),
        )),
        (tool, None) => Ok(Address::Message { method, tool }),
    }
}

fn is_verb(method: &str) -> bool {
    !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// A proxy sees messages, and nothing of the process behind them.
fn outside(fault: Fault) -> Option<Mistake> {
    let is_inside = fault.at.is_point() || matches!(fault.deed, Do::Crash | Do::Pause | Do::Error);
    let cure = "say `at = \"request\"` or `at = \"reply\"`, and do something to the message";
    if is_inside { mistake("a proxy stands outside of the server", cure) } else { None }
}

/// A message that can never come.
fn unreachable(on: &Address, nth: u64, fault: Fault, wire: Wire) -> Option<Mistake> {
    match on {
        _ if nth == 0 => mistake("messages are counted from 1", "write `nth = 1` for the first"),
        Address::Request { .. } if wire == Wire::Stdio => {
            mistake("nothing of HTTP goes over stdio", "name a method of JSON-RPC, like `tools/call`")
        }
        Address::Message { method, .. } if method.starts_with("notifications/") && fault.at == At::Reply => {
            mistake("a notification has no reply", "say `at = \"request\"`")
        }
        _ => None,
    }
}

fn wire_mistake(fault: Fault, wire: Wire) -> Option<Mistake> {
    if wire == Wire::Http {
        return None;
    }
    if matches!(fault.deed, Do::Reset | Do::Double | Do::Answer) {
        let message =
            format!("`{}` is done to connections of HTTP, and this server is on stdio", fault.deed.word());
        return mistake(&message, "there, one of: drop, cut, duplicate, hold");
    }
    if matches!(fault.spot, Some(Spot::AfterHeaders | Spot::MidEvent)) {
        return mistake(
            "a line has no such place",
            "say `before-first-byte`, `before-last-byte`, or `bytes`",
        );
    }
    None
}

fn release_mistake(fault: Fault, until: Option<Release>) -> Option<Mistake> {
    match (fault.deed, until) {
        (Do::Hold, None) => mistake(
            "a held message goes on when its rule says so",
            "add `until = \"next-request\"`, or a time",
        ),
        (Do::Hold, Some(_)) | (_, None) => None,
        (_, Some(_)) => mistake("`until` belongs to `hold`", "leave it out"),
    }
}
