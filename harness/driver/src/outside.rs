//! What a server's processes hold outside of their own folders and of this machine: looked for at each
//! count, so that no run goes on that writes where its user did not expect it.
//!
//! Linux says it in `/proc`; elsewhere nothing is seen and nothing said.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::DriveError;
use crate::place::Place;
use crate::process;

/// What belongs to the system and is nobody's data.
const ALWAYS: [&str; 2] = ["/dev/", "/proc/"];
/// Where Linux lists the sockets of a process's network.
const TABLES: [&str; 4] = ["tcp", "tcp6", "udp", "udp6"];
/// The states there that lead to somebody: connected, and on the way.
const CONNECTED: [&str; 2] = ["01", "02"];
/// How many digits a word of an address has there.
const WORD: usize = 8;
/// The bits of a file's flags that allow writing.
const WRITES: u32 = 0o3;

/// Looks at what these processes, and those below them, have open. `known` are the sockets that were looked
/// at before: their table is slow to read.
///
/// # Errors
/// The first file or address that the target does not declare, with the line that declares it.
pub(crate) fn check(place: &Place, leaders: &[u32], known: &mut BTreeSet<String>) -> Result<(), DriveError> {
    let mut allowed = None;
    let mut sockets = BTreeMap::new();
    for pid in leaders.iter().flat_map(|leader| tree(*leader)) {
        for (number, link) in open(pid) {
            if let Some(inode) = link.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')) {
                sockets.insert(inode.to_owned(), pid);
            } else if link.starts_with('/') && !ALWAYS.iter().any(|begin| link.starts_with(begin)) {
                let allowed = match &allowed {
                    Some(allowed) => allowed,
                    None => allowed.insert(writable(place)?),
                };
                check_file(pid, &number, Path::new(&link), allowed)?;
            }
        }
    }
    check_sockets(place, sockets, known)
}

fn tree(leader: u32) -> impl Iterator<Item = u32> {
    let below = process::descendants(leader).unwrap_or_default();
    [leader].into_iter().chain(below.into_iter().filter_map(|pid| u32::try_from(pid).ok()))
}

/// What a process has open: the number of each, and what it leads to.
fn open(pid: u32) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let link = |entry: fs::DirEntry| {
        let link = fs::read_link(entry.path()).ok()?.to_str()?.to_owned();
        Some((entry.file_name().to_str()?.to_owned(), link))
    };
    entries.flatten().filter_map(link).collect()
}

/// Folders and files below which a server may write, as the system names them.
fn writable(place: &Place) -> Result<Vec<PathBuf>, DriveError> {
    let mut allowed = vec![place.state.root()];
    for path in place.target().start.iter().flat_map(|start| &start.may_write) {
        allowed.push(PathBuf::from(place.fill(path, None)?));
    }
    Ok(allowed.into_iter().map(|path| fs::canonicalize(&path).unwrap_or(path)).collect())
}

fn check_file(pid: u32, number: &str, path: &Path, allowed: &[PathBuf]) -> Result<(), DriveError> {
    if allowed.iter().any(|folder| path.starts_with(folder)) {
        return Ok(());
    }
    // A file that is gone already stays behind for nobody; what is closed meanwhile cannot be asked.
    let of = fs::metadata(format!("/proc/{pid}/fd/{number}"));
    let kept = of.is_ok_and(|of| of.is_file() && of.nlink() > 0);
    let flags = fs::read_to_string(format!("/proc/{pid}/fdinfo/{number}")).unwrap_or_default();
    let flags =
        flags.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    if kept && flags.is_some_and(|flags| flags & WRITES != 0) {
        return Err(DriveError::Writes { path: path.to_owned() });
    }
    Ok(())
}

fn check_sockets(
    place: &Place,
    open: BTreeMap<String, u32>,
    known: &mut BTreeSet<String>,
) -> Result<(), DriveError> {
    let fresh: BTreeMap<_, _> = open.iter().filter(|(inode, _)| !known.contains(*inode)).collect();
    let Some(pid) = fresh.values().next() else { return Ok(()) };
    let mut declared = Vec::new();
    for address in place.target().start.iter().flat_map(|start| &start.may_connect) {
        declared.push(place.fill(address, None)?);
    }
    for table in TABLES {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        for (inode, remote) in text.lines().skip(1).filter_map(connection) {
            let named =
                |allowed: &String| *allowed == remote.to_string() || *allowed == remote.ip().to_string();
            let home = remote.ip().to_canonical().is_loopback();
            if fresh.contains_key(&inode) && !home && !declared.iter().any(named) {
                return Err(DriveError::Connects { address: remote.to_string() });
            }
        }
    }
    // A number that was given back may be given to another socket, so only what is open stays known.
    *known = open.into_keys().collect();
    Ok(())
}

/// A line of a table of sockets that leads to somebody: its inode, and to whom.
fn connection(line: &str) -> Option<(String, SocketAddr)> {
    let fields: Vec<_> = line.split_whitespace().collect();
    let [_, _, remote, state, _, _, _, _, _, inode, ..] = fields.as_slice() else { return None };
    let remote = address(remote)?;
    (CONNECTED.contains(state) && !remote.ip().is_unspecified()).then(|| ((*inode).to_owned(), remote))
}

/// An address as the tables have it: hexadecimal, in words of the machine's own order.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = Vec::new();
    for at in (0..ip.len()).step_by(WORD) {
        bytes.extend(u32::from_str_radix(ip.get(at..at + WORD)?, 16).ok()?.to_ne_bytes());
    }
    let ip = match bytes.len() {
        4 => IpAddr::from(<[u8; 4]>::try_from(bytes).ok()?),
        _ => IpAddr::from(<[u8; 16]>::try_from(bytes).ok()?),
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::connection;

    #[test]
    fn a_connection_is_read_from_its_line() {
        let rest = "00000000:00000000 00:00000000 00000000 0 0 4711 1 0";
        let remote = |line: String| connection(&line).map(|(inode, remote)| (inode, remote.to_string()));
        if cfg!(target_endian = "little") {
            let line = format!("1: 0100007F:A1B2 08080808:01BB 01 {rest}");
            assert_eq!(remote(line), Some(("4711".to_owned(), "8.8.8.8:443".to_owned())));
        }
        let listens = format!("1: 0100007F:A1B2 00000000:0000 0A {rest}");
        assert_eq!(remote(listens), None, "who listens leads to nobody");
    }
}
