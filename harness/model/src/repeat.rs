//! Which runs are no last word: what was seen in company or under load is played again alone, once, and only
//! that second run counts. A violation is never repeated until it passes.

use crate::clause::Ruling;
use crate::run::Run;
use crate::story::{OWN_LAG, Story};
use crate::verdict::Verdict;

/// The clauses whose rule is a bound on time.
pub const TIMED: [&str; 2] = ["contention.busy-retryable", "recovery.resolves"];

/// Whether a run on a shared server may stand: everything that was asked is kept, and something was.
pub fn stands_in_company(run: &Run, verdict: &Verdict) -> bool {
    let kept = |ruling: &Ruling| {
        !matches!(ruling, Ruling::Broken { .. } | Ruling::Blocked { .. } | Ruling::CouldNotTell { .. })
    };
    let held = verdict.rulings.values().any(|ruling| matches!(ruling, Ruling::Held { .. }));
    run.complete && run.trouble().is_none() && held && verdict.rulings.values().all(kept)
}

/// Whether a run on a server of its own, beside which others were played, may stand. It may not where the
/// load can have decided: something could not be told, a declared window was over before the run came to
/// what it was played for, or a bound on time was broken while the harness itself was late.
pub fn stands_beside_others(run: &Run, verdict: &Verdict) -> bool {
    // No repetition shows a key that the survey did not see.
    if run.plan.survey.key_seen.is_none() && run.complete && run.trouble().is_none() {
        return true;
    }
    let rulings = || verdict.rulings.values();
    let untold = rulings().any(|ruling| matches!(ruling, Ruling::CouldNotTell { .. }));
    let in_vain = !rulings()
        .any(|ruling| matches!(ruling, Ruling::Held { .. } | Ruling::Broken { .. } | Ruling::Blocked { .. }));
    let broken = |id: &&str| matches!(verdict.rulings.get(*id), Some(Ruling::Broken { .. }));
    let late = || Story::of(run).lag > OWN_LAG && TIMED.iter().any(broken);
    !(untold || in_vain || late())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_timed_clause_exists() {
        assert!(super::TIMED.iter().all(|id| crate::clauses::find(id).is_some()));
    }
}
