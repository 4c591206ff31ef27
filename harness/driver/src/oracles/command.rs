//! Counts by a command that prints a JSON array of rows, for stores that only their owner can read.

use nottwice_model::history::CountedFrom;
use nottwice_model::ledger::Row;
use nottwice_model::target::Store;
use serde_json::Value;

use crate::error::DriveError;
use crate::oracle::{self, Counted, Counting, Oracle};
use crate::place::Place;
use crate::transport::Later;

#[derive(Debug)]
pub(super) struct Command;

impl Oracle for Command {
    fn count<'c>(
        &'c self,
        store: &'c Store,
        counting: &'c Counting,
    ) -> Later<'c, Result<Counted, DriveError>> {
        oracle::blocking(store, counting, count)
    }
}

fn count(store: &Store, place: &Place, _from: CountedFrom) -> Result<Counted, DriveError> {
    let words = store.command.iter().flatten().map(|word| place.fill(word, None));
    let words = words.collect::<Result<Vec<_>, _>>()?;
    let (program, arguments) =
        words.split_first().ok_or_else(|| DriveError::Count("the command is empty".to_owned()))?;
    let error = |what: &dyn std::fmt::Display| DriveError::Count(format!("`{program}`: {what}"));
    let output = std::process::Command::new(program)
        .args(arguments)
        .current_dir(place.state.path())
        .output()
        .map_err(|source| error(&source))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(error(&format!("{}; it said: {}", output.status, said.trim())));
    }
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout)
        .map_err(|why| error(&format!("it did not print a JSON array of rows: {why}")))?;
    let effects = rows.iter().map(row).collect::<Option<Vec<_>>>();
    let effects = effects.ok_or_else(|| error(&"a row has no `id`"))?;
    Ok(Counted::Rows { effects: Some(effects), receipts: None })
}

fn row(value: &Value) -> Option<Row> {
    let member = |name: &str| match value.get(name)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    Some(Row { id: member("id")?, label: member("label").unwrap_or_default(), scope: member("scope") })
}
