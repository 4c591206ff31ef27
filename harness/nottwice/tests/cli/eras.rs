//! Both ways in which an MCP connection begins: the reference speaks both, so each must give one verdict.

use crate::project::Project;

const STDIO: &str = include_str!("../../../../fixtures/targets/reference-stdio.toml");
const HTTP: &str = include_str!("../../../../fixtures/targets/reference-mcp-http.toml");

/// What is said of the reference when it is spoken to in one era.
fn said(target: &str, scenarios: &str, era: &str) -> String {
    let text = target.replace("[reach]\n", &format!("[reach]\nera = \"{era}\"\n"));
    let project = Project::new().with("mine.toml", text);
    project.run(&format!("run mine.toml {scenarios}")).exits(0).verdict()
}

#[test]
fn both_eras_give_one_verdict() {
    let scenarios = "receipt/plain-retry effect/lost-reply";
    assert_eq!(said(STDIO, scenarios, "legacy"), said(STDIO, scenarios, "modern"));
}

/// Over HTTP only the legacy era has a word for it; in the modern one a closed stream is the word.
#[test]
fn a_call_is_cancelled_by_the_word_of_its_era() {
    let cancelled = "recovery/cancelled-after-commit";
    for (target, era, exits) in [(STDIO, "legacy", 1), (HTTP, "legacy", 1), (HTTP, "modern", 4)] {
        let undoes = "[start.env]\nNOTES_DEFECT = \"undoes-on-cancel\"\n";
        let text = target.replace("[start.env]\n", undoes);
        let text = text.replace("[reach]\n", &format!("[reach]\nera = \"{era}\"\n"));
        let ended = Project::new().with("mine.toml", text).run(&format!("run mine.toml {cancelled}"));
        let ended = ended.exits(exits);
        match exits {
            1 => drop(ended.says("VIOLATED recovery.disconnect-is-not-undo")),
            _ => drop(ended.says("lacks cancel")),
        }
    }
    assert!(said(HTTP, cancelled, "legacy").contains("recovery.disconnect-is-not-undo ×1"));
}

#[test]
fn both_eras_give_one_verdict_over_http() {
    let scenarios = "receipt/plain-retry effect/lost-reply recovery/reply-cut recovery/new-connection \
                     effect/delivered-twice scope/second-principal scope/foreign-workspace";
    // How often a clause held depends on how far a call had come when its stream was cut.
    let counted = |era| said(HTTP, scenarios, era).lines().nth(1).map(str::to_owned);
    assert_eq!(counted("legacy"), counted("modern"));
}
