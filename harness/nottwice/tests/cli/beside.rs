//! What a harness and a server say to each other beside the calls: hooks by a route, a tool and the
//! environment, and effects that the server counts itself. Each is tried with the shipped reference, whose
//! own target file writes and reads files.

use crate::project::{Ended, Project};

const HTTP: &str = include_str!("../../../../fixtures/targets/reference-http.toml");
const STDIO: &str = include_str!("../../../../fixtures/targets/reference-stdio.toml");

/// The defect that a crash between two writes shows.
const DEFECT: &str = "commits-effect-then-receipt";

/// Scenarios that crash a worker at a hook, and let a call fail there.
const STOPPED: &str = "effect/crash-between-writes effect/failed-before-commit receipt/error-after-commit";
/// Scenarios that hold a call at a hook and let it go.
const HELD: &str = "recovery/late-original recovery/paused-worker";

/// Hooks that are armed, seen and let go by a route.
const BY_ROUTE: &str = r#"
[[hook]]
point   = "{point}"
arm     = { http = "POST /hooks", body = { arm = "{point}=1*return(stand)" } }
error   = { http = "POST /hooks", body = { arm = "{point}=1*return(error)" } }
reached = { http = "GET /hooks", contains = "{point}" }
release = { http = "POST /hooks", body = { release = true } }
disarm  = { http = "POST /hooks", body = { arm = "" } }
"#;

/// Hooks that are armed and let go by a tool.
const BY_TOOL: &str = r#"
[[hook]]
point   = "{point}"
arm     = { tool = "arm_hook", arguments = { arm = "{point}=1*return(stand)" } }
error   = { tool = "arm_hook", arguments = { arm = "{point}=1*return(error)" } }
reached = { file = "{state}/hooks/reached" }
release = { tool = "arm_hook", arguments = { release = true } }
disarm  = { tool = "arm_hook", arguments = { arm = "" } }
"#;

/// Hooks in the environment, as the `fail` crate reads it: one process ends by itself, another says that
/// it fails.
const BY_ENVIRONMENT: &str = r#"
[[hook]]
point   = "{point}"
arm     = { env = { FAILPOINTS = "{point}=1*return(abort)" } }
reached = { exit = true }

[[hook]]
point   = "{point}"
error   = { env = { FAILPOINTS = "{point}=1*return(error)" } }
reached = { stderr = "{point} is reached" }
"#;

/// A shipped target with other hooks.
fn hooked(target: &str, hook: &str) -> String {
    let (rest, _) = target.split_once("[[hook]]").expect("it has hooks");
    let points = ["begin", "claimed", "between-writes", "before-commit", "after-commit"];
    let hooks: String = points.map(|point| hook.replace("{point}", point)).concat();
    format!("{rest}{hooks}")
}

/// The same, with the defect.
fn defective(target: &str) -> String {
    let defective = target.replace("[start.env]\n", &format!("[start.env]\nNOTES_DEFECT = \"{DEFECT}\"\n"));
    assert_ne!(defective, target, "the shipped file has changed");
    defective
}

fn run(target: &str, scenarios: &str) -> Ended {
    Project::new().with("mine.toml", target).run(&format!("run mine.toml {scenarios}"))
}

/// The reference keeps everything that is asked, and every scenario could be played; the defect is accused
/// of what it does.
#[track_caller]
fn tells_apart(target: &str, scenarios: &str) {
    let kept = run(target, scenarios).exits(0).says("effect.at-most-once").says("violated 0");
    assert!(!kept.stdout.contains("NOT PLAYED"), "{kept}");
    run(&defective(target), scenarios).exits(1).says("VIOLATED effect.at-most-once");
}

#[test]
fn hooks_by_a_route() {
    tells_apart(&hooked(HTTP, BY_ROUTE), &format!("{STOPPED} {HELD}"));
}

#[test]
fn hooks_by_a_tool() {
    tells_apart(&hooked(STDIO, BY_TOOL), &format!("{STOPPED} {HELD}"));
}

/// Only one process is spoken to over its pipes, and only one for all callers over HTTP: both are started
/// again for the one call, and again without it.
#[test]
fn hooks_in_the_environment() {
    for target in [HTTP, STDIO] {
        tells_apart(&hooked(target, BY_ENVIRONMENT), STOPPED);
    }
}

#[test]
fn a_crash_by_abort_shows_the_end_of_the_process_as_its_evidence() {
    let crash = "effect/crash-between-writes";
    let ended = run(&defective(&hooked(HTTP, BY_ENVIRONMENT)), crash).exits(1);
    ended.says("fault fired: crash at between-writes — the worker ended by itself (signal: 6 (SIGABRT)");
}

/// What cannot be let go again is neither held nor paused.
#[test]
fn hooks_without_a_release_hold_nothing() {
    run(&hooked(HTTP, BY_ENVIRONMENT), "recovery/paused-worker").exits(4).says("lacks release:claimed");
}

