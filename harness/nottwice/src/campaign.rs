//! One target, many scenarios: surveyed once, planned, played side by side, judged together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use nottwice_driver::{Meter, Setting, Shared, Slots, Spent, survey};
use nottwice_model::figures::Figures;
use nottwice_model::plan::{self, Plan};
use nottwice_model::report::{Report, Skipped};
use nottwice_model::scenario::Scenario;

use crate::schedule::Schedule;
use crate::{Failure, shelf};

/// What is to be played, and how.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// The target.
    pub setting: Setting,
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
    /// The seed of every choice.
    pub seed: u64,
    /// Where runs are recorded; nowhere if absent.
    pub runs: Option<PathBuf>,
    /// A place for each plan that may be played at a time; campaigns can share them.
    pub slots: Slots,
    /// How often every plan is played, each time with fresh keys and labels.
    pub repeat: u32,
    /// Whether the calls of a scenario that accuses somebody are also played with nothing broken.
    pub controls: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct Done {
    /// The verdict.
    pub report: Report,
    /// What the user should know about the records.
    pub warnings: Vec<String>,
    /// Whether somebody ended it early; what was played until then is judged.
    pub interrupted: bool,
}

/// So many plans at a time; unless said, three for each core, since a play mostly waits for its server.
pub fn slots(jobs: Option<usize>) -> Slots {
    let usual = || std::thread::available_parallelism().map_or(2, usize::from) * 3;
    Slots::new(jobs.unwrap_or_else(usual))
}

/// A fresh number for one play, so that no receipt of an earlier one answers it.
pub fn nonce() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0
}

impl Campaign {
    /// Surveys, plans, plays and judges.
    ///
    /// # Errors
    /// A folder or file of the harness cannot be made, or the harness itself failed. A target that
    /// cannot be started is no error: the report says so.
    pub async fn play(self) -> Result<Done, Failure> {
        let meter = Meter::start();
        let facts = self.setting.target.facts(&self.setting.file);
        let probe = shelf::probe()?;
        let surveyed = unless_interrupted(survey(&self.setting, &self.setting.file, &probe)).await?;
        let found = match surveyed {
            Ok(found) => found,
            Err(error) => {
                let mut report = Report::of(Some(facts), Vec::new(), Vec::new());
                report.failure = Some(error.to_string());
                return Ok(Done { report, warnings: Vec::new(), interrupted: false });
            }
        };
        let mut plans = Vec::new();
        let mut skipped = Vec::new();
        for scenario in &self.scenarios {
            match plan::plan(scenario, &facts, &found, self.seed, nonce()) {
                Ok(planned) => plans.extend(planned),
                Err(lacks) => {
                    let scenario = scenario.name.clone();
                    skipped.push(Skipped { scenario, lacks, cure: lacks.cure() });
                }
            }
        }
        let waits = plans.iter().map(Plan::waits).max().unwrap_or_default();
        let plans = self.repeated(plans)?;
        let played = Schedule::new(&self.setting, &self.slots, plans).play().await?;
        let mut report = Report::of(Some(facts), played.runs.into_values().collect(), skipped);
        if self.controls && !played.interrupted {
            report = self.controlled(report).await?;
        }
        report.failure = played.failure.or(report.failure);
        report.interrupted = played.interrupted;
        report.figures = Some(figures(&meter, report.cases.len(), waits));
        Ok(Done { report, warnings: played.warnings, interrupted: played.interrupted })
    }

    /// The report with the control of each case that it accuses somebody by. A control that cannot be played
    /// is left out: it decides nothing.
    async fn controlled(&self, report: Report) -> Result<Report, Failure> {
        // One case for each clause is shown whole.
        let mut shown = BTreeMap::new();
        for (line, case, _) in report.findings() {
            shown.entry(line.clause).or_insert(case);
        }
        let mut plans = Vec::new();
        for case in shown.into_values().collect::<BTreeSet<_>>() {
            let of = &report.cases[case].run.plan;
            if let Some(plan) = of.control(nonce()) {
                plans.push(Shared { record: self.record(&plan, 1)?, plan });
            }
        }
        let played = Schedule::new(&self.setting, &self.slots, plans).play().await?;
        let Report { target, cases, skipped, .. } = report;
        let runs = cases.into_iter().map(|case| (case.run, case.record)).chain(played.runs.into_values());
        Ok(Report::of(target, runs.collect(), skipped))
    }

    /// Every plan so often, with the file of its record. Repeats have a folder each, and so no record that
    /// another run of a scenario could have.
    fn repeated(&self, plans: Vec<Plan>) -> Result<Vec<Shared>, Failure> {
        let mut all = Vec::new();
        for number in 1..=self.repeat.max(1) {
            for plan in &plans {
                let record = self.record(plan, number)?;
                let plan = if number == 1 { plan.clone() } else { plan.renewed(nonce()) };
                all.push(Shared { plan, record });
            }
        }
        Ok(all)
    }

    /// Two scenarios whose records would have one name would write into one file.
    ///
    /// # Errors
    /// There are two such scenarios.
    pub fn check_names(&self) -> Result<(), Failure> {
        let mut seen = BTreeMap::new();
        for scenario in &self.scenarios {
            if let Some(other) = seen.insert(scenario.name.replace('/', "-"), &scenario.name) {
                let message =
                    format!("the scenarios `{other}` and `{}` would share one record", scenario.name);
                return Err(Failure::usage(message, "give their files or folders other names"));
            }
        }
        Ok(())
    }

    fn record(&self, plan: &Plan, number: u32) -> Result<Option<PathBuf>, Failure> {
        let Some(runs) = &self.runs else { return Ok(None) };
        let mut folder = runs.join(&plan.target.name);
        if number > 1 {
            folder.push(format!("repeat-{number}"));
        }
        std::fs::create_dir_all(&folder).map_err(|source| Failure::Read { path: folder.clone(), source })?;
        let of = if plan.control { ".control" } else { "" };
        Ok(Some(folder.join(format!("{}{of}.jsonl", plan.scenario.replace('/', "-")))))
    }
}

/// What the run cost so far.
fn figures(meter: &Meter, plans: usize, waits: Duration) -> Figures {
    let Spent { wall, own, servers } = meter.spent();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Figures { plans, wall, waits, servers, own, cores }
}

/// Runs something asynchronous to its end. When it returns, everything that it started has ended.
///
/// # Errors
/// Those of the work; or the system gives no threads.
pub fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Harness(error.to_string()))?;
    runtime.block_on(work)
}

/// The work, or its end as soon as somebody interrupts it; dropping the work ends what it started.
///
/// # Errors
/// Somebody interrupted it.
pub async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    tokio::select! {
        biased;
        () = interrupted() => Err(Failure::Interrupted),
        done = work => Ok(done),
    }
}

/// Ends when somebody presses Ctrl-C, sends SIGTERM, or closes the terminal.
pub(crate) async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let [Ok(mut int), Ok(mut term), Ok(mut hup)] = kinds.map(signal) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = int.recv() => {}
        _ = term.recv() => {}
        _ = hup.recv() => {}
    }
}
