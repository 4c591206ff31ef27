//! One TCP connection that carries HTTP/1.1: every byte is seen, nothing is ever sent again by itself,
//! redirects are not followed, and the stream can be broken at a named place.

use std::sync::atomic::{AtomicBool, Ordering};

use nottwice_model::history::Why;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Mutex;

use crate::cut::{self, Cut};
use crate::http1::{Base, Message, message, until_the_end};
use crate::transport::Lost;

/// A head or body longer than this is not read.
const LONGEST: usize = 16 * 1024 * 1024;

/// One connection; it carries one request at a time.
pub(crate) struct Socket {
    base: Base,
    reading: Mutex<Option<Reading>>,
    /// Apart from what is read, so that this side can be closed while a reply is waited for.
    writing: Mutex<Option<OwnedWriteHalf>>,
    free: AtomicBool,
}

/// What is read, and what has come of the reply that is under way.
struct Reading {
    stream: OwnedReadHalf,
    seen: Vec<u8>,
}

impl Socket {
    /// Connects.
    pub(crate) async fn connect(base: Base) -> std::io::Result<Socket> {
        let (reading, writing) = dial(&base).await?;
        let (reading, writing) = (Mutex::new(Some(reading)), Mutex::new(Some(writing)));
        Ok(Socket { base, reading, writing, free: AtomicBool::new(true) })
    }

    /// Connects again unless the next request can go over the connection that there is.
    pub(crate) async fn renew(&self) -> std::io::Result<()> {
        let mut reading = self.reading.lock().await;
        if !reading.as_mut().is_some_and(Reading::is_silent) {
            let (fresh, writing) = dial(&self.base).await?;
            *reading = Some(fresh);
            *self.writing.lock().await = Some(writing);
        }
        Ok(())
    }

    pub(crate) fn base(&self) -> &Base {
        &self.base
    }

    /// Says that a request is about to be written.
    pub(crate) fn occupy(&self) {
        self.free.store(false, Ordering::SeqCst);
    }

    pub(crate) async fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut writing = self.writing.lock().await;
        let Some(stream) = writing.as_mut() else { return Err(std::io::ErrorKind::BrokenPipe.into()) };
        stream.write_all(bytes).await
    }

    /// Waits until the first byte of a reply is there, and takes nothing of it.
    pub(crate) async fn begun(&self) -> Result<(), Lost> {
        let mut reading = self.reading.lock().await;
        let Some(Reading { stream, seen }) = reading.as_mut() else { return Err(Lost::new(Why::NoReply)) };
        if !seen.is_empty() {
            return Ok(());
        }
        match stream.peek(&mut [0]).await {
            Ok(1) => Ok(()),
            _ => Err(Lost::new(Why::NoReply)),
        }
    }

    /// Reads until there is enough of a message, and keeps it for [`Socket::read`].
    pub(crate) async fn wait(&self, enough: impl Fn(&Message) -> bool) -> Result<(), Lost> {
        let mut reading = self.reading.lock().await;
        let Some(Reading { stream, seen }) = reading.as_mut() else { return Err(Lost::new(Why::NoReply)) };
        while !message(seen)?.is_some_and(|message| message.whole || enough(&message)) {
            more(stream, seen).await?;
        }
        Ok(())
    }

    /// Reads one message, to its end or until there is enough of it, and gives its bytes with it.
    pub(crate) async fn read(&self, enough: impl Fn(&Message) -> bool) -> Result<(Vec<u8>, Message), Lost> {
        let mut place = self.reading.lock().await;
        let Some(reading) = place.as_mut() else { return Err(Lost::new(Why::NoReply)) };
        let read = read(reading, enough).await;
        let closed = match &read {
            Ok((_, message)) => {
                // What is still to come of the message is taken off before the next request.
                if message.whole {
                    reading.seen.clear();
                }
                self.free.store(true, Ordering::SeqCst);
                !message.keeps_open
            }
            Err(_) => true,
        };
        if closed {
            *place = None;
            self.writing.lock().await.take();
        }
        read
    }

    /// Reads up to the place of a cut and gives what is let through; the stream stays as it is. `None` if the
    /// message is whole and has no such place: all of it is kept for [`Socket::read`]. `answer` is the length
    /// of what a stream of events was opened for, once that is there.
    pub(crate) async fn read_until(
        &self,
        cut: Cut,
        answer: impl Fn(&Message) -> Option<usize>,
    ) -> Result<Option<Vec<u8>>, Lost> {
        let mut reading = self.reading.lock().await;
        let Some(Reading { stream, seen }) = reading.as_mut() else { return Err(Lost::new(Why::NoReply)) };
        loop {
            if let Some(passed) = cut::place(cut, seen, &answer)? {
                return Ok(Some(seen[..passed].to_vec()));
            }
            if message(seen)?.is_some_and(|message| message.whole) {
                return Ok(None);
            }
            match more(stream, seen).await {
                Err(_) if until_the_end(seen).is_some() => return Ok(None),
                other => other?,
            }
        }
    }

    /// Says that nothing more will be sent, and can still read.
    pub(crate) async fn half_close(&self) -> std::io::Result<()> {
        match self.writing.lock().await.as_mut() {
            Some(stream) => stream.shutdown().await,
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Ends the connection without the word for it: what was sent and not read yet may be lost on both sides.
    pub(crate) async fn reset(&self) -> std::io::Result<()> {
        self.free.store(false, Ordering::SeqCst);
        let reading = self.reading.lock().await.take();
        let writing = self.writing.lock().await.take();
        let (Some(Reading { stream, .. }), Some(writing)) = (reading, writing) else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        stream.as_ref().set_zero_linger()?;
        // Dropped like any other half it would say first that it has done.
        writing.forget();
        Ok(())
    }

    pub(crate) async fn close(&self) {
        self.free.store(false, Ordering::SeqCst);
        self.reading.lock().await.take();
        self.writing.lock().await.take();
    }

    /// Whether nothing is under way and nothing was cut off.
    pub(crate) fn is_idle(&self) -> bool {
        self.free.load(Ordering::SeqCst)
    }

    /// Whether nothing is under way, and the next request can go over the connection that there is.
    pub(crate) fn is_free(&self) -> bool {
        let silent = |mut reading: tokio::sync::MutexGuard<'_, Option<Reading>>| {
            reading.as_mut().is_some_and(Reading::is_silent)
        };
        self.is_idle() && self.reading.try_lock().is_ok_and(silent)
    }
}

