//! Target files with a mistake: each error names file, line and cure.

use crate::page::Page;
use crate::project::Project;

const START: &str = "name = \"mine\"\n\n[start]\ncommand = [\"my-server\"]\n";
const STDIO: &str = "\n[reach]\ntransport = \"mcp-stdio\"\n";
const TOOL: &str = "\n[tool.main]\nname = \"create\"\narguments = { text = \"{label}\" }\n";
const ROUTE: &str = "\n[tool.main]\npath = \"/notes\"\narguments = { text = \"{label}\" }\n";

fn page(name: &str, cases: &[(&str, String)]) {
    let mut page = Page::new();
    for (title, text) in cases {
        let project = Project::new().with("mine.toml", text);
        page.refused(title, project.run("check mine.toml"));
    }
    page.compare(name);
}

fn at(base: &str) -> String {
    format!("name = \"mine\"\n\n[reach]\ntransport = \"http\"\nbase = \"{base}\"\n{ROUTE}")
}

#[test]
fn a_word_that_does_not_fit_is_shown_in_its_line() {
    let store = "\n[[store]]\nsqlite = \"{state}/notes.db\"\n";
    page(
        "targets_with_a_wrong_word",
        &[
            ("a misspelt placeholder", format!("{}{STDIO}{TOOL}", START.replace("my-server", "{sefl}"))),
            ("a misspelt label", format!("{START}{STDIO}{}", TOOL.replace("label", "lable"))),
            ("a field that there is not", format!("{START}{STDIO}patience_ms = 30\n{TOOL}")),
            (
                "a transport that there is not",
                format!("{START}{}{TOOL}", STDIO.replace("mcp-stdio", "carrier-pigeon")),
            ),
            ("a key at no place", format!("{START}{STDIO}{TOOL}\n[key]\nat = \"argument:/key\"\n")),
            ("a time without its unit", format!("{START}ready_within = \"10\"\n{STDIO}{TOOL}")),
            ("another edition", format!("contract = \"9\"\n{START}{STDIO}{TOOL}")),
            ("a preset that there is not", format!("preset = \"ietf\"\n{START}{STDIO}{TOOL}")),
            ("a preset of the wrong type", format!("preset = 7\n{START}{STDIO}{TOOL}")),
            (
                "a policy that there is not",
                format!("{START}{STDIO}{TOOL}\n[in_flight]\npolicy = \"queue\"\n"),
            ),
            ("a store without a query", format!("{START}{STDIO}{TOOL}{store}")),
        ],
    );
}

#[test]
fn what_contradicts_itself_is_shown() {
    let hook =
        "\n[[hook]]\npoint = \"reply\"\narm = { write = \"{state}/arm\" }\nreached = \"{state}/reached\"\n";
    let store =
        "\n[[store]]\nsqlite = \"{state}/notes.db\"\neffects = \"SELECT id, text AS label FROM notes\"\n";
    page(
        "targets_with_a_contradiction",
        &[
            ("no tool", format!("{START}{STDIO}")),
            (
                "a waiver of nothing",
                format!("{START}{STDIO}{TOOL}\n[[waive]]\nclause = \"effect.twice\"\nreason = \"cheap\"\n"),
            ),
            (
                "a waiver without a reason",
                format!("{START}{STDIO}{TOOL}\n[[waive]]\nclause = \"receipt.replay\"\nreason = \" \"\n"),
            ),
            ("no main tool", format!("{START}{STDIO}{}", TOOL.replace("main", "create"))),
            ("no reach", format!("{START}{TOOL}")),
            ("a route for MCP", format!("{START}{STDIO}{ROUTE}")),
            (
                "a `_meta` over plain HTTP",
                format!("{}\n[key]\nat = \"meta:example/key\"\n", at("http://127.0.0.1:8000")),
            ),
            (
                "MCP over HTTP without a base",
                format!("{START}{}{TOOL}", STDIO.replace("mcp-stdio", "mcp-http")),
            ),
            (
                "a header over stdio",
                format!("{START}{STDIO}{TOOL}\n[key]\nat = \"header:Idempotency-Key\"\n"),
            ),
            ("a key that is required at no place", format!("{START}{STDIO}{TOOL}\n[key]\nrequired = true\n")),
            ("a hook at the reply", format!("{START}{STDIO}{TOOL}{hook}")),
            (
                "a store, and no label to find there",
                format!("{START}{STDIO}{}{store}", TOOL.replace("{label}", "hello")),
            ),
            ("a server of another machine", at("http://example.com:8080")),
            ("a server of another machine behind a name", at("http://127.0.0.1@example.com")),
            ("a server behind TLS", at("https://127.0.0.1:8443")),
        ],
    );
}

