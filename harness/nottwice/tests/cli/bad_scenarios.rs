//! Scenario files with a mistake: each error names file, line and cure, and nothing is started.

use crate::page::Page;
use crate::project::Project;

const HEAD: &str = "title = \"A note is made\"\nsource = \"this test\"\n";
const FIRST: &str = "\n[[step]]\ncall = \"first\"\nintent = \"note\"\n";
const STALLED: &str = "fault = { at = \"reply\", do = \"hold\" }\nuntil = \"reached\"\n";
const HELD: &str = "fault = { at = \"request\", do = \"hold\" }\nuntil = \"reached\"\n";

/// Checks one scenario after another, each in a folder of its own, and gives the page of what was said.
fn page(name: &str, cases: &[(&str, String)]) {
    let mut page = Page::new();
    for (title, text) in cases {
        let project = Project::new().with("note.toml", text);
        page.refused(title, project.run("check note.toml"));
    }
    page.compare(name);
}

#[test]
fn a_word_that_does_not_fit_is_shown_in_its_line() {
    page(
        "scenarios_with_a_wrong_word",
        &[
            ("a misspelt field", format!("{HEAD}{FIRST}wroker = 2\n")),
            ("a misspelt field of the file", format!("titel = \"A note\"\n{HEAD}{FIRST}")),
            (
                "a place in a message that there is not",
                format!("{HEAD}{FIRST}fault = {{ at = \"reply\", do = \"cut\", where = \"after-lunch\" }}\n"),
            ),
            (
                "a deed that there is not",
                format!("{HEAD}{FIRST}fault = {{ at = \"reply\", do = \"explode\" }}\n"),
            ),
            (
                "a place that there is not",
                format!("{HEAD}{FIRST}fault = {{ at = \"dinner\", do = \"drop\" }}\n"),
            ),
            ("an ability that there is not", format!("{HEAD}needs = [\"teleport\"]\n{FIRST}")),
            ("a text for a number", format!("{HEAD}{FIRST}worker = \"two\"\n")),
            ("a number that is too large", format!("{HEAD}{FIRST}worker = 300\n")),
            ("worker 0", format!("{HEAD}{FIRST}worker = 0\n")),
            ("no title", format!("source = \"this test\"\n{FIRST}")),
            ("an empty title", format!("title = \"\"\nsource = \"this test\"\n{FIRST}")),
            ("a fault without its place", format!("{HEAD}{FIRST}fault = {{ do = \"drop\" }}\n")),
            ("a bracket that is not closed", format!("{HEAD}\n[[step]\ncall = \"first\"\n")),
            ("an empty file", String::new()),
        ],
    );
}

#[test]
fn keys_that_cannot_be_made_are_shown() {
    let second = "\n[[step]]\ncall = \"second\"\nintent = \"another\"\n";
    page(
        "scenarios_with_an_impossible_key",
        &[
            ("a form that there is not", format!("{HEAD}{FIRST}key = \"rusty\"\n")),
            ("a key made from nothing", format!("{HEAD}{FIRST}{second}key = \"other-case\"\n")),
            (
                "a key made twice",
                format!("{HEAD}{FIRST}{}key = \"longest\"\n", FIRST.replace("first", "again")),
            ),
            (
                "a key of its own that is another's",
                format!("{HEAD}{FIRST}{second}key = \"longest\"\nkey-of = \"note\"\n"),
            ),
        ],
    );
}

#[test]
fn faults_that_contradict_themselves_are_shown() {
    page(
        "scenarios_with_an_impossible_fault",
        &[
            (
                "a message fault at a point",
                format!("{HEAD}{FIRST}fault = {{ at = \"after-commit\", do = \"drop\" }}\n"),
            ),
            (
                "bytes of a message that is not cut",
                format!("{HEAD}{FIRST}fault = {{ at = \"reply\", do = \"drop\", bytes = 3 }}\n"),
            ),
            (
                "two places of one cut",
                format!(
                    "{HEAD}{FIRST}fault = {{ at = \"reply\", do = \"cut\", bytes = 3, where = \"after-headers\" }}\n"
                ),
            ),
            (
                "a place in a message that is not cut",
                format!(
                    "{HEAD}{FIRST}fault = {{ at = \"reply\", do = \"drop\", where = \"after-headers\" }}\n"
                ),
            ),
            (
                "a request cut in mid-event",
                format!("{HEAD}{FIRST}fault = {{ at = \"request\", do = \"cut\", where = \"mid-event\" }}\n"),
            ),
            (
                "a reply that is delivered at once",
                format!("{HEAD}{FIRST}fault = {{ at = \"reply\", do = \"double\" }}\n"),
            ),
            (
                "an answer without a status",
                format!("{HEAD}{FIRST}fault = {{ at = \"reply\", do = \"answer\" }}\n"),
            ),
            (
                "an answer that no gateway gives",
                format!("{HEAD}{FIRST}fault = {{ at = \"reply\", do = \"answer\", status = 200 }}\n"),
            ),
            (
                "a status that is not answered",
                format!("{HEAD}{FIRST}fault = {{ at = \"reply\", do = \"drop\", status = 503 }}\n"),
            ),
        ],
    );
}

