//! What the harness says and asks beside the calls must be possible over the target's transport.

use super::error;
use crate::input::{InputError, Source};
use crate::scenario::{Place, Role};
use crate::target::{Asked, Evidence, Hook, Question, ScopeName, Signal, Target};

/// A table of the file that something stands in: its head, and which of those with that head it is.
#[derive(Clone, Copy)]
struct Table<'a> {
    source: Source<'a>,
    head: &'a str,
    number: usize,
}

impl Table<'_> {
    /// An error at the first place in the table where a word stands.
    fn error(&self, word: &str, message: &str, cure: &str) -> InputError {
        let text = self.source.text;
        let begin = text.match_indices(self.head).nth(self.number).map_or(0, |(at, _)| at);
        match text[begin..].find(word) {
            Some(at) => self.source.error(begin + at..begin + at + word.len(), message, cure),
            None => error(self.source, self.head, message, cure),
        }
    }
}

/// The texts of hooks and access that may hold placeholders.
pub(super) fn texts(target: &Target) -> Vec<&str> {
    let mut texts = Vec::new();
    let access = target.access.iter().flat_map(|access| [&access.revoke, &access.grant, &access.rotate]);
    let hooks = target.hooks.iter().flat_map(|hook| [&hook.arm, &hook.error, &hook.release, &hook.disarm]);
    for signal in hooks.chain(access).flatten() {
        match signal {
            Signal::Write(file) => texts.push(file.write.as_str()),
            Signal::Env(variables) => texts.extend(variables.values().map(String::as_str)),
            Signal::Http { .. } | Signal::Tool(_) => {}
        }
    }
    for hook in &target.hooks {
        if let Evidence::File(file) = &hook.reached {
            texts.push(file);
        }
    }
    texts
}

/// Whether each question can be asked, and whether they see the effects of every caller together.
pub(super) fn questions(source: Source<'_>, target: &Target) -> Result<(), InputError> {
    for (number, store) in target.stores.iter().enumerate() {
        let Some(asked) = &store.asked else { continue };
        let table = Table { source, head: "[[store]]", number };
        let signal = match &asked.question {
            Question::Http(route) => Signal::Http { route: route.clone(), body: serde_json::Value::Null },
            Question::Tool(call) => Signal::Tool(call.clone()),
        };
        possible(table, target, &signal)?;
        let known = target.scopes().into_iter().any(|s| (s.role, s.place) == (asked.role, asked.workspace));
        if (asked.role, asked.workspace) != (Role::Owner, Place::Home) && !known {
            let word = if asked.role == Role::Other { "as" } else { "workspace" };
            let cure = "declare it, or leave the word out";
            return Err(table.error(word, "the target has no such caller", cure));
        }
    }
    let counting = || target.stores.iter().filter(|store| store.counts().is_some());
    let narrow = |asked: &Asked| asked.scope.is_none();
    if counting().any(|store| !store.asked.as_ref().is_some_and(narrow)) {
        return Ok(());
    }
    // What is counted nowhere would be taken for what was never done.
    for ScopeName { role, place, .. } in target.scopes() {
        let mut asked = counting().filter_map(|store| store.asked.as_ref());
        if counting().next().is_some() && !asked.any(|asked| (asked.role, asked.workspace) == (role, place)) {
            let who = match (role, place) {
                (Role::Owner, Place::Home) => "the owner",
                (Role::Owner, _) => "the owner in another workspace",
                (Role::Other, _) => "the other principal",
            };
            return Err(error(
                source,
                "[[store]]",
                &format!("what {who} makes is counted nowhere"),
                "ask once more with `as` or `workspace`, or say where a row names its `scope`",
            ));
        }
    }
    Ok(())
}

