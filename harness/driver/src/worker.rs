//! One worker of a target: a process tree on a state folder, started, asked to stop, and ended.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use nottwice_model::history::What;
use nottwice_model::scenario::{self, Role};
use nottwice_model::target::{Credential, Start};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::error::DriveError;
use crate::leftovers::Identity;
use crate::lines::Lines;
use crate::place::Place;
use crate::process;
use crate::recorder::Recorder;

/// What a worker may see of our own environment.
const ALLOWED: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TZ"];
/// How long the end of a process and of its pipe may take after the first sign of it.
const MOMENT: std::time::Duration = std::time::Duration::from_secs(1);
/// How long a tree may take to stand still after SIGSTOP; only a machine without a free processor needs it.
const STANDS_WITHIN: std::time::Duration = std::time::Duration::from_secs(10);
/// How much of its standard error is shown when it does not start.
const SAID_MOST: usize = 2_000;

/// The last that a process printed beside the protocol, for the message of a failed start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said(Arc<Mutex<Vec<u8>>>);

impl Said {
    /// Adds what was printed; only the end of it all is kept.
    pub(crate) fn add(&self, bytes: &[u8]) {
        let mut said = self.0.lock().expect("nothing panics under this lock");
        said.extend_from_slice(bytes);
        let surplus = said.len().saturating_sub(SAID_MOST);
        said.drain(..surplus);
    }

    fn text(&self) -> String {
        let said = self.0.lock().expect("nothing panics under this lock");
        let text = String::from_utf8_lossy(&said);
        let text = text.trim();
        if text.is_empty() { String::new() } else { format!("; it said:\n{}", indent(text)) }
    }
}

/// Who calls, and for which workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Who {
    pub(crate) role: Role,
    pub(crate) place: scenario::Place,
}

/// Which worker, and for whom: where the caller comes from the environment, each caller has a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seat {
    pub(crate) worker: u8,
    pub(crate) who: Option<Who>,
}

/// A running process tree. Dropping it ends the tree.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) seat: Seat,
    pub(crate) incarnation: u32,
    pub(crate) port: Option<u16>,
    pub(crate) pid: u32,
    pub(crate) mark: String,
    child: tokio::sync::Mutex<Child>,
    pipes: Mutex<Option<(ChildStdin, ChildStdout)>>,
    exited: AtomicBool,
    recorder: Recorder,
    pub(crate) heard: Said,
    /// What it prints on standard error.
    pub(crate) lines: Lines,
    /// Reads standard error to its end.
    listening: tokio::sync::Mutex<tokio::task::JoinHandle<()>>,
    /// Kept so that no state folder is removed while a process of it still runs.
    place: Arc<Place>,
}

