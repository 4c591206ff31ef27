//! MCP messages as every transport carries them: what is asked, in the words of each era.

use nottwice_model::history::Why;
use nottwice_model::target::Era;
use serde_json::{Map, Value, json};

use crate::transport::{Later, Lost, Request};

/// The revision that a legacy handshake offers.
pub(crate) const LEGACY: &str = "2025-11-25";
/// The revision that each modern request names.
pub(crate) const MODERN: &str = "2026-07-28";

/// The content type of a stream of events.
pub(crate) const EVENTS: &str = "text/event-stream";

/// Somebody who can be asked in MCP.
pub(crate) trait Asked: Sync {
    /// The era that is spoken.
    fn era(&self) -> Era;

    /// One request of the harness's own, with its whole answer.
    fn ask<'a>(&'a self, id: u64, method: &'a str, params: Value) -> Later<'a, Result<Value, Lost>>;

    /// Says that the handshake is over.
    fn initialized<'a>(&'a self, answer: &'a Value) -> Later<'a, Result<(), Lost>>;
}

/// One request.
pub(crate) fn message(era: Era, id: u64, method: &str, mut params: Value) -> Value {
    if era == Era::Modern {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        params["_meta"]["io.modelcontextprotocol/clientInfo"] = client();
    }
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// One call of a tool.
pub(crate) fn call(era: Era, request: &Request) -> Value {
    let mut params = json!({"name": request.tool.name, "arguments": request.arguments});
    if !request.meta.is_empty() {
        params["_meta"] = request.meta.iter().cloned().collect::<Map<_, _>>().into();
    }
    message(era, request.id, "tools/call", params)
}

/// Says that nobody waits for the answer to a request any more.
pub(crate) fn cancelled(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

/// The headers that repeat arguments, where the input schema of the tool asks for it (`x-mcp-header`, from
/// 2026-07-28 on).
pub(crate) fn repeated(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut found = Vec::new();
    for (name, property) in properties.into_iter().flatten() {
        let Some(value) = arguments.get(name) else { continue };
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            found.push((format!("Mcp-Param-{header}"), text));
        }
        found.extend(repeated(property, value));
    }
    found
}

/// Speaks the handshake of the era, if it has one. There is none in the modern era; asking what every server
/// of it must answer shows that one is there.
pub(crate) async fn greet(link: &impl Asked) -> Result<(), Lost> {
    if link.era() == Era::Modern {
        return link.ask(1, "server/discover", json!({})).await.map(drop);
    }
    let params = json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client()});
    let answer = link.ask(1, "initialize", params).await?;
    link.initialized(&answer).await
}

/// The tools that a server lists.
#[derive(Debug)]
pub(crate) struct Listed {
    /// What it says of each.
    pub(crate) tools: Vec<Value>,
    /// Whether the list came in a stream of events.
    pub(crate) streamed: bool,
}

/// Asks for the tools of a server.
pub(crate) async fn tools(link: &impl Asked) -> Result<Listed, Lost> {
    let list = link.ask(2, "tools/list", json!({})).await?;
    let kind = list.pointer("/headers/content-type").and_then(Value::as_str);
    let streamed = kind.is_some_and(|kind| kind.trim_start().starts_with(EVENTS));
    let tools = list.pointer("/result/tools").and_then(Value::as_array).cloned();
    tools.map(|tools| Listed { tools, streamed }).ok_or_else(|| unexpected(&list))
}

/// An answer that does not fit its question.
pub(crate) fn unexpected(answer: &Value) -> Lost {
    Lost { why: Why::Unclassified, bytes: answer.to_string().into_bytes() }
}

/// A message as rules point into it. Many servers give their result as JSON in a text; rules and pointers
/// reach it under `/text`.
pub(crate) fn with_text(mut document: Value) -> Value {
    let text = document.pointer("/result/content/0/text").and_then(Value::as_str);
    if let Some(value) = text.and_then(|text| serde_json::from_str::<Value>(text).ok()) {
        document["text"] = value;
    }
    document
}

/// The id of the request that a message answers; nothing if it is no answer.
pub(crate) fn answers(message: &Value) -> Option<u64> {
    let is_answer = message.get("method").is_none();
    message.get("id").and_then(Value::as_u64).filter(|_| is_answer)
}

fn client() -> Value {
    json!({"name": "nottwice", "version": env!("CARGO_PKG_VERSION")})
}
