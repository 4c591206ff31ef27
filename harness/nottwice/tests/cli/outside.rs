//! A server that reaches out of its folders or off this machine ends the run with what it holds.

use crate::project::Project;
use crate::servers::{self, KEY};

/// The server that invents success, after a line of its own, and its target with a line under `[start]`.
fn run(line: &str, declared: &str) -> crate::project::Ended {
    let project = Project::new();
    let line = line.replace("{outside}", &project.path("outside.log").display().to_string());
    let declared = declared.replace("{outside}", &project.path("outside.log").display().to_string());
    let project = project.with("server.py", line + &servers::invents_success());
    let target = servers::python(&project.path("server.py"), KEY);
    let target = target.replace("ready_within = \"5s\"\n", &format!("ready_within = \"5s\"\n{declared}\n"));
    project.with("mine.toml", target).run("run mine.toml receipt/plain-retry").exits(5)
}

const LOG: &str = "log = open('{outside}', 'a')\n";

#[test]
fn a_file_outside_of_the_state_folder() {
    run(LOG, "").says("outside.log open for writing").says("may_write = [");
}

#[test]
fn a_file_outside_that_is_declared_or_only_read() {
    for (line, declared) in [
        (LOG, "may_write = [\"{outside}\"]"),
        ("import os\nopen('{outside}', 'a').close()\nlog = open('{outside}')\n", ""),
    ] {
        let ended = run(line, declared);
        assert!(!ended.stdout.contains("for writing"), "{ended}");
    }
}

/// An address that is kept for documentation; connecting a datagram socket sends nothing.
const CONNECT: &str =
    "import socket\nfar = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nfar.connect(('192.0.2.1', 9))\n";

#[test]
fn a_connection_to_another_machine() {
    let near = std::net::UdpSocket::bind("0.0.0.0:0").expect("a socket");
    // A machine without any way out has no such server either.
    if near.connect("192.0.2.1:9").is_err() {
        return;
    }
    run(CONNECT, "").says("connected to 192.0.2.1:9").says("may_connect = [");
    let ended = run(CONNECT, "may_connect = [\"192.0.2.1\"]");
    assert!(!ended.stdout.contains("192.0.2.1"), "{ended}");
}
