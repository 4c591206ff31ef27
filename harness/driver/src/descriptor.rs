//! What a process has open, and where its sockets lead.
//!
//! A socket is asked through a copy of the descriptor, which is closed at once: the tables in `/proc/net` say
//! the same and take milliseconds to read. Where the system does not permit the copy, nothing is known.

use std::fs;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
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
    let copy = copy(pid, socket)?;
    let listens = sockopt::socket_acceptconn(&copy).ok()?;
    listens.then(|| TcpStream::from(copy).local_addr().ok()).flatten().map(|address| address.port())
}

fn copy(pid: u32, descriptor: &Descriptor) -> Option<OwnedFd> {
    let process = Pid::from_raw(i32::try_from(pid).ok()?)?;
    let process = pidfd_open(process, PidfdFlags::empty()).ok()?;
    pidfd_getfd(process, descriptor.number.parse().ok()?, PidfdGetfdFlags::empty()).ok()
}
