//! The sleeps: a harness that waits by the clock is slow or flaky, so each sleep has a reason.

use crate::code::{masked, names};
use crate::complaint::Complaint;
use crate::tree::SourceFile;

/// Files of the harness that may sleep, and why nothing there can be waited for instead.
const ALLOWED: &[(&str, &str)] = &[
    ("harness/driver/src/clock.rs", "the watchdog measures how late a sleep of its own is"),
    ("harness/driver/src/connect.rs", "a server that gets ready announces it to nobody"),
    (
        "harness/driver/src/leftovers.rs",
        "a process of another parent that is being killed announces its end to nobody",
    ),
    ("harness/driver/src/sight.rs", "a file that appears is the evidence, and files announce nothing"),
    (
        "harness/driver/src/play.rs",
        "a declared window, lease or delay has to go by, and nobody announces its end",
    ),
    ("harness/driver/src/process.rs", "a process that ends or stands still announces it to nobody here"),
    ("harness/driver/src/proxy/desk.rs", "how long a message is held is what its rule says"),
    (
        "harness/driver/src/transports/mcp_http.rs",
        "how long to leave a stream alone before it goes on is what the server says",
    ),
    ("harness/driver/src/settle.rs", "the pause between retries is what the server asked for"),
];

/// Every sleep without a reason, and every reason without a sleep.
pub fn check(files: &[SourceFile]) -> Vec<Complaint> {
    check_except(files, ALLOWED)
}

fn check_except(files: &[SourceFile], allowed: &[(&str, &str)]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut stale: Vec<&str> = allowed.iter().map(|(file, _)| *file).collect();
    for file in files.iter().filter(|file| file.is_rust() && file.path.starts_with("harness/")) {
        let sleeps = sleeps(file);
        if !sleeps.is_empty() && allowed.iter().any(|(allowed, _)| *allowed == file.path) {
            stale.retain(|allowed| *allowed != file.path);
            continue;
        }
        let cure = "wait for the event itself, or give ALLOWED of harness/tidy/src/sleeps.rs the reason";
        complaints.extend(sleeps.into_iter().map(|line| Complaint::new(&file.path, line, "sleeps", cure)));
    }
    let cure = "remove its line from ALLOWED of harness/tidy/src/sleeps.rs";
    complaints.extend(stale.into_iter().map(|file| Complaint::new(file, 1, "no longer sleeps", cure)));
    complaints
}

fn sleeps(file: &SourceFile) -> Vec<usize> {
    let code = masked(&file.text);
    let is_sleep = |text: &str| {
        let is_call = |at: usize, name: &str| text[at + name.len()..].starts_with('(');
        names(text).any(|(at, name)| (name == "sleep" || name.starts_with("sleep_")) && is_call(at, name))
    };
    (1..).zip(code.lines()).filter(|(_, text)| is_sleep(text)).map(|(line, _)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::check_except;
    use crate::tree::SourceFile;

    fn breaches(text: &str, allowed: &[(&str, &str)]) -> Vec<(usize, String)> {
        let found = check_except(&[SourceFile::new("harness/a/src/b.rs", text)], allowed);
        found.into_iter().map(|complaint| (complaint.line, complaint.breach)).collect()
    }

    #[test]
    fn a_sleep_with_a_reason_is_fine() {
        assert_eq!(breaches("// sleep(1)\nlet sleepy = asleep(1);\n", &[]), []);
        assert_eq!(breaches("thread::sleep(TICK);\n", &[("harness/a/src/b.rs", "why")]), []);
    }

    #[test]
    fn a_sleep_without_a_reason_is_a_breach() {
        let text = "use std::thread::sleep;\n\nsleep(TICK);\ntokio::time::sleep_until(then).await;\n";
        assert_eq!(breaches(text, &[]), [(3, "sleeps".to_owned()), (4, "sleeps".to_owned())]);
    }

    #[test]
    fn a_reason_without_a_sleep_is_a_breach() {
        let allowed = [("harness/a/src/b.rs", "why")];
        assert_eq!(breaches("wait();\n", &allowed), [(1, "no longer sleeps".to_owned())]);
    }
}
