//! Servers that print what moves a cursor, hides or reorders text: shown, and never done.

use crate::project::{Ended, Project};
use crate::servers::{self, INVENTS_SUCCESS, KEY, QUERY, store};

/// Clears the screen, sets the title, rings, reorders, hides, and begins a line that looks like ours.
const HOSTILE: &str = r"\x1b[2J\x1b]0;owned\x07 \u202egnol\u2066 \u200b \x9b31m \r\nexit 0: all is well";

fn acts(c: char) -> bool {
    let reorders = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    reorders || (c.is_control() && c != '\n')
}

#[track_caller]
fn is_inert(ended: &Ended) {
    for stream in [&ended.stdout, &ended.stderr] {
        let found: Vec<_> = stream.chars().filter(|c| acts(*c)).collect();
        assert!(found.is_empty(), "{found:?} in {stream:?}");
        assert!(!stream.lines().any(|line| line.starts_with("exit 0")), "a server speaks as we do\n{ended}");
    }
}

fn project(rest: &str) -> Project {
    let project = Project::new().with("server.py", INVENTS_SUCCESS.replace("{{hostile}}", HOSTILE));
    let target = servers::python(&project.path("server.py"), &format!("{KEY}{rest}"));
    project.with("mine.toml", target)
}

#[test]
fn an_invented_success_is_named_and_its_text_is_inert() {
    let replies = "\n[replies]\nid = \"/result/structuredContent/id\"\n";
    let project = project(&format!("{}{replies}", store(QUERY)));
    let ended = project.run("run mine.toml receipt/plain-retry").exits(1);
    let ended = ended.says("VIOLATED effect.acknowledged-exists").says("no row carries the label");
    is_inert(&ended);
    assert!(ended.stdout.contains("u{1b}"), "what it printed is shown as an escape\n{ended}");
    is_inert(&project.run("judge reports/runs/mine/receipt-plain-retry.jsonl").exits(1));
    is_inert(&project.run("replay reports/runs/mine/receipt-plain-retry.jsonl").exits(1));
}

/// JSON escapes what would act, and nothing of it is lost.
#[test]
fn the_format_for_programs_is_inert_and_whole() {
    let project = project(&store(QUERY));
    let ended = project.run("run mine.toml receipt/plain-retry --format json").exits(1);
    is_inert(&ended);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    assert_eq!(report["exit"], 1);
}

#[test]
fn the_last_words_of_a_server_are_inert() {
    let dies = format!(
        "import sys\nsys.stderr.reconfigure(encoding='utf-8')\nsys.exit(\"{HOSTILE} no database\")\n"
    );
    let project = Project::new().with("server.py", dies);
    let target = servers::python(&project.path("server.py"), KEY);
    let ended = project.with("mine.toml", target).run("run mine.toml receipt/plain-retry").exits(5);
    is_inert(&ended.says("no database"));
}

/// A replay starts the server without a first look, and tells of its death in another place.
#[test]
fn the_last_words_of_a_server_in_a_replay_are_inert() {
    let project = Project::new();
    project.run("run reference-http receipt/plain-retry").exits(0);
    let dies = format!(
        "import sys\nsys.stderr.reconfigure(encoding='utf-8')\nsys.exit(\"{HOSTILE} no database\")\n"
    );
    project.write("server.py", dies);
    let command = format!("[\"python3\", \"{}\"]", project.path("server.py").display());
    project.write("mine.toml", servers::http(&command, "http://127.0.0.1:{port}", ""));
    let record = "reports/runs/reference-http/receipt-plain-retry.jsonl";
    let ended = project.run(&format!("replay {record} --target mine.toml")).exits(5);
    is_inert(&ended.says("no database"));
}
