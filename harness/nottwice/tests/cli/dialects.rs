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

#[test]
fn one_whose_effects_come_later() {
    keeps_everything("dialect-writes-later");
}

/// What is on its way to the store is neither missing nor forgotten.
#[test]
fn when_an_effect_is_visible_is_checked() {
    let text = shipped("dialect-writes-later");
    let said = "[effect]\nvisible = \"150ms\"\n";
    assert!(text.contains(said));
    let project = Project::new().with("mine.toml", text.replace(said, ""));
    let ended = project.run("run mine.toml receipt/plain-retry").exits(1);
    ended.says("VIOLATED effect.acknowledged-exists");
}

/// What arrives after everybody has been answered is waited for, where it may be late.
#[test]
fn a_second_effect_that_comes_late_is_counted() {
    let project = Project::new();
    let ended = project.run("run dialect-writes-later+sends-what-it-replays effect/lost-reply").exits(1);
    ended.says("left 3 effects");
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

#[test]
fn three_that_speak_as_published() {
    keeps_everything("dialect-quotes-its-keys");
    keeps_everything("dialect-repeats-every-byte");
    keeps_everything("dialect-shows-what-is-now");
}

/// A server under a preset that is not its own is accused by the clause, or its key is not seen to arrive.
#[track_caller]
fn is_not_spoken_by(name: &str, preset: &str, instead: &str, scenario: &str, exit: i32, said: &str) {
    let text = shipped(name);
    let line = format!("preset  = \"{preset}\"");
    assert!(text.contains(&line), "{name} is under no {preset}");
    let text = text.replace(&line, &format!("preset = \"{instead}\""));
    let ended = Project::new().with("mine.toml", text).run(&format!("run mine.toml {scenario}")).exits(exit);
    ended.says(said);
}

#[test]
fn a_preset_in_the_place_of_another_is_found() {
    let retry = "receipt/plain-retry";
    let (quotes, bytes, now) =
        ("dialect-quotes-its-keys", "dialect-repeats-every-byte", "dialect-shows-what-is-now");
    is_not_spoken_by(quotes, "ietf-07", "acp", retry, 5, "the key was not seen to arrive");
    let unread = "no declared rule says";
    is_not_spoken_by(bytes, "stripe-v1", "acp", "scope/second-operation", 5, unread);
    is_not_spoken_by(
        bytes,
        "stripe-v1",
        "ietf-07",
        "receipt/changed-arguments",
        1,
        "VIOLATED receipt.conflict",
    );
    is_not_spoken_by(quotes, "ietf-07", "stripe-v1", retry, 1, "VIOLATED effect.performed");
    is_not_spoken_by(now, "aws-ec2", "aip-155", retry, 1, "VIOLATED effect.performed");
}

/// The reference over stdio under the reply rules of presets, in the place of its own.
fn read_by(presets: &str) -> String {
    let text = shipped("reference-stdio");
    let (rules, hooks) =
        (text.find("[[replies.rule]]").expect("rules"), text.find("[[hook]]").expect("hooks"));
    format!("preset = {presets}\n{}{}", &text[..rules], &text[hooks..])
        .replace("operation = \"identity\"\n", "")
}

#[test]
fn reply_rules_of_presets_are_checked() {
    let ends = |presets: &str, scenario: &str, exit: i32| {
        let project = Project::new().with("mine.toml", read_by(presets));
        project.run(&format!("run mine.toml {scenario}")).exits(exit)
    };
    let (retry, changed) = ("receipt/plain-retry", "receipt/changed-arguments");
    ends("[\"seed\", \"mcp-structured\"]", changed, 0);
    ends("[\"seed\", \"mcp-text\"]", changed, 0);
    ends("[\"seed\", \"problem+json\"]", changed, 5).says("no declared rule says");
    ends("\"adcp\"", retry, 0);
    ends("\"adcp\"", "scope/second-operation", 1)
        .says("VIOLATED scope.operation")
        .says("[scope] operation = \"conflict\" # as in preset adcp");
}

/// Rows of the preset that the file itself contradicts.
#[test]
fn how_true_a_replay_is_is_checked() {
    let retry = "receipt/plain-retry";
    let row = |fidelity: &str| format!("[replay]\nfidelity = \"{fidelity}\"\n\n[retention]\n");
    is_accused("dialect-shows-what-is-now", "[retention]\n", &row("fields"), retry, "receipt.faithful");
    is_accused("reference-http", "[retention]\n", &row("bytes"), retry, "receipt.faithful");
    let text = shipped("reference-http").replace("[retention]\n", &row("current"));
    let project = Project::new().with("mine.toml", text);
    project.run(&format!("run mine.toml {retry}")).exits(0);
}
