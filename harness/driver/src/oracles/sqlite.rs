//! Counts rows in the server's own SQLite database.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nottwice_model::history::CountedFrom;
use nottwice_model::ledger::Row;
use nottwice_model::target::Store;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use crate::error::DriveError;
use crate::oracle::{self, Counted, Counting, Oracle};
use crate::place::Place;
use crate::transport::Later;

/// How long a reader waits for a writer that is just committing.
const PATIENCE: Duration = Duration::from_secs(5);

/// The files that make up a database; `-shm` is rebuilt from the log.
const PARTS: [&str; 3] = ["", "-wal", "-journal"];

#[derive(Debug)]
pub(super) struct Sqlite;

impl Oracle for Sqlite {
    fn count<'c>(
        &'c self,
        store: &'c Store,
        counting: &'c Counting,
    ) -> Later<'c, Result<Counted, DriveError>> {
        oracle::blocking(store, counting, count)
    }
}

fn count(store: &Store, place: &Place, from: CountedFrom) -> Result<Counted, DriveError> {
    let path = PathBuf::from(place.fill(store.sqlite.as_deref().unwrap_or_default(), None)?);
    if !path.exists() {
        return Ok(Counted::Absent(format!("the database {} does not exist", path.display())));
    }
    let error = |error: rusqlite::Error| DriveError::Count(format!("{}: {error}", path.display()));
    if from == CountedFrom::Copy {
        place.close();
        let copy = copy(&path, &place.state.temp())?;
        let connection = Connection::open(copy.path().join("db")).map_err(error)?;
        return counted(store, &path, &connection);
    }
    let mut kept = place.kept();
    let number = std::fs::metadata(&path).map(|file| file.ino()).unwrap_or_default();
    if let Some((_, connection)) = kept.get(&path).filter(|(of, _)| *of == number) {
        return counted(store, &path, connection);
    }
    let connection = open(&path).map_err(error)?;
    let counted = counted(store, &path, &connection);
    // In the other modes a server may want the file for itself, to change the mode or to clean up.
    let mode = connection.query_row("PRAGMA journal_mode", (), |row| row.get::<_, String>(0));
    if mode.is_ok_and(|mode| mode == "wal") {
        kept.insert(path, (number, connection));
    }
    counted
}

/// Opens a running server's database, which is read through its own locks. One thread at a time has it.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

fn counted(store: &Store, path: &Path, connection: &Connection) -> Result<Counted, DriveError> {
    let error = |error: rusqlite::Error| DriveError::Count(format!("{}: {error}", path.display()));
    connection.busy_timeout(PATIENCE).map_err(error)?;
    let rows = |query: &Option<String>, labelled| {
        query.as_deref().map(|query| rows(connection, query, labelled)).transpose()
    };
    match (rows(&store.effects, true), rows(&store.receipts, false)) {
        (Ok(effects), Ok(receipts)) => Ok(Counted::Rows { effects, receipts }),
        (Err(why), _) | (_, Err(why)) if why.to_string().contains("no such table") => {
            Ok(Counted::Absent(format!("{}: {why}", path.display())))
        }
        (Err(why), _) | (_, Err(why)) => Err(error(why)),
    }
}

/// Copies a dead server's database, so that opening it does not do the recovery in its place.
fn copy(path: &Path, temp: &Path) -> Result<tempfile::TempDir, DriveError> {
    let error = |source| DriveError::File { path: path.to_owned(), source };
    let folder = tempfile::tempdir_in(temp).map_err(error)?;
    for part in PARTS {
        let mut from = path.as_os_str().to_owned();
        from.push(part);
        match std::fs::copy(&from, folder.path().join(format!("db{part}"))) {
            Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => {}
            other => drop(other.map_err(error)?),
        }
    }
    Ok(folder)
}

fn rows(connection: &Connection, query: &str, labelled: bool) -> rusqlite::Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(query)?;
    let column = |name: &str| statement.column_names().position(|known| known.eq_ignore_ascii_case(name));
    let (id, label, scope) = (column("id"), column("label"), column("scope"));
    let missing =
        |name: &str| rusqlite::Error::InvalidColumnName(format!("the query has no column `{name}`"));
    let id = id.ok_or_else(|| missing("id"))?;
    // Receipts are named by their key alone; an effect without its label could be anybody's.
    if labelled && label.is_none() {
        return Err(missing("label"));
    }
    let read = statement.query_map((), |row| {
        Ok(Row {
            id: text(row.get_ref(id)?).unwrap_or_default(),
            label: label.map(|label| row.get_ref(label)).transpose()?.and_then(text).unwrap_or_default(),
            scope: scope.map(|scope| row.get_ref(scope)).transpose()?.and_then(text),
        })
    })?;
    read.collect()
}

fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
}
