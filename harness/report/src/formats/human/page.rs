//! A page of text of bounded width; the one place through which every line of the human format goes.

use crate::untrusted;

/// No line is longer.
pub(super) const WIDTH: usize = 100;
/// Where the content of a field begins.
const FIELD: usize = 18;

/// A page that is being written.
#[derive(Debug, Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    /// The text of the page.
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// A field that is a command: never broken, so that it can be copied.
    pub(super) fn command(&mut self, name: &str, command: &str) {
        self.line(&format!("{}{command}", field_begin(name)));
    }

    /// One line as it is. Whatever acts in it is escaped here, so that no caller can forget to.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(untrusted::escaped(line).trim_end());
        self.text.push('\n');
    }

    /// An empty line, unless there is one already or the page is empty.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Words after a beginning, wrapped; the following lines are indented by so many columns.
    pub(super) fn prose(&mut self, begin: &str, indent: usize, words: &str) {
        let mut line = begin.to_owned();
        let mut fresh = true;
        for word in pieces(words, WIDTH - indent) {
            let space = usize::from(!fresh);
            if !fresh && width(&line) + space + width(&word) > WIDTH {
                self.line(&line);
                line = " ".repeat(indent);
                fresh = true;
            }
            if !fresh {
                line.push(' ');
            }
            line.push_str(&word);
            fresh = false;
        }
        self.line(&line);
    }

    /// A field: its name, and one paragraph.
    pub(super) fn field(&mut self, name: &str, words: &str) {
        self.prose(&field_begin(name), FIELD, words);
    }

    /// A field of several lines that are kept as they are; what is too long goes on in the next line.
    pub(super) fn block(&mut self, name: &str, lines: &[String]) {
        let mut begin = field_begin(name);
        for line in lines {
            for piece in cut(&untrusted::escaped(line), WIDTH - FIELD) {
                self.line(&format!("{begin}{piece}"));
                begin = " ".repeat(FIELD);
            }
        }
    }
}

fn field_begin(name: &str) -> String {
    format!("  {name:<width$}", width = FIELD - 2)
}

/// The width of a text, taking every character as one column.
pub(super) fn width(text: &str) -> usize {
    text.chars().count()
}

/// The words of a text, inert, none wider than `most`. A no-break space keeps two words together.
fn pieces(words: &str, most: usize) -> Vec<String> {
    let words = untrusted::escaped(words);
    let words = words.split(' ').filter(|word| !word.is_empty());
    words.flat_map(|word| cut(&word.replace('\u{a0}', " "), most)).collect()
}

/// A text in pieces of at most so many characters; an empty text is one empty piece.
fn cut(text: &str, most: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    if chars.is_empty() {
        return vec![String::new()];
    }
    chars.chunks(most).map(|piece| piece.iter().collect()).collect()
}

/// Rows as aligned columns, two spaces apart.
pub(super) fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|c| width(c)).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
