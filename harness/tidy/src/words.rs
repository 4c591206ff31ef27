//! The words: each thing has one word in this repository, and what is unfinished has none.

use std::collections::BTreeSet;

use crate::code::{in_name, masked, names, uses};
use crate::complaint::Complaint;
use crate::tree::SourceFile;

const READ: &[&str] = &["rs", "toml", "md", "yml", "yaml"];

/// The one place that has to spell what it bans.
const EXEMPT: &str = "harness/tidy/";

/// Written anywhere, as it stands here, with no letter before or after: a cure for each.
const BANNED: &[(&str, &str)] = &[
    ("SUT", "say target"),
    ("TODO", "do it, or leave it out"),
    ("FIXME", "fix it, or say why it is so"),
    ("todo!", "write it"),
    ("unimplemented!", "write it"),
    ("#[ignore", "repair the test or delete it"),
    ("assert!(true", "assert something that can fail"),
];

/// Endings of a type's name that say that it does something and not what it is.
const ENDINGS: &[&str] = &["Manager", "Handler", "Helper", "Helpers", "Util", "Utils", "Info"];

/// Names of modules that say nothing.
const MODULES: &[&str] = &["utils", "util", "helpers", "helper"];

/// Where others call a reply something else. Names that a file imports from a library need no line here.
const LIBRARY_NAMES: &[&str] = &["axum::response", "into_response", "httparse::Response"];

/// Every word that has a better one.
pub fn check(files: &[SourceFile]) -> Vec<Complaint> {
    let is_read = |file: &&SourceFile| READ.contains(&file.ending()) && !file.path.starts_with(EXEMPT);
    files.iter().filter(is_read).flat_map(complaints).collect()
}

fn complaints(file: &SourceFile) -> Vec<Complaint> {
    let code = if file.is_rust() { masked(&file.text) } else { String::new() };
    let imported = imported(&code);
    let complain = |line, (word, cure): (String, &str)| {
        Complaint::new(&file.path, line, format!("`{word}` is not a word of this house"), cure)
    };
    let mut found = Vec::new();
    for (line, text) in file.lines() {
        let banned = BANNED.iter().filter(|(word, _)| stands_in(text, word));
        found.extend(banned.map(|(word, cure)| complain(line, ((*word).to_owned(), cure))));
        found.extend(replies(text, &imported).map(|word| complain(line, (word, "say reply"))));
        found.extend(machine_paths(text).map(|path| complain(line, (path, "name no path of one machine"))));
    }
    for (line, text) in (1..).zip(code.lines()) {
        let cure = "name it after what it is";
        found.extend(declared_names(text).map(|name| complain(line, (name.to_owned(), cure))));
    }
    found
}

/// Whether the word stands in the text with no letter, digit or underscore touching it.
fn stands_in(text: &str, word: &str) -> bool {
    let touches =
        |one: Option<char>, other: Option<char>| one.is_some_and(in_name) && other.is_some_and(in_name);
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !touches(before, word.chars().next()) && !touches(word.chars().next_back(), after)
    })
}

/// Names that say "response" and are ours.
fn replies<'a>(text: &'a str, imported: &'a BTreeSet<String>) -> impl Iterator<Item = String> + 'a {
    let is_library = |at: usize| {
        let mut spans = LIBRARY_NAMES.iter().flat_map(|name| text.match_indices(name));
        spans.any(|(start, name)| (start..start + name.len()).contains(&at))
    };
    names(text)
        .filter(|(_, name)| name.to_ascii_lowercase().contains("response") && !imported.contains(*name))
        .filter(move |(at, _)| !is_library(*at))
        .map(|(_, name)| name.to_owned())
}

/// Types that a file imports from a library: those names are not ours to choose.
fn imported(code: &str) -> BTreeSet<String> {
    let is_ours = |statement: &str| {
        let path = statement.split_once("use ").map_or("", |(_, path)| path);
        ["crate::", "self::", "super::", "nottwice"].iter().any(|start| path.starts_with(start))
    };
    let mut found = BTreeSet::new();
    for (_, statement) in uses(code).iter().filter(|(_, statement)| !is_ours(statement)) {
        let types = names(statement).filter(|(_, name)| name.starts_with(char::is_uppercase));
        found.extend(types.map(|(_, name)| name.to_owned()));
    }
    found
}

