//! The verdict on a target, from all its runs: what is shown, in one order, with one exit code.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::ability::Ability;
use crate::clause::{Finding, Level, Ruling};
use crate::clauses;
use crate::figures::Figures;
use crate::history::Outcome;
use crate::run::Run;
use crate::story::Story;
use crate::target::{KeyPlace, PromiseKind, TargetFacts};
use crate::verdict::{self, Verdict};

/// One run and what was said of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The run.
    pub run: Run,
    /// Where it is recorded.
    pub record: String,
    /// The ruling of each clause, explained ones folded under their root.
    pub verdict: Verdict,
    /// The same calls with nothing broken on purpose, where they were played too.
    pub control: Option<Control>,
}

/// The control of a case. It accuses nobody: it shows what the fault of the case changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// The run.
    pub run: Run,
    /// Where it is recorded.
    pub record: String,
    /// What each clause says of it.
    pub verdict: Verdict,
}

/// A scenario that was not played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Which.
    pub scenario: String,
    /// What the target lacks.
    pub lacks: Ability,
    /// The line that would bring it in.
    pub cure: String,
}

/// The verdict on a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Whose verdict it is.
    pub target: Option<TargetFacts>,
    /// Every run, in the order of playing.
    pub cases: Vec<Case>,
    /// What was not played, and why.
    pub skipped: Vec<Skipped>,
    /// Why the target could not be started, reached or counted at all.
    pub failure: Option<String>,
    /// Whether somebody ended it before everything was played.
    pub interrupted: bool,
    /// What the run cost; absent where records are judged again.
    pub figures: Option<Figures>,
}

/// How a clause stands over all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Broken in at least one run.
    Violated,
    /// Broken, and every time explained by another clause.
    Blocked,
    /// The evidence was not enough in at least one run.
    CouldNotTell,
    /// The target asks not to be judged by it.
    Waived,
    /// Kept wherever its premise was met.
    Held,
    /// Its premise was never met.
    NotExercised,
    /// The target lacks what it is about.
    NotApplicable,
}

/// One clause over all runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// The clause.
    pub clause: &'static str,
    /// How much hangs on it.
    pub level: Level,
    /// How it stands.
    pub standing: Standing,
    /// How often it was kept.
    pub held: u32,
    /// What is missing, what explains it, or what could not be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Each breach, with the number of its run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<(usize, Finding)>,
}

/// What the repeated call of a tool without a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// One effect, and the same answer.
    OneSame,
    /// One effect, and another answer or an error.
    OneDifferent,
    /// One effect, and nobody ever saw the first answer.
    OneUnseen,
    /// An effect for each call.
    Many,
    /// The store or the answers do not say.
    CouldNotTell,
}

impl Control {
    fn of((run, record): &(Run, String)) -> Control {
        Control { run: run.clone(), record: record.clone(), verdict: verdict::judge(run) }
    }
}

impl Report {
    /// Judges runs of one target together. Controls are no cases: each belongs to the case of its scenario.
    pub fn of(target: Option<TargetFacts>, runs: Vec<(Run, String)>, skipped: Vec<Skipped>) -> Report {
        // Controls alone are looked at as what they are: runs.
        let of_others = runs.iter().any(|(run, _)| !run.plan.control);
        let is_control = |(run, _): &(Run, String)| of_others && run.plan.control;
        let (controls, runs): (Vec<_>, Vec<_>) = runs.into_iter().partition(is_control);
        let mut judged: Vec<_> = runs.iter().map(|(run, _)| (run, verdict::judge(run))).collect();
        verdict::block_across(&mut judged);
        let verdicts: Vec<_> = judged.into_iter().map(|(_, verdict)| verdict).collect();
        let target = target.or_else(|| runs.first().map(|(run, _)| run.plan.target.clone()));
        let cases: Vec<_> = runs
            .into_iter()
            .zip(verdicts)
            .map(|((run, record), verdict)| {
                let control = controls.iter().find(|(control, _)| control.plan.scenario == run.plan.scenario);
                Case { control: control.map(Control::of), run, record, verdict }
            })
            .collect();
        let failure = uncounted(&cases);
        Report { target, cases, skipped, failure, interrupted: false, figures: None }
    }