#[test]
fn keys_that_cannot_be_are_shown() {
    let key = |rest: &str| format!("{START}{STDIO}{TOOL}\n[key]\n{rest}\n");
    page(
        "targets_with_an_impossible_key",
        &[
            ("a grammar that there is not", key("at = \"arguments:/key\"\ngrammar = \"klingon\"")),
            ("a grammar without a longest key", key("at = \"arguments:/key\"\ngrammar = \"printable\"")),
            ("a longest key that is too short to try", key("at = \"arguments:/key\"\nmax = 8")),
            ("a longest key at no place", key("max = 64")),
        ],
    );
}

/// A target over stdio with a hook.
fn piped(hook: &str) -> String {
    format!("{START}{STDIO}{TOOL}\n[[hook]]\npoint = \"claimed\"\n{hook}\n")
}

/// A target over HTTP that somebody else starts, with a hook.
fn served(hook: &str) -> String {
    format!("{}\n[[hook]]\npoint = \"claimed\"\n{hook}\n", at("http://127.0.0.1:8080"))
}

#[test]
fn signals_and_evidence_that_cannot_be_are_shown() {
    let arm = "arm = { write = \"{state}/arm\" }";
    let file = "reached = \"{state}/reached\"";
    let access = |revoke: &str| {
        let grant = "grant = { write = \"{state}/revoked\" }";
        format!("{START}{STDIO}{TOOL}\n[access]\nrevoke = {revoke}\n{grant}\n")
    };
    page(
        "targets_with_a_wrong_signal",
        &[
            ("two signals in one", piped(&format!("arm = {{ write = \"a\", tool = \"b\" }}\n{file}"))),
            ("an empty environment", piped(&format!("arm = {{ env = {{}} }}\n{file}"))),
            ("a body for a tool", piped(&format!("arm = {{ tool = \"arm\", body = {{}} }}\n{file}"))),
            ("a route without its method", served(&format!("arm = {{ http = \"/faults\" }}\n{file}"))),
            ("a route over stdio", piped(&format!("arm = {{ http = \"POST /faults\" }}\n{file}"))),
            ("a tool over HTTP", served(&format!("arm = {{ tool = \"arm_fault\" }}\n{file}"))),
            (
                "an environment for somebody else's server",
                served(&format!("arm = {{ env = {{ A = \"1\" }} }}\n{file}")),
            ),
            (
                "an environment that lets go",
                piped(&format!("{arm}\n{file}\nrelease = {{ env = {{ A = \"1\" }} }}")),
            ),
            ("access by the environment", access("{ env = { REVOKED = \"alice\" } }")),
            ("access by a route over stdio", access("{ http = \"POST /revoke\" }")),
            ("no evidence", piped(arm)),
            ("evidence of two kinds", piped(&format!("{arm}\nreached = {{ file = \"a\", exit = true }}"))),
            ("a route without its text", served(&format!("{arm}\nreached = {{ http = \"GET /faults\" }}"))),
            (
                "a route as evidence over stdio",
                piped(&format!("{arm}\nreached = {{ http = \"GET /faults\", contains = \"x\" }}")),
            ),
            ("the end of somebody else's process", served(&format!("{arm}\nreached = {{ exit = true }}"))),
            (
                "an exit as evidence of an error",
                piped("error = { env = { A = \"1\" } }\nreached = { exit = true }"),
            ),
            (
                "a release of a process that ended",
                piped(&format!("{arm}\nreached = {{ exit = true }}\nrelease = {{ write = \"go\" }}")),
            ),
        ],
    );
}

