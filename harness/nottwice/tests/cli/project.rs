//! A folder that is thrown away, and the real binary at work in it.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::{self, JoinHandle};

use tempfile::TempDir;

use crate::{left, wait};

/// A small project of a user.
pub(crate) struct Project {
    folder: TempDir,
    alone: Option<RwLockWriteGuard<'static, ()>>,
}

/// Every run reads it, so that one who writes it knows that no other runs.
static RUNS: RwLock<()> = RwLock::new(());

impl Project {
    pub(crate) fn new() -> Project {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let project = Project { folder, alone: None };
        fs::create_dir(project.temp()).expect("the folder is ours");
        project
    }

    /// A project beside whose runs no others are at work.
    pub(crate) fn alone() -> Project {
        let alone = RUNS.write().unwrap_or_else(PoisonError::into_inner);
        Project { alone: Some(alone), ..Project::new() }
    }

    /// With one more file.
    pub(crate) fn with(self, path: &str, text: impl AsRef<[u8]>) -> Project {
        self.write(path, text);
        self
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it is below the folder")).expect("the folder is ours");
        fs::write(path, text).expect("the folder is ours");
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn temp(&self) -> PathBuf {
        self.path("tmp")
    }

    /// Runs `nottwice` to its end, with words that stand between spaces.
    pub(crate) fn run(&self, words: &str) -> Ended {
        self.run_words(&words.split(' ').collect::<Vec<_>>())
    }

    pub(crate) fn run_words(&self, words: &[&str]) -> Ended {
        self.start_words(words).end()
    }

    pub(crate) fn start(&self, words: &str) -> Running {
        self.start_words(&words.split(' ').collect::<Vec<_>>())
    }

    fn start_words(&self, words: &[&str]) -> Running {
        let company = self.company();
        let child = self.command(words).stdout(Stdio::piped()).spawn().expect("the binary was built");
        Running::new(child, self.temp(), company)
    }

    /// Runs it with its standard output given to something else than a reader.
    pub(crate) fn run_into(&self, words: &str, stdout: impl Into<Stdio>) -> Ended {
        let words: Vec<_> = words.split(' ').collect();
        let company = self.company();
        let child = self.command(&words).stdout(stdout).spawn().expect("the binary was built");
        Running::new(child, self.temp(), company).end()
    }

    /// Starts it as the server of this test, which holds both of its pipes.
    pub(crate) fn converse(&self, words: &[&str]) -> (Running, ChildStdin, ChildStdout) {
        let company = self.company();
        let mut command = self.command(words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it was built");
        let (stdin, stdout) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        (Running::new(child, self.temp(), company), stdin, stdout)
    }

    fn company(&self) -> Option<RwLockReadGuard<'static, ()>> {
        self.alone.is_none().then(|| RUNS.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The binary, which sees nothing of this test's own environment but where programs are.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nottwice"));
        command.args(words).current_dir(self.folder.path()).env_clear();
        command.env("PATH", programs()).env("NO_COLOR", "1").env("TMPDIR", self.temp());
        command.env("HOME", self.folder.path()).stdin(Stdio::null()).stderr(Stdio::piped());
        command
    }
}

/// Where programs are looked for: `python3` itself first, because a launcher in its place may be slow.
fn programs() -> &'static str {
    static PROGRAMS: OnceLock<String> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
        let python = String::from_utf8(asked.expect("these tests need python3").stdout).expect("a path");
        let folder = Path::new(python.trim()).parent().expect("an absolute path");
        format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default())
    })
}

/// The binary at work.
pub(crate) struct Running {
    child: Child,
    temp: PathBuf,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
    most_kib: u64,
    _company: Option<RwLockReadGuard<'static, ()>>,
}

impl Running {
    fn new(mut child: Child, temp: PathBuf, company: Option<RwLockReadGuard<'static, ()>>) -> Running {
        let stdout = child.stdout.take().map(reader);
        let stderr = child.stderr.take().map(reader);
        Running { child, temp, stdout, stderr, most_kib: 0, _company: company }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal, named as `kill` names it.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.pid().to_string()]).status();
        assert!(sent.expect("there is a kill").success(), "it no longer runs");
    }

    /// Waits for its end. Nothing of it may be left then, however it ended.
    pub(crate) fn end(mut self) -> Ended {
        let status = wait::until("the end of nottwice", || self.look());
        let whole = |reader: &mut Option<JoinHandle<String>>| {
            reader.take().map(|reader| reader.join().expect("it only reads")).unwrap_or_default()
        };
        let (stdout, stderr) = (whole(&mut self.stdout), whole(&mut self.stderr));
        let exit = status.code().or(status.signal().map(|signal| 128 + signal)).expect("one of both");
        let ended = Ended { stdout, stderr, exit, most_kib: self.most_kib };
        let left = left::all(self.pid(), &self.temp);
        assert!(left.is_empty(), "left behind: {left:#?}\n{ended}");
        ended
    }

    /// How it ended, if it did; and how much memory it has taken at most.
    fn look(&mut self) -> Option<ExitStatus> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next());
        self.most_kib = most.and_then(|kib| kib.parse().ok()).unwrap_or(self.most_kib);
        self.child.try_wait().expect("it is our child")
    }
}

/// A test that fails leaves nothing either.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        left::clear(self.child.id(), &self.temp);
    }
}

fn reader(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a pipe can be read");
        String::from_utf8(bytes).expect("nottwice prints UTF-8")
    })
}

/// What was printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: i32,
    pub(crate) most_kib: u64,
}

impl Ended {
    /// It ended with that exit code.
    #[track_caller]
    pub(crate) fn exits(self, exit: i32) -> Ended {
        assert_eq!(self.exit, exit, "the exit code\n{self}");
        self
    }

    /// What it said of the server, in either format: all but what the run cost.
    pub(crate) fn verdict(&self) -> String {
        let human = self.stdout.find("\nplayed ").zip(self.stdout.rfind("\nexit "));
        let json = self.stdout.find(",\n  \"figures\"").zip(self.stdout.rfind("\n}"));
        let Some((from, to)) = human.or(json) else { return self.stdout.clone() };
        format!("{}{}", &self.stdout[..from], &self.stdout[to..])
    }

    /// It printed these words, wherever its lines were broken.
    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Ended {
        let printed: Vec<_> = self.stdout.split_whitespace().chain(self.stderr.split_whitespace()).collect();
        assert!(printed.join(" ").contains(words), "it does not say: {words}\n{self}");
        self
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\n--- stdout\n{}\n--- stderr\n{}", self.exit, self.stdout, self.stderr)
    }
}
