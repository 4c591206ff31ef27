//! A law of the judge: on small histories of one intent it condemns exactly those that no order of
//! execution explains. The second opinion tries every explanation, so it is slow and plain.

mod small;

use nottwice_model::verdict;
use proptest::prelude::*;
use small::{End, Small};

/// The clauses that together say "at most one effect, and every answer true of it".
const ASKED: [&str; 6] = [
    "effect.at-most-once",
    "effect.acknowledged-exists",
    "effect.done-means-done",
    "effect.none-on-refusal",
    "receipt.replay",
    "contention.single-winner",
];

/// Whether some execution explains the history: at most one attempt made the effect, it was under way
/// when it did, it was not refused, and everybody who was told of an effect was told of that one, after
/// it was made. The store holds exactly what was made.
fn explained(small: &Small) -> bool {
    let acks: Vec<_> = small.attempts.iter().filter(|attempt| matches!(attempt.end, End::Acked(_))).collect();
    match small.rows.as_slice() {
        [] => acks.is_empty(),
        [row] => {
            let told_of_it = acks.iter().all(|attempt| attempt.end == End::Acked(*row));
            let first_told = acks.iter().map(|attempt| attempt.ended).min().unwrap_or(usize::MAX);
            let maker =
                small.attempts.iter().any(|attempt| attempt.end != End::Busy && attempt.sent < first_told);
            told_of_it && maker
        }
        _ => false,
    }
}

/// Whether no reply names any id that the store has. Then the target file compares two kinds of ids, and
/// the judge says that it could not tell.
fn of_two_kinds(small: &Small) -> bool {
    let told: Vec<_> = small
        .attempts
        .iter()
        .filter_map(|attempt| match attempt.end {
            End::Acked(id) => Some(id),
            End::Busy | End::Lost => None,
        })
        .collect();
    let shared = told.iter().any(|id| small.rows.contains(id));
    !told.is_empty() && !small.rows.is_empty() && !shared
}

fn condemned(small: &Small) -> bool {
    let verdict = verdict::judge(&small.run());
    verdict.roots().any(|clause| ASKED.contains(&clause))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_judge_condemns_exactly_what_nothing_explains(small in small::histories()) {
        if of_two_kinds(&small) {
            return Ok(());
        }
        prop_assert_eq!(condemned(&small), !explained(&small), "{:?}", small);
    }
}

/// A law over histories that are all of one kind would say nothing.
#[test]
fn the_histories_are_of_both_kinds() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let legal = (0..2_000)
        .filter(|_| {
            explained(&small::histories().new_tree(&mut runner).expect("nothing is rejected").current())
        })
        .count();
    assert!((400..1_600).contains(&legal), "{legal} of 2000 histories are legal");
}