#[test]
fn credentials_and_access_that_cannot_be_are_shown() {
    let one = "{ env = { name = \"WHO\", value = \"alice\" } }";
    let signal = "{ write = \"{state}/access\" }";
    let principal =
        |credential: &str| format!("{START}{STDIO}{TOOL}\n[[principal]]\nrole = \"owner\"\n{credential}\n");
    let access = |words: &str| format!("{}\n[access]\n{words}\n", principal(&format!("credential = {one}")));
    page(
        "targets_with_a_wrong_credential",
        &[
            ("no credential", principal("")),
            ("one credential and a list", principal(&format!("credential = {one}\ncredentials = [{one}]"))),
            ("an empty list of credentials", principal("credentials = []")),
            ("access that is never given back", access(&format!("revoke = {signal}"))),
            ("a new credential that there is not", access(&format!("rotate = {signal}"))),
        ],
    );
}

/// A target over stdio with two callers, and what counts their effects.
fn counted(stores: &str) -> String {
    let principal = |role: &str| {
        let credential = format!("credential = {{ env = {{ name = \"WHO\", value = \"{role}\" }} }}");
        format!("\n[[principal]]\nrole = \"{role}\"\nscope = \"{role}\"\n{credential}\n")
    };
    format!("{START}{STDIO}{TOOL}{}{}\n{stores}\n", principal("owner"), principal("other"))
}

#[test]
fn questions_that_cannot_be_asked_are_shown() {
    let store = "[[store]]\ntool = \"list\"\n";
    let rows = "rows = \"/text\"\nid = \"/id\"\nlabel = \"/text\"\n";
    page(
        "targets_with_a_wrong_question",
        &[
            ("a question in two ways", counted(&format!("{store}http = \"GET /notes\"\n{rows}"))),
            ("a question beside a database", counted(&format!("{store}sqlite = \"notes.db\"\n{rows}"))),
            ("no rows", counted(store)),
            ("rows and no question", counted("[[store]]\nrows = \"/text\"\n")),
            ("a place that is no pointer", counted(&format!("{store}{}", rows.replace("/text", "text")))),
            ("a route over stdio", counted(&format!("[[store]]\nhttp = \"GET /notes\"\n{rows}"))),
            ("a caller that there is not", counted(&format!("{store}{rows}workspace = \"second\"\n"))),
            ("a caller whose effects nobody counts", counted(&format!("{store}{rows}"))),
        ],
    );
}

/// Each of these would be found out only when the server is started, or never.
#[test]
fn what_cannot_work_is_refused_before_anything_is_started() {
    let file = "\n[[file]]\npath = \"{state}/settings\"\ncontent = \"{stat}/notes.db\"\n";
    let route = at("http://127.0.0.1:8080");
    let mut taken = Vec::new();
    for (what, text) in [
        ("no command", format!("{}{STDIO}{TOOL}", START.replace("\"my-server\"", ""))),
        ("a misspelt placeholder in a file", format!("{START}{file}{STDIO}{TOOL}")),
        (
            "arguments that are no object",
            format!("{START}{STDIO}{}", TOOL.replace("{ text = \"{label}\" }", "\"{label}\"")),
        ),
        ("a port that there is not", at("http://127.0.0.1:99999")),
        ("a port that is none", at("http://127.0.0.1:80@example.com")),
        ("a free port, and nobody to be told of it", at("http://127.0.0.1:{port}")),
        ("a route that is no path", route.replace("/notes", "notes")),
        ("no worker", format!("{START}{STDIO}{TOOL}\n[promise]\nworkers = 0\n")),
        (
            "a name that leads out of the records",
            format!("{}{STDIO}{TOOL}", START.replace("mine", "../../mine")),
        ),
    ] {
        let project = Project::new().with("mine.toml", text);
        if project.run("check mine.toml").exit != 2 {
            taken.push(what);
        }
    }
    assert!(taken.is_empty(), "these are taken for sound: {taken:#?}");
}

#[test]
fn a_sound_target_is_counted() {
    let project = Project::new().with("mine.toml", format!("{START}{STDIO}{TOOL}"));
    project.run("check mine.toml").exits(0).says("1 target");
}
