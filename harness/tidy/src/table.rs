//! TOML read just well enough: which key stands in which table, and the text of its value.

/// One `key = value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// What stands between the brackets of the table; empty before the first.
    pub(crate) table: String,
    pub(crate) key: String,
    /// As written, without the comment.
    pub(crate) value: String,
    /// Counted from 1.
    pub(crate) line: usize,
}

impl Entry {
    /// The value without its quotes.
    pub(crate) fn text(&self) -> &str {
        let value = self.value.trim();
        let inner = ["\"\"\"", "'''", "\"", "'"]
            .iter()
            .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
            .unwrap_or(value);
        inner.trim()
    }
}

/// Every entry, in order.
pub(crate) fn entries(text: &str) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    let mut table = String::new();
    let mut is_open = false;
    for (line, text) in (1..).zip(text.lines()) {
        if is_open {
            let last = found.last_mut().expect("an entry was opened");
            last.value.push('\n');
            last.value.push_str(without_comment(text));
            is_open = !is_closed(&last.value);
            continue;
        }
        let text = without_comment(text).trim();
        if let Some(header) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            table = header.trim_start_matches('[').trim_end_matches(']').trim().to_owned();
        } else if let Some((key, value)) = text.split_once('=') {
            let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
            is_open = !is_closed(&value);
            found.push(Entry { table: table.clone(), key, value, line });
        }
    }
    found
}

/// Every table that is opened, with its line.
pub(crate) fn tables(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter_map(|(line, text)| {
        let header = without_comment(text).trim().strip_prefix('[')?.strip_suffix(']')?;
        Some((line, header.trim()))
    })
}

fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match quote {
            None if c == '#' => return &line[..at],
            None if c == '"' || c == '\'' => quote = Some(c),
            Some(open) if c == open => quote = None,
            _ => {}
        }
    }
    line
}

/// Whether a value is complete: its long quotes closed, its brackets balanced.
fn is_closed(value: &str) -> bool {
    for long in ["\"\"\"", "'''"] {
        if let Some(rest) = value.strip_prefix(long) {
            return rest.contains(long);
        }
    }
    let count = |wanted: [char; 2]| value.matches(wanted).count();
    count(['[', '{']) <= count([']', '}'])
}

#[cfg(test)]
mod tests {
    use super::{entries, tables};

    #[test]
    fn an_entry_knows_its_table_and_line() {
        let found = entries("a = 1 # one\n\n[b.c]\n\"d\" = \"# no comment\"\n[[e]]\nf = 'x'\n");
        let read: Vec<_> =
            found.iter().map(|e| (e.table.as_str(), e.key.as_str(), e.text(), e.line)).collect();
        assert_eq!(read, [("", "a", "1", 1), ("b.c", "\"d\"", "# no comment", 4), ("e", "f", "x", 6)]);
    }

    #[test]
    fn a_value_may_run_over_lines() {
        let found = entries("a = [\n  \"[b] = c\",\n]\nd = \"\"\"\ne = f\n\"\"\"\ng = 1\n");
        let keys: Vec<_> = found.iter().map(|e| e.key.as_str()).collect();
        assert_eq!(keys, ["a", "d", "g"]);
        assert_eq!(found[1].text(), "e = f");
    }

    #[test]
    fn tables_are_found_when_empty() {
        assert_eq!(tables("[a]\n[b] # c\n").collect::<Vec<_>>(), [(1, "a"), (2, "b")]);
    }
}
