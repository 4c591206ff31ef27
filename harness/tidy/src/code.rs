//! Rust source read just well enough: comments and strings blanked out, and what is left looked at by line.

/// A `mod name;` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declared {
    /// Counted from 1.
    pub(crate) line: usize,
    /// `pub`, `pub(crate)` or nothing.
    pub(crate) visibility: String,
    pub(crate) name: String,
}

/// The same text with the inside of comments, strings and character literals turned into spaces.
/// Lines stay lines, so that a position in one is a position in the other.
pub(crate) fn masked(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = opaque(&chars, at).unwrap_or(at).min(chars.len());
        if end == at {
            code.push(chars[at]);
            at += 1;
        }
        for c in chars.get(at..end).unwrap_or_default() {
            code.push(if *c == '\n' { '\n' } else { ' ' });
        }
        at = at.max(end);
    }
    code
}

/// Where the comment or literal that starts here ends; nothing if plain code starts here.
fn opaque(chars: &[char], at: usize) -> Option<usize> {
    let next = chars.get(at + 1).copied();
    match chars[at] {
        '/' if next == Some('/') => Some(find(chars, at, |c| c == '\n')),
        '/' if next == Some('*') => Some(block_comment(chars, at)),
        '"' => Some(quoted(chars, at, '"')),
        'r' => raw_string(chars, at),
        '\'' if next == Some('\\') => Some(quoted(chars, at, '\'')),
        '\'' if chars.get(at + 2) == Some(&'\'') => Some(at + 3),
        _ => None,
    }
}

fn find(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    chars[from..].iter().position(|c| wanted(*c)).map_or(chars.len(), |found| from + found)
}

fn block_comment(chars: &[char], from: usize) -> usize {
    let mut depth = 0;
    let mut at = from;
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => depth += 1,
            ('*', Some('/')) => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted(chars: &[char], from: usize, quote: char) -> usize {
    let mut at = from + 1;
    while at < chars.len() && chars[at] != quote {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

fn raw_string(chars: &[char], from: usize) -> Option<usize> {
    let open = find(chars, from + 1, |c| c != '#');
    if chars.get(open) != Some(&'"') {
        return None;
    }
    let mut close = vec!['"'];
    close.resize(open - from, '#');
    let body = &chars[open + 1..];
    let end = body.windows(close.len()).position(|window| window == close);
    Some(end.map_or(chars.len(), |end| open + 1 + end + close.len()))
}

/// Whether a character can stand in a name.
pub(crate) fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names in a piece of text, each with the byte where it starts.
pub(crate) fn names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(|c| !in_name(c))
        .filter(|name| !name.is_empty())
        .map(|name| (name.as_ptr().addr() - text.as_ptr().addr(), name))
}

/// Every `mod name;` of masked code. A module with a body is no file, so it does not count.
pub(crate) fn declared(masked: &str) -> Vec<Declared> {
    let item = |(line, text): (usize, &str)| {
        let (visibility, name) = text.trim().strip_suffix(';')?.rsplit_once("mod ")?;
        let visibility = visibility.trim();
        let is_item = visibility.is_empty() || visibility.starts_with("pub");
        let is_name = !name.is_empty() && name.chars().all(in_name);
        (is_item && is_name).then(|| Declared { line, visibility: visibility.into(), name: name.into() })
    };
    (1..).zip(masked.lines()).filter_map(item).collect()
}

/// Every `use …;` of masked code, each with its first line, counted from 1.
pub(crate) fn uses(masked: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (line, text) in (1..).zip(masked.lines()) {
        let starts = text.trim_start().split_once("use ").is_some_and(|(before, _)| {
            before.is_empty() || (before.starts_with("pub") && !before.contains(['{', '=']))
        });
        let (first, mut statement) = match open.take() {
            Some(statement) => statement,
            None if starts => (line, String::new()),
            None => continue,
        };
        statement.push_str(text);
        if text.contains(';') {
            found.push((first, statement));
        } else {
            open = Some((first, statement + "\n"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{declared, masked, names, uses};

    #[test]
    fn comments_and_literals_are_blank() {
        let blank = |text| masked(text).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(blank("a // { \n b"), "a b");
        assert_eq!(blank("a /* { /* { */ { */ b"), "a b");
        assert_eq!(blank(r#"a "{ \" {" b"#), "a b");
        assert_eq!(blank("a r#\"{ \" {\"# b"), "a b");
        assert_eq!(blank("a r\"{\\\" b"), "a b");
        assert_eq!(blank(r"a '{' '\'' '\u{7b}' b"), "a b");
        assert_eq!(blank("fn a<'a>(r#type: &'a str) {}"), "fn a<'a>(r#type: &'a str) {}");
    }

    #[test]
    fn lines_stay_lines() {
        let text = "a\n\"b\nc\"\n/* d\n */ e\n\"open";
        assert_eq!(masked(text).lines().count(), text.lines().count());
        assert_eq!(masked(text).chars().count(), text.chars().count());
    }

    #[test]
    fn names_know_where_they_start() {
        assert_eq!(names("a::b_c(1)").collect::<Vec<_>>(), [(0, "a"), (3, "b_c"), (7, "1")]);
    }

    #[test]
    fn only_modules_without_a_body_are_declared() {
        let code = "mod a;\npub(crate) mod b;\nmod tests {\n    pub mod c;\n}\nlet model = d;\n";
        let found: Vec<_> = declared(code).into_iter().map(|d| (d.line, d.visibility, d.name)).collect();
        let expected = [(1, "", "a"), (2, "pub(crate)", "b"), (4, "pub", "c")];
        assert_eq!(found, expected.map(|(line, seen, name)| (line, seen.to_owned(), name.to_owned())));
    }

    #[test]
    fn a_use_may_run_over_lines() {
        let found = uses("use a::b;\npub(crate) use c::{\n    d,\n};\nlet reuse = e;\n");
        assert_eq!(found, [(1, "use a::b;".to_owned()), (2, "pub(crate) use c::{\n    d,\n};".to_owned())]);
    }
}
