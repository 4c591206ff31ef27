//! A preset: rows of a target file that many servers share, under one name and with their source.
//!
//! `preset = "ietf-07"` in a target stands for all of its rows. What the file says itself goes before it, row
//! by row, and the reply rules of the file are tried before those of the preset.

use include_dir::{Dir, include_dir};
use serde::Deserialize;
use toml::{Table, Value};

use crate::input::{InputError, Source};
use crate::target::{InFlight, Key, Replay, Replies, Retention, Scope};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../presets");

/// Rows of a target file under one name.
#[derive(Debug, Clone)]
pub struct Preset {
    /// Its name, from its file.
    pub name: &'static str,
    /// Whose rows these are, in one sentence.
    pub summary: String,
    /// Where they are written down.
    pub source: String,
    /// The rows as they stand in its file.
    pub text: &'static str,
    rows: Table,
}

/// A preset as it is typed: only tables by which honest servers differ, and how they word their replies.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    summary: String,
    source: String,
    #[serde(default, rename = "key")]
    _key: Key,
    #[serde(default, rename = "scope")]
    _scope: Scope,
    #[serde(default, rename = "in_flight")]
    _in_flight: InFlight,
    #[serde(default, rename = "replay")]
    _replay: Replay,
    #[serde(default, rename = "retention")]
    _retention: Retention,
    #[serde(default, rename = "replies")]
    _replies: Replies,
}

impl Preset {
    /// Whether one of its rows reads like a line of a target file, `[table] row = value`.
    pub fn has(&self, line: &str) -> bool {
        self.rows
            .iter()
            .filter_map(|(name, table)| Some((name, table.as_table()?)))
            .any(|(name, table)| table.iter().any(|(row, value)| format!("[{name}] {row} = {value}") == line))
    }
}

/// Every preset, by name.
///
/// # Errors
/// The first mistake in one, which a test rules out.
pub fn all() -> Result<Vec<Preset>, InputError> {
    let mut found = Vec::new();
    for file in FILES.files() {
        let name = file.path().file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let text = file.contents_utf8().unwrap_or_default();
        let source = Source { file: name, text };
        let Written { summary, source: origin, .. } = source.parse()?;
        let mut rows: Table = source.parse()?;
        rows.retain(|_, row| row.is_table());
        found.push(Preset { name, summary, source: origin, text, rows });
    }
    found.sort_by_key(|preset| preset.name);
    Ok(found)
}

/// The rows of a target file and, where it says nothing itself, those of its presets; the first that says
/// something decides.
///
/// # Errors
/// There is no preset of a name.
pub(crate) fn applied(source: Source<'_>, names: &[String]) -> Result<Table, InputError> {
    let mut rows: Table = source.parse()?;
    let known = all()?;
    for name in names {
        let Some(preset) = known.iter().find(|preset| preset.name == name) else {
            let names: Vec<_> = known.iter().map(|preset| preset.name).collect();
            let start = source.text.find(&format!("\"{name}\"")).unwrap_or(0);
            let cure = format!("one of: {}", names.join(", "));
            return Err(source.error(start..start + name.len() + 2, "there is no such preset", cure));
        };
        fill(&mut rows, &preset.rows);
    }
    Ok(rows)
}

/// Adds what a table lacks. A list that both have is that of the table, followed by the other's.
fn fill(table: &mut Table, from: &Table) {
    for (name, value) in from {
        match (table.get_mut(name), value) {
            (None, _) => drop(table.insert(name.clone(), value.clone())),
            (Some(Value::Table(own)), Value::Table(more)) => fill(own, more),
            (Some(Value::Array(own)), Value::Array(more)) => own.extend(more.iter().cloned()),
            (Some(_), _) => {}
        }
    }
}
