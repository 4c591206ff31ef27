//! How the reply of a server reads: a document, and declared rules that give its class.
//!
//! Over MCP the document is the JSON-RPC message itself; where its first text content is JSON, that stands
//! under `/text`, since many servers give their result so. Over plain HTTP it is
//! `{"status": 201, "headers": {"location": "…"}, "body": …}`, header names in lower case, and the body
//! as JSON where it is JSON, else as a string. Over Streamable HTTP `/status` and `/headers` stand beside the
//! members of the message; what is no message of MCP stands under `/body`, as over plain HTTP. The rules of a target are never guessed at: a reply that
//! none of them fits is *unclassified*, and that is an unknown outcome.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::target::{Replies, Transport};

/// What a reply says about its attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Done, by this attempt as far as it says.
    Ok,
    /// Done before; this is the retained result.
    Replayed,
    /// Taken on, not done yet.
    Accepted,
    /// The original is still at work.
    InProgress,
    /// A passing shortage: a lock, a rate limit.
    Busy,
    /// The key stands for other arguments.
    Conflict,
    /// This caller may not.
    Denied,
    /// The request is wrong in itself.
    Invalid,
    /// The receipt is gone by the stated policy.
    Expired,
    /// The work failed, for good and with no effect.
    Failed,
    /// The server says that it does not know.
    Unknown,
}

/// One rule: a reply that has this at that place is of this class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The class it gives.
    pub class: Class,
    /// A JSON pointer into the reply document.
    pub at: String,
    /// The value that stands there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<Value>,
    /// A text that the value there contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
}

impl Rule {
    /// Whether the rule fits; with neither `equals` nor `contains` it is enough that something stands there.
    fn fits(&self, document: &Value) -> bool {
        let Some(found) = document.pointer(&self.at) else { return false };
        let equals = self.equals.as_ref().is_none_or(|wanted| wanted == found);
        let contains = self.contains.as_ref().is_none_or(|wanted| match found {
            Value::String(text) => text.contains(wanted),
            other => other.to_string().contains(wanted),
        });
        equals && contains
    }
}

/// What the success of an attempt says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The effect it names.
    pub id: Option<String>,
    /// Whether it says that the work was done before.
    pub replayed: bool,
    /// The business result.
    pub value: Value,
}

/// The class of a reply document by the declared rules; where none of them is for `ok`, also by what the
/// transport itself settles.
pub fn classify(replies: &Replies, transport: Transport, document: &Value) -> Option<Class> {
    let declared = replies.rules.iter().find(|rule| rule.fits(document)).map(|rule| rule.class);
    // Whoever says which replies are successes has said it of all of them.
    let says_success = replies.rules.iter().any(|rule| rule.class == Class::Ok);
    declared.or_else(|| {
        if says_success {
            return None;
        }
        let is_plain_success = match transport {
            Transport::McpStdio | Transport::McpHttp => {
                let result = document.get("result")?;
                result.get("isError").is_none_or(|flag| flag == false)
            }
            Transport::Http => document.get("status")?.as_u64().is_some_and(|s| (200..300).contains(&s)),
        };
        is_plain_success.then_some(Class::Ok)
    })
}

/// What a success document says, read at the declared places.
pub fn answer(replies: &Replies, transport: Transport, class: Class, document: &Value) -> Answer {
    let id = named(replies.id.as_ref(), document);
    let usual: &[&str] = match transport {
        Transport::McpStdio | Transport::McpHttp => &["/result/structuredContent", "/result/content"],
        Transport::Http => &["/body"],
    };
    let places = replies.value.as_deref().into_iter().chain(usual.iter().copied());
    let value = places.filter_map(|at| document.pointer(at)).next().cloned().unwrap_or(Value::Null);
    Answer { id, replayed: class == Class::Replayed, value }
}

/// What a reply says at a declared place, as text.
pub fn named(at: Option<&String>, document: &Value) -> Option<String> {
    match document.pointer(at?)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// The JSON that a recorded reply carries: the whole of it, or its body over HTTP, or the last event that is JSON
/// in a stream of them.
pub fn message(bytes: &str) -> Option<Value> {
    let body = body(bytes);
    let data = body.lines().rev().filter_map(|line| line.strip_prefix("data:"));
    [body].into_iter().chain(data).find_map(|text| serde_json::from_str(text).ok())
}

/// The part of a reply that speaks of its matter: the body, as JSON without the id of the message where it
/// is JSON.
pub fn essence(bytes: &str) -> String {
    match message(bytes) {
        Some(Value::Object(mut members)) => {
            members.remove("id");
            Value::Object(members).to_string()
        }
        _ => body(bytes).to_owned(),
    }
}

fn body(bytes: &str) -> &str {
    bytes.split_once("\r\n\r\n").map_or(bytes, |(_, body)| body)
}
