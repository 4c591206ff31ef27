//! A page of cases: what was done wrong, and what was said of it. One snapshot shows a whole page.

use crate::project::Ended;

/// Cases under their titles.
pub(crate) struct Page {
    text: String,
}

impl Page {
    pub(crate) fn new() -> Page {
        Page { text: String::new() }
    }

    /// One case of bad input: it ends with exit code 2, prints nothing on standard output, and says where.
    pub(crate) fn refused(&mut self, title: &str, ended: Ended) {
        assert_eq!((ended.exit, ended.stdout.as_str()), (2, ""), "{title}\n{ended}");
        self.text.push_str(&format!("## {title}\n{}\n", brief(&ended.stderr)));
    }

    /// Compares the page with the one on record.
    pub(crate) fn compare(self, name: &str) {
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name, self.text);
        });
    }
}

/// A longer list is of the shipped scenarios, targets, defects or fields, which come and go.
const LISTED_MOST: usize = 3;

/// The text without the items of long lists.
fn brief(text: &str) -> String {
    let mut brief = String::new();
    for line in text.lines() {
        let items: Vec<_> = line.split(", ").collect();
        let begin = [": ", " of "].iter().filter_map(|end| Some(items[0].rfind(end)? + end.len())).max();
        let shown = match begin {
            Some(begin) if items.len() > LISTED_MOST => format!("{}…", &line[..begin]),
            _ => line.trim_end().to_owned(),
        };
        brief.push_str(&shown);
        brief.push('\n');
    }
    brief
}
