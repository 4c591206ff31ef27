//! Targets that cannot be started, reached or counted: exit code 5, what is missing, what the server said.

use std::net::TcpListener;

use crate::project::{Ended, Project};
use crate::servers::{self, KEY, QUERY, store};

/// More than the longest line that is read, and than all that is kept of it.
const BOUND_KIB: u64 = 64 * 1024;

/// Runs the plainest scenario against a target.
fn run(target: &str) -> Ended {
    Project::new().with("mine.toml", target).run("run mine.toml receipt/plain-retry").exits(5)
}

/// A target over stdio that a shell line plays.
fn shell(line: &str) -> String {
    servers::stdio(&format!("[\"sh\", \"-c\", \"{line}\"]"), KEY)
}

/// A target that is well but for what the rest of its file says.
fn sound_server(rest: &str) -> Ended {
    let project = Project::new().with("server.py", servers::invents_success());
    let target = servers::python(&project.path("server.py"), &format!("{KEY}{rest}"));
    project.with("mine.toml", target).run("run mine.toml receipt/plain-retry").exits(5)
}

#[test]
fn a_server_that_ends_at_once_is_quoted() {
    run(&shell("echo no database given >&2; exit 3")).says("no database given").says("exit status: 3");
}

#[test]
fn a_server_that_ends_at_once_over_http_is_quoted() {
    let command = "[\"sh\", \"-c\", \"echo no database given >&2; exit 3\"]";
    run(&servers::http(command, "http://127.0.0.1:{port}", ""))
        .says("no database given")
        .says("exit status: 3");
}

#[test]
fn a_command_that_there_is_not_is_named() {
    run(&servers::stdio("[\"no-such-program-here\"]", KEY)).says("no-such-program-here");
}

#[test]
fn a_server_that_never_answers_is_given_up_at_its_bound() {
    let target = shell("echo starting up >&2; exec sleep 60").replace("\"5s\"", "\"300ms\"");
    run(&target).says("not ready within 300ms").says("starting up");
}

/// It takes the connection, reads the request for `ready`, and says nothing.
#[test]
fn a_server_that_never_gets_ready_over_http_is_given_up_at_its_bound() {
    let listen = "import socket, sys\n\
        server = socket.create_server(('127.0.0.1', int(sys.argv[1])))\n\
        taken = []\n\
        while True: taken.append(server.accept())\n";
    let project = Project::new().with("mute.py", listen);
    let command = format!("[\"python3\", \"{}\", \"{{port}}\"]", project.path("mute.py").display());
    let target = servers::http(&command, "http://127.0.0.1:{port}", "ready = \"/health\"\n");
    let project = project.with("mine.toml", target.replace("\"5s\"", "\"500ms\""));
    project.run("run mine.toml receipt/plain-retry").exits(5).says("not ready within 500ms");
}

/// What stands on its standard output is no message of the protocol, and often says what is wrong.
#[test]
fn a_server_that_prints_something_else_and_ends_is_quoted() {
    run(&shell("echo Usage: my-server DATABASE; echo; exit 1")).says("Usage: my-server DATABASE");
}

#[test]
fn a_line_that_never_ends_takes_bounded_memory() {
    let flood = "import sys\nfor _ in range(100): sys.stdout.write('x' * 1_000_000)\n";
    let project = Project::new().with("flood.py", flood);
    let target = servers::python(&project.path("flood.py"), KEY);
    let ended = project.with("mine.toml", target).run("run mine.toml receipt/plain-retry").exits(5);
    assert!(ended.most_kib < BOUND_KIB, "{} KiB\n{ended}", ended.most_kib);
}

/// A server that logs a lot is no reason to take a lot of memory.
#[test]
fn short_lines_that_never_end_take_bounded_memory() {
    let flood = "import sys\nfor _ in range(3): sys.stdout.write('x\\n' * 100_000)\n";
    let project = Project::new().with("flood.py", flood);
    let target = servers::python(&project.path("flood.py"), KEY);
    let ended = project.with("mine.toml", target).run("run mine.toml receipt/plain-retry").exits(5);
    assert!(ended.most_kib < BOUND_KIB, "{} KiB\n{ended}", ended.most_kib);
}

