//! Where the idempotency key sits.

use serde::{Deserialize, Serialize};

/// Where the idempotency key sits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The place.
    #[serde(default)]
    pub at: KeyPlace,
    /// Whether a call without a key is refused.
    #[serde(default)]
    pub required: bool,
    /// Which keys are legal.
    #[serde(default, skip_serializing_if = "Grammar::is_uuid")]
    pub grammar: Grammar,
    /// How many characters the longest legal key has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u16>,
    /// In a header: whether it goes as a string of RFC 9651, in double quotes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quoted: bool,
}

impl Key {
    /// A key in the form in which it stands in a header.
    pub fn in_header(&self, key: &str) -> String {
        if !self.quoted {
            return key.to_owned();
        }
        format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// Which keys are legal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grammar {
    /// UUIDs of version 4 beyond doubt, and nothing else is tried.
    #[default]
    Uuid,
    /// Any visible ASCII characters, up to `max` of them, and no two keys are the same that differ in one.
    Printable,
}

impl Grammar {
    /// Whether nothing but UUIDs is tried.
    pub fn is_uuid(&self) -> bool {
        *self == Grammar::Uuid
    }
}

/// A place that carries the key: `arguments:/pointer`, `meta:NAME`, `header:NAME` or `none`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum KeyPlace {
    /// The tool takes no key.
    #[default]
    None,
    /// A member of the arguments, by JSON pointer.
    Arguments(String),
    /// MCP: an entry of the request's `_meta`.
    Meta(String),
    /// An HTTP header.
    Header(String),
}

impl std::str::FromStr for KeyPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<KeyPlace, String> {
        match text.split_once(':') {
            None if text == "none" => Ok(KeyPlace::None),
            Some(("arguments", pointer)) if pointer.starts_with('/') => {
                Ok(KeyPlace::Arguments(pointer.to_owned()))
            }
            Some(("meta", name)) if !name.is_empty() => Ok(KeyPlace::Meta(name.to_owned())),
            Some(("header", name)) if !name.is_empty() => Ok(KeyPlace::Header(name.to_owned())),
            _ => Err(format!(
                "unknown variant `{text}`, expected one of `arguments:/pointer`, `meta:NAME`, `header:NAME`, \
                 `none`"
            )),
        }
    }
}

impl std::fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            KeyPlace::None => f.write_str("none"),
            KeyPlace::Arguments(pointer) => write!(f, "arguments:{pointer}"),
            KeyPlace::Meta(name) => write!(f, "meta:{name}"),
            KeyPlace::Header(name) => write!(f, "header:{name}"),
        }
    }
}

impl Serialize for KeyPlace {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeyPlace {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<KeyPlace, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
