//! The exit codes: what a run of each kind ends with.

use crate::project::Project;
use crate::servers::{self, KEY, QUERY, store};

/// A target without a key, and what it says about that.
fn keyless(promise: &str) -> Project {
    let project = Project::new().with("server.py", servers::invents_success());
    let target = servers::python(&project.path("server.py"), promise);
    project.with("mine.toml", target)
}

#[test]
fn a_run_in_which_all_is_kept_ends_with_0() {
    let ended = Project::new().run("run reference-http receipt/plain-retry").exits(0).says("exit 0");
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_run_without_words_is_of_the_reference() {
    Project::new().run("run receipt/plain-retry").exits(0).says("reference-http · contract");
}

#[test]
fn a_violation_ends_with_1() {
    let ended = Project::new().run("run reference-http+ignores-the-key receipt/plain-retry").exits(1);
    let ended = ended.says("VIOLATED receipt.replay").says("exit 1");
    ended.says("nottwice replay reports/runs/reference-http+ignores-the-key/receipt-plain-retry.jsonl");
}

/// What is waived accuses nobody, and is never called held.
#[test]
fn a_waived_violation_is_said_on_the_first_line() {
    let target = include_str!("../../../../fixtures/targets/reference-http.toml");
    let defect = "[start.env]\nNOTES_DEFECT = \"ignores-the-key\"\n";
    let waiver = "\n[[waive]]\nclause = \"receipt.replay\"\nreason = \"notes are cheap\"\n";
    let target = format!("{}{waiver}", target.replace("[start.env]\n", defect));
    let ended = Project::new().with("mine.toml", target).run("run mine.toml receipt/plain-retry").exits(0);
    let ended = ended.says("violated 0").says("waived 1").says("but for those that are waived");
    ended.says("WAIVED receipt.replay — notes are cheap; it is broken");
}

#[test]
fn a_demonstration_ends_as_a_run_does() {
    Project::new().run("demo hides-the-replay").says("outcome.replayed-marked").exits(0);
    Project::new().run("demo ignores-the-key").says("VIOLATED receipt.replay").exits(1);
}

/// The filter names a clause, and no scenario of this project is made for it.
#[test]
fn a_run_that_selects_nothing_ends_with_4() {
    let scenario =
        "title = \"A note\"\nsource = \"this test\"\n\n[[step]]\ncall = \"first\"\nintent = \"note\"\n";
    let project = Project::new().with("group/note.toml", scenario);
    project.run("run reference-stdio receipt.replay --scenarios group").exits(4).says("nothing was played");
}

/// Over stdio a process is one connection, which a scenario of two connections cannot use.
#[test]
fn a_run_whose_scenarios_do_not_fit_ends_with_4() {
    let ended = Project::new().run("run reference-stdio recovery/new-connection").exits(4);
    ended.says("NOT PLAYED").says("lacks connections");
}

#[test]
fn a_target_without_key_and_promise_ends_with_4() {
    keyless("").run("run mine.toml receipt/plain-retry").exits(4).says("NO PROMISE");
}

#[test]
fn a_target_that_openly_promises_nothing_ends_with_0() {
    let project = keyless("[promise]\nkind = \"none\"\n");
    project.run("run mine.toml receipt/plain-retry").exits(0).says("NO PROMISE").says("and says so");
}

/// The first look at a server, with flags alone.
#[test]
fn a_server_in_flags_is_judged_as_one_in_a_file() {
    let project = Project::new().with("server.py", servers::invents_success());
    let program = project.path("server.py").display().to_string();
    let file = servers::python(&project.path("server.py"), &format!("{KEY}{}", store(QUERY)));
    project.write("mine.toml", file);
    let told = project.run_words(&[
        "run",
        "receipt/plain-retry",
        "--tool",
        "create",
        "--arguments",
        "{\"text\": \"{label}\"}",
        "--key",
        "arguments:/key",
        "--sqlite",
        "{state}/notes.db",
        "--effects",
        QUERY,
        "--",
        "python3",
        &program,
    ]);
    let read = project.run("run mine.toml receipt/plain-retry");
    for ended in [told, read] {
        ended.exits(1).says("VIOLATED effect.acknowledged-exists");
    }
}
