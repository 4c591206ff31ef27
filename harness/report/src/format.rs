//! What a format is: one way to write a report down.

use nottwice_model::report::Report;

/// One way to write a report down. Pure: the same report, the same text.
pub trait Format: Sync {
    /// The word that chooses it.
    fn name(&self) -> &'static str;

    /// What it is for, in one sentence.
    fn summary(&self) -> &'static str;

    /// The whole report as text that ends with a line break.
    fn render(&self, report: &Report) -> String;
}
