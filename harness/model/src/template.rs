//! The placeholders that a target file may use, and nothing else: no expressions.

use serde_json::Value;

/// Replaces `{name}` by its value in a text; what is not named stays as it is.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = text.to_owned();
    for (name, value) in values {
        filled = filled.replace(&format!("{{{name}}}"), value);
    }
    filled
}

/// Replaces placeholders in every string of a JSON value.
pub fn fill_json(value: &Value, values: &[(&str, &str)]) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, values)),
        Value::Array(items) => items.iter().map(|item| fill_json(item, values)).collect(),
        Value::Object(members) => Value::Object(
            members.iter().map(|(name, member)| (name.clone(), fill_json(member, values))).collect(),
        ),
        other => other.clone(),
    }
}

/// Sets the member at a JSON pointer, making objects on the way; `/a/b` in `{}` gives `{"a":{"b":…}}`. In
/// an array a number is a place, and the next free one appends.
pub fn set(value: &mut Value, pointer: &str, member: Value) {
    let mut place = value;
    for name in pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")) {
        let index = name
            .parse::<usize>()
            .ok()
            .filter(|index| place.as_array().is_some_and(|items| *index <= items.len()));
        place = if let Some(index) = index {
            let items = place.as_array_mut().expect("just looked");
            if index == items.len() {
                items.push(Value::Null);
            }
            &mut items[index]
        } else {
            if !place.is_object() {
                *place = Value::Object(serde_json::Map::new());
            }
            place.as_object_mut().expect("just made one").entry(name).or_insert(Value::Null)
        };
    }
    *place = member;
}

/// The placeholders of a text that are none of the known ones, `${ENV}` aside.
pub fn unknown<'a>(text: &'a str, known: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let from_env = rest[..open].ends_with('$');
        rest = &rest[open + 1..];
        let Some(close) = rest.find('}') else { break };
        let name = &rest[..close];
        let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        if is_word && !from_env && !known.contains(&name) {
            found.push(name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn sets_members_and_places() {
        let mut value = json!({"a": [{"b": 1}], "c": "text"});
        super::set(&mut value, "/a/0/b", json!(2));
        super::set(&mut value, "/a/1", json!("new"));
        super::set(&mut value, "/c/d", json!(3));
        assert_eq!(value, json!({"a": [{"b": 2}, "new"], "c": {"d": 3}}));
    }
}
