//! Counts by asking the server itself, as one of its callers.

use nottwice_model::scenario::{Place as Workspace, Role};
use nottwice_model::target::{Asked as Ask, Question, Store};
use serde_json::Value;

use crate::connect::Line;
use crate::error::DriveError;
use crate::oracle::{Counted, Counting, Oracle};
use crate::place::Place;
use crate::signal;
use crate::transport::{Later, Reply};
use crate::worker::Who;

#[derive(Debug)]
pub(super) struct Asked;

impl Oracle for Asked {
    fn count<'c>(
        &'c self,
        store: &'c Store,
        counting: &'c Counting,
    ) -> Later<'c, Result<Counted, DriveError>> {
        Box::pin(async move {
            let ask = store.asked.as_ref().expect("the list of oracles looked for it");
            let Counting { place, askers, .. } = counting;
            let line = &askers[&Who { role: ask.role, place: ask.workspace }];
            let reply = asked(ask, place, line).await?;
            let scope = scope(place, ask.role, ask.workspace);
            let rows = ask.read(&reply.document, scope.as_deref());
            let rows = rows.map_err(|why| DriveError::Count(format!("{ask}: {why}")))?;
            Ok(Counted::Rows { effects: Some(rows), receipts: None })
        })
    }
}

async fn asked(ask: &Ask, place: &Place, line: &Line) -> Result<Reply, DriveError> {
    match &ask.question {
        Question::Tool(call) => signal::ask_tool(place, line, call).await,
        Question::Http(route) => {
            let credentials = place.credentials(Who { role: ask.role, place: ask.workspace });
            let headers = signal::headers(&credentials);
            signal::ask_route_over(place, line.link.as_ref(), route, &Value::Null, headers).await
        }
    }
}

/// What the scope column of a store would say for whoever asks.
fn scope(place: &Place, role: Role, workspace: Workspace) -> Option<String> {
    let mut scopes = place.target().scopes().into_iter();
    scopes.find(|name| name.role == role && name.place == workspace).map(|name| name.scope)
}
