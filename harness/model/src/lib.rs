//! What was asked of a tool server, what happened, and whether it was allowed.
//!
//! Everything here is pure: no file, socket, clock or thread. The path of data is
//! [`scenario::Scenario`] × [`target::Target`] × [`survey::Survey`] × seed → [`plan::Plan`] →
//! [`run::Run`] → [`verdict::judge`] → [`report::Report`].

pub mod ability;
pub mod attempt;
pub mod circumstance;
pub mod clause;
pub mod clauses;
pub mod docket;
pub mod fault;
pub mod figures;
pub mod glance;
pub mod history;
pub mod input;
pub mod ledger;
pub mod plan;
pub mod preset;
pub mod record;
pub mod repeat;
pub mod reply;
pub mod report;
pub mod retry;
pub mod rule;
pub mod run;
pub mod scenario;
pub mod sharing;
pub mod story;
pub mod survey;
pub mod target;
pub mod template;
pub mod verdict;
pub mod waiting;
