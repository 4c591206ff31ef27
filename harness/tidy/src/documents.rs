//! The documents: what they name is there, and the test command that they give is the one that CI runs.

use crate::complaint::Complaint;
use crate::tree::SourceFile;

const DOCUMENTS: &[&str] = &["README.md", "ARCHITECTURE.md"];
const CI: &str = ".ci/run";

/// Starts of what looks like a path and is none, with what it is.
const NO_PATHS: &[(&str, &str)] = &[
    ("application/", "a media type"),
    ("text/", "a media type"),
    ("notifications/", "a method of MCP"),
    ("prompts/", "a method of MCP"),
    ("resources/", "a method of MCP"),
    ("tasks/", "a method of MCP"),
    ("tools/", "a method of MCP"),
    ("mod.rs", "a name that no file here has"),
];

/// Every path that leads nowhere, and a test command that CI does not run.
pub fn check(files: &[SourceFile]) -> Vec<Complaint> {
    let documents = files.iter().filter(|file| DOCUMENTS.contains(&file.path.as_str()));
    documents
        .flat_map(|document| dead_paths(document, files).into_iter().chain(command(document, files)))
        .collect()
}

/// The lines outside code fences, or those inside.
fn lines(document: &SourceFile, fenced: bool) -> Vec<(usize, &str)> {
    let mut is_inside = false;
    let mut found = Vec::new();
    for (line, text) in document.lines() {
        if text.trim_start().starts_with("```") {
            is_inside = !is_inside;
        } else if is_inside == fenced {
            found.push((line, text));
        }
    }
    found
}

fn dead_paths(document: &SourceFile, files: &[SourceFile]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (line, text) in lines(document, false) {
        // A reader clicks a link, so it has to be whole; a path in the text may leave out the folders above.
        let links = links(text).filter(|path| !is_ignored(path, files) && !exists(path, files));
        let spans = spans(text).filter(|path| !is_ignored(path, files) && !is_told(path, files));
        complaints.extend(links.chain(spans).map(|path| {
            let cure = "name a file or folder that exists, or say in NO_PATHS of harness/tidy/src/documents.rs \
                what it is";
            Complaint::new(&document.path, line, format!("`{path}` is not in the repository"), cure)
        }));
    }
    complaints
}

/// Where the links of a line lead inside the repository.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| {
        let target = rest.split([')', ' ']).next()?;
        let path = target.split('#').next()?;
        let is_outside = path.is_empty() || path.contains(':') || path.starts_with('/');
        (!is_outside).then(|| path.strip_prefix("./").unwrap_or(path))
    })
}

/// What stands between backticks and looks like a path.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter_map(|span| {
        let path = span.strip_prefix("./").unwrap_or(span);
        let is_spelled = path.chars().all(|c| c.is_ascii_alphanumeric() || "._-/*".contains(c));
        let is_path = path.contains('/') || [".rs", ".md", ".toml"].iter().any(|end| path.ends_with(end));
        let is_other = path.starts_with('/') || NO_PATHS.iter().any(|(start, _)| path.starts_with(start));
        (is_spelled && is_path && !is_other).then_some(path)
    })
}

