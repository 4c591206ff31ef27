//! A finding shows the lines that it was judged under, and where each that is not the file's own comes from.

use std::path::Path;

use crate::project::Project;

/// The reference with one wrong decision, under a preset in place of rows of its own.
fn under_a_preset(own: &str) -> Project {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/targets/reference-http.toml");
    let text = std::fs::read_to_string(path).expect("the target is shipped");
    let defect = "[start.env]\nNOTES_DEFECT = \"shares-keys-over-operations\"\n";
    let text = text.replace("operation = \"identity\"\n", own).replace("[start.env]\n", defect);
    Project::new().with("mine.toml", format!("preset = \"seed\"\n{text}"))
}

#[test]
fn a_line_of_a_preset() {
    let ended = under_a_preset("").run("run mine.toml scope/second-operation").exits(1);
    ended.says("VIOLATED scope.operation").says("preset = \"seed\" # edition 1 of the contract");
    let ended = under_a_preset("").run("run mine.toml scope/second-operation").exits(1);
    ended.says("[scope] operation = \"identity\" # as in preset seed");
}

#[test]
fn a_line_of_the_file_itself() {
    let own = under_a_preset("operation = \"conflict\"\n");
    let ended = own.run("run mine.toml scope/second-operation").exits(1);
    ended.says("[scope] operation = \"conflict\" [key] at");
}
