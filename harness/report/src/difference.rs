//! Where two JSON documents differ, so that a reader need not compare two replies by eye.

use serde_json::Value;

/// One place where two documents differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The place, as a JSON pointer; empty for the whole document.
    pub at: String,
    /// What the first has there, as JSON.
    pub first: Option<String>,
    /// What the second has there, as JSON.
    pub second: Option<String>,
}

/// Every place where two documents differ, in the order of their members.
pub fn between(first: &Value, second: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(String::new(), Some(first), Some(second), &mut found);
    found
}

fn walk(at: String, first: Option<&Value>, second: Option<&Value>, found: &mut Vec<Difference>) {
    match (first, second) {
        (Some(Value::Object(one)), Some(Value::Object(two))) => {
            for (name, value) in one {
                walk(below(&at, name), Some(value), two.get(name), found);
            }
            for (name, value) in two.iter().filter(|(name, _)| !one.contains_key(*name)) {
                walk(below(&at, name), None, Some(value), found);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(two))) => {
            for place in 0..one.len().max(two.len()) {
                walk(below(&at, &place.to_string()), one.get(place), two.get(place), found);
            }
        }
        (one, two) if one == two => {}
        (one, two) => {
            found.push(Difference { at, first: one.map(Value::to_string), second: two.map(Value::to_string) })
        }
    }
}

fn below(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::between;

    #[test]
    fn names_the_places_and_nothing_else() {
        let first = json!({"id": "1", "tags": ["a", "b"], "same": {"x": 1}, "a/b": 1});
        let second = json!({"id": "2", "tags": ["a"], "same": {"x": 1}, "new": null});
        let found: Vec<_> = between(&first, &second).into_iter().map(|d| (d.at, d.first, d.second)).collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            found,
            [
                ("/a~1b".to_owned(), text("1"), None),
                ("/id".to_owned(), text("\"1\""), text("\"2\"")),
                ("/tags/1".to_owned(), text("\"b\""), None),
                ("/new".to_owned(), None, text("null")),
            ]
        );
        assert_eq!(between(&first, &first), []);
    }
}
