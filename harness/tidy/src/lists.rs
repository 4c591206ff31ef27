//! The lists: every source file is named by the module above it, and every module that is named has a file.
//!
//! In a plural list (`clauses.rs` beside `clauses/`) a file that is not named would be an item that nobody
//! asks, and nothing else would say so.

use crate::code::{Declared, declared, masked};
use crate::complaint::Complaint;
use crate::packages::packages;
use crate::tree::SourceFile;

/// Names of the lists whose `mod` lines [`rewritten`] keeps.
pub const PLURALS: &[&str] =
    &["clauses", "commands", "defects", "dialects", "faults", "formats", "oracles", "transports"];

const UPDATE: &str = "UPDATE=1 cargo test -p nottwice-tidy";

/// Every file that no module names, and every name without a file.
pub fn check(files: &[SourceFile]) -> Vec<Complaint> {
    let sources: Vec<&SourceFile> = files.iter().filter(|file| file.is_rust()).collect();
    let folders: Vec<&str> = packages(files).iter().map(|package| package.manifest.folder()).collect();
    let is_root = |file: &SourceFile| is_crate_root(file, &folders);
    let mut complaints = Vec::new();
    for file in &sources {
        if !is_root(file) && file.name() != "mod.rs" {
            complaints.extend(unnamed(file, &sources));
        }
        complaints.extend(without_file(file, is_root(file), &sources));
    }
    complaints
}

/// The plural lists whose `mod` lines do not fit their folder, as they would read if they did.
pub fn rewritten(files: &[SourceFile]) -> Vec<SourceFile> {
    let lists = files.iter().filter(|file| file.is_rust() && PLURALS.contains(&file.stem()));
    lists.filter_map(|list| rewrite(list, files)).collect()
}

/// Whether cargo compiles the file without a `mod` line that names it.
fn is_crate_root(file: &SourceFile, packages: &[&str]) -> bool {
    let inside = |package: &&str| match *package {
        "" => Some(file.path.clone()),
        package => Some(file.path.strip_prefix(package)?.strip_prefix('/')?.to_owned()),
    };
    // The package closest to the file is the one that owns it.
    let Some(path) = packages.iter().filter_map(inside).min_by_key(String::len) else { return false };
    match path.split('/').collect::<Vec<_>>().as_slice() {
        ["build.rs"] | ["src", "lib.rs" | "main.rs"] => true,
        ["src", "bin", name @ ..] | ["tests" | "benches" | "examples", name @ ..] => {
            matches!(name, [_] | [_, "main.rs"])
        }
        _ => false,
    }
}

fn unnamed(file: &SourceFile, sources: &[&SourceFile]) -> Option<Complaint> {
    let folder = file.folder();
    let above = [format!("{folder}.rs"), format!("{folder}/lib.rs"), format!("{folder}/main.rs")];
    let above: Vec<_> = sources.iter().filter(|source| above.contains(&source.path)).collect();
    let names = |source: &SourceFile| declared(&masked(&source.text)).iter().any(|d| d.name == file.stem());
    if above.iter().any(|source| names(source)) {
        return None;
    }
    let list = above.first().map_or_else(|| format!("{folder}.rs"), |source| source.path.clone());
    let cure = match folder.rsplit('/').next() {
        Some(plural) if PLURALS.contains(&plural) => format!("run `{UPDATE}`, which writes {list}"),
        _ => format!("add `mod {};` to {list}, or delete the file", file.stem()),
    };
    Some(Complaint::new(&file.path, 1, "no module names this file", cure))
}

fn without_file(file: &SourceFile, is_root: bool, sources: &[&SourceFile]) -> Vec<Complaint> {
    let folder = match file.path.strip_suffix(".rs") {
        Some(path) if !is_root && file.name() != "mod.rs" => path,
        _ => file.folder(),
    };
    let has_file = |name: &str| {
        let places = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")];
        sources.iter().any(|source| places.contains(&source.path))
    };
    declared(&masked(&file.text))
        .into_iter()
        .filter(|declared| !has_file(&declared.name))
        .map(|Declared { line, name, .. }| {
            let breach = format!("`mod {name};` names no file");
            Complaint::new(&file.path, line, breach, format!("write {folder}/{name}.rs, or delete the line"))
        })
        .collect()
}