    /// Every clause, in the order of the list.
    pub fn lines(&self) -> Vec<Line> {
        clauses::ALL.iter().map(|clause| self.line(clause.id, clause.level)).collect()
    }

    fn line(&self, clause: &'static str, level: Level) -> Line {
        let mut line = Line {
            clause,
            level,
            standing: Standing::NotApplicable,
            held: 0,
            because: None,
            findings: vec![],
        };
        for (number, case) in self.cases.iter().enumerate() {
            let Some(ruling) = case.verdict.rulings.get(clause) else { continue };
            let (standing, because) = match ruling {
                Ruling::Broken { findings } => {
                    line.findings.extend(findings.iter().map(|finding| (number, finding.clone())));
                    (Standing::Violated, None)
                }
                Ruling::Blocked { by, .. } => (Standing::Blocked, Some(format!("explained by {by}"))),
                Ruling::CouldNotTell { reason } => (Standing::CouldNotTell, Some(reason.clone())),
                Ruling::Held { times } => {
                    line.held += times;
                    (Standing::Held, None)
                }
                Ruling::NotExercised { missing } => (Standing::NotExercised, Some(missing.clone())),
                Ruling::NotApplicable { lacks } => (Standing::NotApplicable, Some(lacks.cure())),
            };
            if standing < line.standing || (standing == line.standing && line.because.is_none()) {
                line.standing = standing;
                line.because = because;
            }
        }
        self.waive(line)
    }

    /// A waived clause accuses nobody, and says what it would have said.
    fn waive(&self, line: Line) -> Line {
        let mut waivers = self.target.iter().flat_map(|target| &target.waivers);
        let Some(waiver) = waivers.find(|waiver| waiver.clause == line.clause) else { return line };
        let seen = match line.standing {
            Standing::Violated | Standing::Blocked => "it is broken",
            Standing::Held => "it was kept, so the waiver can go",
            _ => "it was not seen broken",
        };
        let because = Some(format!("{}; {seen}", waiver.reason));
        Line { standing: Standing::Waived, findings: Vec::new(), because, ..line }
    }

    /// The breaches, worst first: by level, then by harm, then in the order of the list.
    pub fn findings(&self) -> Vec<(Line, usize, Finding)> {
        let mut found: Vec<_> = self
            .lines()
            .into_iter()
            .flat_map(|line| {
                line.findings.clone().into_iter().map(move |(case, finding)| (line.clone(), case, finding))
            })
            .collect();
        // Of several breaches of one clause the one in the calmest weather says most.
        let weather = |case: usize| self.cases[case].run.plan.circumstances().len();
        let place = |id: &str| clauses::ALL.iter().position(|clause| clause.id == id);
        found.sort_by_key(|(line, case, _)| {
            let harm = clauses::find(line.clause).map(|clause| clause.harm);
            (line.level, harm, place(line.clause), weather(*case), *case)
        });
        found
    }

    /// How many clauses stand how.
    pub fn counts(&self) -> BTreeMap<Standing, usize> {
        let mut counts = BTreeMap::new();
        for line in self.lines() {
            *counts.entry(line.standing).or_default() += 1;
        }
        counts
    }

    /// Whether the target promises nothing about retries, and if so, whether it says that openly.
    pub fn no_promise(&self) -> Option<bool> {
        let target = self.target.as_ref()?;
        let silent = target.promise.kind.is_none() && target.key.at == KeyPlace::None;
        let open = target.promise.kind == Some(PromiseKind::None);
        (silent || open).then_some(open)
    }

