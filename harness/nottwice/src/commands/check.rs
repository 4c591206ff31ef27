//! `nottwice check`: read files without starting anything.

use std::path::PathBuf;

use nottwice_model::report::Exit;

use crate::output::print;
use crate::{Failure, shelf};

pub(super) fn check(files: &[PathBuf]) -> Result<Exit, Failure> {
    let (mut scenarios, mut targets) = (0, 0);
    if files.is_empty() {
        scenarios = shelf::scenarios()?.len();
        for name in shelf::targets() {
            shelf::target(&format!("shipped:{name}"))?;
            targets += 1;
        }
    }
    for path in files {
        let name = path.display().to_string();
        let is_target = match path.exists() {
            true => path.is_file() && is_target(&shelf::read(path)?),
            false => shelf::is_shipped(&name),
        };
        if is_target {
            shelf::target(&name)?;
            targets += 1;
        } else {
            let found = shelf::scenarios_at(path)?.len();
            if found == 0 {
                let message = format!("there is no scenario below {}", path.display());
                return Err(Failure::usage(message, "name a folder that holds scenario files"));
            }
            scenarios += found;
        }
    }
    let counted = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let (scenarios, targets) = (counted(scenarios, "scenario"), counted(targets, "target"));
    print(&format!("{scenarios} and {targets} well formed\n"))?;
    Ok(Exit::Held)
}

/// A target says how it is reached; a scenario never does.
fn is_target(text: &str) -> bool {
    text.lines().any(|line| matches!(line.trim(), "[reach]" | "[tool.main]" | "[start]"))
}