fn machine_paths(text: &str) -> impl Iterator<Item = String> {
    ["/root/", "/home/", "/work/"]
        .into_iter()
        .filter(|path| {
            text.match_indices(path).any(|(at, _)| {
                let before = text[..at].chars().next_back();
                let after = text[at + path.len()..].chars().next();
                // `harness/work/` is a path of the repository, `/home/{user}` one of nobody.
                let starts = !before.is_some_and(|c| in_name(c) || matches!(c, '-' | '.' | '/' | '}' | '>'));
                starts && (*path != "/home/" || after.is_some_and(char::is_alphabetic))
            })
        })
        .map(str::to_owned)
}

/// Types and modules declared on a line under a name that says nothing.
fn declared_names(code: &str) -> impl Iterator<Item = &str> {
    let words: Vec<&str> = names(code).map(|(_, name)| name).collect();
    let pairs: Vec<(&str, &str)> = words.windows(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.into_iter().filter_map(|(keyword, name)| {
        let is_bad = match keyword {
            "struct" | "enum" | "trait" | "type" | "union" => ENDINGS.iter().any(|end| name.ends_with(end)),
            "mod" => MODULES.iter().any(|module| name == *module || name.ends_with(&format!("_{module}"))),
            _ => false,
        };
        is_bad.then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::SourceFile;

    fn breaches(path: &str, text: &str) -> Vec<String> {
        let found = check(&[SourceFile::new(path, text)]);
        found.into_iter().map(|complaint| format!("{} {}", complaint.line, complaint.breach)).collect()
    }

    fn expected(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| format!("1 `{word}` is not a word of this house")).collect()
    }

    #[test]
    fn plain_words_are_fine() {
        for text in
            ["the target replies", "RESULT", "todo = \"deny\"", "https://a.example/home/x", "/home/{user}"]
        {
            assert_eq!(breaches("README.md", text), expected(&[]));
        }
        assert_eq!(breaches("harness/tidy/src/words.rs", "// TODO"), expected(&[]));
        assert_eq!(breaches("a/b.py", "# TODO"), expected(&[]));
    }

    #[test]
    fn a_banned_word_is_a_breach_wherever_it_stands() {
        for path in ["a.rs", "a.toml", "a.md", "a.yml"] {
            assert_eq!(breaches(path, "# the SUT: TODO FIXME"), expected(&["SUT", "TODO", "FIXME"]));
        }
        assert_eq!(breaches("a.rs", "todo!(); unimplemented!()"), expected(&["todo!", "unimplemented!"]));
        assert_eq!(breaches("a.rs", "#[ignore = \"slow\"]"), expected(&["#[ignore"]));
        assert_eq!(breaches("a.rs", "assert!(true);"), expected(&["assert!(true"]));
    }

    #[test]
    fn a_response_of_a_library_is_fine() {
        let text = "use axum::response::{IntoResponse, Response};\nfn f() -> Response { x.into_response() }\n\
            let reply = httparse::Response::new();\n";
        assert_eq!(breaches("a.rs", text), expected(&[]));
    }

    #[test]
    fn a_response_of_ours_is_a_breach() {
        assert_eq!(breaches("a.rs", "// The responses."), expected(&["responses"]));
        assert_eq!(breaches("a.rs", "fn send_response()"), expected(&["send_response"]));
        assert_eq!(breaches("a.rs", "use crate::a::Response;"), expected(&["Response"]));
    }

    #[test]
    fn a_type_that_says_nothing_is_a_breach() {
        assert_eq!(breaches("a.rs", "struct CallInfo;"), expected(&["CallInfo"]));
        assert_eq!(breaches("a.rs", "pub trait Handler {"), expected(&["Handler"]));
        assert_eq!(breaches("a.rs", "mod test_utils {"), expected(&["test_utils"]));
        let library = "use rmcp::ServerHandler;\nimpl ServerHandler for Notes {}\n// struct CallInfo\n";
        assert_eq!(breaches("a.rs", library), expected(&[]));
    }

    #[test]
    fn a_path_of_one_machine_is_a_breach() {
        assert_eq!(breaches("a.toml", "path = \"/root/x\""), expected(&["/root/"]));
        assert_eq!(breaches("a.md", "in `/home/ann/x` and /work/y"), expected(&["/home/", "/work/"]));
        assert_eq!(breaches("a.md", "harness/work/x"), expected(&[]));
    }
}
