//! However a run ends, no process and no folder of it is left. `Running::end` asserts that for every test.

use crate::project::{Ended, Project, Running};
use crate::servers::{self, KEY};
use crate::{left, wait};

const RECORDS: &str = "reports/runs/reference";

/// Plays one scenario that ends and one that goes on for minutes, and interrupts when both are that far.
fn interrupt(name: &str, signal: &str) -> (Project, Ended) {
    let project = Project::new().with("mine.toml", servers::slow_reference(name));
    let words = "run mine.toml receipt/plain-retry recovery/crash-after-claim --jobs 2";
    let running = project.start(words);
    let record = |scenario: &str| project.path(&format!("reports/runs/{name}/{scenario}.jsonl"));
    let holds = |scenario: &str, line: &str| {
        std::fs::read_to_string(record(scenario)).is_ok_and(|text| text.contains(line)).then_some(())
    };
    wait::until("the end of the one", || holds("receipt-plain-retry", "{\"complete\":true}"));
    wait::until("the middle of the other", || holds("recovery-crash-after-claim", "\"event\":\"settling\""));
    assert!(!left::processes(running.pid()).is_empty(), "a server runs, or this test shows nothing");
    running.signal(signal);
    let ended = running.end().exits(130).says("interrupted");
    (project, ended)
}

fn is_recorded_and_can_be_judged(name: &str, project: &Project) {
    let record = |scenario: &str| format!("judge reports/runs/{name}/{scenario}.jsonl");
    project.run(&record("receipt-plain-retry")).exits(0);
    let begun = project.run(&record("recovery-crash-after-claim")).exits(5).says("the run was interrupted");
    assert!(!begun.stdout.contains("VIOLATED"), "what was not played to its end breaks nothing\n{begun}");
}

#[test]
fn a_run_over_stdio_that_is_interrupted() {
    let (project, ended) = interrupt("reference-stdio", "INT");
    assert!(ended.stdout.contains("receipt.replay"), "what was played is judged\n{ended}");
    is_recorded_and_can_be_judged("reference-stdio", &project);
}

#[test]
fn a_run_over_http_that_is_interrupted() {
    let (project, _) = interrupt("reference-http", "INT");
    is_recorded_and_can_be_judged("reference-http", &project);
}

#[test]
fn a_run_over_stdio_that_is_terminated() {
    let (project, _) = interrupt("reference-stdio", "TERM");
    is_recorded_and_can_be_judged("reference-stdio", &project);
}

#[test]
fn a_run_over_http_that_is_terminated() {
    let (project, _) = interrupt("reference-http", "TERM");
    is_recorded_and_can_be_judged("reference-http", &project);
}

/// The page of an interrupted run must not say that the run ended otherwise.
#[test]
fn an_interrupted_run_says_one_exit_code() {
    let (_, ended) = interrupt("reference-http", "TERM");
    assert!(!ended.stdout.contains("exit 0") && !ended.stdout.contains("exit 4"), "{ended}");
}

/// Every way to end a worker is in the shipped scenarios.
#[test]
fn a_whole_run_over_each_transport() {
    for target in ["reference-stdio", "reference-http"] {
        Project::new().run(&format!("run {target}")).exits(0);
    }
}

/// A session of its own, deaf to what is asked, and an orphan at once.
const HIDDEN: &str = "setsid sh -c 'trap : TERM HUP INT; while :; do sleep 5; done' &";

#[test]
fn a_server_that_cannot_run_and_starts_others() {
    let hides = format!("[\"sh\", \"-c\", \"({HIDDEN}) ; exit 1\"]");
    let target = servers::stdio(&hides, KEY).replace("\"5s\"", "\"500ms\"");
    Project::new().with("mine.toml", target).run("run mine.toml").exits(5);
}

#[test]
fn a_server_that_is_played_and_starts_others() {
    let hides = format!("import os\nos.system(\"({HIDDEN}) >/dev/null 2>&1 </dev/null\")\n");
    let project = Project::new().with("server.py", hides + &servers::invents_success());
    let target = servers::python(&project.path("server.py"), KEY);
    project.with("mine.toml", target).run("run mine.toml receipt/restart").exits(5);
}

/// Before anything is played the server is looked at, which may take as long.
#[test]
fn a_first_look_that_is_interrupted() {
    for signal in ["INT", "TERM"] {
        let target = servers::stdio("[\"sh\", \"-c\", \"trap '' HUP; while :; do sleep 60; done\"]", KEY);
        let project = Project::new().with("mine.toml", target.replace("\"5s\"", "\"10m\""));
        interrupted(project.start("run mine.toml"), signal);
    }
}

#[test]
fn a_replay_that_is_interrupted() {
    let project = Project::new().with("mine.toml", servers::slow_reference("reference-http"));
    let quick = project.start("run mine.toml recovery/crash-after-claim");
    let record = format!("{RECORDS}-http/recovery-crash-after-claim.jsonl");
    wait::until("a record", || settles(&project, &record));
    quick.signal("TERM");
    quick.end().exits(130);
    let replay = project.start(&format!("replay {record}"));
    wait::until("its record", || {
        settles(&project, &record.replace("reports/runs/", "reports/runs/replayed/"))
    });
    interrupted(replay, "TERM");
}

fn settles(project: &Project, record: &str) -> Option<()> {
    let text = std::fs::read_to_string(project.path(record)).ok()?;
    text.contains("\"event\":\"settling\"").then_some(())
}

/// Waits for a server of it, interrupts, and expects the end that an interrupted run has.
fn interrupted(running: Running, signal: &str) {
    wait::until("a server", || (!left::processes(running.pid()).is_empty()).then_some(()));
    running.signal(signal);
    running.end().exits(130);
}

/// A run that is killed can clear nothing away. Any other run of this user would do it as well, so none is
/// let run meanwhile.
#[test]
fn a_run_that_is_killed_is_cleared_away_by_the_next() {
    for name in ["reference-stdio", "reference-http"] {
        let project = Project::alone().with("mine.toml", servers::slow_reference(name));
        let killed = project.start("run mine.toml recovery/crash-after-claim");
        let record = format!("reports/runs/{name}/recovery-crash-after-claim.jsonl");
        wait::until("a run under way", || settles(&project, &record));
        killed.signal("KILL");
        assert!(!left::all(killed.pid(), &project.temp()).is_empty(), "it left something to clear away");
        let next = format!("run {name} receipt/plain-retry");
        let ended = project.run(&next).exits(0).says("an earlier run was killed");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended}");
        assert_eq!(left::all(killed.pid(), &project.temp()), Vec::<String>::new(), "{ended}");
        assert_eq!(project.run(&next).exits(0).stderr, "", "there is nothing any more");
    }
}