impl Worker {
    /// Starts the process. It has its own home, folders and process group, and sees nothing of ours.
    pub(crate) fn start(
        place: &Arc<Place>,
        start: &Start,
        seat: Seat,
        incarnation: u32,
        port: Option<u16>,
        recorder: &Recorder,
    ) -> Result<Worker, DriveError> {
        place.close();
        process::adopt_orphans();
        let mark = format!("{}{}.{}", Identity::own().mark(), place.state.path().display(), unique());
        let mut command = command(place, start, seat, port, &mark)?;
        let piped = port.is_none();
        command.stdin(if piped { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|source| DriveError::Start { command: start.command.join(" "), source })?;
        let pid = child.id().expect("a child that was not waited for has an id");
        process::lead(pid);
        let (heard, lines) = (Said::default(), Lines::new());
        let stderr = child.stderr.take().expect("piped above");
        let listening = tokio::spawn(listen(
            stderr,
            "stderr",
            seat.worker,
            recorder.clone(),
            Some((heard.clone(), lines.clone())),
        ));
        let stdout = child.stdout.take().expect("piped above");
        let pipes = match child.stdin.take() {
            Some(stdin) => Some((stdin, stdout)),
            None => {
                tokio::spawn(listen(stdout, "stdout", seat.worker, recorder.clone(), None));
                None
            }
        };
        Ok(Worker {
            seat,
            incarnation,
            port,
            pid,
            mark,
            child: tokio::sync::Mutex::new(child),
            pipes: Mutex::new(pipes),
            exited: AtomicBool::new(false),
            recorder: recorder.clone(),
            heard,
            lines,
            listening: tokio::sync::Mutex::new(listening),
            place: place.clone(),
        })
    }

    /// The pipes of a worker that is spoken to over standard input and output; they are given away once.
    pub(crate) fn take_pipes(&self) -> Option<(ChildStdin, ChildStdout)> {
        self.pipes.lock().expect("nothing panics under this lock").take()
    }

    /// Writes down that it answered for the first time.
    pub(crate) fn started(&self) {
        let Seat { worker, .. } = self.seat;
        self.recorder.add(What::Started { worker, incarnation: self.incarnation, pid: self.pid });
    }

    /// How it ended by itself, if it did.
    pub(crate) async fn ended(&self) -> Option<String> {
        let status = self.child.lock().await.try_wait().ok().flatten()?;
        self.exited(false, status.to_string());
        Some(status.to_string())
    }

    /// Whether the tree's leader still runs.
    pub(crate) async fn is_alive(&self) -> bool {
        !self.exited.load(Ordering::SeqCst) && self.ended().await.is_none()
    }

    /// Ends the whole tree with SIGKILL and waits until its leader is gone.
    pub(crate) async fn kill(&self) {
        self.place.close();
        process::kill_group(self.pid);
        if let Ok(status) = self.child.lock().await.wait().await {
            self.exited(true, status.to_string());
        }
        // Whoever it started is ours to end now that the leader is gone.
        process::kill_orphans(self.pid, &self.mark);
    }

    /// Stops the whole tree with SIGSTOP; when this returns, nothing of it runs.
    pub(crate) async fn pause(&self) -> Result<(), DriveError> {
        if process::stop(self.pid, &self.mark, STANDS_WITHIN).await {
            self.recorder.add(What::Paused { worker: self.seat.worker });
            return Ok(());
        }
        process::resume(self.pid, &self.mark);
        Err(DriveError::NotStopped { worker: self.seat.worker, within: STANDS_WITHIN })
    }

    /// Lets the whole tree go on.
    pub(crate) fn resume(&self) {
        process::resume(self.pid, &self.mark);
        self.recorder.add(What::Resumed { worker: self.seat.worker });
    }

    /// Asks it to stop with SIGTERM; its standard input is closed by whoever holds the pipe.
    pub(crate) fn ask_to_stop(&self) {
        self.recorder.add(What::AskedToStop { worker: self.seat.worker, pid: self.pid });
        self.hang_up();
    }

    /// The same after its only connection is closed already, which has told it to stop.
    pub(crate) fn hang_up(&self) {
        self.place.close();
        process::ask_to_stop(self.pid);
    }

    /// Waits until it has stopped; what still runs when its declared time has passed is killed.
    pub(crate) async fn stopped(&self, within: std::time::Duration) {
        let waited = tokio::time::timeout(within, async { self.child.lock().await.wait().await }).await;
        match waited {
            Ok(Ok(status)) => {
                process::kill_tree(self.pid, &self.mark);
                self.exited(true, status.to_string());
            }
            _ => self.kill().await,
        }
    }

    /// How it ended, if it is ending, and the last it printed on standard error. Both take a moment to
    /// arrive after its pipe was closed.
    pub(crate) async fn last_words(&self) -> (Option<String>, String) {
        let ended = tokio::time::timeout(MOMENT, async { self.child.lock().await.wait().await }).await;
        if let Ok(Ok(status)) = &ended {
            self.exited(false, status.to_string());
            let _ = tokio::time::timeout(MOMENT, &mut *self.listening.lock().await).await;
        }
        (ended.ok().and_then(Result::ok).map(|status| status.to_string()), self.said())
    }

    /// The last it printed on standard error, for the message of a failed start.
    pub(crate) fn said(&self) -> String {
        self.heard.text()
    }

    fn exited(&self, by_us: bool, status: String) {
        if !self.exited.swap(true, Ordering::SeqCst) {
            self.recorder.add(What::Exited { worker: self.seat.worker, pid: self.pid, by_us, status });
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        process::kill_tree(self.pid, &self.mark);
        process::forget(self.pid);
    }
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// A number that no other worker of this process has.
fn unique() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn command(
    place: &Place,
    start: &Start,
    seat: Seat,
    port: Option<u16>,
    mark: &str,
) -> Result<Command, DriveError> {
    let words = start.command.iter().map(|word| place.fill(word, port)).collect::<Result<Vec<_>, _>>()?;
    let (program, arguments) = words.split_first().ok_or_else(|| DriveError::Start {
        command: String::new(),
        source: std::io::Error::other("the command is empty"),
    })?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().process_group(0).kill_on_drop(true);
    for name in ALLOWED {
        if let Ok(value) = std::env::var(name) {
            command.env(name, value);
        }
    }
    let home = place.state.home();
    command.env("HOME", &home).env("TMPDIR", place.state.temp());
    for (name, folder) in
        [("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", ".data"), ("XDG_CACHE_HOME", ".cache")]
    {
        command.env(name, home.join(folder));
    }
    for (name, value) in &start.env {
        command.env(name, place.fill(value, port)?);
    }
    for credential in place.credentials(seat.who.unwrap_or_default()) {
        if let Credential::Env { name, value } = credential {
            command.env(name, value);
        }
    }
    command.env(process::MARK, mark);
    match &start.folder {
        Some(folder) => command.current_dir(place.fill(folder, port)?),
        None => command.current_dir(place.state.path()),
    };
    Ok(command)
}

/// Reads what a worker prints beside the protocol, so that it never blocks on a full pipe.
async fn listen(
    stream: impl AsyncRead + Unpin,
    name: &'static str,
    worker: u8,
    recorder: Recorder,
    told: Option<(Said, Lines)>,
) {
    let mut reader = BufReader::new(stream);
    loop {
        let Ok(chunk) = reader.fill_buf().await else { return };
        if chunk.is_empty() {
            return;
        }
        recorder.printed(worker, name, chunk);
        let length = chunk.len();
        if let Some((said, lines)) = &told {
            said.add(chunk);
            lines.add(chunk);
        }
        reader.consume(length);
    }
}
