//! What happened, as text: a [`Report`](nottwice_model::report::Report) in, a `String` out.
//!
//! Everything here is pure: no file, clock or environment, so that a record judged again gives the same
//! bytes. Whatever a server printed is untrusted and passes through [`untrusted`] before it is shown.

mod control;
pub mod counts;
pub mod difference;
pub mod evidence;
pub mod format;
pub mod formats;
pub mod policy;
pub mod timeline;
pub mod untrusted;
