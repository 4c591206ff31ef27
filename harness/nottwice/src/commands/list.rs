//! `nottwice list`: show what there is.

use nottwice_model::clauses;
use nottwice_model::report::Exit;

use crate::cli::Listed;
use crate::output::print;
use crate::{Failure, shelf};

pub(super) fn list(what: Listed) -> Result<Exit, Failure> {
    let rows: Vec<(String, String)> = match what {
        Listed::Scenarios => shelf::scenarios()?.into_iter().map(|s| (s.name, s.title)).collect(),
        Listed::Targets => {
            let summary = |name: &String| shelf::target(&format!("shipped:{name}")).map(|t| t.summary);
            let targets = shelf::targets();
            targets
                .into_iter()
                .map(|name| Ok((name.clone(), summary(&name)?)))
                .collect::<Result<_, Failure>>()?
        }
        Listed::Clauses => {
            clauses::ALL.iter().map(|clause| (clause.id.to_owned(), clause.statement.to_owned())).collect()
        }
        Listed::Defects => nottwice_fixtures::defects()
            .iter()
            .map(|defect| (defect.name.to_owned(), defect.summary.to_owned()))
            .collect(),
        Listed::Presets => {
            shelf::presets()?.into_iter().map(|preset| (preset.name.to_owned(), preset.summary)).collect()
        }
        Listed::Formats => nottwice_report::formats::ALL
            .iter()
            .map(|format| (format.name().to_owned(), format.summary().to_owned()))
            .collect(),
    };
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, text) in rows {
        print(&format!("{name:width$}  {text}\n"))?;
    }
    Ok(Exit::Held)
}
