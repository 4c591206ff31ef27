//! The files of the repository: those that git knows or would add, read into memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Endings of the files whose text some rule reads; of all others only the name counts.
const READ: &[&str] = &["rs", "toml", "md", "yml", "yaml"];

/// Folders that a walk without git leaves out, besides those that hold [`CACHE`].
const LEFT_OUT: &[&str] = &[".git", "node_modules"];

/// Cargo marks its build folder with this file, wherever it stands; its name alone could be a module's.
const CACHE: &str = "CACHEDIR.TAG";

/// One file of the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceFile {
    /// From the root of the repository, with `/` between the parts.
    pub path: String,
    /// The content; empty where no rule reads it.
    pub text: String,
}

impl SourceFile {
    /// A file as it is, or as it would be.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> SourceFile {
        SourceFile { path: path.into(), text: text.into() }
    }

    /// What follows the last dot of the name, or nothing.
    pub fn ending(&self) -> &str {
        self.name().rsplit_once('.').map_or("", |(stem, ending)| if stem.is_empty() { "" } else { ending })
    }

    /// The name without its folders.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The name without its folders and its ending.
    pub fn stem(&self) -> &str {
        match self.ending() {
            "" => self.name(),
            ending => &self.name()[..self.name().len() - ending.len() - 1],
        }
    }

    /// The folder that holds the file, without a slash at its end; empty at the root.
    pub fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Whether this is Rust source.
    pub fn is_rust(&self) -> bool {
        self.ending() == "rs"
    }

    /// The lines with their numbers, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }
}

/// The root of the repository that holds this crate.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads the tree, sorted by path.
///
/// # Panics
/// If this crate is not found in it: rules that see no file would all hold.
pub fn read() -> Vec<SourceFile> {
    let root = root();
    let mut paths = listed(&root).unwrap_or_else(|| walked(&root));
    paths.sort();
    let files: Vec<SourceFile> = paths.into_iter().filter_map(|path| open(&root, path)).collect();
    let me = "harness/tidy/src/tree.rs";
    assert!(files.iter().any(|file| file.path == me), "{me} is not among the files of {}", root.display());
    files
}

/// What git lists. Nothing where there is no git, or where another repository ignores this folder.
fn listed(root: &Path) -> Option<Vec<String>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listing = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    let paths = String::from_utf8(listing.stdout).ok()?;
    let paths: Vec<String> = paths.split_terminator('\0').map(str::to_owned).collect();
    (listing.status.success() && !paths.is_empty()).then_some(paths)
}

fn walked(root: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        if root.join(&folder).join(CACHE).exists() {
            continue;
        }
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            match entry.file_type() {
                Ok(kind) if kind.is_file() => paths.push(path),
                Ok(kind) if kind.is_dir() && !LEFT_OUT.contains(&name.as_str()) => folders.push(path),
                _ => {}
            }
        }
    }
    paths
}

/// The file, unless it is gone: git still lists what was deleted and not yet committed.
fn open(root: &Path, path: String) -> Option<SourceFile> {
    let place = root.join(&path);
    let mut file = SourceFile::new(path, "");
    let is_read = READ.contains(&file.ending()) || file.ending().is_empty();
    if is_read {
        file.text = String::from_utf8_lossy(&fs::read(place).ok()?).into_owned();
    } else if !place.is_file() {
        return None;
    }
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::{SourceFile, listed, read, root, walked};

    #[test]
    fn a_path_has_parts() {
        let file = SourceFile::new("a/b.c.rs", "");
        assert_eq!((file.folder(), file.name(), file.stem(), file.ending()), ("a", "b.c.rs", "b.c", "rs"));
        let bare = SourceFile::new(".gitignore", "");
        assert_eq!((bare.folder(), bare.stem(), bare.ending()), ("", ".gitignore", ""));
    }

    #[test]
    fn a_file_without_ending_is_read() {
        let ignored = read().into_iter().find(|file| file.path == ".gitignore");
        assert!(ignored.expect("it is listed").text.contains("target"));
    }

    #[test]
    fn the_walk_finds_what_git_lists() {
        let before = listed(&root()).unwrap_or_default();
        let walked = walked(&root());
        let after = listed(&root()).unwrap_or_default();
        assert!(walked.iter().any(|path| path == "harness/tidy/src/tree.rs"));
        // What came or went meanwhile says nothing about the walk, and it follows no link.
        let is_file = |path: &&String| root().join(path).is_file() && !root().join(path).is_symlink();
        for path in before.iter().filter(|path| after.contains(path)).filter(is_file) {
            assert!(walked.contains(path), "the walk misses {path}");
        }
        assert!(!walked.iter().any(|path| path.starts_with("target/")));
    }
}
