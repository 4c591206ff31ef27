//! Tests about the code itself: what the compiler does not check and a reviewer should not have to.
//!
//! Each module is one rule: a pure function from the files of the tree to what is wrong with them, with a
//! planted breach among its own tests. `tests/tree.rs` asks every rule of the present tree. The crate
//! depends on nothing, so it still runs when the rest does not compile.

pub mod circles;
mod code;
pub mod complaint;
pub mod documents;
pub mod floors;
pub mod lists;
pub mod modules;
pub mod names;
mod packages;
pub mod scenarios;
pub mod sizes;
pub mod sleeps;
mod table;
pub mod tree;
pub mod words;
