//! Every clause on a run, and many runs folded into one verdict on a target.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::ability::Ability;
use crate::clause::{Clause, Harm, Ruling};
use crate::clauses;
use crate::history::{Outcome, What};
use crate::reply::Class;
use crate::run::Run;
use crate::story::Story;

/// What every clause says about one run, by the clause's name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Verdict {
    /// One ruling for each clause.
    pub rulings: BTreeMap<String, Ruling>,
}

/// Asks every clause of a run. Pure: the same run, the same verdict, on any machine.
pub fn judge(run: &Run) -> Verdict {
    judge_by(run, clauses::ALL)
}

/// Asks some clauses of a run.
pub fn judge_by(run: &Run, clauses: &[&Clause]) -> Verdict {
    let story = Story::of(run);
    let doubt = Doubt::of(run);
    let rulings = clauses.iter().map(|clause| (clause.id.to_owned(), doubt.on(clause, &story))).collect();
    let mut verdict = Verdict { rulings };
    verdict.block(clauses);
    verdict
}

/// Why a promise that seems kept in this run may not be called kept.
struct Doubt {
    trouble: Option<String>,
    unfired: Option<String>,
    key_unseen: bool,
}

impl Doubt {
    fn of(run: &Run) -> Doubt {
        let interrupted = (!run.complete).then(|| "the run was interrupted".to_owned());
        let unfired = run.plan.calls().find_map(|call| {
            let fault = call.fault?;
            let fired = run.history.events.iter().any(|event| match &event.what {
                What::Fired { call: of, .. } => *of == call.name,
                _ => false,
            });
            (!fired).then(|| {
                format!(
                    "the fault `{}` at `{}` on `{}` did not fire",
                    fault.deed.word(),
                    fault.at.word(),
                    call.name
                )
            })
        });
        Doubt {
            trouble: run.trouble().map(str::to_owned).or(interrupted),
            unfired,
            key_unseen: run.plan.survey.key_seen.is_none() && !shows_key(run),
        }
    }

    fn on(&self, clause: &Clause, story: &Story<'_>) -> Ruling {
        let abilities = &story.run.plan.survey.abilities;
        if let Some(lacks) = clause.needs.iter().find(|need| !abilities.contains_key(need)) {
            return Ruling::NotApplicable { lacks: *lacks };
        }
        if let Some(trouble) = &self.trouble {
            return Ruling::CouldNotTell { reason: trouble.clone() };
        }
        if self.key_unseen && clause.needs.contains(&Ability::Key) {
            let reason = "the key was not seen to arrive: no schema names it, a call without it is not \
                          refused, and it was never answered with a replay or a conflict";
            return Ruling::CouldNotTell { reason: reason.to_owned() };
        }
        match ((clause.rule)(story), &self.unfired) {
            (Ruling::Held { .. } | Ruling::NotExercised { .. }, Some(missing)) => {
                Ruling::NotExercised { missing: missing.clone() }
            }
            (ruling, _) => ruling,
        }
    }
}

/// Whether the run itself shows that the key arrives: something was replayed or refused as a conflict.
fn shows_key(run: &Run) -> bool {
    run.history.events.iter().any(|event| match &event.what {
        What::Replied { outcome: Outcome::Acked(answer), .. } => answer.replayed,
        What::Replied { outcome: Outcome::Refused { class, .. }, .. } => *class == Class::Conflict,
        _ => false,
    })
}

impl Verdict {
    /// Within one run the circumstance is one, so a broken clause explains those that presuppose it.
    fn block(&mut self, clauses: &[&Clause]) {
        let broken: Vec<_> = clauses.iter().filter(|clause| self.is_broken(clause.id)).collect();
        for clause in &broken {
            let root = broken.iter().find(|root| root.id != clause.id && explains(root.id, clause.id));
            let Some(root) = root else { continue };
            let ruling = self.rulings.get_mut(clause.id).expect("every clause was asked");
            if let Ruling::Broken { findings } = ruling {
                *ruling = Ruling::Blocked { by: root.id.to_owned(), findings: std::mem::take(findings) };
            }
        }
    }

    fn is_broken(&self, id: &str) -> bool {
        matches!(self.rulings.get(id), Some(Ruling::Broken { .. }))
    }

    /// The clauses that are broken and not explained by another.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.rulings.iter().filter_map(|(id, ruling)| match ruling {
            Ruling::Broken { .. } => Some(id.as_str()),
            _ => None,
        })
    }
}

/// Whether the breaking of one clause explains another's: it is presupposed, at any remove.
pub fn explains(root: &str, id: &str) -> bool {
    let mut open = vec![id];
    let mut seen: Vec<&str> = Vec::new();
    while let Some(next) = open.pop() {
        if seen.contains(&next) {
            continue;
        }
        seen.push(next);
        let Some(clause) = clauses::find(next) else { continue };
        if clause.presupposes.contains(&root) {
            return true;
        }
        open.extend(clause.presupposes);
    }
    false
}

/// Verdicts of several runs of one target: a promise that is broken in calm weather also explains its
/// followers in worse weather, which within one run nobody could know.
pub fn block_across(cases: &mut [(&Run, Verdict)]) {
    let roots = |(run, verdict): &(&Run, Verdict)| {
        let weather = run.plan.circumstances();
        verdict.roots().map(|id| (weather.clone(), id.to_owned())).collect::<Vec<_>>()
    };
    let roots: Vec<_> = cases.iter().flat_map(roots).collect();
    for (run, verdict) in cases.iter_mut() {
        let weather = run.plan.circumstances();
        for (id, ruling) in &mut verdict.rulings {
            let Ruling::Broken { findings } = ruling else { continue };
            let blamed = roots.iter().find(|(other, root)| blames(root, other, id, &weather));
            if let Some((_, root)) = blamed {
                *ruling = Ruling::Blocked { by: root.clone(), findings: std::mem::take(findings) };
            }
        }
    }
}

/// Whether a root that was found in one run explains a breach in another.
fn blames(root: &str, calm: &BTreeSet<String>, id: &str, weather: &BTreeSet<String>) -> bool {
    let form = |id: &str| clauses::find(id).is_some_and(|clause| clause.harm >= Harm::WrongClass);
    // An answer of the wrong form has it in any weather.
    let anywhere = form(root) && form(id);
    // In calmer weather it explains what it is presupposed by, and also what presupposes less: of two
    // related promises the one that breaks without any trouble says most.
    let calmer = calm.is_subset(weather) && calm != weather;
    match (anywhere || calm == weather, calmer) {
        (_, true) => explains(root, id) || explains(id, root),
        (true, false) => explains(root, id),
        (false, false) => false,
    }
}
