//! The scenario files: each says where it comes from and what it must catch.
//!
//! A scenario that catches nothing proves nothing, and one without a source cannot be argued with.

use crate::complaint::Complaint;
use crate::table;
use crate::tree::SourceFile;

/// Folders that are a subject of their own and no group of clauses.
const SUBJECTS: &[&str] = &[];

/// The folder whose files are the groups of clauses.
const GROUPS: &str = "harness/model/src/clauses";

/// Every scenario that is incomplete or in the wrong place.
pub fn check(files: &[SourceFile]) -> Vec<Complaint> {
    let is_scenario = |file: &&SourceFile| file.path.starts_with("scenarios/") && file.ending() == "toml";
    let groups = groups(files);
    files
        .iter()
        .filter(is_scenario)
        .flat_map(|file| content(file).into_iter().chain(place(file, &groups)))
        .collect()
}

/// The groups, from the clauses that are judged and from the headings `## group — …` of the contract.
fn groups(files: &[SourceFile]) -> Vec<String> {
    let judged =
        files.iter().filter(|file| file.folder() == GROUPS).map(|file| file.stem().replace('_', "-"));
    let contract = files.iter().filter(|file| file.path == "CONTRACT.md").flat_map(SourceFile::lines);
    let headings =
        contract.filter_map(|(_, line)| Some(line.strip_prefix("## ")?.split_once(" — ")?.0.to_owned()));
    judged.chain(headings).chain(SUBJECTS.iter().map(|subject| (*subject).to_owned())).collect()
}

fn content(file: &SourceFile) -> Vec<Complaint> {
    let entries = table::entries(&file.text);
    let says = |key| entries.iter().any(|e| e.table.is_empty() && e.key == key && !e.text().is_empty());
    let catches = entries.iter().any(|entry| entry.table == "catches" && entry.text() != "[]");
    let complain = |breach: &str, cure: &str| Complaint::new(&file.path, 1, breach, cure);
    let mut complaints = Vec::new();
    if !says("title") {
        complaints.push(complain("has no `title`", "say the event in a sentence"));
    }
    if !says("source") {
        complaints.push(complain("has no `source`", "name the rule or the observation that it comes from"));
    }
    if !catches {
        let cure = "add `[catches]` with a defect and the clauses that name it";
        complaints.push(complain("catches nothing", cure));
    }
    complaints
}

fn place(file: &SourceFile, groups: &[String]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let group = file.folder().strip_prefix("scenarios/").unwrap_or_default();
    if !groups.iter().any(|known| known == group) {
        let breach = format!("`{group}` is no group of clauses");
        let cure = format!("move it to scenarios/<group>/; the groups are {}", groups.join(", "));
        complaints.push(Complaint::new(&file.path, 1, breach, cure));
    }
    if !is_kebab(file.stem()) {
        let breach = format!("`{}` is not in kebab case", file.stem());
        let cure = "use lower case, digits and single hyphens";
        complaints.push(Complaint::new(&file.path, 1, breach, cure));
    }
    complaints
}

fn is_kebab(name: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    name.split('-').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::SourceFile;

    const GOOD: &str = "title = \"The reply is lost\"\nsource = \"effect.at-most-once\"\n\
        [catches]\nignores-the-key = [\"effect.at-most-once\"]\n[[step]]\ncall = \"first\"\n";

    fn breaches(path: &str, text: &str) -> Vec<String> {
        let files = [
            SourceFile::new("harness/model/src/clauses/effect.rs", ""),
            SourceFile::new("CONTRACT.md", "# Contract\n## external — effects outside\n## How it is read\n"),
            SourceFile::new(path, text),
        ];
        check(&files).into_iter().map(|complaint| complaint.breach).collect()
    }

    #[test]
    fn a_complete_scenario_is_fine() {
        let nothing: Vec<String> = Vec::new();
        assert_eq!(breaches("scenarios/effect/lost-reply-2.toml", GOOD), nothing);
        assert_eq!(breaches("scenarios/external/lost.toml", GOOD), nothing);
        assert_eq!(breaches("fixtures/targets/Any_Thing.toml", ""), nothing);
    }

    #[test]
    fn an_incomplete_scenario_is_a_breach() {
        let expected = ["has no `title`", "has no `source`", "catches nothing"];
        assert_eq!(breaches("scenarios/effect/lost.toml", ""), expected);
        let empty = "title = \"\"\n[catches]\na = []\n[[step]]\nsource = \"not here\"\n";
        assert_eq!(breaches("scenarios/effect/lost.toml", empty), expected);
    }

    #[test]
    fn a_scenario_out_of_place_is_a_breach() {
        assert_eq!(breaches("scenarios/attic/lost.toml", GOOD), ["`attic` is no group of clauses"]);
        assert_eq!(breaches("scenarios/lost.toml", GOOD), ["`` is no group of clauses"]);
        assert_eq!(breaches("scenarios/effect/Lost_it.toml", GOOD), ["`Lost_it` is not in kebab case"]);
        assert_eq!(breaches("scenarios/effect/lost--it.toml", GOOD), ["`lost--it` is not in kebab case"]);
    }
}
