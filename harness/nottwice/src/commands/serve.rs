//! `nottwice serve`: the embedded reference server, so that one file runs everywhere.

use nottwice_model::report::Exit;

use crate::Failure;

pub(super) fn serve(arguments: &[String]) -> Result<Exit, Failure> {
    nottwice_fixtures::serve(arguments).map_err(|error| {
        Failure::usage(error.to_string(), "the environment of the server says what it needs")
    })?;
    Ok(Exit::Held)
}
