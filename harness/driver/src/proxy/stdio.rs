//! The proxy on standard input and output: one message a line, replies found by their id.

use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nottwice_model::docket::Sighting;
use nottwice_model::fault::{At, Do};
use nottwice_model::glance::Glance;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

use super::desk::{Borne, Desk, Word};
use super::journal::Evidence;
use super::pipe;
use crate::cut::Cut;
use crate::error::DriveError;
use crate::leftovers::Identity;
use crate::process;

/// How much is read at a time.
const CHUNK: usize = 64 * 1024;
/// How long a server may take to end when its standard input has ended, before it is killed.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// A stream that is closed by taking it away.
type Sink = tokio::sync::Mutex<Option<Box<dyn AsyncWrite + Send + Unpin>>>;

/// The session between one client and one server.
struct Session {
    desk: Desk,
    server: Sink,
    client: Sink,
    awaited: Mutex<Vec<Awaited>>,
    /// Messages that stand still.
    held: Mutex<JoinSet<()>>,
}

/// A reply that matters.
struct Awaited {
    id: Value,
    then: Then,
}

enum Then {
    /// It bears a fault.
    Bear(Borne),
    /// It is the first of two: the same request goes to the server again.
    Again(Borne, Vec<u8>),
    /// It is the second of two; the first is kept here, and its caller told when the second has come.
    Told(Borne, Vec<u8>, usize),
    /// Others go on when it was delivered.
    Free(Vec<usize>),
}

/// Why nothing more is passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The stream that is read has ended, or nobody reads the other one.
    Over,
    /// A fault has closed the streams.
    Cut,
}

/// Starts the server and passes messages on until the session is over.
pub(crate) async fn stand(
    desk: &Desk,
    command: &[String],
    stop: impl Future<Output = ()>,
) -> Result<(), DriveError> {
    process::adopt_orphans();
    let mark = format!("{}proxy", Identity::own().mark());
    let mut child = start(command, &mark)?;
    let leader = child.id().expect("a child that was not waited for has an id");
    process::lead(leader);
    let stdin: Box<dyn AsyncWrite + Send + Unpin> = Box::new(child.stdin.take().expect("piped"));
    let stdout = child.stdout.take().expect("piped");
    let session = Arc::new(Session {
        desk: desk.clone(),
        server: Sink::new(Some(stdin)),
        client: Sink::new(Some(pipe::output())),
        awaited: Mutex::default(),
        held: Mutex::default(),
    });
    let mut downward = Box::pin(session.clone().downward(stdout));
    let end = tokio::select! {
        end = session.clone().upward(pipe::input()) => Some(end),
        _ = &mut downward => None,
        () = stop => {
            process::ask_to_stop(leader);
            Some(End::Over)
        }
    };
    session.server.lock().await.take();
    if end == Some(End::Over) {
        // What was asked is still answered.
        let _ = tokio::time::timeout(ENDS_WITHIN, &mut downward).await;
    }
    drop(downward);
    session.client.lock().await.take();
    pipe::close_output();
    let mut held = std::mem::take(&mut *session.held.lock().unwrap_or_else(PoisonError::into_inner));
    held.shutdown().await;
    end_tree(&mut child, leader, &mark).await;
    Ok(())
}

fn start(command: &[String], mark: &str) -> Result<Child, DriveError> {
    let failed = |source| DriveError::Start { command: command.join(" "), source };
    let Some((program, arguments)) = command.split_first() else {
        return Err(failed(std::io::Error::other("the command is empty")));
    };
    let mut command = Command::new(program);
    command.args(arguments).env(process::MARK, mark).process_group(0).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)
}

/// Waits for the end of a server whose standard input has ended; ends it, and whatever it started.
async fn end_tree(child: &mut Child, leader: u32, mark: &str) {
    let _ = tokio::time::timeout(ENDS_WITHIN, child.wait()).await;
    process::kill_group(leader);
    let _ = child.wait().await;
    process::kill_orphans(leader, mark);
    process::forget(leader);
}

impl Session {
    /// Passes the client's messages on.
    async fn upward(self: Arc<Self>, from: impl AsyncRead + Unpin) -> End {
        let mut lines = Lines::new(from);
        while lines.more().await {
            let (mut passed, whole) = (0, lines.whole);
            while let Some(range) = lines.next() {
                let line = &lines.bytes[range.clone()];
                let Some((borne, id)) = self.asked(line) else { continue };
                let line = line.to_vec();
                if write(&self.server, &lines.bytes[passed..range.start]).await.is_err() {
                    return End::Over;
                }
                passed = range.end;
                if self.clone().on_request(borne, id, line).await == Some(End::Cut) {
                    return End::Cut;
                }
            }
            if write(&self.server, &lines.bytes[passed..whole]).await.is_err() {
                return End::Over;
            }
            lines.done();
        }
        let _ = write(&self.server, &lines.bytes).await;
        End::Over
    }

