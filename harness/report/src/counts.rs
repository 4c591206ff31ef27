//! How many clauses stand how, in the words of the first lines of a report.

use nottwice_model::clause::Level;
use nottwice_model::report::{Report, Standing};
use serde::Serialize;

/// How many clauses stand how. Every clause is counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Counts {
    /// A clause that MUST hold is broken.
    pub violated: usize,
    /// A clause that SHOULD hold is broken.
    pub warned: usize,
    /// Broken, and explained by another clause.
    pub blocked: usize,
    /// The evidence was not enough.
    pub could_not_tell: usize,
    /// The target asks not to be judged by it.
    pub waived: usize,
    /// Kept wherever it was asked.
    pub held: usize,
    /// The premise was never met.
    pub not_exercised: usize,
    /// The target lacks what it is about.
    pub not_applicable: usize,
}

impl Counts {
    /// Counts the clauses of a report.
    pub fn of(report: &Report) -> Counts {
        let mut counts = Counts::default();
        for line in report.lines() {
            *match (line.standing, line.level) {
                (Standing::Violated, Level::Must) => &mut counts.violated,
                (Standing::Violated, Level::Should) => &mut counts.warned,
                (Standing::Blocked, _) => &mut counts.blocked,
                (Standing::CouldNotTell, _) => &mut counts.could_not_tell,
                (Standing::Waived, _) => &mut counts.waived,
                (Standing::Held, _) => &mut counts.held,
                (Standing::NotExercised, _) => &mut counts.not_exercised,
                (Standing::NotApplicable, _) => &mut counts.not_applicable,
            } += 1;
        }
        counts
    }

    /// The clauses that were never asked.
    pub fn not_asked(&self) -> usize {
        self.not_exercised + self.not_applicable
    }
}
