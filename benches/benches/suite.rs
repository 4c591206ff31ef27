//! The whole suite on the reference, against the floor that its own limits and the servers' work set. Fails
//! when a ratio is missed; only a quiet machine can tell.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use nottwice::campaign::{self, Campaign, block_on};
use nottwice::{Failure, shelf};
use nottwice_model::figures::Figures;
use nottwice_model::report::Exit;

/// How many times the floor one run of the suite may take.
const WALL_MOST: f64 = 1.25;
/// How many milliseconds of its own the harness may spend on a plan.
const OWN_MOST: f64 = 1.0;
/// So many plans are enough for the harness's own share to show.
const PLANS: usize = 200;

fn main() -> ExitCode {
    // The servers of the suite are this program, started again.
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|word| word == "serve" || word == "hold-lock") {
        return ExitCode::from(u8::try_from(nottwice::main(arguments) as i32).unwrap_or(u8::MAX));
    }
    let mut kept = true;
    for target in ["reference-http", "reference-stdio"] {
        match measured(target) {
            Ok(within) => kept &= within,
            Err(failure) => {
                failure.print();
                kept = false;
            }
        }
    }
    if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn measured(target: &str) -> Result<bool, Failure> {
    let once = figures(target, 1)?;
    let ratio = once.ratio().unwrap_or(f64::INFINITY);
    let times = u32::try_from(PLANS.div_ceil(once.plans.max(1))).unwrap_or(u32::MAX);
    let many = figures(target, times)?;
    let own = many.own_for_each().as_secs_f64() * 1_000.0;
    let mark = |within: bool| if within { "ok" } else { "MISSED" };
    let (wall_kept, own_kept) = (ratio <= WALL_MOST, own <= OWN_MOST);
    say(&format!(
        "{target}: {ratio:.2} × the floor, at most {WALL_MOST}: {}; {own:.2} ms of its own for each of {} plans, \
         at most {OWN_MOST}: {}",
        mark(wall_kept),
        many.plans,
        mark(own_kept)
    ));
    Ok(wall_kept && own_kept)
}

/// What the suite costs when every scenario is played so often. The reference must be found clean, or the
/// figures are of something else.
fn figures(target: &str, repeat: u32) -> Result<Figures, Failure> {
    let campaign = Campaign {
        setting: shelf::setting(target)?,
        scenarios: shelf::scenarios()?,
        seed: 1,
        runs: None,
        slots: campaign::slots(None),
        repeat,
        controls: false,
    };
    let report = block_on(campaign.play())?.report;
    match report.figures {
        Some(figures) if report.exit() == Exit::Held => Ok(figures),
        _ => Err(Failure::Harness(format!("{target} was not found clean"))),
    }
}

fn say(line: &str) {
    // Whoever closed standard output does not want to read it.
    let _ = writeln!(std::io::stdout(), "{line}");
}
