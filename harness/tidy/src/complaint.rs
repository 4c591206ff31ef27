//! A complaint: where the tree breaks a rule, and what to do about it.

use std::fmt;

/// One breach of one rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complaint {
    /// The file, from the root of the repository.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub breach: String,
    /// What makes it right.
    pub cure: String,
}

impl Complaint {
    /// A complaint about one line of a file.
    pub fn new(file: &str, line: usize, breach: impl Into<String>, cure: impl Into<String>) -> Complaint {
        Complaint { file: file.to_owned(), line, breach: breach.into(), cure: cure.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}\n    {}", self.file, self.line, self.breach, self.cure)
    }
}

/// Fails the test that calls it, with every complaint, unless there is none.
///
/// # Panics
/// If there is a complaint.
#[track_caller]
pub fn expect_none(mut complaints: Vec<Complaint>) {
    complaints.sort();
    let lines: Vec<String> = complaints.iter().map(Complaint::to_string).collect();
    assert!(lines.is_empty(), "{} to put right:\n\n{}\n", lines.len(), lines.join("\n"));
}

#[cfg(test)]
mod tests {
    use super::{Complaint, expect_none};

    #[test]
    fn a_complaint_names_file_line_and_cure() {
        let complaint = Complaint::new("a.rs", 3, "is wrong", "do it right");
        assert_eq!(complaint.to_string(), "a.rs:3: is wrong\n    do it right");
    }

    #[test]
    #[should_panic(expected = "a.rs:3: is wrong")]
    fn a_complaint_fails_the_test() {
        expect_none(vec![Complaint::new("a.rs", 3, "is wrong", "do it right")]);
    }

    #[test]
    fn silence_passes() {
        expect_none(Vec::new());
    }
}