    /// The fault that is done to a request on its way, and the request's id. A fault of its reply is only
    /// waited for.
    fn asked(&self, line: &[u8]) -> Option<(Borne, Option<Value>)> {
        if !self.desk.reads_messages() {
            return None;
        }
        let mut glance = Glance::default();
        glance.look(line, |glance| {
            let tool = |method| !self.desk.reads_tool(method) || glance.tool().is_some();
            glance.id().is_some() && glance.method().is_some_and(tool)
        });
        let method = glance.method()?;
        let sighting = Sighting { request: None, message: Some((method, glance.tool())) };
        let Word { bears, frees } = self.desk.see(sighting);
        let id = glance.id().cloned();
        if let (Some(id), false) = (&id, frees.is_empty()) {
            self.wait_for(id.clone(), Then::Free(frees));
        }
        match (bears, id) {
            (Some(borne), Some(id)) if borne.rule.fault.at == At::Reply => {
                self.wait_for(id, Then::Bear(borne));
                None
            }
            (bears, id) => bears.filter(|borne| borne.rule.fault.at == At::Request).map(|borne| (borne, id)),
        }
    }

    async fn on_request(self: Arc<Self>, borne: Borne, id: Option<Value>, line: Vec<u8>) -> Option<End> {
        let fault = borne.rule.fault;
        match (fault.deed, id) {
            (Do::Cut, _) => {
                let passed = Cut::of(fault, line.len() / 2).of_line(line.len());
                if write(&self.server, &line[..passed]).await.is_ok() {
                    let says = "the rest was taken away, and the streams were closed";
                    self.desk.fired(&borne, &Evidence::of(&line, passed, says));
                }
                return Some(End::Cut);
            }
            (Do::Hold, _) => {
                self.hold(borne, line, "the request was kept back before its first byte", |of| &of.server)
                    .await
            }
            (Do::Duplicate, Some(id)) => {
                self.wait_for(id, Then::Again(borne, line.clone()));
                let _ = write(&self.server, &line).await;
            }
            (Do::Duplicate, None) => {
                let twice = [line.as_slice(), &line].concat();
                if write(&self.server, &twice).await.is_ok() {
                    let says = "the same bytes were delivered twice; nothing answers them";
                    self.desk.fired(&borne, &Evidence::of(&line, twice.len(), says));
                }
            }
            _ => {
                let says = "the request was taken off the wire before the server";
                self.desk.fired(&borne, &Evidence::of(&line, 0, says));
            }
        }
        None
    }

    /// Passes the server's messages on.
    async fn downward(self: Arc<Self>, from: impl AsyncRead + Unpin) -> End {
        let mut lines = Lines::new(from);
        while lines.more().await {
            let (mut passed, whole) = (0, lines.whole);
            while let Some(range) = lines.next() {
                let line = &lines.bytes[range.clone()];
                let Some(then) = self.answers(line) else { continue };
                let line = line.to_vec();
                let before = std::mem::replace(&mut passed, range.end);
                if write(&self.client, &lines.bytes[before..range.start]).await.is_err() {
                    return End::Over;
                }
                if self.clone().on_reply(then, line).await == Some(End::Cut) {
                    return End::Cut;
                }
            }
            if write(&self.client, &lines.bytes[passed..whole]).await.is_err() {
                return End::Over;
            }
            lines.done();
        }
        let _ = write(&self.client, &lines.bytes).await;
        End::Over
    }

    /// What a line is waited for, if it is a reply that matters.
    fn answers(&self, line: &[u8]) -> Option<Then> {
        if self.awaited().is_empty() {
            return None;
        }
        let mut glance = Glance::default();
        glance.look(line, |glance| glance.method().is_some());
        let id = glance.id().filter(|_| glance.method().is_none())?;
        let mut awaited = self.awaited();
        let at = awaited.iter().position(|awaited| awaited.id == *id)?;
        Some(awaited.remove(at).then)
    }

