//! Records that cannot be judged: each error names file, line and cure.

use crate::page::Page;
use crate::project::Project;

const RECORD: &str = "reports/runs/reference-http/receipt-plain-retry.jsonl";

/// A project with one record in it.
fn recorded() -> (Project, String) {
    let project = Project::new();
    project.run("run reference-http receipt/plain-retry").exits(0);
    let record = project.read(RECORD);
    (project, record)
}

/// The record with another line in the place of one.
fn with_line(record: &str, number: usize, text: &str) -> String {
    let replaced = record.lines().enumerate().map(|(at, line)| if at + 1 == number { text } else { line });
    replaced.map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_is_no_record_is_shown_in_its_line() {
    let (project, record) = recorded();
    let project = project
        .with("empty.jsonl", "")
        .with("garbage.jsonl", "hello\n")
        .with("binary.jsonl", b"\xff\xfe\x00")
        .with("later.jsonl", with_line(&record, 1, r#"{"nottwice":"run","version":3,"plan":{}}"#))
        .with("other.jsonl", with_line(&record, 1, r#"{"nottwice":"story","version":2,"plan":{}}"#))
        .with("plan.jsonl", with_line(&record, 1, r#"{"nottwice":"run","version":2,"plan":{}}"#))
        .with("middle.jsonl", with_line(&record, 3, r#"{"at":1,"event":"danced"}"#))
        .with("broken.jsonl", with_line(&record, 3, r#"{"at":1,"event":"#));
    let mut page = Page::new();
    for file in ["missing", "empty", "garbage", "binary", "later", "other", "plan", "middle", "broken"] {
        page.refused(file, project.run(&format!("judge {file}.jsonl")));
    }
    page.refused("a folder", project.run("judge reports"));
    page.compare("records_that_are_none");
}

#[test]
fn two_runs_in_one_file_are_refused() {
    let (project, record) = recorded();
    project.write("both.jsonl", format!("{record}{record}"));
    let line = record.lines().count() + 1;
    let ended = project.run("judge both.jsonl").exits(2).says("a line after the end of the run");
    ended.says(&format!("both.jsonl:{line}:1")).says("one file holds one run");
}

/// A kill or a full disk leaves half a line. What was written before is judged.
#[test]
fn a_record_that_breaks_off_is_judged_as_far_as_it_goes() {
    let (project, record) = recorded();
    let (events, _end) = record.trim_end().rsplit_once('\n').expect("more than one line");
    let (plan, _) = record.split_once('\n').expect("more than one line");
    for (name, text) in [
        ("no-end.jsonl", format!("{events}\n")),
        ("half-a-line.jsonl", events[..events.len() - 7].to_owned()),
        ("plan-alone.jsonl", format!("{plan}\n")),
    ] {
        project.write(name, text);
        let ended = project.run(&format!("judge {name}")).exits(5).says("the run was interrupted");
        assert!(!ended.stdout.contains("VIOLATED"), "{name}\n{ended}");
    }
}

/// Anybody may have written it.
#[test]
fn a_record_whose_events_belong_to_another_plan_is_refused() {
    let (project, record) = recorded();
    let strange = record.replace("\"call\":\"first\",\"identity\":0", "\"call\":\"first\",\"identity\":7");
    assert_ne!(strange, record);
    project.write("strange.jsonl", strange);
    project.run("judge strange.jsonl").exits(2).says("the events do not belong to the plan");
}
