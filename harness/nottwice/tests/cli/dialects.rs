//! Right servers that differ: each keeps everything under its own declaration, and none under another's.

use std::path::Path;

use crate::project::Project;

/// The text of a shipped target.
fn shipped(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/targets/{name}.toml"));
    std::fs::read_to_string(path).expect("the target is shipped")
}

#[track_caller]
fn keeps_everything(name: &str) {
    Project::new().run(&format!("run {name}")).exits(0).says("could not tell 0");
}

/// A server under a declaration that is not its own is accused by the clause that asks for it, and the finding
/// shows the line.
#[track_caller]
fn is_accused(name: &str, line: &str, instead: &str, scenario: &str, clause: &str) {
    let text = shipped(name);
    assert!(text.contains(line), "{name} declares no `{line}`");
    let project = Project::new().with("mine.toml", text.replace(line, instead));
    let ended = project.run(&format!("run mine.toml {scenario}")).exits(1);
    let row = instead.lines().find(|row| row.contains('=')).expect("something is declared");
    let row: Vec<_> = row.split_whitespace().collect();
    ended.says(&format!("VIOLATED {clause}")).says(&row.join(" "));
}

#[test]
fn one_that_refuses_in_flight() {
    keeps_everything("dialect-refuses-in-flight");
}

#[test]
fn one_that_runs_anew_after_expiry() {
    keeps_everything("dialect-runs-anew-after-expiry");
}

/// The reference says nothing of it in its own file, and waits for its store.
fn under(policy: &str) -> String {
    format!("[in_flight]\n{policy}\n\n[retention]\n")
}

#[test]
fn what_a_duplicate_in_flight_gets_is_checked() {
    let scenario = "contention/overlapping-between-writes";
    let (wait, refuse) = ("policy    = \"wait\"", "policy    = \"refuse\"");
    let waiting = shipped("reference-http").replace("[retention]\n", &under(wait));
    Project::new().with("mine.toml", waiting).run(&format!("run mine.toml {scenario}")).exits(0);
    is_accused("reference-http", "[retention]\n", &under(refuse), scenario, "contention.losers-typed");
    is_accused("dialect-refuses-in-flight", refuse, wait, scenario, "contention.losers-typed");
}

#[test]
fn what_other_arguments_in_flight_get_is_checked() {
    let scenario = "contention/different-arguments-in-flight";
    let (conflict, busy) = ("different = \"conflict\"", "different = \"in-progress\"");
    let waiting = shipped("reference-http").replace("[retention]\n", &under(busy));
    Project::new().with("mine.toml", waiting).run(&format!("run mine.toml {scenario}")).exits(0);
    is_accused("reference-http", "[retention]\n", &under(conflict), scenario, "contention.racing-conflict");
    is_accused("dialect-refuses-in-flight", conflict, busy, scenario, "contention.racing-conflict");
}

#[test]
fn what_a_key_means_elsewhere_is_checked() {
    let (identity, conflict) = ("operation = \"identity\"", "operation = \"conflict\"");
    is_accused("reference-http", identity, conflict, "scope/second-operation", "scope.operation");
}

#[test]
fn what_comes_after_the_window_is_checked() {
    let scenario = "retention/after-window";
    let (expired, new) = ("after  = \"expired\"", "after  = \"new\"");
    is_accused("reference-http", expired, new, scenario, "retention.late-arrival");
    is_accused("dialect-runs-anew-after-expiry", new, expired, scenario, "retention.late-arrival");
}