    /// The exit code: see [`Exit`].
    pub fn exit(&self) -> Exit {
        let lines = self.lines();
        let any = |standing, level| lines.iter().any(|l| l.standing == standing && l.level == level);
        let trouble = self.cases.iter().any(|case| case.run.trouble().is_some());
        match () {
            () if self.interrupted => Exit::Interrupted,
            () if any(Standing::Violated, Level::Must) => Exit::Violated,
            () if self.failure.is_some() => Exit::CouldNotTell,
            () if trouble || any(Standing::CouldNotTell, Level::Must) => Exit::CouldNotTell,
            () if self.cases.is_empty() => Exit::Nothing,
            () if self.no_promise() == Some(false) => Exit::Nothing,
            () if self.starved() => Exit::CouldNotTell,
            () if !lines.iter().any(|line| line.standing == Standing::Held)
                && self.no_promise().is_none() =>
            {
                Exit::CouldNotTell
            }
            () => Exit::Held,
        }
    }

    /// Whether a played scenario never came to what it was played for: its fault did not fire.
    fn starved(&self) -> bool {
        self.cases.iter().any(|case| {
            let exercised = |ruling: &Ruling| {
                matches!(ruling, Ruling::Held { .. } | Ruling::Broken { .. } | Ruling::Blocked { .. })
            };
            self.no_promise().is_none() && !case.verdict.rulings.values().any(exercised)
        })
    }

    /// What a repeated call without a key does, by scenario.
    pub fn repeats(&self) -> Vec<(&str, Repeat)> {
        let keyless = self.cases.iter().filter(|case| case.run.plan.target.key.at == KeyPlace::None);
        keyless.filter_map(|case| Some((case.run.plan.scenario.as_str(), repeat(&case.run)?))).collect()
    }
}

/// Where effects are not counted a second one would not be seen, so nothing can be called kept.
fn uncounted(cases: &[Case]) -> Option<String> {
    let counted = |case: &Case| case.run.plan.survey.abilities.contains_key(&Ability::Count);
    let promises = |case: &Case| {
        let target = &case.run.plan.target;
        target.key.at != KeyPlace::None && target.promise.kind != Some(PromiseKind::None)
    };
    let blind = cases.iter().any(promises) && !cases.iter().any(counted);
    blind.then(|| {
        format!("effects are not counted, so a second one would not be seen: {}", Ability::Count.cure())
    })
}

/// What the repeated call of one run did.
fn repeat(run: &Run) -> Option<Repeat> {
    let story = Story::of(run);
    let attempts: Vec<_> = story.attempts_of(0).collect();
    let [first, .., last] = attempts.as_slice() else { return None };
    if run.trouble().is_some() || !run.complete {
        return Some(Repeat::CouldNotTell);
    }
    let Some((_, ledger)) = run.last_count() else { return Some(Repeat::CouldNotTell) };
    let said = |attempt: &crate::attempt::Attempt<'_>| attempt.said().cloned();
    Some(match (story.rows(ledger, 0, 0).len(), said(first), said(last)) {
        (0, ..) | (_, _, None) => Repeat::CouldNotTell,
        (1, Some(Outcome::Acked(one)), Some(Outcome::Acked(two))) if one.value == two.value => {
            Repeat::OneSame
        }
        (1, Some(Outcome::Unknown { .. }), Some(Outcome::Acked(_))) => Repeat::OneUnseen,
        (1, ..) => Repeat::OneDifferent,
        _ => Repeat::Many,
    })
}

/// How a command ends. The numbers are public and stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Exit {
    /// Every clause that was asked is kept.
    Held = 0,
    /// A clause that MUST hold is broken.
    Violated = 1,
    /// The command line or a file is wrong.
    Usage = 2,
    /// The harness itself failed.
    Harness = 3,
    /// Nothing was selected, or the target promises nothing.
    Nothing = 4,
    /// Not started, not reached, not counted, or a required clause was not exercised.
    CouldNotTell = 5,
    /// Interrupted; what was done is written.
    Interrupted = 130,
}