/// Whether git ignores it: such a path is made by a run, so it need not be there.
fn is_ignored(path: &str, files: &[SourceFile]) -> bool {
    let ignored = files.iter().filter(|file| file.path == ".gitignore").flat_map(SourceFile::lines);
    let mut folders = ignored.map(|(_, line)| line.trim().trim_matches('/')).filter(|line| !line.is_empty());
    folders
        .any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

/// Whether it is a file or folder from the root. With a `*`, its folder is.
fn exists(path: &str, files: &[SourceFile]) -> bool {
    let path = without_pattern(path);
    files.iter().any(|file| file.path == path || is_under(&file.path, path))
}

/// Whether it is a file or folder from anywhere, or the name of a scenario.
fn is_told(path: &str, files: &[SourceFile]) -> bool {
    let whole = without_pattern(path);
    let (end, middle) = (format!("/{whole}"), format!("/{whole}/"));
    exists(path, files)
        || files.iter().any(|file| file.path.ends_with(&end) || file.path.contains(&middle))
        || files.iter().any(|file| file.path == format!("scenarios/{whole}.toml"))
}

fn without_pattern(path: &str) -> &str {
    let fixed = path
        .split_once('*')
        .map_or(path, |(fixed, _)| fixed.rsplit_once('/').map_or("", |(folder, _)| folder));
    fixed.trim_end_matches('/')
}

fn is_under(file: &str, folder: &str) -> bool {
    folder.is_empty() || file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// A test command of the README that CI does not run, or a README without one.
fn command(document: &SourceFile, files: &[SourceFile]) -> Vec<Complaint> {
    if document.path != "README.md" {
        return Vec::new();
    }
    let ci: Vec<&str> =
        files.iter().filter(|file| file.path == CI).flat_map(|file| file.text.lines()).collect();
    let is_run = |command: &str| {
        // CI may put something before the command, such as a heading, and nothing behind it.
        ci.iter().any(|line| line.trim() == command || line.trim().ends_with(&format!(" {command}")))
    };
    let commands: Vec<(usize, &str)> = lines(document, true).into_iter().filter_map(test_command).collect();
    if commands.is_empty() {
        let cure = "show `cargo test …` or `cargo nextest run …` in a code fence";
        return vec![Complaint::new(&document.path, 1, "gives no test command", cure)];
    }
    let not_run = commands.into_iter().filter(|(_, command)| !is_run(command));
    not_run
        .map(|(line, command)| {
            let cure = format!("give the same command, to the letter, here and in {CI}");
            Complaint::new(&document.path, line, format!("CI does not run `{command}`"), cure)
        })
        .collect()
}

fn test_command((line, text): (usize, &str)) -> Option<(usize, &str)> {
    let text = text.trim();
    let command = text.strip_prefix("$ ").unwrap_or(text).split(" #").next()?.trim_end();
    ["cargo test", "cargo nextest run"]
        .iter()
        .any(|start| command.starts_with(start))
        .then_some((line, command))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::SourceFile;

    const COMMAND: &str = "\n```sh\n$ cargo test --workspace   # all of it\n```\n";

    fn breaches(text: &str, ci: &str) -> Vec<(usize, String)> {
        let files = [
            SourceFile::new("README.md", text),
            SourceFile::new(".ci/run", ci),
            SourceFile::new(".gitignore", "/target\n/reports/runs/\n"),
            SourceFile::new("harness/model/src/clause.rs", ""),
            SourceFile::new("scenarios/effect/lost-reply.toml", ""),
        ];
        check(&files).into_iter().map(|complaint| (complaint.line, complaint.breach)).collect()
    }

    #[test]
    fn what_is_there_may_be_named() {
        let text = "`harness/model/`, `clause.rs`, `model/src`, `effect/lost-reply`, `scenarios/*/*.toml`,\n\
            `reports/runs/7`, `tools/call`, `scenarios/<group>/x.toml`, `cargo run a/b`, `http://a/b`,\n\
            [a](harness/model/src/clause.rs#L1), [b](#here), [c](https://a.example/b), a/b\n\
            ```\ngone/away.rs `gone/away.rs`\n```\n";
        assert_eq!(breaches(&format!("{text}{COMMAND}"), "cargo test --workspace\n"), []);
    }

    #[test]
    fn what_is_gone_may_not() {
        let text = format!("`harness/attic`\n`gone.rs`\n[a](clause.rs)\n`gone/*.toml`\n{COMMAND}");
        let found = breaches(&text, "step tests cargo test --workspace\n");
        let gone = ["harness/attic", "gone.rs", "clause.rs", "gone/*.toml"];
        let expected: Vec<_> =
            (1..).zip(gone.map(|path| format!("`{path}` is not in the repository"))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn ci_runs_the_command_of_the_readme() {
        let breach = (3, "CI does not run `cargo test --workspace`".to_owned());
        for ci in ["", "cargo test --workspace --locked\n", "cargo test\n"] {
            assert_eq!(breaches(COMMAND, ci), std::slice::from_ref(&breach));
        }
        assert_eq!(breaches("", "cargo test\n"), [(1, "gives no test command".to_owned())]);
    }
}
