//! What a target file must agree with itself on.

mod beside;

use super::{Credential, Fidelity, KeyPlace, Target, Transport};
use crate::clauses;
use crate::input::{InputError, Source};
use crate::scenario::Part;
use crate::template;

const START_WORDS: [&str; 3] = ["state", "port", "self"];
const ARGUMENT_WORDS: [&str; 2] = ["label", "key"];

pub(super) fn target(source: Source<'_>, target: &Target) -> Result<(), InputError> {
    let Some(main) = target.tools.get(&Part::Main) else {
        return Err(error(source, "[tool", "no tool plays the part `main`", "name it: `[tool.main]`"));
    };
    if target.contract != clauses::EDITION {
        return Err(error(
            source,
            "contract",
            "this program knows edition 1 of the contract",
            "write `contract = \"1\"`",
        ));
    }
    names(source, target)?;
    if target.replay.fidelity == Fidelity::Bytes && target.reach.transport != Transport::Http {
        let cure = "write `fidelity = \"fields\"`";
        return Err(error(source, "fidelity", "over MCP the bytes of a reply name its request", cure));
    }
    reach(source, target)?;
    key(source, target)?;
    placeholders(source, target)?;
    let counts = target.stores.iter().any(|store| store.counts().is_some());
    if counts && !main.arguments.to_string().contains("{label}") {
        return Err(error(
            source,
            "[tool.main]",
            "the arguments carry no `{label}`, so an effect could not be told from another",
            "put `{label}` into a free text argument that the store keeps",
        ));
    }
    stores(source, target)?;
    waivers(source, target)?;
    credentials(source, target)?;
    beside::questions(source, target)?;
    beside::hooks(source, target)?;
    beside::access(source, target)
}

/// An error at the first place where a word stands in the text.
fn error(source: Source<'_>, word: &str, message: &str, cure: &str) -> InputError {
    let start = source.text.find(word).unwrap_or(0);
    source.error(start..start + word.len(), message, cure)
}

/// What would lead out of the records folder, or start nothing.
fn names(source: Source<'_>, target: &Target) -> Result<(), InputError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    if !target.name.chars().all(plain) || target.name.starts_with('.') || target.name.is_empty() {
        let cure = "use letters, digits, `-`, `_` and `.`: records are kept in a folder of that name";
        return Err(error(source, "name", "this is no name for a target", cure));
    }
    if target.start.as_ref().is_some_and(|start| start.command.iter().all(String::is_empty)) {
        return Err(error(source, "command", "the command is empty", "name a program and its arguments"));
    }
    if target.promise.workers == 0 {
        return Err(error(source, "workers", "there is at least one worker", "write `workers = 1`"));
    }
    match &target.main().arguments {
        serde_json::Value::Object(_) | serde_json::Value::Null => Ok(()),
        _ => Err(error(source, "arguments", "arguments are a table", "write `arguments = { … }`")),
    }
}

fn reach(source: Source<'_>, target: &Target) -> Result<(), InputError> {
    let main = target.main();
    let transport = target.reach.transport;
    if transport.speaks_mcp() && main.name.is_empty() {
        return Err(error(source, "[tool.main]", "an MCP tool needs a name", "add `name = \"…\"`"));
    }
    match transport {
        Transport::McpStdio if target.start.is_none() => Err(error(
            source,
            "[reach]",
            "over stdio the harness has to start the server",
            "add `[start] command = […]`",
        )),
        Transport::McpStdio => Ok(()),
        Transport::Http if !main.path.starts_with('/') => {
            Err(error(source, "[tool.main]", "an HTTP tool needs a path", "add `path = \"/…\"`"))
        }
        Transport::Http | Transport::McpHttp => base(source, target),
    }
}

fn base(source: Source<'_>, target: &Target) -> Result<(), InputError> {
    match &target.reach.base {
        None => {
            let endpoint = if target.reach.transport.speaks_mcp() { "/mcp" } else { "" };
            let cure = format!("add `base = \"http://127.0.0.1:{{port}}{endpoint}\"`");
            Err(error(source, "[reach]", "an HTTP target needs a base", &cure))
        }
        Some(base) if !is_loopback(base) => Err(error(
            source,
            base,
            "only servers on loopback are called",
            "run the server on this machine and write `http://127.0.0.1:PORT`",
        )),
        Some(base) if base.contains("{port}") && target.start.is_none() => {
            let cure = "write the port that the server listens on, or add `[start] command = […]`";
            Err(error(source, base, "nobody is told of a free port", cure))
        }
        Some(_) => Ok(()),
    }
}

/// Whether a base address is plain HTTP to this machine itself.
pub(crate) fn is_loopback(base: &str) -> bool {
    let Some(rest) = base.strip_prefix("http://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, "80"));
    let is_port = port == "{port}" || port.parse::<u16>().is_ok_and(|port| port != 0);
    let is_here = host == "localhost"
        || host == "[::1]"
        || host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback());
    is_port && is_here
}

