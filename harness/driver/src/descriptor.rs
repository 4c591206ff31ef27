//! What a process has open, and where its sockets lead.
//!
//! A socket is asked through a copy of the descriptor, which is closed at once: the tables in `/proc/net` say
//! the same and take milliseconds to read. Where the system does not permit the copy, nothing is known.

use std::fs;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::net::sockopt;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// One descriptor of a process.
#[derive(Debug)]
pub(crate) struct Descriptor {
    pub(crate) number: String,
    /// To what it leads: a path, or a word like `socket:[4711]`.
    pub(crate) link: String,
}

impl Descriptor {
    /// Whether it is a socket of any kind.
    pub(crate) fn is_socket(&self) -> bool {
        self.link.starts_with("socket:[")
    }
}

/// What a process has open; nothing for one that is gone.
pub(crate) fn open(pid: u32) -> Vec<Descriptor> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let descriptor = |entry: fs::DirEntry| {
        let link = fs::read_link(entry.path()).ok()?.to_str()?.to_owned();
        Some(Descriptor { number: entry.file_name().to_str()?.to_owned(), link })
    };
    entries.flatten().filter_map(descriptor).collect()
}

/// Where a socket leads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Leads {
    /// To somebody over a network.
    To(SocketAddr),
    /// To nobody, for good: it listens, or is of another kind.
    Nowhere,
    /// Not yet to anybody, as far as is known.
    Unknown,
}

/// To whom a socket is connected.
pub(crate) fn leads(pid: u32, socket: &Descriptor) -> Leads {
    let Some(copy) = copy(pid, socket) else { return Leads::Unknown };
    let listens = sockopt::socket_acceptconn(&copy).unwrap_or(false);
    match TcpStream::from(copy).peer_addr() {
        Ok(peer) => Leads::To(peer),
        Err(error) if error.kind() == ErrorKind::NotConnected && !listens => Leads::Unknown,
        Err(_) => Leads::Nowhere,
    }
}

/// On which port a socket listens, if it listens.
pub(crate) fn listens(pid: u32, socket: &Descriptor) -> Option<u16> {
    port_of(copy(pid, socket)?)
}

/// The numbers under which a server that has just begun to listen is likely to do so.
const LIKELY: Range<i32> = 3..64;

/// Whether one of the likely descriptors of a process listens on a port. What is looked up below `/proc/PID`
/// has to be cleared away by the system when the process is gone, which takes longer than these guesses.
/// Closing a copy gives up what this process has locked of that file; a server that just begins to listen is
/// not being counted.
pub(crate) fn guessed_to_listen(pid: u32, port: u16) -> bool {
    let Some(process) = handle(pid) else { return false };
    LIKELY.filter_map(|number| copied(&process, number)).any(|copy| port_of(copy) == Some(port))
}

fn port_of(socket: OwnedFd) -> Option<u16> {
    let listens = sockopt::socket_acceptconn(&socket).ok()?;
    listens.then(|| TcpStream::from(socket).local_addr().ok()).flatten().map(|address| address.port())
}

fn handle(pid: u32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(i32::try_from(pid).ok()?)?, PidfdFlags::empty()).ok()
}

fn copied(process: &OwnedFd, number: i32) -> Option<OwnedFd> {
    pidfd_getfd(process, number, PidfdGetfdFlags::empty()).ok()
}

fn copy(pid: u32, descriptor: &Descriptor) -> Option<OwnedFd> {
    copied(&handle(pid)?, descriptor.number.parse().ok()?)
}
