//! Makes a plan happen. The only floor with sockets, processes, clocks and an async runtime.

mod caller;
mod clock;
mod connect;
mod descriptor;
mod error;
mod hook;
mod http1;
mod leftovers;
mod listener;
mod lock;
mod mcp;
mod oracle;
mod oracles;
mod outside;
mod place;
mod play;
mod process;
mod recorder;
mod settle;
mod slots;
mod state;
mod survey;
mod transport;
mod transports;
mod turns;
mod usage;
mod worker;

pub use crate::error::DriveError;
pub use crate::leftovers::{Cleared, clear_leftovers};
pub use crate::lock::hold_lock;
pub use crate::place::Setting;
pub use crate::play::{Played, play};
pub use crate::slots::{Slot, Slots};
pub use crate::survey::survey;
pub use crate::turns::{Ended, Ends, Shared, play_in_turn};
pub use crate::usage::{Meter, Spent};