/// A shorter key has no room for what keys are made to differ in.
const SHORTEST_MAX: u16 = 40;

fn key(source: Source<'_>, target: &Target) -> Result<(), InputError> {
    if target.key.max.is_some_and(|max| max < SHORTEST_MAX) {
        let cure = "write at least `max = 40`; a shorter one cannot be tried";
        return Err(error(source, "max", "keys of the harness are longer than that", cure));
    }
    if target.key.max.is_none() && !target.key.grammar.is_uuid() {
        let cure = "say how many characters the longest legal key has: `max = …`";
        return Err(error(source, "grammar", "a grammar without a longest key", cure));
    }
    match (&target.key.at, target.reach.transport) {
        (KeyPlace::Header(_), Transport::McpStdio) => {
            let cure = "write `at = \"arguments:/…\"`";
            Err(error(source, "[key]", "there are no headers over stdio", cure))
        }
        (KeyPlace::Meta(_), Transport::Http) => {
            let cure = "write `at = \"header:…\"` or `at = \"arguments:/…\"`";
            Err(error(source, "[key]", "only MCP has a `_meta`", cure))
        }
        (KeyPlace::None, _) if target.key.max.is_some() => {
            let cure = "say where it sits, or leave `max` out";
            Err(error(source, "max", "a key has a length but no place", cure))
        }
        (KeyPlace::Arguments(_) | KeyPlace::Meta(_) | KeyPlace::None, _) if target.key.quoted => {
            let cure = "write `at = \"header:…\"`, or leave `quoted` out";
            Err(error(source, "quoted", "only a header carries a quoted string", cure))
        }
        (KeyPlace::None, _) if target.key.required => {
            let cure = "say where it sits, or leave `required` out";
            Err(error(source, "required", "a key is required but has no place", cure))
        }
        _ => Ok(()),
    }
}

fn placeholders(source: Source<'_>, target: &Target) -> Result<(), InputError> {
    let mut texts: Vec<&str> = Vec::new();
    if let Some(start) = &target.start {
        texts.extend(start.command.iter().map(String::as_str));
        texts.extend(start.env.values().map(String::as_str));
        texts.extend(start.folder.as_deref());
    }
    texts.extend(target.reach.base.as_deref());
    texts.extend(target.files.iter().flat_map(|file| [file.path.as_str(), file.content.as_str()]));
    for store in &target.stores {
        texts.extend(store.sqlite.as_deref());
    }
    texts.extend(beside::texts(target));
    for text in texts {
        known_words(source, text, &START_WORDS)?;
    }
    for tool in target.tools.values() {
        known_words(source, &tool.arguments.to_string(), &ARGUMENT_WORDS)?;
        for value in tool.change.values().flat_map(std::collections::BTreeMap::values) {
            known_words(source, &value.to_string(), &ARGUMENT_WORDS)?;
        }
    }
    Ok(())
}

fn known_words(source: Source<'_>, text: &str, known: &[&str]) -> Result<(), InputError> {
    let Some(word) = template::unknown(text, known).first().map(|word| format!("{{{word}}}")) else {
        return Ok(());
    };
    let known: Vec<_> = known.iter().map(|word| format!("`{{{word}}}`")).collect();
    let cure = format!("here one can write {}", known.join(", "));
    Err(error(source, &word, &format!("unknown placeholder `{word}`"), &cure))
}

fn waivers(source: Source<'_>, target: &Target) -> Result<(), InputError> {
    for waiver in &target.waivers {
        if clauses::find(&waiver.clause).is_none() {
            let cure = "`nottwice list clauses` shows them";
            return Err(error(source, &waiver.clause, "there is no such clause to waive", cure));
        }
        if waiver.reason.trim().is_empty() {
            let cure = "say in one sentence why its breaking does no harm here";
            return Err(error(source, &waiver.clause, "a waiver without a reason", cure));
        }
    }
    Ok(())
}

fn stores(source: Source<'_>, target: &Target) -> Result<(), InputError> {
    for store in target.stores.iter().filter(|store| store.asked.is_none()) {
        let queries = store.effects.is_some() || store.receipts.is_some();
        let cure = match (&store.sqlite, &store.command, queries) {
            (Some(_), None, true) | (None, Some(_), false) => continue,
            (Some(_), None, false) => "add `effects = \"SELECT …\"`",
            _ => "write `sqlite` with a query, `command`, or a question: `http` or `tool`",
        };
        return Err(error(source, "[[store]]", "a store that cannot be counted", cure));
    }
    Ok(())
}

fn credentials(source: Source<'_>, target: &Target) -> Result<(), InputError> {
    let mut credentials = target.principals.iter().flat_map(|principal| &principal.credentials);
    let by_env = credentials.any(|credential| matches!(credential, Credential::Env { .. }));
    if by_env && target.reach.transport.over_http() {
        let cure = "use `credential = { header = { … } }`";
        return Err(error(source, "env", "over HTTP one process serves every caller", cure));
    }
    Ok(())
}
