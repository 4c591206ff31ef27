//! Makes a plan happen. The only floor with sockets, processes, clocks and an async runtime.

mod beside;
mod caller;
mod clock;
mod connect;
mod error;
mod hook;
mod lines;
mod listener;
mod lock;
mod oracle;
mod oracles;
mod place;
mod play;
mod process;
mod recorder;
mod settle;
mod sight;
mod signal;
mod state;
mod survey;
mod transport;
mod transports;
mod worker;

pub use crate::error::DriveError;
pub use crate::lock::hold_lock;
pub use crate::place::Setting;
pub use crate::play::{Played, play};
pub use crate::survey::survey;
