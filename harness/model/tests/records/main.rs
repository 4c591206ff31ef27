//! Recorded runs of a right server are accepted; with one event edited, each is rejected by the clause
//! that the edit offends. This is the judge's own kill matrix: no server is needed for it.

mod edit;

use edit::{ended, first_count_after, remove, replied, told_of};
use nottwice_model::clause::Ruling;
use nottwice_model::history::{Outcome, What, Why};
use nottwice_model::input::Source;
use nottwice_model::ledger::{Ledger, Row};
use nottwice_model::reply::Class;
use nottwice_model::run::Run;
use nottwice_model::target::After;
use nottwice_model::{record, verdict};

fn accepted(name: &str) -> Run {
    let path = format!("{}/../../fixtures/histories/accepted/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect(&path);
    record::read(Source { file: name, text: &text }).expect("the record is well formed")
}

fn ruling(run: &Run, clause: &str) -> Ruling {
    verdict::judge(run).rulings[clause].clone()
}

/// The record keeps the clause; edited, it is accused by that clause and by no other.
fn offends(name: &str, clause: &str, edit: impl FnOnce(&mut Run)) {
    let mut run = accepted(name);
    assert!(matches!(ruling(&run, clause), Ruling::Held { .. }), "{name} holds {clause}");
    edit(&mut run);
    let verdict = verdict::judge(&run);
    assert_eq!(verdict.roots().collect::<Vec<_>>(), [clause], "{name}, edited");
}

fn refused(class: Class) -> Outcome {
    Outcome::Refused { class, retry_after: None }
}

#[test]
fn every_accepted_record_is_accepted() {
    let folder = format!("{}/../../fixtures/histories/accepted", env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for file in std::fs::read_dir(folder).expect("the folder exists") {
        let name = file.expect("it can be read").file_name().into_string().expect("names are plain");
        let run = accepted(name.trim_end_matches(".jsonl"));
        for (clause, ruling) in verdict::judge(&run).rulings {
            let fine = matches!(
                ruling,
                Ruling::Held { .. } | Ruling::NotExercised { .. } | Ruling::NotApplicable { .. }
            );
            assert!(fine, "{name}: {clause}: {ruling:?}");
        }
        seen += 1;
    }
    assert!(seen >= 10, "{seen} records");
}

#[test]
fn a_retry_that_names_another_effect() {
    offends("receipt-plain-retry", "receipt.replay", |run| replied(run, "again", told_of("2")));
}

#[test]
fn a_second_row_in_the_end() {
    offends("receipt-plain-retry", "effect.at-most-once", |run| {
        let label = run.plan.labels[0].clone();
        edit::last_count(run, |ledger| {
            let mut row = ledger.effects[0].clone();
            row.id = "2".to_owned();
            row.label = label;
            ledger.effects.push(row);
        });
    });
}

/// Where a late retry runs as new, the window is counted from an answer, and a crash in mid-work gave none.
#[test]
fn a_second_row_long_after_a_crash() {
    offends("effect-crash-between-writes", "effect.at-most-once", |run| {
        run.plan.target.retention.after = After::New;
        let crashed = run.history.events.iter().position(|event| matches!(event.what, What::Exited { .. }));
        for event in &mut run.history.events[crashed.expect("it was killed")..] {
            event.at += 10_000_000_000;
        }
        edit::last_count(run, |ledger| {
            let mut row = ledger.effects[0].clone();
            row.id = "2".to_owned();
            ledger.effects.push(row);
        });
    });
}

#[test]
fn a_success_without_a_row() {
    offends("receipt-plain-retry", "effect.acknowledged-exists", |run| {
        first_count_after(run, "first", |ledger| *ledger = Ledger::default());
    });
}

#[test]
fn a_refusal_with_a_row() {
    offends("receipt-changed-arguments", "effect.none-on-refusal", |run| {
        let label = run.plan.labels[1].clone();
        first_count_after(run, "other", |ledger| {
            ledger.effects.push(Row { id: "2".to_owned(), label, scope: None });
        });
    });
}

#[test]
fn a_first_call_without_an_answer() {
    offends("receipt-plain-retry", "effect.performed", |run| {
        ended(run, "first", Outcome::Unknown { why: Why::NoReply });
    });
}

#[test]
fn other_arguments_that_are_taken() {
    offends("receipt-changed-arguments", "receipt.conflict", |run| ended(run, "other", told_of("1")));
}

#[test]
fn an_original_that_conflicts_afterwards() {
    offends("receipt-changed-arguments", "receipt.binding", |run| {
        replied(run, "again", refused(Class::Conflict));
    });
}

#[test]
fn another_effect_after_the_restart() {
    offends("receipt-restart", "receipt.survives-restart", |run| replied(run, "again", told_of("2")));
}

#[test]
fn another_effect_on_the_new_connection() {
    offends("recovery-new-connection", "recovery.reissue", |run| replied(run, "again", told_of("2")));
}

#[test]
fn another_effect_on_the_other_worker() {
    offends("recovery-late-original", "recovery.other-worker", |run| {
        replied(run, "first", told_of("2"));
        ended(run, "first", Outcome::Unknown { why: Why::NoReply });
    });
}

#[test]
fn the_first_principals_result_for_the_second() {
    offends("scope-second-principal", "scope.principal", |run| ended(run, "second", told_of("1")));
}

/// Only how the answer looks is another: its status, its members or its size.
#[test]
fn an_answer_that_tells_a_stranger_of_a_key() {
    let second =
        |from: &'static str, to: &'static str| move |run: &mut Run| edit::rewrites(run, "second", from, to);
    let offends = |from, to| offends("scope-strangers-key", "scope.no-leak", second(from, to));
    offends("201 Created", "200 OK");
    offends("\"retryable\":false,", "");
    offends("\"next_action\":null", "\"next_action\":\"somebody was here before you\"");
}

/// What differs by a few bytes, or by ids alone, tells nobody anything.
#[test]
fn an_answer_that_differs_by_its_ids() {
    let mut run = accepted("scope-strangers-key");
    edit::rewrites(&mut run, "second", "\"next_action\":null", "\"next_action\":\"none\"");
    assert!(matches!(ruling(&run, "scope.no-leak"), Ruling::Held { .. }));
}

#[test]
fn one_effect_for_two_keys() {
    offends("effect-equal-content", "effect.distinct-intents", |run| ended(run, "second", told_of("1")));
}

#[test]
fn one_effect_for_two_keys_under_one_request_id() {
    offends("receipt-equal-request-id", "receipt.incidental-ignored", |run| {
        ended(run, "second", told_of("1"));
    });
}

#[test]
fn another_effect_for_a_refreshed_credential() {
    offends("receipt-refreshed-credential", "receipt.incidental-ignored", |run| {
        replied(run, "refreshed", told_of("2"));
    });
}

#[test]
fn an_effect_that_the_restart_loses() {
    offends("effect-killed-after-reply", "effect.durable", |run| {
        edit::first_count_after_restart(run, |ledger| *ledger = Ledger::default());
    });
}

/// Uncounted until a worker has started, a missing effect may never have been, or been taken away since.
#[test]
fn an_effect_that_is_first_looked_for_after_a_start() {
    let mut run = accepted("effect-killed-after-reply");
    let events = &run.history.events;
    let place = |wanted: fn(&What) -> bool| events.iter().position(|event| wanted(&event.what));
    let acked = place(|what| matches!(what, What::Ended { .. })).expect("it was answered");
    let restart = place(|what| matches!(what, What::Started { incarnation: 2, .. })).expect("it restarted");
    run.history.events.drain(acked + 1..restart);
    edit::first_count_after_restart(&mut run, |ledger| *ledger = Ledger::default());
    assert!(matches!(ruling(&run, "effect.acknowledged-exists"), Ruling::CouldNotTell { .. }));
}

#[test]
fn a_replay_of_nothing() {
    offends("effect-crash-between-writes", "effect.done-means-done", |run| {
        first_count_after(run, "again", |ledger| *ledger = Ledger::default());
    });
}

#[test]
fn an_effect_that_leaves_with_its_caller() {
    offends("recovery-abandoned-after-commit", "recovery.disconnect-is-not-undo", |run| {
        edit::first_count_after_abandoning(run, |ledger| *ledger = Ledger::default());
    });
}

#[test]
fn a_call_without_its_key_that_is_taken() {
    offends("input-missing-key", "input.key-required", |run| ended(run, "bare", refused(Class::Denied)));
}

#[test]
fn two_keys_that_are_taken_for_one() {
    offends("input-keys-of-other-case", "input.key-opaque", |run| {
        ended(run, "second", refused(Class::Conflict));
    });
}

#[test]
fn a_doubled_key_that_is_done_twice() {
    let name = "input-two-keys";
    let mut run = accepted(name);
    ended(&mut run, "twice", told_of("2"));
    edit::counts_after(&mut run, "twice", |ledger, label| {
        let row = |id: &str| Row { id: id.to_owned(), label: label.to_owned(), scope: None };
        ledger.effects = vec![row("1"), row("2")];
    });
    let roots = verdict::judge(&run).roots().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(roots, ["input.key-unforgeable"], "{name}, edited");
}

#[test]
fn two_winners_of_one_race() {
    offends("contention-overlapping-retry", "contention.single-winner", |run| {
        replied(run, "again", told_of("1"));
        replied(run, "first", told_of("2"));
    });
}

#[test]
fn an_acknowledged_effect_that_another_overwrote() {
    offends("contention-overlapping-intents", "contention.no-lost-effect", |run| {
        first_count_after(run, "first", |ledger| *ledger = Ledger::default());
    });
}

#[test]
fn a_key_that_stays_in_progress() {
    offends("recovery-crash-after-claim", "recovery.resolves", edit::gave_up);
}

#[test]
fn a_replay_that_hides_itself() {
    offends("receipt-plain-retry", "outcome.replayed-marked", |run| {
        edit::answers(run, "again", |answer| answer.replayed = false);
    });
}

#[test]
fn a_fault_that_did_not_fire_proves_nothing() {
    let mut run = accepted("effect-lost-reply");
    assert!(matches!(ruling(&run, "effect.at-most-once"), Ruling::Held { .. }));
    remove(&mut run, |what| matches!(what, What::Fired { .. }));
    assert!(matches!(ruling(&run, "effect.at-most-once"), Ruling::NotExercised { .. }));
}

#[test]
fn trouble_of_the_harness_proves_nothing() {
    let mut run = accepted("receipt-plain-retry");
    edit::trouble(&mut run);
    for (clause, ruling) in verdict::judge(&run).rulings {
        let honest = matches!(ruling, Ruling::CouldNotTell { .. } | Ruling::NotApplicable { .. });
        assert!(honest, "{clause}: {ruling:?}");
    }
}

#[test]
fn an_interrupted_run_holds_nothing() {
    let mut run = accepted("receipt-plain-retry");
    run.complete = false;
    assert!(matches!(ruling(&run, "receipt.replay"), Ruling::CouldNotTell { .. }));
}

#[test]
fn a_key_that_was_not_seen_to_arrive_proves_nothing() {
    let mut run = accepted("receipt-plain-retry");
    run.plan.survey.key_seen = None;
    edit::answers(&mut run, "again", |answer| answer.replayed = false);
    edit::answers(&mut run, "settle note #1", |answer| answer.replayed = false);
    assert!(matches!(ruling(&run, "receipt.replay"), Ruling::CouldNotTell { .. }));
    assert!(matches!(ruling(&run, "effect.acknowledged-exists"), Ruling::Held { .. }));
}

#[test]
fn a_record_reads_back_as_it_was_written() {
    let run = accepted("effect-crash-between-writes");
    let text = record::write(&run);
    let again = record::read(Source { file: "again", text: &text }).expect("it was just written");
    assert_eq!(run, again);
}

#[test]
fn a_record_without_its_last_line_is_of_an_interrupted_run() {
    let text = record::write(&accepted("receipt-plain-retry"));
    let cut = &text[..text.trim_end().rfind('\n').expect("there are many lines") + 1];
    let run = record::read(Source { file: "cut", text: cut }).expect("it is whole up to there");
    assert!(!run.complete);
    let torn =
        record::read(Source { file: "torn", text: &cut[..cut.len() - 5] }).expect("half a line is left out");
    assert_eq!(torn.history.events.len() + 1, run.history.events.len());
}

/// Two clauses that explain each other would hide both.
#[test]
fn no_clause_explains_itself() {
    for clause in nottwice_model::clauses::ALL {
        assert!(!verdict::explains(clause.id, clause.id), "{} explains itself", clause.id);
        for other in clause.presupposes {
            assert!(nottwice_model::clauses::find(other).is_some(), "{} presupposes {other}", clause.id);
        }
    }
}