#[test]
fn a_database_that_never_appears_is_named() {
    let store = store(QUERY).replace("notes.db", "other.db");
    sound_server(&store).says("other.db").says("does not exist");
}

#[test]
fn a_query_that_fails_is_quoted() {
    sound_server(&store("SELECT id, body AS label FROM notes")).says("no such column: body");
    sound_server(&store("SELECT id, text AS label FROM letters")).says("no such table: letters");
}

/// Without a label no row belongs to an intent, and a server that did its work would be accused.
#[test]
fn a_query_without_its_columns_is_no_ground_for_an_accusation() {
    sound_server(&store("SELECT text AS label FROM notes")).says("id");
    sound_server(&store("SELECT id FROM notes")).says("label");
}

/// A variable that is passed on is named in what is written, and never its value.
#[test]
fn a_variable_that_is_passed_on_has_to_be_set() {
    let project = Project::new();
    let words = ["run", "--tool", "create", "--env", "NOTTWICE_NOT_SET", "--", "my-server"];
    let ended = project.run_words(&words).exits(5);
    ended.says("needs the environment variable NOTTWICE_NOT_SET, which is not set");
    let runs = std::fs::read_dir(project.path("reports/runs")).expect("there are records").flatten();
    let target =
        runs.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "toml"));
    let written = std::fs::read_to_string(target.expect("the target is kept")).expect("it is text");
    assert!(written.contains("${NOTTWICE_NOT_SET}"), "{written}");
}

#[test]
fn a_tool_that_the_server_does_not_have_is_answered_with_its_tools() {
    let project = Project::new().with("server.py", servers::invents_success());
    let target = servers::python(&project.path("server.py"), KEY).replace("\"create\"", "\"make\"");
    let ended = project.with("mine.toml", target).run("run mine.toml receipt/plain-retry");
    ended.exits(5).says("no tool `make`").says("its tools are: create");
}

#[test]
fn a_port_that_somebody_else_serves_is_not_talked_to() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
    let port = taken.local_addr().expect("it is bound").port();
    let target = servers::http("[\"sleep\", \"60\"]", &format!("http://127.0.0.1:{port}"), "");
    let ended = run(&target).says(&format!("port {port} is served by process {}", std::process::id()));
    ended.says("did not start");
    taken.set_nonblocking(true).expect("it is ours");
    assert!(taken.accept().is_err(), "nobody has knocked");
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
    let base = format!("http://{}", taken.local_addr().expect("it is bound"));
    drop(taken);
    let target = servers::http("[]", &base, "").replace("[start]\ncommand = []\nready_within = \"5s\"\n", "");
    run(&target).says(&format!("{base} cannot be reached"));
}

#[test]
fn a_variable_that_is_not_set_is_named() {
    let target =
        servers::stdio("[\"sh\", \"-c\", \"exit\"]", &format!("{KEY}\n[start.env]\nTOKEN = \"${{NOPE}}\"\n"));
    run(&target).says("environment variable NOPE");
}

/// A replay begins without a first look, so the play itself has to see that nobody is there.
#[test]
fn a_server_that_ends_at_once_in_a_replay_is_accused_of_nothing() {
    let project = Project::new().with("server.py", servers::invents_success());
    let rest = format!("{KEY}\n[recovery]\nbound = \"300ms\"\n");
    let target = servers::python(&project.path("server.py"), &rest);
    let project = project.with("mine.toml", target);
    project.run("run mine.toml receipt/plain-retry").exits(5);
    project.write("server.py", "import sys\nsys.exit('no database given')\n");
    let ended = project.run("replay reports/runs/mine/receipt-plain-retry.jsonl");
    assert!(!ended.stdout.contains("VIOLATED"), "{ended}");
    ended.exits(5).says("no database given");
}
