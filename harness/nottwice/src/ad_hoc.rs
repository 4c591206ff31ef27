//! A target told in flags. It is written as a target file beside the records and read like any other, so
//! that flags and files cannot come to mean different things, and a replay finds it again.

use std::collections::BTreeMap;
use std::path::Path;

use nottwice_model::input::Source;
use nottwice_model::target::{self, Target};
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::cli::AdHoc;

/// Writes the target file that the flags tell, and reads it.
pub(crate) fn target(flags: &AdHoc, runs: &Path) -> Result<(String, Target), Failure> {
    let text = toml::to_string(&whole(flags)?).map_err(|error| Failure::Harness(error.to_string()))?;
    // Named by what is in it, so that a replay finds the target that its record was made with.
    let name = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, text.as_bytes()).simple().to_string();
    let path = runs.join(format!("command-line-{}.toml", &name[..8]));
    let written = std::fs::create_dir_all(runs).and_then(|()| std::fs::write(&path, &text));
    written.map_err(|source| Failure::Read { path: path.clone(), source })?;
    let file = path.display().to_string();
    let parsed = target::parse(Source { file: &file, text: &text });
    let target = parsed.map_err(|error| Failure::Input { error, text: text.clone() })?;
    Ok((file, target))
}

fn whole(flags: &AdHoc) -> Result<Value, Failure> {
    let Some(tool) = &flags.tool else {
        return Err(Failure::usage(
            "which tool is to be called is not said",
            "add `--tool NAME --arguments '{\"text\": \"{label}\"}'`, or name a target file",
        ));
    };
    let arguments = arguments(flags)?;
    let mut file = Map::new();
    file.insert("name".into(), json!("command-line"));
    match (&flags.url, flags.start.as_slice()) {
        (Some(url), _) => {
            let (method, path) = tool.split_once(' ').unwrap_or(("POST", tool));
            file.insert("reach".into(), json!({"transport": "http", "base": url}));
            let main = json!({"method": method, "path": path, "arguments": arguments});
            file.insert("tool".into(), json!({"main": main}));
        }
        (None, []) => {
            let cure = "add `--url http://127.0.0.1:PORT`, or `-- COMMAND …`";
            return Err(Failure::usage("where the tool is served is not said", cure));
        }
        (None, command) => {
            file.insert("start".into(), json!({"command": command, "env": env(flags)?}));
            file.insert("reach".into(), json!({"transport": "mcp-stdio"}));
            file.insert("tool".into(), json!({"main": {"name": tool, "arguments": arguments}}));
        }
    }
    if let Some(key) = &flags.key {
        file.insert("key".into(), json!({"at": key}));
    }
    if let Some(sqlite) = &flags.sqlite {
        let query = flags.effects.as_deref().ok_or_else(|| {
            let cure = "add `--effects \"SELECT id, text AS label FROM notes\"`";
            Failure::usage("how effects are counted in the database is not said", cure)
        })?;
        file.insert("store".into(), json!([{"sqlite": sqlite, "effects": query}]));
    }
    Ok(Value::Object(file))
}

fn arguments(flags: &AdHoc) -> Result<Value, Failure> {
    let text = flags.arguments.as_deref().unwrap_or("{}");
    let cure = "write a JSON object without null, like '{\"text\": \"{label}\"}'";
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Failure::usage(format!("--arguments is no JSON: {error}"), cure))?;
    if !value.is_object() || has_null(&value) {
        return Err(Failure::usage("--arguments cannot be written into a target file", cure));
    }
    Ok(value)
}

/// TOML has no null.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

/// A name alone stands for the variable of our own environment, whose value is never written down.
fn env(flags: &AdHoc) -> Result<BTreeMap<String, String>, Failure> {
    let pair = |text: &String| {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => (text.as_str(), format!("${{{text}}}")),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        (!name.is_empty() && name.chars().all(is_name)).then(|| (name.to_owned(), value))
    };
    flags
        .env
        .iter()
        .map(|text| {
            let cure = "write `--env NAME=VALUE`, or `--env NAME` to pass on your own";
            pair(text).ok_or_else(|| Failure::usage(format!("`{text}` is no variable"), cure))
        })
        .collect()
}