/// Whether each hook can be armed, seen and let go.
pub(super) fn hooks(source: Source<'_>, target: &Target) -> Result<(), InputError> {
    for (number, hook) in target.hooks.iter().enumerate() {
        let table = Table { source, head: "[[hook]]", number };
        let word = hook.point.word();
        if !hook.point.is_point() {
            let cure = "leave it out: the harness reaches messages by itself";
            return Err(table.error(word, "a hook is for a point inside the server", cure));
        }
        if hook.arm.is_none() && hook.error.is_none() {
            let cure = "add `arm = { write = \"…\", content = \"…\" }`";
            return Err(table.error(word, "a hook that cannot be armed", cure));
        }
        for signal in [&hook.arm, &hook.error, &hook.release, &hook.disarm].into_iter().flatten() {
            possible(table, target, signal)?;
        }
        if hook.release.is_some() && hook.holds.is_some() {
            let message = "a call that goes on by itself needs no release";
            return Err(table.error("holds", message, "write either `release` or `holds`"));
        }
        for (name, signal) in [("release", &hook.release), ("disarm", &hook.disarm)] {
            if matches!(signal, Some(Signal::Env(_))) {
                let message = "a process that runs is told nothing by its environment";
                return Err(table.error(name, message, "write a file, ask a route or call a tool"));
            }
        }
        evidence(table, target, hook)?;
    }
    Ok(())
}

/// Whether access can be taken away and given back.
pub(super) fn access(source: Source<'_>, target: &Target) -> Result<(), InputError> {
    let table = Table { source, head: "[access]", number: 0 };
    let Some(access) = &target.access else { return Ok(()) };
    let named = [("revoke", &access.revoke), ("grant", &access.grant), ("rotate", &access.rotate)];
    for (name, signal) in named {
        let Some(signal) = signal else { continue };
        if matches!(signal, Signal::Env(_)) {
            let message = "access that the environment decides would end with the process";
            return Err(table.error(name, message, "write a file, ask a route or call a tool"));
        }
        possible(table, target, signal)?;
    }
    if access.revoke.is_some() != access.grant.is_some() {
        let message = "access that is taken away has to be given back";
        return Err(table.error("[access]", message, "write both `revoke` and `grant`"));
    }
    if access.rotate.is_some() && !target.can_rotate() {
        let message = "the owner has no second credential to go on with";
        return Err(table.error("rotate", message, "write `credentials = [{ … }, { … }]` for the owner"));
    }
    Ok(())
}

fn possible(table: Table<'_>, target: &Target, signal: &Signal) -> Result<(), InputError> {
    let transport = target.reach.transport;
    match signal {
        Signal::Http { route, .. } if !transport.has_routes() => {
            let cure = "write `tool = \"…\"`, or `write = \"…\"` for a file";
            Err(table.error(&route.to_string(), "there are no routes over this transport", cure))
        }
        Signal::Tool(call) if !transport.speaks_mcp() => {
            let cure = "write `http = \"POST /…\"`, or `write = \"…\"` for a file";
            Err(table.error(&call.name, "there are no tools over this transport", cure))
        }
        Signal::Env(_) if target.start.is_none() => {
            let message = "nobody starts the server with this environment";
            Err(table.error("env", message, "say how it is started: `[start] command = […]`"))
        }
        _ => Ok(()),
    }
}

fn evidence(table: Table<'_>, target: &Target, hook: &Hook) -> Result<(), InputError> {
    match &hook.reached {
        Evidence::Http { route, .. } if !target.reach.transport.has_routes() => {
            let cure = "write `reached = \"FILE\"` or `reached = { stderr = \"…\" }`";
            Err(table.error(&route.to_string(), "there are no routes over this transport", cure))
        }
        Evidence::Stderr(_) | Evidence::Exit if target.start.is_none() => {
            let message = "only a process that the harness starts is seen to print or to end";
            Err(table.error("reached", message, "say how it is started: `[start] command = […]`"))
        }
        Evidence::Exit if hook.error.is_some() => {
            let message = "a process that ends has crashed, which is no evidence for an error";
            Err(table.error("exit", message, "give `error` a `[[hook]]` of its own, with other evidence"))
        }
        Evidence::Exit if hook.release.is_some() => {
            let message = "a process that has ended cannot be let go";
            Err(table.error("release", message, "leave it out: such a hook can only crash the worker"))
        }
        _ => Ok(()),
    }
}