/// Armed, and never seen: nothing that hangs on the fault is called kept.
#[test]
fn a_hook_without_evidence_holds_nothing() {
    let unseen = [
        hooked(HTTP, &BY_ROUTE.replace("contains = \"{point}\"", "contains = \"nowhere\"")),
        hooked(STDIO, &BY_TOOL.replace("hooks/reached", "hooks/nowhere")),
        hooked(HTTP, &BY_ENVIRONMENT.replace("is reached", "is nowhere")),
    ];
    for target in unseen {
        let ended = run(&target, "effect/failed-before-commit").exits(5);
        let ended = ended.says("the fault `error` at `before-commit` on `first` did not fire");
        assert!(!ended.stdout.contains("HELD"), "{ended}");
    }
}

/// A later call may run into what was armed for an earlier one and cannot be taken back.
#[test]
fn a_hook_that_cannot_be_disarmed_makes_a_run_untold() {
    let hook = BY_ROUTE.replace("contains = \"{point}\"", "contains = \"nowhere\"");
    let kept: String =
        hook.lines().filter(|line| !line.starts_with("disarm")).map(|l| format!("{l}\n")).collect();
    let ended = run(&hooked(HTTP, &kept), "effect/failed-before-commit").exits(5);
    ended.says("the hook there has no `disarm`");
}

#[test]
fn a_signal_that_is_refused_is_trouble_with_its_status() {
    let refused =
        hooked(HTTP, &BY_ROUTE.replace("POST /hooks\", body = { arm", "POST /hook\", body = { arm"));
    let ended = run(&refused, "effect/failed-before-commit").exits(5);
    ended.says("`POST /hook` was answered with status 404");
}

/// Where a list of notes has its rows, in whatever reply it stands.
const ROWS: &str = "id = \"/id\"\nlabel = \"/body\"";

/// A shipped target that is counted by asking it, once for each caller. What it would do for a workspace that
/// the caller may not use is seen by nobody, so it has none.
fn asked(target: &str, question: &str) -> String {
    let foreign = target.split_once("[[workspace]]\nplace      = \"foreign\"");
    let target = match foreign.and_then(|(before, rest)| Some((before, rest.split_once("[access]")?.1))) {
        Some((before, after)) => format!("{before}[access]{after}"),
        None => target.to_owned(),
    };
    let (before, rest) = target.split_once("[[store]]").expect("it has a store");
    let (_, after) = rest.split_once("[promise]").expect("it promises something");
    let whos = ["", "as = \"other\"", "workspace = \"second\""];
    let stores = whos.map(|who| format!("[[store]]\n{question}\n{ROWS}\n{who}\n\n")).concat();
    format!("{before}{stores}[promise]{after}")
}

/// The whole set of scenarios: there is no count while something is under way, and enough of them else.
#[test]
fn effects_that_a_route_lists() {
    let target = asked(HTTP, "http = \"GET /notes\"\nrows = \"/body/notes\"");
    run(&target, "effect receipt scope recovery").exits(0).says("effect.at-most-once").says("violated 0");
    let accused = run(&defective(&target), "effect/crash-between-writes").exits(1);
    let accused = accused.says("VIOLATED effect.at-most-once").says("as the server itself tells");
    accused.says("counted by: GET /notes, asked as the owner");
}

#[test]
fn effects_that_a_tool_lists() {
    let target = asked(STDIO, "tool = \"list_notes\"\nrows = \"/result/structuredContent/notes\"");
    run(&target, "effect receipt scope recovery").exits(0).says("effect.at-most-once").says("violated 0");
    let accused = run(&defective(&target), "effect/crash-between-writes").exits(1);
    accused.says("VIOLATED effect.at-most-once").says("counted by: the tool list_notes, asked as the owner");
}

#[test]
fn a_question_that_finds_no_rows_is_trouble() {
    let target = asked(HTTP, "http = \"GET /notes\"\nrows = \"/body/elements\"");
    let ended = run(&target, "receipt/plain-retry").exits(5);
    ended.says("GET /notes, asked as the owner: its reply has no array at `/body/elements`");
}

/// The old credential is gone once the new one is there, so a call that still carried it would be denied.
#[test]
fn a_credential_that_is_replaced() {
    let left = r#"{"new-token-of-alice": {"principal": "alice", "workspaces": ["main"]}}"#;
    let rotate = format!("[access]\nrotate = {{ write = \"{{state}}/tokens.json\", content = '{left}' }}\n");
    for target in [HTTP, STDIO] {
        let target = target.replace("[access]\n", &rotate);
        let ended = run(&target, "receipt/refreshed-credential").exits(0).says("receipt.incidental-ignored");
        ended.says("violated 0");
        run(
            &target.replace("[start.env]\n", "[start.env]\nNOTES_DEFECT = \"keys-by-credential\"\n"),
            "refreshed",
        )
        .exits(1)
        .says("VIOLATED receipt.incidental-ignored")
        .says("the owner goes on with its credential number 2");
    }
}
