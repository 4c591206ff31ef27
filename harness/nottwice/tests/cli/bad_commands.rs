//! Command lines with a mistake: each error says what is wrong and what to write instead.

use crate::page::Page;
use crate::project::Project;

#[test]
fn a_word_that_names_nothing_is_answered_with_what_there_is() {
    let project = Project::new();
    let mut page = Page::new();
    for words in [
        "run missing.toml",
        "run reference-http no-such-scenario",
        "run reference-http+nope",
        "run reference-http --format xml",
        "run reference-http --scenarios missing",
        "demo nope",
        "explain nope",
        "list nope",
        "nope",
        "check missing.toml",
    ] {
        page.refused(words, project.run(words));
    }
    page.compare("commands_that_name_nothing");
}

#[test]
fn a_target_in_flags_is_read_as_closely_as_one_in_a_file() {
    let project = Project::new();
    let mut page = Page::new();
    for words in [
        &["run", "--url", "http://example.com", "--tool", "POST /x"][..],
        &["run", "--url", "http://127.0.0.1:1", "--tool", "POST /x", "--arguments", "{text: 1}"],
        &["run", "--url", "http://127.0.0.1:1"],
        &["run", "--tool", "create"],
        &["run", "--tool", "create", "--env", "=DB", "--", "my-server"],
        &["run", "--tool", "create", "--sqlite", "notes.db", "--", "my-server"],
        &["run", "--tool", "create", "--key", "somewhere", "--", "my-server"],
        &["run", "--tool", "create", "--arguments", "{\"text\": \"{lable}\"}", "--", "my-server"],
        &["run", "--url", "http://127.0.0.1:1", "--tool", "create", "--", "my-server"],
    ] {
        page.refused(&words.join(" "), project.run_words(words));
    }
    page.compare("commands_with_a_wrong_flag");
}

/// An array or a null is JSON and no set of arguments.
#[test]
fn arguments_that_are_no_object_are_refused() {
    for arguments in ["[1]", "\"text\"", "7", "null"] {
        let words = ["run", "--tool", "create", "--arguments", arguments, "--", "my-server"];
        Project::new().run_words(&words).exits(2).says("JSON object");
    }
}

/// A null is an honest argument; if the harness cannot carry one, that is the user's to mend, not a failure
/// of the harness.
#[test]
fn a_null_among_the_arguments_is_no_failure_of_the_harness() {
    let words = ["run", "--tool", "create", "--arguments", "{\"tag\": null}", "--", "no-such-program-here"];
    let ended = Project::new().run_words(&words);
    assert_ne!(ended.exit, 3, "{ended}");
}

#[test]
fn a_target_file_and_flags_are_not_mixed_silently() {
    let project = Project::new().with("mine.toml", "name = \"mine\"\n");
    let words = "run mine.toml --tool create -- my-server";
    let ended = project.run(words).exits(2);
    assert!(!ended.stderr.contains("is no target file"), "it is one\n{ended}");
}
