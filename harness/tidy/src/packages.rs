//! The packages of the workspace, as their manifests tell them.

use crate::table::{self, Entry};
use crate::tree::SourceFile;

/// One package.
#[derive(Debug)]
pub(crate) struct Package<'a> {
    pub(crate) name: String,
    pub(crate) manifest: &'a SourceFile,
    pub(crate) needs: Vec<Need>,
}

/// One package that another asks for.
#[derive(Debug)]
pub(crate) struct Need {
    pub(crate) name: String,
    /// Whether only tests, examples and benches ask for it.
    pub(crate) is_dev: bool,
    pub(crate) line: usize,
}

/// Every package, in the order of the files.
pub(crate) fn packages(files: &[SourceFile]) -> Vec<Package<'_>> {
    files.iter().filter(|file| file.name() == "Cargo.toml").filter_map(package).collect()
}

fn package(manifest: &SourceFile) -> Option<Package<'_>> {
    let entries = table::entries(&manifest.text);
    let name =
        entries.iter().find(|entry| entry.table == "package" && entry.key == "name")?.text().to_owned();
    let mut needs: Vec<Need> = entries.iter().filter_map(need).collect();
    needs.extend(table::tables(&manifest.text).filter_map(need_with_a_table));
    Some(Package { name, manifest, needs })
}

/// `name = …` or `name.workspace = true` in a table of dependencies.
fn need(entry: &Entry) -> Option<Need> {
    let is_dev = is_dev(&entry.table)?;
    let written = entry.key.split('.').next().unwrap_or_default();
    // A renamed dependency says its true name in the value.
    let renamed = entry.value.split_once("package").and_then(|(_, rest)| rest.split('"').nth(1));
    let name = renamed.unwrap_or(written.trim_matches('"')).trim().to_owned();
    Some(Need { name, is_dev, line: entry.line })
}

/// `[dependencies.name]`.
fn need_with_a_table((line, header): (usize, &str)) -> Option<Need> {
    let (table, name) = header.rsplit_once('.')?;
    Some(Need { name: name.trim_matches('"').to_owned(), is_dev: is_dev(table)?, line })
}

/// Nothing if the table holds no dependencies. Those of one platform and of the build script count in full.
fn is_dev(table: &str) -> Option<bool> {
    // The workspace's own table is a list of versions: it makes nobody depend on anything.
    match table.rsplit('.').next().unwrap_or_default() {
        _ if table.starts_with("workspace") => None,
        "dependencies" | "build-dependencies" => Some(false),
        "dev-dependencies" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::packages;
    use crate::tree::SourceFile;

    #[test]
    fn every_spelling_of_a_dependency_is_read() {
        let manifest = "[package]\nname = \"a\"\n[dependencies]\nb.workspace = true\nc = \"1\"\n\
            d = { package = \"e\", version = \"1\" }\n[target.'cfg(unix)'.dependencies]\nf = \"1\"\n\
            [dependencies.g]\nversion = \"1\"\n[dev-dependencies]\nh = \"1\"\n";
        let files = [SourceFile::new("a/Cargo.toml", manifest)];
        let found = packages(&files);
        let mut needs: Vec<_> = found[0].needs.iter().map(|n| (n.name.as_str(), n.is_dev, n.line)).collect();
        needs.sort_unstable();
        let expected = [
            ("b", false, 4),
            ("c", false, 5),
            ("e", false, 6),
            ("f", false, 8),
            ("g", false, 9),
            ("h", true, 12),
        ];
        assert_eq!(needs, expected);
    }

    #[test]
    fn a_workspace_is_no_package() {
        let files = [SourceFile::new("Cargo.toml", "[workspace.dependencies]\nb = \"1\"\n")];
        assert!(packages(&files).is_empty());
    }
}
