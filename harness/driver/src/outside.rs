//! What a server's processes hold outside of their own folders and of this machine: looked for when a play
//! begins and when it ends, so that no run goes on that writes where its user did not expect it.
//!
//! Linux says it in `/proc`; elsewhere nothing is seen and nothing said.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::descriptor::{self, Descriptor, Leads};
use crate::error::DriveError;
use crate::place::Place;
use crate::process;

/// What belongs to the system and is nobody's data.
const ALWAYS: [&str; 2] = ["/dev/", "/proc/"];
/// The bits of a file's flags that allow writing.
const WRITES: u32 = 0o3;

/// Looks at what these processes, and those that their first threads started, have open. `known` are sockets that were looked at
/// before and cannot lead to anybody else.
///
/// # Errors
/// The first file or address that the target does not declare, with the line that declares it.
pub(crate) fn check(place: &Place, leaders: &[u32], known: &mut BTreeSet<String>) -> Result<(), DriveError> {
    let mut allowed = None;
    for pid in leaders.iter().flat_map(|leader| process::main_tree(*leader)) {
        for open in descriptor::open(pid) {
            if open.is_socket() {
                check_socket(place, pid, &open, known)?;
            } else if open.link.starts_with('/') && !ALWAYS.iter().any(|begin| open.link.starts_with(begin)) {
                let allowed = match &allowed {
                    Some(allowed) => allowed,
                    None => allowed.insert(writable(place)?),
                };
                check_file(pid, &open, allowed)?;
            }
        }
    }
    Ok(())
}

/// Folders and files below which a server may write, as the system names them.
fn writable(place: &Place) -> Result<Vec<PathBuf>, DriveError> {
    let mut allowed = vec![place.state.root()];
    for path in place.target().start.iter().flat_map(|start| &start.may_write) {
        allowed.push(PathBuf::from(place.fill(path, None)?));
    }
    Ok(allowed.into_iter().map(|path| fs::canonicalize(&path).unwrap_or(path)).collect())
}

fn check_file(pid: u32, open: &Descriptor, allowed: &[PathBuf]) -> Result<(), DriveError> {
    let path = Path::new(&open.link);
    if allowed.iter().any(|folder| path.starts_with(folder)) {
        return Ok(());
    }
    // A file that is gone already stays behind for nobody; what is closed meanwhile cannot be asked.
    let of = fs::metadata(format!("/proc/{pid}/fd/{}", open.number));
    let kept = of.is_ok_and(|of| of.is_file() && of.nlink() > 0);
    let flags = fs::read_to_string(format!("/proc/{pid}/fdinfo/{}", open.number)).unwrap_or_default();
    let flags =
        flags.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    if kept && flags.is_some_and(|flags| flags & WRITES != 0) {
        return Err(DriveError::Writes { path: path.to_owned() });
    }
    Ok(())
}

fn check_socket(
    place: &Place,
    pid: u32,
    socket: &Descriptor,
    known: &mut BTreeSet<String>,
) -> Result<(), DriveError> {
    if known.contains(&socket.link) {
        return Ok(());
    }
    let peer = match descriptor::leads(pid, socket) {
        Leads::Unknown => return Ok(()),
        Leads::Nowhere => {
            known.insert(socket.link.clone());
            return Ok(());
        }
        Leads::To(peer) => peer,
    };
    let mut declared = BTreeSet::new();
    for address in place.target().start.iter().flat_map(|start| &start.may_connect) {
        declared.insert(place.fill(address, None)?);
    }
    let ip = peer.ip().to_canonical();
    if !ip.is_loopback() && !declared.contains(&ip.to_string()) && !declared.contains(&peer.to_string()) {
        return Err(DriveError::Connects { address: peer.to_string() });
    }
    known.insert(socket.link.clone());
    Ok(())
}
