//! `nottwice proxy` on standard input and output: each fault on the message that its rule names, and on no other.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout};

use serde_json::{Value, json};

use crate::project::{Ended, Project, Running};
use crate::wait;

/// Answers each request with the number of lines that have come, and keeps every line.
const SERVER: &str = r#"
import json, sys
kept, count = open("kept", "a", buffering=1), 0
for line in sys.stdin:
    kept.write(line)
    count += 1
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"came": count}}), flush=True)
"#;

const WORDS: [&str; 7] = ["proxy", "rules.toml", "--log", "log", "--", "python3", "server.py"];

/// A client at the proxy.
struct Client {
    project: Project,
    running: Running,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Client {
    fn of(rules: &str) -> Client {
        Client::with(rules, &WORDS)
    }

    fn with(rules: &str, words: &[&str]) -> Client {
        let project = Project::new().with("rules.toml", rules).with("server.py", SERVER);
        let (running, stdin, stdout) = project.converse(words);
        Client { project, running, stdin: Some(stdin), stdout: BufReader::new(stdout) }
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("it is open");
        stdin.write_all(format!("{message}\n").as_bytes()).expect("the proxy reads");
    }

    fn call(&mut self, id: u64, tool: &str) {
        self.send(&call(id, tool, &json!({})));
    }

    fn reply(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("a pipe can be read");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no reply: {line:?}"))
    }

    /// The id of the next reply, and how many lines had come to the server.
    fn came(&mut self) -> (u64, u64) {
        let reply = self.reply();
        (reply["id"].as_u64().expect("a number"), reply["result"]["came"].as_u64().expect("a number"))
    }

    /// Waits until the log says that a fault was done.
    fn fired(&self) -> Value {
        let log = self.project.path("log");
        wait::until("a fault", || {
            let text = std::fs::read_to_string(&log).ok()?;
            let whole = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            whole.into_iter().find(|line| line["event"] == "fired")
        })
    }

    /// Goes away, and gives what the proxy said, what else it delivered, and what came to the server.
    fn end(mut self) -> (Ended, String, Vec<String>) {
        drop(self.stdin.take());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("a pipe can be read");
        let ended = self.running.end();
        let kept = std::fs::read_to_string(self.project.path("kept")).unwrap_or_default();
        (ended, rest, kept.split_inclusive('\n').map(str::to_owned).collect())
    }
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

fn rule(tool: &str, nth: u64, fault: &str) -> String {
    let on = format!("on = {{ method = \"tools/call\", tool = \"{tool}\", nth = {nth} }}");
    format!("[[fault]]\nname = \"the fault\"\n{on}\n{fault}\n")
}

#[test]
fn the_nth_call_of_a_tool_bears_the_fault_and_no_other() {
    let mut client = Client::of(&rule("b", 2, "at = \"reply\"\ndo = \"drop\""));
    for (id, tool) in [(1, "a"), (2, "b"), (3, "a"), (4, "b"), (5, "b")] {
        client.call(id, tool);
        if id != 4 {
            assert_eq!(client.came(), (id, id));
        }
    }
    let fired = client.fired();
    assert_eq!((&fired["passed"], &fired["nth"], &fired["do"]), (&json!(0), &json!(2), &json!("drop")));
    let (ended, rest, kept) = client.end();
    assert_eq!((rest.as_str(), kept.len()), ("", 5), "each request once, and one reply is missing");
    ended.exits(0);
}

#[test]
fn a_request_that_is_dropped_never_comes() {
    let mut client = Client::of(&rule("b", 1, "at = \"request\"\ndo = \"drop\""));
    client.call(1, "b");
    client.call(2, "b");
    assert_eq!(client.came(), (2, 1));
    let (ended, rest, kept) = client.end();
    assert_eq!((rest.as_str(), kept.len()), ("", 1));
    ended.exits(0);
}

#[test]
fn a_request_that_is_duplicated_comes_twice_and_is_answered_once() {
    let mut client = Client::of(&rule("b", 1, "at = \"request\"\ndo = \"duplicate\""));
    client.call(1, "b");
    assert_eq!(client.came(), (1, 1));
    client.call(2, "b");
    assert_eq!(client.came(), (2, 3));
    let (ended, rest, kept) = client.end();
    assert_eq!((rest.as_str(), kept.len()), ("", 3));
    assert_eq!(kept[0], kept[1], "the same bytes");
    ended.exits(0);
}

#[test]
fn a_reply_that_is_duplicated_is_told_twice() {
    let mut client = Client::of(&rule("b", 1, "at = \"reply\"\ndo = \"duplicate\""));
    client.call(1, "b");
    assert_eq!((client.came(), client.came()), ((1, 1), (1, 1)));
    let (ended, _, kept) = client.end();
    assert_eq!(kept.len(), 1);
    ended.exits(0);
}

#[test]
fn a_reply_is_cut_where_its_rule_says() {
    for (place, passed) in [("bytes = 7", Some(7)), ("where = \"before-last-byte\"", None)] {
        let mut client = Client::of(&rule("b", 1, &format!("at = \"reply\"\ndo = \"cut\"\n{place}")));
        client.call(1, "b");
        let fired = client.fired();
        let read = fired["read"].as_u64().expect("a number");
        let passed = passed.unwrap_or(read - 1);
        assert_eq!(fired["passed"], passed);
        let (ended, rest, kept) = client.end();
        assert_eq!((rest.len() as u64, kept.len()), (passed, 1), "{rest:?}");
        ended.exits(0);
    }
}

#[test]
fn a_request_that_is_cut_is_no_whole_message() {
    let mut client = Client::of(&rule("b", 1, "at = \"request\"\ndo = \"cut\"\nbytes = 0"));
    client.call(1, "b");
    client.fired();
    let (ended, rest, kept) = client.end();
    assert_eq!((rest.as_str(), kept.len()), ("", 0));
    ended.exits(0);
}

#[test]
fn a_held_message_goes_on_when_its_rule_says() {
    let held = |at: &str, until: &str| format!("at = \"{at}\"\ndo = \"hold\"\nuntil = \"{until}\"");
    // Until the next was answered: the server sees the second before the first.
    let mut client = Client::of(&rule("b", 1, &held("request", "next-reply")));
    client.call(1, "b");
    client.fired();
    client.call(2, "b");
    assert_eq!((client.came(), client.came()), ((2, 1), (1, 2)));
    client.end().0.exits(0);
    // The reply of the first is told after that of the second.
    let mut client = Client::of(&rule("b", 1, &held("reply", "next-reply")));
    client.call(1, "b");
    client.fired();
    client.call(2, "b");
    assert_eq!((client.came(), client.came()), ((2, 2), (1, 1)));
    client.end().0.exits(0);
    // By a time, with nobody else there.
    let mut client = Client::of(&rule("b", 1, &held("reply", "20ms")));
    client.call(1, "b");
    assert_eq!(client.came(), (1, 1));
    client.end().0.exits(0);
}

#[test]
fn a_held_message_that_never_goes_on_is_said_by_name() {
    for at in ["request", "reply"] {
        let held = format!("at = \"{at}\"\ndo = \"hold\"\nuntil = \"next-reply\"");
        let mut client = Client::of(&rule("b", 1, &held));
        client.call(1, "b");
        client.fired();
        // Nobody calls again, so that nothing frees it.
        drop(client.stdin.take());
        let Client { project, running, mut stdout, .. } = client;
        running.end().exits(5).says("never let go: `the fault` in line 1");
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).expect("a pipe can be read");
        let read = |name: &str| std::fs::read_to_string(project.path(name)).unwrap_or_default();
        assert_eq!((rest.as_str(), read("kept").lines().count()), ("", usize::from(at == "reply")));
        let log = read("log");
        assert!(log.contains(r#""event":"lost""#) && !log.contains("released"), "{log}");
    }
}

#[test]
fn a_reply_that_frees_another_message_can_bear_a_fault_itself() {
    let held = rule("b", 1, "at = \"request\"\ndo = \"hold\"\nuntil = \"next-reply\"");
    let lost = rule("b", 2, "at = \"reply\"\ndo = \"drop\"").replace("the fault", "the other");
    let mut client = Client::of(&(held + &lost));
    client.call(1, "b");
    client.call(2, "b");
    assert_eq!(client.came(), (1, 2));
    client.end().0.exits(0);
}

#[test]
fn a_fault_that_never_fires_is_said_by_name() {
    let mut client = Client::of(&rule("b", 3, "at = \"reply\"\ndo = \"drop\""));
    client.call(1, "b");
    assert_eq!(client.came(), (1, 1));
    let (ended, ..) = client.end();
    ended.exits(5).says("never fired: `the fault` in line 1");
}

#[test]
fn a_signal_ends_it_and_its_server() {
    for signal in ["INT", "TERM"] {
        let mut client = Client::of(&rule("b", 1, "at = \"reply\"\ndo = \"drop\""));
        client.call(1, "b");
        client.fired();
        client.running.signal(signal);
        // `Running::end` asserts that nothing is left.
        client.running.end().exits(0);
    }
}

#[test]
fn a_server_that_cannot_be_started_is_named() {
    let rules = rule("b", 1, "at = \"reply\"\ndo = \"drop\"");
    let project = Project::new().with("rules.toml", rules);
    project.run("proxy rules.toml -- no-such-program-here").exits(5).says("no-such-program-here");
}

#[test]
fn the_reply_of_the_reference_is_lost_after_its_commit_and_the_retry_is_a_replay() {
    let server = env!("CARGO_BIN_EXE_nottwice");
    let words = ["proxy", "rules.toml", "--log", "log", "--", "env", "NOTES_DB=notes.db", server];
    let words: Vec<_> = words.into_iter().chain(["serve", "stdio"]).collect();
    let mut client = Client::with(&rule("create_note", 1, "at = \"reply\"\ndo = \"drop\""), &words);
    let client_says = json!({"name": "test", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client_says});
    client.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}));
    assert_eq!(client.reply()["id"], 0);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let arguments = |key: &str| json!({"body": "secret body", "title": "t", "idempotency_key": key});
    client.send(&call(1, "create_note", &arguments("key-a")));
    client.fired();
    let mut id_of = |id: u64, key: &str| {
        client.send(&call(id, "create_note", &arguments(key)));
        let reply = client.reply();
        assert_eq!(reply["id"], id, "the first reply was given to nobody: {reply}");
        let answer = &reply["result"]["structuredContent"];
        (answer["resource_id"].clone(), answer["replayed"].clone())
    };
    let (again, other) = (id_of(2, "key-a"), id_of(3, "key-b"));
    assert_eq!((again, other), ((json!("1"), json!(true)), (json!("2"), json!(false))));
    let log = client.project.read("log");
    assert!(!log.contains("secret"), "no byte of a message is in the log: {log}");
    client.end().0.exits(0);
}
