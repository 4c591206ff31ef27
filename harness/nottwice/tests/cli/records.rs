//! Records: what a run writes down can be judged and played again, and no record is lost.

use serde_json::Value;

use crate::project::Project;

const RECORD: &str = "reports/runs/reference-http/receipt-plain-retry.jsonl";
const RUN: &str = "run reference-http receipt/plain-retry";

/// The plan in the first line of a record.
fn plan(record: &str) -> Value {
    let head: Value = serde_json::from_str(record.lines().next().expect("a first line")).expect("JSON");
    head["plan"].clone()
}

#[test]
fn a_judged_record_gives_the_bytes_of_its_run() {
    for (target, exit) in [("reference-http", 0), ("reference-http+ignores-the-key", 1)] {
        let project = Project::new();
        let run = project.run(&format!("run {target} receipt/plain-retry --format json")).exits(exit);
        let record = format!("reports/runs/{target}/receipt-plain-retry.jsonl");
        let judged = project.run(&format!("judge {record} --format json")).exits(exit);
        assert_eq!(run.verdict(), judged.stdout);
        assert!(run.stdout.contains("figures") && !judged.stdout.contains("figures"), "only a run costs");
        serde_json::from_str::<Value>(&run.stdout).expect("it is JSON");
    }
}

#[test]
fn a_replay_asks_the_same_under_fresh_keys() {
    let project = Project::new();
    project.run(RUN).exits(0);
    let first = project.read(RECORD);
    project.run(&format!("replay {RECORD}")).exits(0);
    let (first, second) =
        (plan(&first), plan(&project.read("reports/runs/replayed/reference-http/receipt-plain-retry.jsonl")));
    assert_eq!(first["steps"], second["steps"]);
    for names in ["keys", "labels"] {
        let (one, other) =
            (first[names].as_array().expect("a list"), second[names].as_array().expect("a list"));
        assert!(
            !one.is_empty() && one.iter().all(|name| !other.contains(name)),
            "{names}: {one:?} {other:?}"
        );
    }
    assert_eq!(plan(&project.read(RECORD)), first, "the first record is as it was");
}

/// A project in which one file lies on a full disk: every byte that is written to it is refused.
fn with_a_full_disk(file: &str) -> Project {
    let project = Project::new();
    let file = project.path(file);
    std::fs::create_dir_all(file.parent().expect("it is below the folder")).expect("the folder is ours");
    std::os::unix::fs::symlink("/dev/full", file).expect("the folder is ours");
    project
}

#[test]
fn a_record_that_cannot_be_written_is_said_and_changes_no_verdict() {
    for (target, exit) in [("reference-http", 0), ("reference-http+ignores-the-key", 1)] {
        let record = format!("reports/runs/{target}/receipt-plain-retry.jsonl");
        let ended = with_a_full_disk(&record).run(&format!("run {target} receipt/plain-retry")).exits(exit);
        let ended = ended.says(&format!("warning: the record {record} ends early"));
        assert!(ended.stderr.contains("No space left on device"), "{ended}");
    }
}

#[test]
fn a_replay_that_cannot_be_written_is_said() {
    let project = with_a_full_disk("reports/runs/replayed/reference-http/receipt-plain-retry.jsonl");
    project.run(RUN).exits(0);
    project.run(&format!("replay {RECORD}")).exits(0).says("ends early");
}

#[test]
fn a_demonstration_that_cannot_be_written_is_said() {
    let record = "reports/runs/reference-http+ignores-the-key/effect-crash-after-commit.jsonl";
    with_a_full_disk(record).run("demo ignores-the-key").exits(1).says("ends early");
}

/// The report is what the run was made for.
#[test]
fn a_report_that_cannot_be_written_is_no_success() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("there is a /dev/full");
    let ended = Project::new().run_into(&format!("{RUN} --format json"), full);
    assert_ne!(ended.exit, 0, "{ended}");
    assert!(ended.stderr.contains("No space left on device"), "{ended}");
}

/// Two scenarios may be called alike where they come from different folders.
#[test]
fn two_scenarios_of_one_name_have_a_record_each() {
    let scenario = |title: &str| {
        format!(
            "title = \"{title}\"\nsource = \"this test\"\n\n[[step]]\ncall = \"first\"\nintent = \"note\"\n"
        )
    };
    let project = Project::new()
        .with("mine/group/note.toml", scenario("A note"))
        .with("yours/group/note.toml", scenario("Another note"));
    let ended = project.run("run reference-http --scenarios mine --scenarios yours");
    if ended.exit == 2 {
        return drop(ended.says("group/note"));
    }
    let ended = ended.exits(0).says("2 scenarios");
    let folder = std::fs::read_dir(project.path("reports/runs/reference-http")).expect("it was written");
    let records: Vec<_> = folder.flatten().map(|entry| entry.path()).collect();
    assert_eq!(records.len(), 2, "{records:?}\n{ended}");
    for record in records {
        project.run(&format!("judge {}", record.display())).exits(0);
    }
}

#[test]
fn records_of_two_targets_are_not_judged_as_one() {
    let project = Project::new();
    project.run(RUN).exits(0);
    project.run("run reference-stdio receipt/plain-retry").exits(0);
    let both = format!("judge {RECORD} reports/runs/reference-stdio/receipt-plain-retry.jsonl");
    project.run(&both).says("reference-http").says("reference-stdio");
}

/// The flags of the second run are not those of the first.
#[test]
fn a_target_in_flags_is_replayed_as_it_was() {
    let project = Project::new().with("server.py", crate::servers::invents_success());
    let program = project.path("server.py").display().to_string();
    let run = |name: &str| {
        let arguments = "{\"text\": \"{label}\"}";
        let flags = ["--tool", "create", "--key", "arguments:/key", "--arguments", arguments];
        let command = ["--", "python3", &program, name];
        project.run_words(&[&["run", "receipt/plain-retry"][..], &flags, &command].concat()).exits(5);
    };
    run("first");
    let file =
        plan(&project.read("reports/runs/command-line/receipt-plain-retry.jsonl"))["target"]["file"].clone();
    let file = file.as_str().expect("a path").to_owned();
    let first = project.read(&file);
    run("second");
    assert_eq!(project.read(&file), first, "the record of the first run names {file}");
}
