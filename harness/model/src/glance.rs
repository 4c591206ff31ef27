//! A first look at a message of JSON-RPC while it comes in: its method, its tool and its id.
//!
//! They are found wherever they stand, and the rest is not kept.

use serde_json::Value;

/// More of a name than this is no name that a rule could have.
const TEXT_MOST: usize = 4_096;

/// What was seen of one message so far.
#[derive(Debug, Default)]
pub struct Glance {
    method: Option<String>,
    tool: Option<String>,
    id: Option<Value>,
    /// Whether the message has ended, or is none.
    over: bool,
    depth: usize,
    /// Of the message itself and of what stands directly in it.
    levels: [Level; 2],
    token: Token,
    /// The token as it is written, where it is of interest.
    text: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Level {
    is_object: bool,
    /// Whether the value of a key is read now, and not a key.
    at_value: bool,
    key: Key,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Key {
    #[default]
    Other,
    Method,
    Id,
    Params,
    Name,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Token {
    #[default]
    None,
    Text {
        escaped: bool,
    },
    /// A number, or a word like `null`.
    Bare,
}

impl Glance {
    /// Its method; a reply has none.
    pub fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// The `name` among its parameters.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// Its id; a notification has none.
    pub fn id(&self) -> Option<&Value> {
        self.id.as_ref()
    }

    /// Whether there is nothing more to see: it has ended, or is no single message.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Looks at the bytes that come next, until `enough` was seen.
    pub fn look(&mut self, bytes: &[u8], enough: impl Fn(&Glance) -> bool) {
        for byte in bytes {
            if self.over {
                return;
            }
            if self.step(*byte) && enough(self) {
                return;
            }
        }
    }

    /// Takes one byte; says whether something new was learned.
    fn step(&mut self, byte: u8) -> bool {
        match self.token {
            Token::Text { escaped } => {
                self.keep(byte);
                self.token = match byte {
                    _ if escaped => Token::Text { escaped: false },
                    b'"' => Token::None,
                    other => Token::Text { escaped: other == b'\\' },
                };
                return self.token == Token::None && self.ended();
            }
            Token::Bare if !matches!(byte, b',' | b'}' | b']') && !byte.is_ascii_whitespace() => {
                self.keep(byte);
                return false;
            }
            Token::Bare => {
                self.token = Token::None;
                let learned = self.ended();
                self.structure(byte);
                return learned;
            }
            Token::None => {}
        }
        self.structure(byte);
        self.over
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => {
                if let Some(level) = self.levels.get_mut(self.depth) {
                    *level = Level { is_object: byte == b'{', ..Level::default() };
                }
                self.depth += 1;
                // Several messages in one, as an older edition has them, are none that a rule means.
                self.over |= self.depth == 1 && byte == b'[';
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.over |= self.depth == 0;
            }
            b':' | b',' => {
                if let Some(level) = self.level() {
                    level.at_value = byte == b':';
                }
            }
            b'"' => {
                self.token = Token::Text { escaped: false };
                self.text.clear();
                self.keep(byte);
            }
            other if other.is_ascii_whitespace() => {}
            other => {
                self.token = Token::Bare;
                self.text.clear();
                self.keep(other);
                self.over |= self.depth == 0;
            }
        }
    }

    fn level(&mut self) -> Option<&mut Level> {
        self.levels.get_mut(self.depth.checked_sub(1)?)
    }

    fn keep(&mut self, byte: u8) {
        if (1..=2).contains(&self.depth) && self.text.len() < TEXT_MOST {
            self.text.push(byte);
        }
    }

    /// A text or a bare value is whole; says whether something new was learned.
    fn ended(&mut self) -> bool {
        let (depth, text) = (self.depth, std::mem::take(&mut self.text));
        let in_params = self.levels[0].key == Key::Params;
        let Some(level) = self.level() else { return false };
        if !level.is_object || (depth == 2 && !in_params) {
            return false;
        }
        if !level.at_value {
            level.key = match (depth, text.as_slice()) {
                (1, b"\"method\"") => Key::Method,
                (1, b"\"id\"") => Key::Id,
                (1, b"\"params\"") => Key::Params,
                (2, b"\"name\"") => Key::Name,
                _ => Key::Other,
            };
            return false;
        }
        let key = level.key;
        let name = || serde_json::from_slice::<String>(&text).ok();
        match (depth, key) {
            (1, Key::Method) => self.method = name(),
            (1, Key::Id) => self.id = serde_json::from_slice(&text).ok(),
            (2, Key::Name) => self.tool = name(),
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Glance;

    fn seen(text: &str, step: usize) -> (Option<String>, Option<String>, Option<Value>, bool) {
        let mut glance = Glance::default();
        for bytes in text.as_bytes().chunks(step) {
            glance.look(bytes, |_| false);
        }
        let Glance { method, tool, id, over, .. } = glance;
        (method, tool, id, over)
    }

    #[test]
    fn what_is_asked_for_is_found_wherever_it_stands() {
        let decoy = json!({"name": "no", "method": "no", "id": 9, "params": {"name": "\"}{"}});
        let forms = [
            format!(
                r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"create","arguments":{decoy}}}}}"#
            ),
            format!(
                r#"{{ "params" : {{ "arguments" : [{decoy}], "name" : "create" }}, "method" : "tools/call", "id" : 7 }}"#
            ),
            format!(
                r#"{{"result":{decoy},"id":7,"params":{{"name":"cr\u0065ate"}},"x":"\\","method":"tools\/call"}}"#
            ),
        ];
        for text in forms {
            for step in [1, 3, text.len()] {
                let (method, tool, id, over) = seen(&text, step);
                let found = (method.as_deref(), tool.as_deref(), id, over);
                assert_eq!(found, (Some("tools/call"), Some("create"), Some(json!(7)), true), "{text}");
            }
        }
    }

    #[test]
    fn what_is_no_single_message_has_nothing() {
        for text in ["[{\"method\":\"a\"}]", "7 ", "\"method\"", "", "}", "{\"method\":7}"] {
            assert_eq!(seen(text, 1).0, None, "{text}");
        }
        assert_eq!(seen("{\"id\":\"a\",\"result\":{}}", 2).2, Some(json!("a")));
    }

    #[test]
    fn it_stops_when_enough_was_seen() {
        let mut glance = Glance::default();
        glance.look(b"{\"method\":\"a\",\"id\":1}", |glance| glance.method().is_some());
        assert_eq!((glance.method(), glance.id(), glance.is_over()), (Some("a"), None, false));
    }
}
