//! Text that a server printed, made inert: what could move a cursor, hide or reorder is shown as an escape.

use std::fmt::Write as _;

/// The text with every character that acts instead of showing written as an escape such as `\u{1b}`.
///
/// A line break becomes `\n`, so that a server cannot begin a line of a report. A backslash stays as it is:
/// what is shown is for reading, and JSON would become unreadable.
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            c if acts(c) => {
                write!(shown, "\\u{{{:x}}}", u32::from(c)).expect("a string takes all that is written")
            }
            c => shown.push(c),
        }
    }
    shown
}

/// The text made inert, and shortened in the middle when it has more than `most` characters.
///
/// Both ends are kept because the end of a reply tells as much as its beginning.
pub fn shown(text: &str, most: usize) -> String {
    escaped(&shortened(text, most))
}

/// A name made inert, never wider than `most` characters: what is too long has `…` in its middle.
pub fn brief(text: &str, most: usize) -> String {
    // Escaping only lengthens, so that the far ends are all that can be needed.
    let escaped = escaped(&ends(text, most, |_| "…".to_owned()));
    ends(&escaped, most.saturating_sub(1), |_| "…".to_owned())
}

/// The text, shortened in the middle when it has more than `most` characters; nothing is escaped.
pub fn shortened(text: &str, most: usize) -> String {
    ends(text, most, |left_out| format!(" … {left_out} characters left out … "))
}

/// Both ends of a text that is longer than `most`, with a mark between them.
fn ends(text: &str, most: usize, mark: impl FnOnce(usize) -> String) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let after = most / 3;
    let head = &text[..place(text, most - after)];
    let tail = &text[place(text, count - after)..];
    format!("{head}{}{tail}", mark(count - most))
}

/// The place of the character with that number.
fn place(text: &str, number: usize) -> usize {
    text.char_indices().nth(number).map_or(text.len(), |(at, _)| at)
}

/// Whether a character does something to its surroundings, or is there without being seen.
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{feff}'
            | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::{acts, escaped, shortened, shown};

    #[test]
    fn what_acts_is_shown() {
        assert_eq!(escaped("a\u{1b}[31mb"), "a\\u{1b}[31mb");
        assert_eq!(escaped("one\r\ntwo\tthree"), "one\\r\\ntwo\\tthree");
        assert_eq!(escaped("\u{9b}2J\u{7f}"), "\\u{9b}2J\\u{7f}");
        for c in ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}').chain(['\u{200b}', '\u{feff}']) {
            assert_eq!(escaped(&c.to_string()), format!("\\u{{{:x}}}", u32::from(c)));
        }
    }

    #[test]
    fn what_only_shows_stays() {
        let plain = r#"{"title":"Straße 東京 ½ 🦀","path":"C:\\notes"}"#;
        assert_eq!(escaped(plain), plain);
    }

    #[test]
    fn every_character_is_inert_afterwards() {
        let all: String = ('\0'..=char::MAX).collect();
        assert!(!escaped(&all).chars().any(acts));
    }

    #[test]
    fn long_text_loses_its_middle() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("ääääßßßßöö", 6), "ääää … 4 characters left out … öö");
        assert_eq!(shown("\u{1b}\u{1b}\u{1b}x", 1), "\\u{1b} … 3 characters left out … ");
        assert!(shown(&"\u{1b}".repeat(100_000), 600).len() < 5_000);
    }
}