#[test]
fn steps_that_contradict_each_other_are_shown() {
    let act = |word: &str| format!("\n[[step]]\nact = \"{word}\"\nof = \"first\"\n");
    page(
        "scenarios_with_a_contradiction",
        &[
            (
                "an await of a call that there is not",
                format!("{HEAD}{FIRST}\n[[step]]\nawait = \"second\"\n"),
            ),
            ("an await of a call that has ended", format!("{HEAD}{FIRST}\n[[step]]\nawait = \"first\"\n")),
            (
                "an await of a call that is held",
                format!("{HEAD}{FIRST}{HELD}\n[[step]]\nawait = \"first\"\n"),
            ),
            ("a release of a call that has ended", format!("{HEAD}{FIRST}{}", act("release"))),
            ("a release of nothing", format!("{HEAD}{FIRST}{HELD}\n[[step]]\nact = \"release\"\n")),
            (
                "a hold that nobody waits for",
                format!("{HEAD}{FIRST}fault = {{ at = \"request\", do = \"hold\" }}\n"),
            ),
            ("a wait for a fault that there is not", format!("{HEAD}{FIRST}until = \"reached\"\n")),
            ("two calls of one name", format!("{HEAD}{FIRST}{FIRST}")),
            ("no step", HEAD.to_owned()),
            ("no call", format!("{HEAD}\n[[step]]\nact = \"observe\"\n")),
            ("a call and an act in one step", format!("{HEAD}{FIRST}act = \"kill\"\n")),
            ("a step of nothing", format!("{HEAD}{FIRST}\n[[step]]\nworker = 1\n")),
            ("a cancel of a call that has ended", format!("{HEAD}{FIRST}{}", act("notify-cancelled"))),
            (
                "a cancel of a request that was kept back",
                format!("{HEAD}{FIRST}{HELD}{}", act("notify-cancelled")),
            ),
            (
                "an await of a call that is cancelled and held",
                format!("{HEAD}{FIRST}{STALLED}{}\n[[step]]\nawait = \"first\"\n", act("notify-cancelled")),
            ),
            ("half a close of a call that has ended", format!("{HEAD}{FIRST}{}", act("half-close"))),
            ("a call without an intent", format!("{HEAD}\n[[step]]\ncall = \"first\"\n")),
            ("the key of an intent that there is not", format!("{HEAD}{FIRST}key-of = \"letter\"\n")),
        ],
    );
}

#[test]
fn a_clause_that_there_is_not_is_shown_where_it_is_caught() {
    let catches = "\n[catches]\nignores-the-key = [\"receipt.repaly\"]\n";
    page("scenarios_with_an_unknown_clause", &[("a misspelt clause", format!("{HEAD}{catches}{FIRST}"))]);
}

/// Words that an act or an await cannot use would otherwise be read and forgotten.
#[test]
fn words_that_mean_nothing_in_a_step_are_refused() {
    let mut taken = Vec::new();
    for words in [
        "act = \"kill\"\nof = \"first\"",
        "act = \"kill\"\nkey = \"missing\"",
        "act = \"stop\"\nuntil = \"reached\"",
    ] {
        let project = Project::new().with("note.toml", format!("{HEAD}{FIRST}\n[[step]]\n{words}\n"));
        if project.run("check note.toml").exit != 2 {
            taken.push(words);
        }
    }
    assert!(taken.is_empty(), "these are taken for sound: {taken:#?}");
}

#[test]
fn a_run_refuses_a_mistake_as_a_check_does() {
    let project = Project::new().with("group/note.toml", format!("{HEAD}{FIRST}wroker = 2\n"));
    let checked = project.run("check group").exits(2);
    let run = project.run("run reference-stdio --scenarios group").exits(2);
    assert_eq!(checked.stderr, run.stderr);
    assert!(!project.path("reports").exists(), "nothing is written before everything is read");
}

#[test]
fn a_sound_scenario_is_counted() {
    let project = Project::new().with("group/note.toml", format!("{HEAD}{FIRST}"));
    project.run("check group").exits(0).says("1 scenario");
    project.run("check group/note.toml").exits(0).says("1 scenario");
}

#[test]
fn a_folder_without_scenarios_is_no_success() {
    let project = Project::new().with("group/readme.txt", "no scenario");
    let ended = project.run("check group");
    assert_ne!(ended.exit, 0, "{ended}");
    let ended = project.run("run reference-stdio --scenarios group");
    assert_ne!(ended.exit, 0, "{ended}");
}

#[test]
fn crowds_and_parts_that_make_no_sense_are_shown() {
    let again = |words: &str| format!("\n[[step]]\ncall = \"again\"\nintent = \"note\"\n{words}");
    page(
        "scenarios_with_a_wrong_crowd",
        &[
            ("a crowd of one", format!("{HEAD}{FIRST}times = 1\n")),
            ("a crowd that is too large", format!("{HEAD}{FIRST}times = 300\n")),
            (
                "a crowd with a fault",
                format!("{HEAD}{FIRST}times = 3\nfault = {{ at = \"reply\", do = \"drop\" }}\n"),
            ),
            ("a crowd on worker 2", format!("{HEAD}{FIRST}times = 3\nworker = 2\n")),
            ("a crowd on no worker", format!("{HEAD}{FIRST}times = 3\nworkers = 0\n")),
            ("one call on two workers", format!("{HEAD}{FIRST}workers = 2\n")),
            ("one call that differs", format!("{HEAD}{FIRST}different = true\n")),
            ("a part that there is not", format!("{HEAD}{FIRST}tool = \"loud\"\n")),
            (
                "other arguments of the quiet tool",
                format!("{HEAD}{FIRST}tool = \"quiet\"\narguments = \"other\"\n"),
            ),
            ("another tool for one intent", format!("{HEAD}{FIRST}{}", again("tool = \"quiet\"\n"))),
            ("another caller for one intent", format!("{HEAD}{FIRST}{}", again("role = \"other\"\n"))),
            ("a crowd in an act", format!("{HEAD}{FIRST}\n[[step]]\nact = \"kill\"\nworkers = 2\n")),
        ],
    );
}
