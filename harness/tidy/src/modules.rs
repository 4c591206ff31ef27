//! The first words of a module: one sentence that says what it is.

use crate::complaint::Complaint;
use crate::tree::SourceFile;

const COLUMNS: usize = 110;
const CURE: &str = "open it with `//!` and a sentence that says what the thing is";

/// Every module that does not say what it is.
pub fn check(files: &[SourceFile]) -> Vec<Complaint> {
    let is_module = |file: &&SourceFile| file.is_rust() && format!("/{}", file.path).contains("/src/");
    files.iter().filter(is_module).filter_map(opening).collect()
}

fn opening(file: &SourceFile) -> Option<Complaint> {
    let complain = |line, breach: &str| Some(Complaint::new(&file.path, line, breach, CURE));
    let paragraph: Vec<(usize, &str)> = file
        .lines()
        .map_while(|(line, text)| Some((line, text.strip_prefix("//!")?.trim())))
        .take_while(|(_, text)| !text.is_empty())
        .collect();
    let Some((last, end)) = paragraph.last() else {
        return complain(1, "does not open with a `//!` line");
    };
    let width = file.text.lines().next().map_or(0, |line| line.chars().count());
    if width > COLUMNS {
        let breach = format!("the first line has {width} columns, {COLUMNS} are allowed");
        return complain(1, &breach);
    }
    // A quotation or a link may close after the full stop.
    let is_sentence = end.trim_end_matches(['`', ')', '"', '*', '_']).ends_with(['.', '?', '!', ':']);
    if is_sentence { None } else { complain(*last, "the first paragraph does not end as a sentence") }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::SourceFile;

    fn breaches(text: &str) -> Vec<(usize, String)> {
        let files = [SourceFile::new("a/src/b.rs", text), SourceFile::new("a/tests/c.rs", "")];
        check(&files).into_iter().map(|complaint| (complaint.line, complaint.breach)).collect()
    }

    #[test]
    fn a_sentence_is_fine() {
        assert_eq!(breaches("//! What this\n//! is.\n//!\n//! | a | table |\n"), []);
    }

    #[test]
    fn silence_is_a_breach() {
        for text in ["", "use a::b;\n", "//!\n//! Late.\n", "// A comment.\n"] {
            assert_eq!(breaches(text), [(1, "does not open with a `//!` line".to_owned())]);
        }
    }

    #[test]
    fn a_word_or_a_long_line_is_a_breach() {
        let half = (2, "the first paragraph does not end as a sentence".to_owned());
        assert_eq!(breaches("//! What this\n//! is\n\nuse a::b;\n"), [half]);
        let long = (1, "the first line has 111 columns, 110 are allowed".to_owned());
        assert_eq!(breaches(&format!("//! {}.\n", "a".repeat(106))), [long]);
    }
}