    async fn on_reply(self: Arc<Self>, then: Then, line: Vec<u8>) -> Option<End> {
        match then {
            Then::Bear(borne) => return self.bear(borne, line).await,
            Then::Free(frees) => {
                // The same reply can bear a fault of its own.
                let end = match self.answers(&line) {
                    Some(then) => Box::pin(self.clone().on_reply(then, line)).await,
                    None => {
                        let _ = write(&self.client, &line).await;
                        None
                    }
                };
                self.desk.answered(&frees);
                return end;
            }
            Then::Again(borne, request) => {
                let mut glance = Glance::default();
                glance.look(&line, |glance| glance.id().is_some());
                let id = glance.id().cloned().unwrap_or_default();
                self.wait_for(id, Then::Told(borne, line, request.len()));
                let _ = write(&self.server, &request).await;
            }
            Then::Told(borne, first, request) => {
                let says = "the same request was delivered again after its answer, and answered";
                let evidence = Evidence { read: request, ..Evidence::of(&first, request * 2, says) };
                self.desk.fired(&borne, &evidence);
                let _ = write(&self.client, &first).await;
            }
        }
        None
    }

    async fn bear(self: Arc<Self>, borne: Borne, line: Vec<u8>) -> Option<End> {
        let fault = borne.rule.fault;
        match fault.deed {
            Do::Cut => {
                let passed = Cut::of(fault, 1).of_line(line.len());
                if write(&self.client, &line[..passed]).await.is_ok() {
                    let says = "the rest was taken away, and the streams were closed";
                    self.desk.fired(&borne, &Evidence::of(&line, passed, says));
                }
                return Some(End::Cut);
            }
            Do::Hold => {
                self.hold(borne, line, "the reply was kept back before its first byte", |of| &of.client).await
            }
            Do::Duplicate => {
                let twice = [line.as_slice(), &line].concat();
                if write(&self.client, &twice).await.is_ok() {
                    let says = "the reply was delivered twice";
                    self.desk.fired(&borne, &Evidence::of(&line, twice.len(), says));
                }
            }
            _ => {
                let says = "the reply was read and given to nobody";
                self.desk.fired(&borne, &Evidence::of(&line, 0, says));
            }
        }
        None
    }

    /// Keeps a message until its rule lets it go, while others pass.
    async fn hold(self: Arc<Self>, mut borne: Borne, line: Vec<u8>, says: &str, to: fn(&Session) -> &Sink) {
        if !self.desk.keeps(&borne, &Evidence::of(&line, 0, says)) {
            let _ = write(to(&self), &line).await;
            return;
        }
        let session = self.clone();
        let held = async move {
            session.desk.let_go(&mut borne).await;
            if write(to(&session), &line).await.is_ok() {
                session.desk.delivered(&borne);
            }
        };
        self.held.lock().unwrap_or_else(PoisonError::into_inner).spawn(held);
    }

    fn wait_for(&self, id: Value, then: Then) {
        self.awaited().push(Awaited { id, then });
    }

    fn awaited(&self) -> std::sync::MutexGuard<'_, Vec<Awaited>> {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn write(sink: &Sink, bytes: &[u8]) -> std::io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    match sink.lock().await.as_mut() {
        None => Err(std::io::ErrorKind::BrokenPipe.into()),
        Some(stream) => {
            stream.write_all(bytes).await?;
            stream.flush().await
        }
    }
}

/// What has come of a stream, cut into lines.
struct Lines<R> {
    from: R,
    bytes: Vec<u8>,
    /// How much of it is whole lines.
    whole: usize,
    /// Where the next line begins.
    next: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(from: R) -> Lines<R> {
        Lines { from, bytes: Vec::with_capacity(CHUNK), whole: 0, next: 0 }
    }

    /// Reads until a line is whole; false when the stream has ended.
    async fn more(&mut self) -> bool {
        loop {
            let seen = self.bytes.len();
            self.bytes.reserve(CHUNK);
            if !matches!(self.from.read_buf(&mut self.bytes).await, Ok(1..)) {
                return false;
            }
            if let Some(at) = memchr::memrchr(b'\n', &self.bytes[seen..]) {
                self.whole = seen + at + 1;
                return true;
            }
        }
    }

    /// Where the next whole line is.
    fn next(&mut self) -> Option<std::ops::Range<usize>> {
        let end = memchr::memchr(b'\n', &self.bytes[self.next..self.whole])? + self.next + 1;
        Some(std::mem::replace(&mut self.next, end)..end)
    }

    /// Leaves what is no whole line.
    fn done(&mut self) {
        self.bytes.drain(..self.whole);
        (self.whole, self.next) = (0, 0);
    }
}
