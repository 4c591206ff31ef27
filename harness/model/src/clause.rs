//! What a clause is: a promise with a name that never changes, and a pure rule that finds it kept or broken.

use serde::{Deserialize, Serialize};

use crate::ability::Ability;
use crate::story::Story;
use crate::target::Axis;

/// One clause of the contract.
#[derive(Debug)]
pub struct Clause {
    /// Its public name, `group.name`, stable for ever.
    pub id: &'static str,
    /// How much hangs on it.
    pub level: Level,
    /// What it says, as one sentence that a server can be held to.
    pub statement: &'static str,
    /// Why a caller needs it.
    pub why: &'static str,
    /// The shortest history that breaks it.
    pub shortest: &'static str,
    /// How servers usually come to keep it.
    pub cure: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
    /// What harm its breaking does; findings are ordered by it.
    pub harm: Harm,
    /// What a target must be able to do before this can be asked.
    pub needs: &'static [Ability],
    /// The axes along which honest servers differ in it, as the target stands on them.
    pub policies: &'static [Axis],
    /// Clauses whose breaking in the same circumstance explains this one's.
    pub presupposes: &'static [&'static str],
    /// Finds its premise in a run and rules on it.
    pub rule: fn(&Story<'_>) -> Ruling,
}

/// How much hangs on a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// A breach fails the run.
    Must,
    /// A breach warns.
    Should,
}

/// What harm a breach does, the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harm {
    /// It happens twice.
    Duplicate,
    /// It is said to have happened and did not, or is lost.
    Lost,
    /// It can never be finished.
    Stuck,
    /// Somebody else sees it.
    Leak,
    /// The answer is of the wrong class.
    WrongClass,
    /// The answer has the wrong form.
    Shape,
}

/// What a clause says about one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ruling", rename_all = "kebab-case")]
pub enum Ruling {
    /// The target lacks what the clause is about.
    NotApplicable {
        /// What it lacks.
        lacks: Ability,
    },
    /// The run never came to the premise.
    NotExercised {
        /// What did not happen.
        missing: String,
    },
    /// Kept, so many times.
    Held {
        /// How often the premise was met.
        times: u32,
    },
    /// Broken.
    Broken {
        /// Each breach.
        findings: Vec<Finding>,
    },
    /// Broken, but explained by another clause that is broken in the same circumstance.
    Blocked {
        /// The explaining clause.
        by: String,
        /// Each breach.
        findings: Vec<Finding>,
    },
    /// The premise was met and the evidence is not enough.
    CouldNotTell {
        /// What is missing.
        reason: String,
    },
}

/// One breach of a clause in one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What happened, in one sentence.
    pub what: String,
    /// The identity that it happened to.
    pub identity: usize,
    /// The events that decide it, by sequence number.
    pub events: Vec<usize>,
}

/// What a clause gathers on its way through a run.
#[derive(Debug, Default)]
pub struct Tally {
    held: u32,
    findings: Vec<Finding>,
    untold: Option<String>,
}

impl Tally {
    /// The premise was met and the promise kept.
    pub fn held(&mut self) {
        self.held += 1;
    }

    /// The promise was broken.
    pub fn broken(&mut self, identity: usize, events: impl Into<Vec<usize>>, what: impl Into<String>) {
        self.findings.push(Finding { what: what.into(), identity, events: events.into() });
    }

    /// The premise was met and the evidence is not enough.
    pub fn untold(&mut self, reason: impl Into<String>) {
        self.untold.get_or_insert_with(|| reason.into());
    }

    /// Whether nothing was found broken so far.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Kept where a condition holds, broken else.
    pub fn check(
        &mut self,
        kept: bool,
        identity: usize,
        events: impl Into<Vec<usize>>,
        what: impl FnOnce() -> String,
    ) {
        if kept { self.held() } else { self.broken(identity, events, what()) }
    }

    /// The ruling: broken > could not tell > held > not exercised.
    pub fn ruling(self, missing: &str) -> Ruling {
        match (self.findings.is_empty(), self.untold, self.held) {
            (false, _, _) => Ruling::Broken { findings: self.findings },
            (true, Some(reason), _) => Ruling::CouldNotTell { reason },
            (true, None, 0) => Ruling::NotExercised { missing: missing.to_owned() },
            (true, None, times) => Ruling::Held { times },
        }
    }
}
