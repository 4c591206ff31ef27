//! Scenarios and targets: the shipped ones, which travel inside the binary, and files of the user's own.

use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};
use nottwice_driver::Setting;
use nottwice_model::input::Source;
use nottwice_model::preset::{self, Preset};
use nottwice_model::record;
use nottwice_model::run::Run;
use nottwice_model::scenario::{self, Scenario};
use nottwice_model::target::{self, Target};
use nottwice_model::{clauses, input::InputError};

use crate::Failure;

static SCENARIOS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios");
static TARGETS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../fixtures/targets");

/// Before the name of a shipped file, where a path would stand.
const SHIPPED: &str = "shipped:";

/// The variable by which the reference server is told which decision to get wrong.
const DEFECT: &str = "NOTES_DEFECT";

/// The target that is run where none is named.
pub const REFERENCE: &str = "shipped:reference-http";

/// Every shipped scenario, in the order of names.
///
/// # Errors
/// A shipped scenario does not parse, which a test rules out.
pub fn scenarios() -> Result<Vec<Scenario>, Failure> {
    let mut found = Vec::new();
    for (name, text) in files(&SCENARIOS) {
        found.push(read_scenario(&name, &format!("scenarios/{name}.toml"), text)?);
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

/// The scenario that a survey plays to see whether the key arrives.
///
/// # Errors
/// It does not parse, which a test rules out.
pub fn probe() -> Result<Scenario, Failure> {
    const TEXT: &str = include_str!("probe.toml");
    read_scenario("survey/key", "probe.toml", TEXT)
}

/// Reads a scenario file; `name` is what it is called in reports.
///
/// # Errors
/// The first mistake in it.
pub fn read_scenario(name: &str, file: &str, text: &str) -> Result<Scenario, Failure> {
    let source = Source { file, text };
    let failure = |error: InputError| Failure::Input { error, text: text.to_owned() };
    let scenario = scenario::parse(name, source).map_err(failure)?;
    for clause in scenario.catches.values().flatten() {
        if clauses::find(clause).is_none() {
            let start = text.find(clause.as_str()).unwrap_or(0);
            let message = format!("`[catches]` names the clause `{clause}`, which does not exist");
            let cure = "`nottwice list clauses` shows them";
            return Err(failure(source.error(start..start + clause.len(), message, cure)));
        }
    }
    Ok(scenario)
}

/// The names of the shipped targets.
pub fn targets() -> Vec<String> {
    let mut names: Vec<_> = files(&TARGETS).into_iter().map(|(name, _)| name).collect();
    names.sort();
    names
}

/// Every preset that a target can name.
///
/// # Errors
/// A shipped preset does not parse, which a test rules out.
pub fn presets() -> Result<Vec<Preset>, Failure> {
    preset::all().map_err(|error| Failure::Harness(error.to_string()))
}

/// Reads a target: a file, or a shipped one by its name. `reference-http+DEFECT` is the reference server
/// with one wrong decision.
///
/// # Errors
/// The file does not exist, there is no such defect, or the first mistake in the file.
pub fn target(file: &str) -> Result<Target, Failure> {
    let (text, defect) = match shipped(file) {
        Some((text, defect)) => (text.to_owned(), defect),
        None => (read(Path::new(file))?, None),
    };
    let parsed = target::parse(Source { file, text: &text });
    let mut target = parsed.map_err(|error| Failure::Input { error, text })?;
    if let (Some(defect), Some(start)) = (defect, &mut target.start) {
        let known = self::defect(defect)?;
        target.name = format!("{}+{}", target.name, known.name);
        start.env.insert(DEFECT.to_owned(), known.name.to_owned());
    }
    Ok(target)
}

/// A target at its place. `{self}` is this program.
///
/// # Errors
/// As [`target`]; or this program cannot find itself.
pub fn setting(file: &str) -> Result<Setting, Failure> {
    place(file, target(file)?)
}

/// A target that was read before, at its place.
///
/// # Errors
/// This program cannot find itself.
pub fn place(file: &str, target: Target) -> Result<Setting, Failure> {
    let program = this_program()?;
    Ok(Setting { target, file: file.to_owned(), program })
}

/// The path of this program.
///
/// # Errors
/// The system does not say.
pub fn this_program() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::Harness(format!("this program cannot find itself: {error}")))
}

/// Reads the record of a run.
///
/// # Errors
/// The file cannot be read, or the first line that does not fit.
pub fn record(path: &Path) -> Result<(Run, String), Failure> {
    let file = path.display().to_string();
    let text = read(path)?;
    let read = record::read(Source { file: &file, text: &text });
    Ok((read.map_err(|error| Failure::Input { error, text: text.clone() })?, file))
}

/// Whether a word names a shipped target.
pub fn is_shipped(file: &str) -> bool {
    shipped(file).is_some()
}

/// The text of a shipped target, and the defect that is asked for with it.
fn shipped(file: &str) -> Option<(&'static str, Option<&str>)> {
    let name = file.strip_prefix(SHIPPED).unwrap_or(file);
    let (name, defect) = name.split_once('+').map_or((name, None), |(name, defect)| (name, Some(defect)));
    files(&TARGETS).into_iter().find(|(known, _)| known == name).map(|(_, text)| (text, defect))
}

/// The defect of the reference server that has a name.
///
/// # Errors
/// There is none of that name.
pub fn defect(name: &str) -> Result<&'static nottwice_fixtures::Defect, Failure> {
    let defects = nottwice_fixtures::defects();
    defects.iter().find(|defect| defect.name == name).ok_or_else(|| {
        let known: Vec<_> = defects.iter().map(|defect| defect.name).collect();
        Failure::usage(format!("there is no defect `{name}`"), format!("one of: {}", known.join(", ")))
    })
}

/// The whole text of a file.
///
/// # Errors
/// It cannot be read.
pub fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|source| {
        if source.kind() == std::io::ErrorKind::NotFound {
            let cure =
                format!("name an existing file, or one of the shipped targets: {}", targets().join(", "));
            return Failure::usage(format!("there is no file {}", path.display()), cure);
        }
        Failure::Read { path: path.to_owned(), source }
    })
}

/// Every scenario below a folder, or one file of it, named as the shipped ones are.
///
/// # Errors
/// A file cannot be read, or the first mistake in one.
pub fn scenarios_at(path: &Path) -> Result<Vec<Scenario>, Failure> {
    let mut found = Vec::new();
    for file in toml_files(path)? {
        let name = file.with_extension("");
        let parts: Vec<_> = name.components().rev().take(2).collect();
        let parts: Vec<_> = parts.iter().rev().map(|part| part.as_os_str().to_string_lossy()).collect();
        found.push(read_scenario(&parts.join("/"), &file.display().to_string(), &read(&file)?)?);
    }
    Ok(found)
}

fn toml_files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |source| Failure::Read { path: path.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?.path();
        if entry.is_dir() || entry.extension().is_some_and(|ending| ending == "toml") {
            found.extend(toml_files(&entry)?);
        }
    }
    found.sort();
    Ok(found)
}

fn files(dir: &'static Dir<'static>) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    for file in dir.files() {
        let name = file.path().with_extension("").display().to_string();
        found.extend(file.contents_utf8().map(|text| (name, text)));
    }
    for folder in dir.dirs() {
        found.extend(files(folder));
    }
    found
}
