//! Plans that share a server: each record stands alone, and what is suspicious is played again alone.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::project::Project;
use crate::servers;

/// The events of a record.
fn events(project: &Project, record: &str) -> Vec<Value> {
    let text = project.read(record);
    text.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The processes that the records name as their workers.
fn workers(project: &Project, folder: &str) -> BTreeSet<u64> {
    let records = ["receipt-plain-retry", "receipt-changed-arguments"];
    let started = |event: &Value| (event["event"] == "started").then(|| event["pid"].as_u64()).flatten();
    let of =
        |name: &str| events(project, &format!("reports/runs/{folder}/{name}.jsonl")).iter().find_map(started);
    records.iter().map(|name| of(name).expect("each record says who served it")).collect()
}

const TWO: &str = "receipt/plain-retry receipt/changed-arguments --jobs 1";

#[test]
fn plans_that_break_only_their_own_messages_share_a_server() {
    for target in ["reference-http", "reference-stdio"] {
        let project = Project::new();
        project.run(&format!("run {target} {TWO}")).exits(0);
        assert_eq!(workers(&project, target).len(), 1, "{target}: one server for both");
        let mut ids = BTreeSet::new();
        for name in ["receipt-plain-retry", "receipt-changed-arguments"] {
            let record = format!("reports/runs/{target}/{name}.jsonl");
            project.run(&format!("judge {record}")).exits(0);
            for event in events(&project, &record) {
                if let Some(id) = event["request_id"].as_str() {
                    assert!(ids.insert(id.to_owned()), "{target}: request id {id} was used before");
                }
                let rows = event["ledger"]["effects"].as_array();
                assert!(rows.is_none_or(|rows| rows.len() <= 1), "{target}, {name}: rows of others: {event}");
            }
        }
    }
}

#[test]
fn a_plan_that_breaks_its_server_has_one_of_its_own() {
    let project = Project::new();
    project
        .run("run reference-http receipt/plain-retry receipt/restart recovery/reply-cut --jobs 1")
        .exits(0);
    let pid = |name: &str| {
        let events = events(&project, &format!("reports/runs/reference-http/{name}.jsonl"));
        events.iter().find_map(|event| event["pid"].as_u64()).expect("a worker")
    };
    assert_eq!(pid("receipt-plain-retry"), pid("recovery-reply-cut"));
    assert_ne!(pid("receipt-plain-retry"), pid("receipt-restart"));
}

/// What a broken server did to one plan may have been the company's doing.
#[test]
fn a_suspicious_plan_is_played_again_alone() {
    let project = Project::new();
    let target = "reference-http+ignores-the-key";
    project.run(&format!("run {target} {TWO}")).exits(1).says("2 scenarios");
    assert_eq!(workers(&project, target).len(), 2, "a server for each");
}

/// A server that keeps its promise; its first call leaves a row besides that nobody asked for.
const STRAYS: &str = r#"
import json, sqlite3, sys

database = sqlite3.connect("notes.db", isolation_level=None)
database.execute("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text, key UNIQUE)")
schema = {"type": "object", "properties": {"key": {"type": "string"}}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = {}
    if asked["method"] == "tools/list":
        result = {"tools": [{"name": "create", "inputSchema": schema}]}
    elif asked["method"] == "tools/call":
        given = asked["params"]["arguments"]
        rows = [("stray", "stray"), (given["text"], given.get("key"))]
        database.executemany("INSERT OR IGNORE INTO notes (text, key) VALUES (?, ?)", rows)
        note = database.execute("SELECT id FROM notes WHERE key IS ?", rows[1][1:]).fetchone()[0]
        result = {"structuredContent": {"id": note}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;

#[test]
fn a_row_that_is_nobodys_makes_everybody_suspicious() {
    let project = Project::new().with("server.py", STRAYS);
    let rest = servers::KEY.to_owned()
        + &servers::store(servers::QUERY)
        + "\n[replies]\nid = \"/result/structuredContent/id\"\n";
    let target = servers::python(&project.path("server.py"), &rest);
    let project = project.with("mine.toml", target);
    project.run("run mine.toml receipt/plain-retry effect/lost-reply --jobs 1").exits(0);
    let worker = |name: &str| {
        let events = events(&project, &format!("reports/runs/mine/{name}.jsonl"));
        events.iter().find_map(|event| event["pid"].as_u64())
    };
    assert_ne!(worker("receipt-plain-retry"), worker("effect-lost-reply"), "each was played again alone");
}

#[test]
fn repeats_have_records_of_their_own() {
    let project = Project::new();
    let ended = project.run("run reference-http receipt/plain-retry --repeat 3").exits(0);
    let ended = ended.says("played 3 plans");
    let record = |folder: &str| format!("reports/runs/reference-http/{folder}receipt-plain-retry.jsonl");
    let keys: BTreeSet<_> = ["", "repeat-2/", "repeat-3/"]
        .iter()
        .map(|folder| {
            let head: Value =
                serde_json::from_str(project.read(&record(folder)).lines().next().expect("a head"))
                    .expect("JSON");
            head["plan"]["keys"].to_string()
        })
        .collect();
    assert_eq!(keys.len(), 3, "fresh keys each time\n{ended}");
    project.run("run reference-http receipt/plain-retry --repeat 0").exits(2);
}
