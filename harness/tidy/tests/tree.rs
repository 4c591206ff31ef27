//! The rules, asked of the present tree.

use std::fs;

use nottwice_tidy::complaint::expect_none;
use nottwice_tidy::tree::{read, root};
use nottwice_tidy::{circles, documents, floors, lists, modules, names, scenarios, sizes, sleeps, words};

#[test]
fn packages_stand_on_their_floors() {
    expect_none(floors::check(&read()));
}

/// With `UPDATE=1` the `mod` lines of the plural lists are written from their folders first.
#[test]
fn lists_are_complete() {
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        for list in lists::rewritten(&read()) {
            fs::write(root().join(&list.path), list.text).expect("the list is writable");
        }
    }
    expect_none(lists::check(&read()));
}

#[test]
fn items_do_not_know_their_list() {
    expect_none(circles::check(&read()));
}

#[test]
fn functions_and_files_are_short() {
    expect_none(sizes::check(&read()));
}

#[test]
fn words_are_those_of_the_house() {
    expect_none(words::check(&read()));
}

#[test]
fn sleeps_have_reasons() {
    expect_none(sleeps::check(&read()));
}

#[test]
fn modules_say_what_they_are() {
    expect_none(modules::check(&read()));
}

#[test]
fn documents_name_what_exists() {
    expect_none(documents::check(&read()));
}

#[test]
fn scenarios_say_where_they_come_from() {
    expect_none(scenarios::check(&read()));
}

#[test]
fn files_are_named_after_things() {
    expect_none(names::check(&read()));
}
