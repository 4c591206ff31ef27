//! The absence of circles: an item in a plural folder knows the contract, never the list that names it.

use crate::code::{masked, names, uses};
use crate::complaint::Complaint;
use crate::lists::PLURALS;
use crate::tree::SourceFile;

/// Every item that reaches for its own list.
pub fn check(files: &[SourceFile]) -> Vec<Complaint> {
    // The tests of a list share what they stand on; only what is shipped must not go round.
    files.iter().filter(|file| file.is_rust() && !file.path.contains("/tests/")).flat_map(reaches).collect()
}

fn reaches(file: &SourceFile) -> Vec<Complaint> {
    let folder = file.folder().rsplit('/').next().unwrap_or_default();
    let Some(list) = PLURALS.iter().find(|plural| **plural == folder) else { return Vec::new() };
    let code = masked(&file.text);
    let imports = uses(&code).into_iter().filter_map(|(line, statement)| {
        let is_list = statement.contains("use crate::") && names(&statement).any(|(_, name)| name == *list);
        is_list.then_some(line)
    });
    let path = format!("crate::{list}::");
    let mut is_item = true;
    let paths = (1..).zip(code.lines()).filter(|(_, text)| {
        // Inside a module of its own, such as that of its tests, `super` is the item and not the list.
        is_item = is_item && !(text.starts_with("mod ") && text.trim_end().ends_with('{'));
        text.contains(&path) || (is_item && text.contains("super::"))
    });
    let mut lines: Vec<usize> = imports.chain(paths.map(|(line, _)| line)).collect();
    lines.sort_unstable();
    lines.dedup();
    let complain = |line| {
        let breach = format!("an item of `{list}` reaches for the list itself");
        let cure = format!("import the contract, or move what is shared out of {}.rs", file.folder());
        Complaint::new(&file.path, line, breach, cure)
    };
    lines.into_iter().map(complain).collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::SourceFile;

    #[test]
    fn an_item_that_knows_its_contract_is_fine() {
        let text = "use crate::clause::Clause;\n\npub(super) static ONE: Clause;\n\nmod tests {\n    use super::ONE;\n}\n";
        assert_eq!(check(&[SourceFile::new("a/src/clauses/one.rs", text)]), []);
        let elsewhere = SourceFile::new("a/src/verdict.rs", "use crate::clauses;\n");
        assert_eq!(check(&[elsewhere]), []);
    }

    #[test]
    fn an_item_that_knows_its_list_is_a_breach() {
        let text = "use crate::clauses::two;\nuse super::two;\nuse crate::{\n    clauses,\n};\n\n\
            fn f() {\n    crate::clauses::find();\n    super::find();\n}\n";
        let found = check(&[SourceFile::new("a/src/clauses/one.rs", text)]);
        assert_eq!(found.iter().map(|complaint| complaint.line).collect::<Vec<_>>(), [1, 2, 3, 8, 9]);
    }
}
