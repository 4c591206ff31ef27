//! A competing write transaction on the target's database, held by a process of its own.
//!
//! SQLite's locks are those of the process: one plain open and close of the file anywhere in the process
//! that holds a lock drops it silently, and the harness opens the file whenever it counts. So another
//! process holds the lock, and a further connection that is refused proves that it does.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::error::DriveError;
use crate::place::Place;

/// How long the holder waits for the server's own transactions to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// The word that the holder prints once it has the lock.
const HELD: &str = "held";

/// A lock that is held.
#[derive(Debug)]
pub(crate) struct Lock {
    holder: Child,
    database: PathBuf,
    /// What a further connection was told.
    pub(crate) proof: String,
}

impl Lock {
    /// Takes the write lock of the target's database in a process of its own, and proves it.
    pub(crate) async fn hold(place: &Place) -> Result<Lock, DriveError> {
        let store = place.target().stores.iter().find_map(|store| store.sqlite.as_deref());
        let database = PathBuf::from(place.fill(store.unwrap_or_default(), None)?);
        place.close();
        let program = &place.setting.program;
        let error = |source| DriveError::Start { command: program.display().to_string(), source };
        let mut holder = Command::new(program)
            .arg("hold-lock")
            .arg(&database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(error)?;
        let stdout = holder.stdout.take().expect("piped above");
        let mut word = String::new();
        BufReader::new(stdout).read_line(&mut word).await.map_err(error)?;
        let refused = if word.trim() == HELD { refused(&database) } else { None };
        let proof =
            refused.ok_or_else(|| DriveError::Count("the write lock could not be taken".to_owned()))?;
        Ok(Lock { holder, database, proof })
    }

    /// Ends the transaction without a change; says whether it was still held just before.
    pub(crate) async fn release(mut self) -> Result<bool, DriveError> {
        let held = refused(&self.database).is_some();
        drop(self.holder.stdin.take());
        let error = |source| DriveError::Start { command: "the lock holder".to_owned(), source };
        self.holder.wait().await.map_err(error)?;
        Ok(held)
    }
}

/// What a further connection is told that asks for the write lock, if it is refused.
fn refused(database: &Path) -> Option<String> {
    let connection = Connection::open(database).ok()?;
    connection.busy_timeout(Duration::ZERO).ok()?;
    match connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK") {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Some(error.to_string()),
        _ => None,
    }
}

/// The holder's side: takes the write lock of a database, says so on standard output, and keeps it until
/// standard input ends.
///
/// # Errors
/// The lock cannot be taken within a few seconds.
pub fn hold_lock(database: &Path) -> Result<(), DriveError> {
    let error = |error: rusqlite::Error| DriveError::Count(format!("{}: {error}", database.display()));
    let connection = Connection::open(database).map_err(error)?;
    connection.busy_timeout(PATIENCE).map_err(error)?;
    connection.execute_batch("BEGIN IMMEDIATE").map_err(error)?;
    let mut stdout = std::io::stdout();
    let told = writeln!(stdout, "{HELD}").and_then(|()| stdout.flush());
    if told.is_ok() {
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
    }
    connection.execute_batch("ROLLBACK").map_err(error)
}
