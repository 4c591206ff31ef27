//! The sizes: a function fits on a screen, a file in a head.

use crate::code::{in_name, masked, names};
use crate::complaint::Complaint;
use crate::tree::SourceFile;

const FUNCTION_LINES: usize = 70;
const FILE_LINES: usize = 400;

/// Something longer than it should be, and how long it may stay. The number only ever goes down.
struct Exception {
    file: &'static str,
    /// The name of the function; nothing for the file itself.
    function: Option<&'static str>,
    lines: usize,
}

const EXCEPTIONS: &[Exception] = &[];

/// A function with a body, by the lines it stands on.
struct Function {
    name: String,
    first: usize,
    last: usize,
}

/// Everything too long, and every exception that is no longer one.
pub fn check(files: &[SourceFile]) -> Vec<Complaint> {
    check_except(files, EXCEPTIONS)
}

fn check_except(files: &[SourceFile], exceptions: &[Exception]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut used = vec![false; exceptions.len()];
    for file in files.iter().filter(|file| file.is_rust()) {
        for (function, line, lines) in measured(file) {
            let limit = if function.is_some() { FUNCTION_LINES } else { FILE_LINES };
            let is_it = |e: &Exception| e.file == file.path && e.function == function.as_deref();
            let exception = exceptions.iter().position(is_it);
            let allowed = exception.map_or(limit, |at| exceptions[at].lines);
            if lines > limit
                && let Some(at) = exception
            {
                used[at] = true;
            }
            let what = function.map_or_else(|| "the file".to_owned(), |name| format!("`fn {name}`"));
            if lines > allowed {
                let breach = format!("{what} has {lines} lines, {allowed} are allowed");
                complaints.push(Complaint::new(&file.path, line, breach, "split it by what its parts are"));
            } else if lines > limit && lines < allowed {
                let breach = format!("{what} shrank to {lines} lines");
                let cure = format!("lower its exception from {allowed} to {lines}: it only goes down");
                complaints.push(Complaint::new(&file.path, line, breach, cure));
            }
        }
    }
    let unused = exceptions.iter().zip(used).filter(|(_, used)| !used);
    complaints.extend(unused.map(|(exception, _)| {
        let cure = "remove its line from EXCEPTIONS of harness/tidy/src/sizes.rs";
        Complaint::new(exception.file, 1, "this exception is no longer needed", cure)
    }));
    complaints
}

/// The file and its functions: name, first line, number of lines.
fn measured(file: &SourceFile) -> Vec<(Option<String>, usize, usize)> {
    let functions = functions(&masked(&file.text));
    let measure = |f: Function| (Some(f.name), f.first, f.last - f.first + 1);
    std::iter::once((None, 1, file.text.lines().count())).chain(functions.into_iter().map(measure)).collect()
}

/// Every function with a body, also those inside another.
fn functions(code: &str) -> Vec<Function> {
    let line_of = |at: usize| code[..at].matches('\n').count() + 1;
    let keywords = names(code).filter(|(_, name)| *name == "fn");
    keywords
        .filter_map(|(at, _)| {
            // A type such as `fn(u8)` has no name, and what a macro names has a `$`.
            let rest = code[at + 2..].trim_start().trim_start_matches("r#");
            let name: String = rest.chars().take_while(|c| in_name(*c)).collect();
            let last = if name.is_empty() { None } else { end_of_body(code, at) }?;
            Some(Function { name, first: line_of(at), last: line_of(last) })
        })
        .collect()
}

/// The closing brace of the function that starts here; nothing if it is a declaration without a body.
fn end_of_body(code: &str, from: usize) -> Option<usize> {
    let mut nested = 0;
    let mut braces = 0;
    for (at, c) in code[from..].char_indices() {
        match c {
            '(' | '[' => nested += 1,
            ')' | ']' => nested -= 1,
            // Inside brackets of the signature a brace or semicolon belongs to an array length.
            ';' if nested == 0 && braces == 0 => return None,
            '{' if nested == 0 || braces > 0 => braces += 1,
            '}' if braces == 1 => return Some(from + at),
            '}' if braces > 1 => braces -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Exception, FILE_LINES, FUNCTION_LINES, check, check_except, functions};
    use crate::code::masked;
    use crate::tree::SourceFile;

    /// A function of that many lines.
    fn function(lines: usize) -> SourceFile {
        SourceFile::new("a/src/long.rs", format!("\nfn long() {{\n{}}}\n", "    call();\n".repeat(lines - 2)))
    }

    #[test]
    fn what_just_fits_is_fine() {
        assert_eq!(check(&[function(FUNCTION_LINES)]), []);
        assert_eq!(check(&[SourceFile::new("a/src/long.rs", "\n".repeat(FILE_LINES))]), []);
    }

    #[test]
    fn one_line_more_is_a_breach() {
        let found = check(&[function(FUNCTION_LINES + 1)]);
        assert_eq!((found.len(), found[0].line), (1, 2));
        assert_eq!(found[0].breach, "`fn long` has 71 lines, 70 are allowed");
        let found = check(&[SourceFile::new("a/src/long.rs", "\n".repeat(FILE_LINES + 1))]);
        assert_eq!(found[0].breach, "the file has 401 lines, 400 are allowed");
    }

    #[test]
    fn an_exception_only_goes_down() {
        let except = |lines| [Exception { file: "a/src/long.rs", function: Some("long"), lines }];
        let breaches = |actual, allowed| -> Vec<String> {
            let found = check_except(&[function(actual)], &except(allowed));
            found.into_iter().map(|complaint| complaint.breach).collect()
        };
        assert_eq!(breaches(90, 90), Vec::<String>::new());
        assert_eq!(breaches(91, 90), ["`fn long` has 91 lines, 90 are allowed"]);
        assert_eq!(breaches(89, 90), ["`fn long` shrank to 89 lines"]);
        assert_eq!(breaches(70, 90), ["this exception is no longer needed"]);
    }

    #[test]
    fn a_body_is_found_behind_any_signature() {
        let code = "trait T {\n    fn none(&self) -> [u8; 4];\n}\n\
            fn array(x: [u8; { 2 }]) -> [u8; 2]\nwhere\n    T: Fn(u8),\n{\n    let a = \"}\";\n    || { 1 };\n}\n\
            type F = fn(u8) -> u8;\nfn r#try() {}\n";
        let found: Vec<_> = functions(&masked(code)).into_iter().map(|f| (f.name, f.first, f.last)).collect();
        assert_eq!(found, [("array".to_owned(), 4, 10), ("try".to_owned(), 12, 12)]);
    }
}
