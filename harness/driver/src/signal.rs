//! What the harness says and asks beside the calls, under ids and over connections of its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use nottwice_model::target::{Credential, Route, Signal, Tool, ToolCall};
use serde_json::Value;

use crate::connect::Line;
use crate::error::DriveError;
use crate::place::Place;
use crate::transport::{Link, Reply, Request};
use crate::transports::http::HttpLink;

/// Own ids begin here, above those of any plan, and within 31 bits for servers that count in them.
const FIRST_ID: u64 = 1_000_000_000;

/// Gives a signal to the worker at the other end of a line.
///
/// # Errors
/// It was not taken: a file cannot be written, or the answer is no success.
pub(crate) async fn give(signal: &Signal, place: &Place, line: &Line) -> Result<(), DriveError> {
    match signal {
        Signal::Write(file) => place.write(file),
        Signal::Http { route, body } => ask_route(place, line, route, body, Vec::new()).await.map(drop),
        Signal::Tool(call) => ask_tool(place, line, call).await.map(drop),
        // The worker was started with it.
        Signal::Env(_) => Ok(()),
    }
}

/// Asks a route of a worker, on a connection of its own; any status from 200 to 299 is an answer.
pub(crate) async fn ask_route(
    place: &Place,
    line: &Line,
    route: &Route,
    body: &Value,
    headers: Vec<(String, String)>,
) -> Result<Reply, DriveError> {
    let base = place.target().reach.base.as_deref().unwrap_or_default();
    let base = place.fill(base, line.worker.as_ref().and_then(|worker| worker.port))?;
    let link = HttpLink::connect(0, &base)
        .await
        .map_err(|source| DriveError::Beside(format!("`{route}`: {base} cannot be reached: {source}")))?;
    ask_route_over(place, &link, route, body, headers).await
}

/// The same over a connection that is there.
pub(crate) async fn ask_route_over(
    place: &Place,
    link: &dyn Link,
    route: &Route,
    body: &Value,
    headers: Vec<(String, String)>,
) -> Result<Reply, DriveError> {
    let reply = ask(place, link, tool("", Some(route)), body.clone(), headers, &route.to_string()).await?;
    match reply.document.pointer("/status").and_then(Value::as_u64) {
        Some(200..300) => Ok(reply),
        Some(status) => Err(DriveError::Beside(format!("`{route}` was answered with status {status}"))),
        None => Err(DriveError::Beside(format!("`{route}` was answered without a status"))),
    }
}

/// Calls a tool over the line itself; a result without `isError` is an answer.
pub(crate) async fn ask_tool(place: &Place, line: &Line, call: &ToolCall) -> Result<Reply, DriveError> {
    let ToolCall { name, arguments } = call;
    let headers = Vec::new();
    let reply = ask(place, line.link.as_ref(), tool(name, None), arguments.clone(), headers, name).await?;
    let refused = |what: &str| DriveError::Beside(format!("the tool `{name}` {what}"));
    match reply.document.get("result") {
        Some(result) if result.get("isError").is_none_or(|flag| flag == false) => Ok(reply),
        Some(_) => Err(refused("answered with an error of its own")),
        None => Err(refused("was refused by the protocol")),
    }
}

/// The headers by which a caller says who it is and for which workspace it asks.
pub(crate) fn headers(credentials: &[&Credential]) -> Vec<(String, String)> {
    let header = |credential: &&Credential| match credential {
        Credential::Header { name, value } => Some((name.clone(), value.clone())),
        Credential::Env { .. } => None,
    };
    credentials.iter().filter_map(header).collect()
}

async fn ask(
    place: &Place,
    link: &dyn Link,
    tool: Tool,
    arguments: Value,
    headers: Vec<(String, String)>,
    what: &str,
) -> Result<Reply, DriveError> {
    let id = own_id();
    let bytes = link.encode(&Request { id, tool, arguments, meta: Vec::new(), headers });
    let asked = async {
        link.expect(id);
        link.write(&bytes).await.ok()?;
        link.read(id).await.ok()
    };
    let patience = place.target().reach.patience;
    match tokio::time::timeout(patience.duration(), asked).await {
        Ok(Some(reply)) => Ok(reply),
        Ok(None) => Err(DriveError::Beside(format!("`{what}` got no whole reply"))),
        Err(_) => Err(DriveError::Beside(format!("`{what}` was not answered within {patience}"))),
    }
}

fn tool(name: &str, route: Option<&Route>) -> Tool {
    let (method, path) = route.map(|route| (route.method.clone(), route.path.clone())).unwrap_or_default();
    Tool { name: name.to_owned(), method, path, arguments: Value::Null, change: BTreeMap::new() }
}

/// An id that no call and no other question of this process has.
fn own_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(FIRST_ID);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
