//! The names of files and folders: a file is called after the thing it holds.

use std::collections::BTreeSet;

use crate::complaint::Complaint;
use crate::tree::SourceFile;

/// Names that say where something was put and not what it is.
const BANNED: &[&str] = &["core", "common", "utils", "helpers", "types", "misc"];

/// Every file or folder whose name says nothing, and every `mod.rs`.
pub fn check(files: &[SourceFile]) -> Vec<Complaint> {
    let mut complaints: Vec<Complaint> = files.iter().filter_map(module_file).collect();
    let mut folders = BTreeSet::new();
    for file in files {
        if BANNED.contains(&file.stem()) {
            complaints.push(nameless(&file.path, file.stem()));
        }
        folders.extend(parents(file.folder()));
    }
    for folder in folders {
        let name = folder.rsplit('/').next().unwrap_or_default();
        if BANNED.contains(&name) {
            complaints.push(nameless(folder, name));
        }
    }
    complaints
}

fn module_file(file: &SourceFile) -> Option<Complaint> {
    let cure = || format!("move it to {}.rs", file.folder());
    (file.name() == "mod.rs")
        .then(|| Complaint::new(&file.path, 1, "`mod.rs` has the name of no thing", cure()))
}

fn nameless(path: &str, name: &str) -> Complaint {
    Complaint::new(path, 1, format!("`{name}` says nothing"), "name it after the one thing that it holds")
}

/// A folder and those above it.
fn parents(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| Some(folder.rsplit_once('/')?.0))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::SourceFile;

    #[test]
    fn a_thing_with_its_name_is_fine() {
        assert_eq!(check(&[SourceFile::new("harness/model/src/common_ground.rs", "")]), []);
    }

    #[test]
    fn a_name_that_says_nothing_is_a_breach() {
        let paths = ["a/mod.rs", "a/utils.rs", "a/core/b.rs", "a/core/c.rs", "types/d.ts"];
        let files = paths.map(|path| SourceFile::new(path, ""));
        let mut found: Vec<_> = check(&files).into_iter().map(|complaint| complaint.file).collect();
        found.sort();
        assert_eq!(found, ["a/core", "a/mod.rs", "a/utils.rs", "types"]);
    }
}
