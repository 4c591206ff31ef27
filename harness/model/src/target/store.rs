//! Where rows are counted.

use serde::Deserialize;
use serde_json::Value;

use super::signal::{Route, ToolCall};
use crate::input::CURE;
use crate::ledger::Row;
use crate::reply;
use crate::scenario::{Place, Role};

/// Where rows are counted: a database, what a command prints, or what the server itself tells.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "WrittenStore")]
pub struct Store {
    /// The server's own SQLite database.
    pub sqlite: Option<String>,
    /// A query with the columns `id`, `label` and, where the target has scopes, `scope`.
    pub effects: Option<String>,
    /// A query with the column `id`: one row for each retained receipt, named by its key.
    pub receipts: Option<String>,
    /// Instead of a database: a command that prints a JSON array of `{id, label, scope}`.
    pub command: Option<Vec<String>>,
    /// Instead of either: a question to the server itself.
    pub asked: Option<Asked>,
}

impl Store {
    /// How effects are counted in it, in the words of the target.
    pub(crate) fn counts(&self) -> Option<String> {
        let asked = || self.asked.as_ref().map(Asked::to_string);
        self.effects.clone().or_else(|| Some(self.command.as_ref()?.join(" "))).or_else(asked)
    }
}

/// A question that the server answers with every effect that one caller may see. It is weaker evidence than
/// a database: it is asked only while nothing is under way, and it says what the server says.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// What is asked.
    pub question: Question,
    /// Who asks.
    pub role: Role,
    /// For which workspace.
    pub workspace: Place,
    /// A pointer into the reply document, to the array of rows.
    pub rows: String,
    /// A pointer into a row: what the server calls it.
    pub id: String,
    /// A pointer into a row: the text in which the label stands.
    pub label: String,
    /// A pointer into a row: whose it is; without it, every row is that of whoever asks.
    pub scope: Option<String>,
}

/// What is asked of a server that counts for itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// A route.
    Http(Route),
    /// An MCP tool.
    Tool(ToolCall),
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.question {
            Question::Http(route) => write!(f, "{route}")?,
            Question::Tool(call) => write!(f, "the tool {}", call.name)?,
        }
        f.write_str(match (self.role, self.workspace) {
            (Role::Other, _) => ", asked as the other principal",
            (Role::Owner, Place::Home) => ", asked as the owner",
            (Role::Owner, _) => ", asked as the owner for another workspace",
        })
    }
}

impl Asked {
    /// The rows in a reply document; `asker` is the scope of whoever asked.
    ///
    /// # Errors
    /// The place that holds no rows, or no name of a row, in one sentence.
    pub fn read(&self, document: &Value, asker: Option<&str>) -> Result<Vec<Row>, String> {
        let rows = document.pointer(&self.rows).and_then(Value::as_array);
        let rows = rows.ok_or_else(|| format!("its reply has no array at `{}`", self.rows))?;
        rows.iter().map(|row| self.row(row, asker)).collect()
    }

    fn row(&self, row: &Value, asker: Option<&str>) -> Result<Row, String> {
        let id = reply::named(Some(&self.id), row).ok_or_else(|| format!("a row has no `{}`", self.id))?;
        let label = reply::named(Some(&self.label), row).unwrap_or_default();
        let scope = match &self.scope {
            Some(_) => reply::named(self.scope.as_ref(), row),
            None => asker.filter(|scope| !scope.is_empty()).map(str::to_owned),
        };
        Ok(Row { id, label, scope })
    }
}

/// A store as it is typed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStore {
    sqlite: Option<String>,
    effects: Option<String>,
    receipts: Option<String>,
    command: Option<Vec<String>>,
    tool: Option<String>,
    arguments: Option<Value>,
    http: Option<Route>,
    rows: Option<String>,
    id: Option<String>,
    label: Option<String>,
    scope: Option<String>,
    r#as: Option<Role>,
    workspace: Option<Place>,
}

impl WrittenStore {
    fn question(&self) -> Result<Option<Question>, String> {
        let no_question = self.tool.is_none() && self.http.is_none();
        let words = [
            ("arguments", self.arguments.is_some() && self.tool.is_none()),
            ("rows", self.rows.is_some() && no_question),
            ("id", self.id.is_some() && no_question),
            ("label", self.label.is_some() && no_question),
            ("scope", self.scope.is_some() && no_question),
            ("as", self.r#as.is_some() && no_question),
            ("workspace", self.workspace.is_some() && no_question),
        ];
        if let Some((word, _)) = words.iter().find(|(_, stray)| *stray) {
            return Err(format!(
                "`{word}` belongs to a question{CURE}add `http = \"GET /…\"` or `tool = \"…\"`"
            ));
        }
        Ok(match (&self.http, &self.tool) {
            (None, None) => None,
            (Some(route), None) => Some(Question::Http(route.clone())),
            (None, Some(name)) => {
                let arguments =
                    self.arguments.clone().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
                Some(Question::Tool(ToolCall { name: name.clone(), arguments }))
            }
            (Some(_), Some(_)) => {
                return Err(format!("one store is asked in one way{CURE}keep `http` or `tool`"));
            }
        })
    }
}

impl TryFrom<WrittenStore> for Store {
    type Error = String;

    fn try_from(written: WrittenStore) -> Result<Store, String> {
        let question = written.question()?;
        let WrittenStore { sqlite, effects, receipts, command, .. } = written;
        let elsewhere = [&sqlite, &effects, &receipts].into_iter().flatten().count() > 0 || command.is_some();
        let asked = match (question, written.rows, written.id, written.label) {
            (None, ..) => None,
            (Some(_), ..) if elsewhere => {
                return Err(format!(
                    "one store is counted in one way{CURE}give each a `[[store]]` of its own"
                ));
            }
            (Some(question), Some(rows), Some(id), Some(label)) => {
                for pointer in [&rows, &id, &label].into_iter().chain(&written.scope) {
                    if !pointer.is_empty() && !pointer.starts_with('/') {
                        return Err(format!("`{pointer}` is no JSON pointer{CURE}write `/{pointer}`"));
                    }
                }
                let (role, workspace) =
                    (written.r#as.unwrap_or_default(), written.workspace.unwrap_or_default());
                Some(Asked { question, role, workspace, rows, id, label, scope: written.scope })
            }
            (Some(_), ..) => {
                return Err(format!(
                    "a question needs to know where its rows are{CURE}add `rows`, `id` and `label`, each a \
                     JSON pointer"
                ));
            }
        };
        Ok(Store { sqlite, effects, receipts, command, asked })
    }
}
