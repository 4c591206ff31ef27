//! One attempt is one request: the bytes of requests are counted at a raw socket under every fault of the wire.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use crate::project::Project;
use crate::streamable::{self, How};

/// Every fault of the wire, as steps after the words `call = "first"`, with the number of requests it gives to
/// the wire.
const FAULTS: [(&str, usize); 22] = [
    ("fault = { at = \"request\", do = \"drop\" }", 0),
    ("fault = { at = \"request\", do = \"cut\", bytes = 30 }", 1),
    ("fault = { at = \"request\", do = \"cut\", where = \"before-first-byte\" }", 1),
    ("fault = { at = \"request\", do = \"cut\", where = \"after-headers\" }", 1),
    ("fault = { at = \"request\", do = \"cut\", where = \"before-last-byte\" }", 1),
    ("fault = { at = \"request\", do = \"reset\" }", 1),
    ("fault = { at = \"request\", do = \"duplicate\" }", 2),
    ("fault = { at = \"request\", do = \"double\" }", 2),
    ("fault = { at = \"reply\", do = \"drop\" }", 1),
    ("fault = { at = \"reply\", do = \"duplicate\" }", 1),
    ("fault = { at = \"reply\", do = \"cut\", bytes = 20 }", 1),
    ("fault = { at = \"reply\", do = \"cut\", where = \"before-first-byte\" }", 1),
    ("fault = { at = \"reply\", do = \"cut\", where = \"after-headers\" }", 1),
    ("fault = { at = \"reply\", do = \"cut\", where = \"before-last-byte\" }", 1),
    ("fault = { at = \"reply\", do = \"reset\" }", 1),
    ("fault = { at = \"reply\", do = \"answer\", status = 307 }", 1),
    ("fault = { at = \"reply\", do = \"answer\", status = 401 }", 1),
    ("fault = { at = \"reply\", do = \"answer\", status = 404 }", 1),
    ("fault = { at = \"reply\", do = \"answer\", status = 502 }", 1),
    ("fault = { at = \"reply\", do = \"answer\", status = 503 }", 1),
    (
        "fault = { at = \"reply\", do = \"hold\" }\nuntil = \"reached\"\n\n[[step]]\nact = \"abandon\"\nof = \"first\"",
        1,
    ),
    (
        "fault = { at = \"reply\", do = \"hold\" }\nuntil = \"reached\"\n\n[[step]]\nact = \"half-close\"\n\
         of = \"first\"\n\n[[step]]\nact = \"release\"\nof = \"first\"\n\n[[step]]\nawait = \"first\"",
        1,
    ),
];

/// Only MCP has such a place.
const IN_A_STREAM: (&str, usize) = ("fault = { at = \"reply\", do = \"cut\", where = \"mid-event\" }", 1);

fn scenario(steps: &str) -> String {
    format!(
        "title = \"A fault of the wire\"\nsource = \"this test\"\n\n[[step]]\ncall = \"first\"\nintent = \"note\"\n\
         {steps}\n"
    )
}

/// The bytes of what the record says was sent, and whether the fault fired.
fn sent(record: &str) -> (Vec<String>, bool) {
    let events = record.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let (mut sent, mut fired) = (Vec::new(), false);
    for event in events {
        match event["event"].as_str() {
            Some("sent") => sent.push(event["bytes"].as_str().expect("text").to_owned()),
            Some("fired") => fired = true,
            _ => {}
        }
    }
    (sent, fired)
}

/// What came in over each connection.
type Came = Arc<Mutex<Vec<Vec<u8>>>>;

/// A raw socket that answers each whole request of plain HTTP and keeps every byte.
fn listen() -> (u16, Came) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
    let port = listener.local_addr().expect("it is bound").port();
    let came = Came::default();
    let shared = came.clone();
    thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let came = shared.clone();
            came.lock().expect("nothing panics").push(Vec::new());
            thread::spawn(move || keep(stream, number, &came));
        }
    });
    (port, came)
}

fn keep(mut stream: TcpStream, number: usize, came: &Came) {
    let (mut answered, mut bytes) = (0, [0; 4096]);
    while let Ok(read @ 1..) = stream.read(&mut bytes) {
        let whole = {
            let mut came = came.lock().expect("nothing panics");
            came[number].extend_from_slice(&bytes[..read]);
            requests(&came[number])
        };
        while answered < whole {
            answered += 1;
            let done = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"id\": \"1\"}";
            if stream.write_all(done.as_bytes()).is_err() {
                return;
            }
        }
    }
}

/// How many requests are whole.
fn requests(came: &[u8]) -> usize {
    let (mut rest, mut whole) = (String::from_utf8_lossy(came).into_owned(), 0);
    while let Some((head, body)) = rest.split_once("\r\n\r\n") {
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
        let Some(left) = body.get(length.unwrap_or(0)..) else { break };
        (rest, whole) = (left.to_owned(), whole + 1);
    }
    whole
}

#[test]
fn every_byte_on_a_plain_socket_is_one_that_was_sent() {
    for (steps, times) in FAULTS {
        let (port, came) = listen();
        let target = format!(
            "name = \"mine\"\n\n[reach]\ntransport = \"http\"\nbase = \"http://127.0.0.1:{port}\"\n\n\
             [tool.main]\npath = \"/notes\"\narguments = {{ text = \"{{label}}\" }}\n"
        );
        let project = Project::new().with("mine.toml", target).with("wire/one/fault.toml", scenario(steps));
        let ended = project.run("run mine.toml --scenarios wire");
        let (sent, fired) = sent(&project.read("reports/runs/mine/one-fault.jsonl"));
        assert!(fired, "{steps}\n{ended}");
        assert_eq!(sent.len(), times, "{steps}\n{ended}");
        let came = came.lock().expect("nothing panics");
        let (said, seen) = (sent.concat().len(), came.iter().map(Vec::len).sum::<usize>());
        // A reset may take bytes along that were not read yet.
        let lossy = steps.contains("reset");
        assert!(seen == said || (lossy && seen < said), "{steps}: {said} bytes sent, {seen} seen\n{ended}");
    }
}

#[test]
fn a_call_of_mcp_is_given_to_the_wire_as_often_as_the_fault_says() {
    for how in [How::Streamed, How::Modern] {
        for (steps, times) in FAULTS.into_iter().chain([IN_A_STREAM]) {
            let (port, seen) = streamable::listen(how);
            let target = streamable::target(port);
            let project =
                Project::new().with("mine.toml", target).with("wire/one/fault.toml", scenario(steps));
            let ended = project.run("run mine.toml --scenarios wire");
            let (sent, fired) = sent(&project.read("reports/runs/mine/one-fault.jsonl"));
            assert!(fired, "{how:?} {steps}\n{ended}");
            assert_eq!(sent.len(), times, "{how:?} {steps}\n{ended}");
            let seen = seen.lock().expect("nothing panics");
            let calls = seen.iter().filter(|asked| *asked == "POST tools/call").count();
            // What is cut or reset on its way in is no whole request.
            let whole = if steps.contains("\"request\", do = \"cut\"")
                || steps.contains("\"request\", do = \"reset\"")
            {
                0
            } else {
                times
            };
            assert_eq!(calls, whole, "{how:?} {steps}: {seen:#?}\n{ended}");
            assert!(!seen.iter().any(|asked| asked.starts_with("GET")), "{how:?} {steps}: {seen:#?}");
        }
    }
}
