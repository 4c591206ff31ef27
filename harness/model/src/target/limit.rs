//! A bound on time as a person writes it: `300ms`, `5s`, `2m`, `24h`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A bound on time, kept in whole milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Limit(u64);

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

impl Limit {
    /// A bound of so many milliseconds.
    pub fn from_millis(millis: u64) -> Limit {
        Limit(millis)
    }

    /// The bound as a duration.
    pub fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }

    /// The bound widened by a quarter and 250 ms: an answer later than that is late beyond doubt.
    pub fn with_tolerance(self) -> Duration {
        Duration::from_millis(self.0 + self.0 / 4 + 250)
    }

    pub(super) fn five_seconds() -> Limit {
        Limit(5_000)
    }

    pub(super) fn ten_seconds() -> Limit {
        Limit(10_000)
    }

    pub(super) fn thirty_seconds() -> Limit {
        Limit(30_000)
    }

    pub(super) fn one_minute() -> Limit {
        Limit(60_000)
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Zero is a multiple of every unit; as a bound it is written in seconds.
        let fits =
            |unit: &&(&str, u64)| if self.0 == 0 { unit.0 == "s" } else { self.0.is_multiple_of(unit.1) };
        let (unit, size) = UNITS.iter().rev().find(fits).unwrap_or(&UNITS[0]);
        write!(f, "{}{unit}", self.0 / size)
    }
}

impl std::str::FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Limit, String> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let unit = UNITS.iter().find(|(unit, _)| *unit == &text[digits..]);
        match (text[..digits].parse::<u64>(), unit) {
            (Ok(count), Some((_, size))) => count.checked_mul(*size).map(Limit),
            _ => None,
        }
        .ok_or_else(|| format!("invalid value `{text}`, expected a time like `300ms`, `5s`, `2m` or `24h`"))
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Limit, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Limit;

    #[test]
    fn reads_back_what_it_writes() {
        for text in ["0s", "300ms", "5s", "90s", "2m", "24h"] {
            let limit: Limit = text.parse().expect(text);
            assert_eq!(limit.to_string().parse::<Limit>(), Ok(limit), "{text}");
        }
        for text in ["", "5", "s", "1.5s", "-1s", "5 s", "99999999999999999999s", "18446744073709551615h"] {
            assert!(text.parse::<Limit>().is_err(), "{text} is no time");
        }
    }
}
