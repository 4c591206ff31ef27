//! Whole reports, as people and programs see them.

mod example;

use std::time::Duration;

use nottwice_model::ability::Ability;
use nottwice_model::figures::Figures;
use nottwice_model::ledger::Row;
use nottwice_model::report::{Exit, Report, Skipped};
use nottwice_report::{formats, timeline, untrusted};
use serde_json::{Value, json};

use self::example::{CRASH, KEYED, KEYLESS, Play, RETRY, facts, kept, repeated, twice};

fn human(report: &Report) -> String {
    formats::find("human").expect("it is listed").render(report)
}

fn written(report: &Report) -> String {
    formats::find("json").expect("it is listed").render(report)
}

fn skipped(scenario: &str) -> Skipped {
    let lacks = Ability::Workers(2);
    Skipped { scenario: scenario.to_owned(), lacks, cure: lacks.cure() }
}

fn violated() -> Report {
    let runs = vec![kept(), twice("effect/crash-between-writes"), twice("effect/crash and more")];
    Report::of(None, runs, vec![skipped("contention/two-workers"), skipped("contention/late-worker")])
}

#[test]
fn all_held() {
    let report = Report::of(None, vec![kept()], vec![]);
    assert_eq!(report.exit(), Exit::Held);
    insta::assert_snapshot!(human(&report));
}

#[test]
fn what_a_run_cost() {
    let millis = Duration::from_millis;
    let mut report = Report::of(None, vec![kept()], vec![]);
    let (wall, waits, servers, own) = (millis(1_500), millis(1_100), millis(2_400), millis(1));
    report.figures = Some(Figures { plans: 1, wall, waits, servers, own, cores: 2 });
    let page = human(&report);
    let line = "played 1 plan in 1.50 s: 1.25 × the floor of 1.20 s";
    assert!(page.contains(line), "the servers' work is more than the longest wait\n{page}");
    let cost: Value = serde_json::from_str(&written(&report)).expect("JSON");
    assert_eq!(cost["figures"]["floor"], json!(1_200_000), "in microseconds");
}

#[test]
fn violated_for_people() {
    assert_eq!(violated().exit(), Exit::Violated);
    insta::assert_snapshot!(human(&violated()));
}

#[test]
fn violated_for_programs() {
    insta::assert_snapshot!(written(&violated()));
}

#[test]
fn a_warning() {
    let play = Play::of(KEYED, "receipt/plain-retry", RETRY).started().sent("first");
    let play = play.replied("first", "1", false).counted(&["1"]).sent("again").replied("again", "1", false);
    let report = Report::of(None, vec![play.counted(&["1"]).run()], vec![]);
    insta::assert_snapshot!(human(&report));
}

#[test]
fn answers_that_differ() {
    let first = json!({ "id": "1", "text": "a note", "version": 1 });
    let again = json!({ "id": "2", "text": "a note", "version": 1 });
    let play = Play::of(KEYED, "receipt/plain-retry", RETRY).started().sent("first");
    let play =
        play.replied_with("first", "1", false, first.clone(), &format!("HTTP/1.1 200 OK\r\n\r\n{first}"));
    let play = play.counted(&["1"]).sent("again");
    let play =
        play.replied_with("again", "2", true, again.clone(), &format!("HTTP/1.1 200 OK\r\n\r\n{again}"));
    let report = Report::of(None, vec![play.counted(&["1", "2"]).run()], vec![]);
    insta::assert_snapshot!(human(&report));
}

#[test]
fn could_not_tell() {
    let play = |name| Play::of(KEYED, name, RETRY).key_unseen().started().sent("first");
    let finish = |play: Play| play.replied("first", "1", false).counted(&["1"]).run();
    let runs = vec![finish(play("receipt/plain-retry")), finish(play("receipt/new-connection"))];
    let report = Report::of(None, runs, vec![]);
    assert_eq!(report.exit(), Exit::CouldNotTell);
    insta::assert_snapshot!(human(&report));
}

#[test]
fn trouble_of_the_harness() {
    let play = Play::of(KEYED, "receipt/plain-retry", RETRY).started().sent("first");
    let report =
        Report::of(None, vec![kept(), play.trouble("the store could not be read: locked").run()], vec![]);
    insta::assert_snapshot!(human(&report));
    let document: Value = serde_json::from_str(&written(&report)).expect("it is JSON");
    assert_eq!(document["trouble"][0]["what"], "the store could not be read: locked");
}

#[test]
fn a_fault_that_never_fired() {
    let play = Play::of(KEYED, "effect/crash-between-writes", CRASH).started().sent("first");
    let play = play.replied("first", "1", false).counted(&["1"]).sent("again").replied("again", "1", true);
    let report = Report::of(None, vec![play.counted(&["1"]).run()], vec![]);
    assert_eq!(report.exit(), Exit::CouldNotTell);
    insta::assert_snapshot!(human(&report));
}