impl Reading {
    /// Whether nothing can be read. What can be read while nothing is asked is the rest of the last message,
    /// the end of the stream, or no business of the next request.
    fn is_silent(&mut self) -> bool {
        while !self.seen.is_empty() {
            match message(&self.seen) {
                Ok(Some(message)) if message.whole => self.seen.clear(),
                Ok(Some(_)) if self.stream.try_read_buf(&mut self.seen).is_ok_and(|read| read != 0) => {}
                _ => return false,
            }
        }
        let read = self.stream.try_read(&mut [0]);
        read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
    }
}

async fn dial(base: &Base) -> std::io::Result<(Reading, OwnedWriteHalf)> {
    let stream = TcpStream::connect(base.address()).await?;
    stream.set_nodelay(true)?;
    let (stream, writing) = stream.into_split();
    Ok((Reading { stream, seen: Vec::new() }, writing))
}

async fn read(
    Reading { stream, seen }: &mut Reading,
    enough: impl Fn(&Message) -> bool,
) -> Result<(Vec<u8>, Message), Lost> {
    let message = loop {
        let so_far = message(seen)?;
        if let Some(message) = so_far.filter(|message| message.whole || enough(message)) {
            break message;
        }
        match more(stream, seen).await {
            Err(Lost { why: Why::CutReply, bytes }) => {
                break until_the_end(seen).ok_or(Lost { why: Why::CutReply, bytes })?;
            }
            other => other?,
        }
    };
    Ok((seen.clone(), message))
}

/// Reads on.
async fn more(stream: &mut OwnedReadHalf, seen: &mut Vec<u8>) -> Result<(), Lost> {
    if seen.len() > LONGEST {
        return Err(Lost { why: Why::Unreadable, bytes: std::mem::take(seen) });
    }
    match stream.read_buf(seen).await {
        Ok(0) | Err(_) if seen.is_empty() => Err(Lost::new(Why::NoReply)),
        Ok(0) | Err(_) => Err(Lost { why: Why::CutReply, bytes: seen.clone() }),
        Ok(_) => Ok(()),
    }
}
