//! What there is and what it means: help, lists, explanations and checks, and a reader who has seen enough.

use std::path::Path;

use crate::project::Project;

/// The names of the TOML files below a folder of this repository.
fn shipped(folder: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("it is there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).expect("it is below").with_extension("");
                found.push(name.display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// The first word of each line of a list.
fn listed(what: &str) -> Vec<String> {
    let ended = Project::new().run(&format!("list {what}")).exits(0);
    ended.stdout.lines().map(|line| line.split_whitespace().next().expect("a name").to_owned()).collect()
}

#[test]
fn help_names_every_command_and_no_hidden_one() {
    let ended = Project::new().run("--help").exits(0);
    for command in ["run", "check", "list", "explain", "judge", "replay", "demo"] {
        let line = format!("\n  {command} ");
        assert!(ended.stdout.contains(&line), "{command}\n{ended}");
    }
    assert!(!ended.stdout.contains("\n  serve "), "{ended}");
    Project::new()
        .run("run --help")
        .exits(0)
        .says("--scenarios")
        .says("--format")
        .says("A target without a file");
    Project::new().run("--version").exits(0).says(env!("CARGO_PKG_VERSION"));
}

/// A heading stands over what belongs below it and over nothing else.
#[test]
fn help_sorts_the_flags_of_a_run() {
    let ended = Project::new().run("run --help").exits(0);
    let (usual, without_a_file) = ended.stdout.split_once("A target without a file:").expect("a heading");
    for flag in ["--runs", "--jobs", "--format", "--seed"] {
        assert!(usual.contains(flag) && !without_a_file.contains(flag), "{flag}\n{ended}");
    }
}

/// A command line of nothing is a mistake, and the answer is the help.
#[test]
fn no_word_at_all_is_answered_with_the_help() {
    let ended = Project::new().run_words(&[]).exits(2);
    assert!(ended.stderr.contains("Usage: nottwice"), "{ended}");
}

#[test]
fn lists_show_what_is_shipped() {
    assert_eq!(listed("scenarios"), shipped("scenarios"));
    assert_eq!(listed("targets"), shipped("fixtures/targets"));
    assert!(listed("clauses").contains(&"effect.at-most-once".to_owned()));
    assert!(listed("defects").contains(&"ignores-the-key".to_owned()));
    assert_eq!(listed("presets"), shipped("presets"));
    assert_eq!(listed("formats")[..2], ["human", "json"]);
}

/// Everything that a list names can be asked about.
#[test]
fn every_listed_name_is_explained() {
    let project = Project::new();
    for what in ["scenarios", "clauses", "defects"] {
        for name in listed(what) {
            let ended = project.run(&format!("explain {name}")).exits(0);
            let first = ended.stdout.lines().next().unwrap_or_default();
            assert!(first == name || first.starts_with(&format!("{name} (")), "{ended}");
            assert!(ended.stdout.lines().count() > 6, "{name} is hardly explained\n{ended}");
        }
    }
    for name in listed("presets") {
        let ended = project.run(&format!("explain preset:{name}")).exits(0);
        ended.says(&format!("preset:{name}")).says("where they come from");
    }
    for exit in ["0", "1", "2", "3", "4", "5", "130"] {
        project.run(&format!("explain {exit}")).exits(0).says(&format!("exit code {exit}: "));
    }
}

#[test]
fn an_explanation_leads_on() {
    let project = Project::new();
    let clause = project.run("explain receipt.replay").exits(0);
    clause.says("what it asks").says("why it matters").says("receipt/plain-retry").says("ignores-the-key");
    let scenario = project.run("explain effect/lost-reply").exits(0);
    scenario.says("what happens").says("what it catches").says("ignores-the-key: receipt.replay");
    let defect = project.run("explain ignores-the-key").exits(0);
    defect.says("what it does wrong").says("effect/lost-reply").says("nottwice demo ignores-the-key");
}

#[test]
fn a_check_without_words_reads_all_that_is_shipped() {
    let (scenarios, targets) = (shipped("scenarios").len(), shipped("fixtures/targets").len());
    Project::new().run("check").exits(0).says(&format!("{scenarios} scenarios and {targets} targets"));
}

/// As `nottwice list | head -1` does.
#[test]
fn a_reader_who_has_seen_enough_is_no_failure() {
    for words in ["list", "list clauses", "--help", "explain effect.at-most-once", "run receipt/plain-retry"]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let ended = Project::new().run_into(words, writer).exits(0);
        assert_eq!(ended.stderr, "", "{words}");
    }
}