fn rewrite(list: &SourceFile, files: &[SourceFile]) -> Option<SourceFile> {
    let folder = list.path.strip_suffix(".rs")?;
    let items = files.iter().filter(|file| file.is_rust() && file.folder() == folder);
    let mut wanted: Vec<&str> = items.map(SourceFile::stem).collect();
    wanted.sort_unstable();
    let named = declared(&masked(&list.text));
    let mut present: Vec<&str> = named.iter().map(|declared| declared.name.as_str()).collect();
    present.sort_unstable();
    if wanted.is_empty() || wanted == present {
        return None;
    }
    let lines: Vec<&str> = list.text.lines().collect();
    let above = |line: usize| lines[..line - 1].iter().rev().take_while(|text| belongs_below(text)).count();
    let spans: Vec<_> = named.iter().map(|d| (d.line - 1 - above(d.line)..d.line, d.name.as_str())).collect();
    let visibility = named.first().map_or("", |declared| &declared.visibility);
    let block: Vec<String> = wanted
        .iter()
        .map(|name| match spans.iter().find(|(_, named)| named == name) {
            Some((span, _)) => lines[span.clone()].join("\n"),
            None => format!("{visibility} mod {name};").trim_start().to_owned(),
        })
        .collect();
    let header = lines.iter().take_while(|line| line.starts_with("//!")).count();
    let start = spans.first().map_or(header, |(span, _)| span.start);
    let gap = if spans.is_empty() { "\n" } else { "" };
    let mut text: String = lines[..start].iter().map(|line| format!("{line}\n")).collect();
    text.push_str(&format!("{gap}{}\n", block.join("\n")));
    let is_left = |at: &usize| !spans.iter().any(|(span, _)| span.contains(at));
    text.extend((start..lines.len()).filter(is_left).map(|at| format!("{}\n", lines[at])));
    Some(SourceFile::new(&list.path, text))
}

/// Whether a line is an attribute or a comment of the item under it.
fn belongs_below(line: &str) -> bool {
    line.starts_with("#[") || (line.starts_with("//") && !line.starts_with("//!"))
}

#[cfg(test)]
mod tests {
    use super::{check, rewritten};
    use crate::tree::SourceFile;

    fn house(list: &str, items: &[&str]) -> Vec<SourceFile> {
        let mut files = vec![
            SourceFile::new("a/Cargo.toml", "[package]\nname = \"a\"\n"),
            SourceFile::new("a/src/lib.rs", "//! A.\n\nmod clauses;\n"),
            SourceFile::new("a/src/clauses.rs", list),
            SourceFile::new("a/tests/tree.rs", ""),
            SourceFile::new("a/tests/edge/main.rs", "mod case;\n"),
            SourceFile::new("a/tests/edge/case.rs", ""),
        ];
        files.extend(items.iter().map(|item| SourceFile::new(format!("a/src/clauses/{item}.rs"), "")));
        files
    }

    #[test]
    fn a_complete_list_is_fine() {
        let files = house("mod one;\npub mod two;\n", &["one", "two"]);
        assert_eq!(check(&files), []);
        assert_eq!(rewritten(&files), []);
    }

    #[test]
    fn a_file_that_nobody_names_is_a_breach() {
        let found = check(&house("mod one;\n// mod two;\n", &["one", "two"]));
        assert_eq!((found.len(), found[0].file.as_str()), (1, "a/src/clauses/two.rs"));
        assert!(found[0].cure.contains("UPDATE=1"), "{}", found[0].cure);
    }

    #[test]
    fn a_stray_file_is_a_breach() {
        let mut files = house("", &[]);
        files.push(SourceFile::new("a/src/attic.rs", ""));
        files.push(SourceFile::new("a/src/attic/chest.rs", ""));
        let found: Vec<_> = check(&files).into_iter().map(|complaint| complaint.cure).collect();
        let expected = ["add `mod attic;` to a/src/lib.rs", "add `mod chest;` to a/src/attic.rs"];
        assert_eq!(found, expected.map(|cure| format!("{cure}, or delete the file")));
    }

    #[test]
    fn a_name_without_a_file_is_a_breach() {
        let found = check(&house("mod one;\nmod two;\n", &["one"]));
        assert_eq!((found.len(), found[0].line), (1, 2));
        assert_eq!(found[0].breach, "`mod two;` names no file");
    }

    #[test]
    fn the_list_is_written_from_the_folder() {
        let list =
            "//! The list.\n\n// Why.\n#[cfg(unix)]\npub(crate) mod b;\npub(crate) mod gone;\n\nuse b::B;\n";
        let found = rewritten(&house(list, &["c", "b", "a"]));
        let expected = "//! The list.\n\npub(crate) mod a;\n// Why.\n#[cfg(unix)]\npub(crate) mod b;\n\
            pub(crate) mod c;\n\nuse b::B;\n";
        assert_eq!(found, [SourceFile::new("a/src/clauses.rs", expected)]);
    }

    #[test]
    fn an_empty_list_is_written_under_its_header() {
        let found = rewritten(&house("//! The list.\n\nuse x::Y;\n", &["a"]));
        assert_eq!(found[0].text, "//! The list.\n\nmod a;\n\nuse x::Y;\n");
    }
}
