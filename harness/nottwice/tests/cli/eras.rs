//! Both ways in which an MCP connection begins: the reference speaks both, so each must give one verdict.

use crate::project::Project;

/// The reference over stdio, spoken to in one era.
fn spoken(era: &str) -> String {
    let text = include_str!("../../../../fixtures/targets/reference-stdio.toml");
    text.replace("transport = \"mcp-stdio\"", &format!("transport = \"mcp-stdio\"\nera = \"{era}\""))
}

#[test]
fn both_eras_give_one_verdict() {
    let said = ["legacy", "modern"].map(|era| {
        let project = Project::new().with("mine.toml", spoken(era));
        project.run("run mine.toml receipt/plain-retry effect/lost-reply").exits(0).verdict()
    });
    assert_eq!(said[0], said[1]);
}