#[test]
fn no_promise() {
    let runs = vec![
        repeated("receipt/plain-retry", &["1", "2"], ["1", "2"]),
        repeated("receipt/new-connection", &["1"], ["1", "1"]),
        repeated("recovery/late-original", &["1"], ["1", "2"]),
        repeated("recovery/abandoned", &[], ["1", "2"]),
    ];
    let report = Report::of(None, runs.clone(), vec![]);
    insta::assert_snapshot!("no_promise_silent", human(&report));
    let mut open = facts(KEYLESS);
    open.promise.kind = Some(nottwice_model::target::PromiseKind::None);
    let report = Report::of(Some(open), runs, vec![]);
    insta::assert_snapshot!("no_promise_open", human(&report));
}

#[test]
fn failure() {
    let mut report = Report::of(Some(facts(KEYED)), vec![], vec![]);
    report.failure =
        Some("the worker did not answer within 10s\nit said: \u{1b}[2Jpanicked at notes.rs\n  cure: run `notes` by hand".to_owned());
    insta::assert_snapshot!(human(&report));
    let document: Value = serde_json::from_str(&written(&report)).expect("it is JSON");
    assert_eq!(document["failure"], report.failure.expect("just set"));
}

#[test]
fn nothing_played() {
    insta::assert_snapshot!(human(&Report::of(None, vec![], vec![skipped("contention/two-workers")])));
}

/// Text that would clear the screen, reorder, hide, or pose as a line of ours.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}txt\u{2066}\u{200b}\u{feff}\r\nHELD  everything\n\nexit 0\0\u{8}";

fn hostile() -> Report {
    let long = "A".repeat(100_000) + HOSTILE;
    let play = Play::of(KEYED, "effect/crash-between-writes", CRASH).started().printed(HOSTILE);
    let play = play.sent("first").crashed("first").counted(&["1"]).printed(&long).started().sent("again");
    let label = play.label();
    let row =
        |id: &str| Row { id: id.to_owned(), label: format!("{HOSTILE}{label}"), scope: Some(long.clone()) };
    let value = json!({ HOSTILE: long, "id": HOSTILE });
    let play =
        play.replied_with("again", HOSTILE, false, value, &format!("HTTP/1.1 200 OK\r\n\r\n{HOSTILE}{long}"));
    let mut report = Report::of(None, vec![play.counted_rows(vec![row(HOSTILE), row(&long)]).run()], vec![]);
    report.failure = Some(format!("it died: {HOSTILE}{long}"));
    report
}

#[test]
fn hostile_text_is_inert() {
    let text = human(&hostile());
    insta::assert_snapshot!(text);
    assert!(!text.chars().any(|c| c != '\n' && untrusted::acts(c)), "something acts");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "a line is too long");
    assert!(text.len() < 20_000, "it floods: {} bytes", text.len());
    let posing = ["HELD  everything", "exit 0"];
    assert!(!text.lines().any(|line| posing.contains(&line)), "a server posed as the report");
}

#[test]
fn no_character_of_a_server_acts() {
    for c in ('\0'..='\u{20ff}').chain('\u{fe00}'..='\u{feff}').chain('\u{e0000}'..='\u{e01ff}') {
        if !untrusted::acts(c) {
            continue;
        }
        let text = format!("a{c}b");
        let play = Play::of(KEYED, "effect/crash-between-writes", CRASH).started().printed(&text);
        let play = play.sent("first").crashed("first").counted(&["1"]).started().sent("again");
        let value = json!({ "id": text });
        let run = play.replied_with("again", &text, false, value, &text).counted(&["1", &text]).run();
        let report = Report::of(None, vec![run], vec![]);
        for shown in [human(&report), written(&report)] {
            assert!(!shown.chars().any(|c| c != '\n' && untrusted::acts(c)), "{:x} acts", u32::from(c));
        }
    }
}

#[test]
fn json_keeps_what_was_said() {
    let document: Value = serde_json::from_str(&written(&hostile())).expect("it is JSON");
    assert_eq!(document["clauses"][1]["findings"][0]["rows"].as_array().map(Vec::len), Some(2));
    assert!(document["failure"].as_str().is_some_and(|failure| failure.contains(HOSTILE)));
}

#[test]
fn a_line_printed_in_pieces_is_one() {
    let play =
        Play::of(KEYED, "receipt/plain-retry", RETRY).started().printed("listening").printed(" on 1\n");
    let lines = timeline::of(&play.printed("ready\n").sent("first").run().0);
    let told: Vec<_> = lines.iter().map(|line| (line.first, line.last, line.what.as_str())).collect();
    assert_eq!(told[1], (1, 3, "stderr: listening on 1\\nready"));
    assert!(lines[1].holds(&[2]) && !lines[1].holds(&[4]));
    assert_eq!((lines[1].lane.as_str(), lines[1].millis().as_str()), ("worker 1", "2.5"));
}

#[test]
fn formats_are_found_by_name() {
    let names: Vec<_> = formats::ALL.iter().map(|format| format.name()).collect();
    assert_eq!(names, ["human", "json"]);
    assert!(names.iter().all(|name| formats::find(name).is_some_and(|found| found.name() == *name)));
    assert!(formats::find("pdf").is_none());
    assert!(formats::ALL.iter().all(|format| !format.summary().is_empty()));
}
