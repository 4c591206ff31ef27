//! `nottwice proxy`: the faults of the wire, standing between any client and any server.

use nottwice_driver::{DriveError, Tally, proxy_stdio};
use nottwice_model::input::Source;
use nottwice_model::report::Exit;
use nottwice_model::rule::{self, Wire};

use crate::campaign::interrupted;
use crate::cli::Proxy;
use crate::leftovers::clear_leftovers;
use crate::output::warn;
use crate::{Failure, shelf};

pub(super) fn proxy(asked: &Proxy) -> Result<Exit, Failure> {
    let (file, text) = (asked.rules.display().to_string(), shelf::read(&asked.rules)?);
    let parsed = rule::parse(Source { file: &file, text: &text }, Wire::Stdio);
    let rules = parsed.map_err(|error| Failure::Input { error, text: text.clone() })?;
    clear_leftovers();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Harness(error.to_string()))?;
    let log = asked.log.as_deref();
    let stood = runtime.block_on(proxy_stdio(rules, log, &asked.start, interrupted()));
    // Somebody may still hold the standard input that a thread reads.
    runtime.shutdown_background();
    said(stood)
}

fn said(stood: Result<Tally, DriveError>) -> Result<Exit, Failure> {
    let Tally { unfired, lost, .. } = stood?;
    for fault in &unfired {
        warn(&format!("never fired: `{}` in line {}: {}", fault.name, fault.line, fault.why));
    }
    for fault in &lost {
        warn(&format!("never let go: `{}` in line {}: {}", fault.name, fault.line, fault.why));
    }
    Ok(if unfired.is_empty() && lost.is_empty() { Exit::Held } else { Exit::CouldNotTell })
}
