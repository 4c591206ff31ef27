//! The real binary on small projects: what a user types, what he is told, how it ends, what is left.

mod bad_commands;
mod bad_records;
mod bad_scenarios;
mod bad_targets;
mod beside;
mod cannot_run;
mod dialects;
mod eras;
mod exits;
mod hostile;
mod left;
mod nothing_left;
mod origins;
mod outside;
mod page;
mod project;
mod proxy;
mod proxy_rules;
mod records;
mod resend;
mod servers;
mod shared;
mod streamable;
mod wait;
mod words;
