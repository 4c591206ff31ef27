//! The keys and labels of a plan: fresh for each play, and the same again from its seed and nonce.

use chacha20::ChaCha8Rng;
use rand::{Rng, SeedableRng};

use super::Shape;
use crate::scenario::KeyForm;
use std::collections::BTreeMap;

/// What a long key is filled up with: letters of both cases, so that its case can be told.
const FILLING: &str = "-KeptForAsLongAsItIs";

/// Keys are UUIDs (version 4) and labels `nt-…`, all of one length so that none is a part of another.
pub(super) fn names(seed: u64, nonce: u64, keys: usize, labels: usize) -> (Vec<String>, Vec<String>) {
    let mut state = [0; 32];
    state[..8].copy_from_slice(&seed.to_le_bytes());
    state[8..16].copy_from_slice(&nonce.to_le_bytes());
    let mut random = ChaCha8Rng::from_seed(state);
    let mut key = || {
        let mut bytes = [0; 16];
        random.fill_bytes(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    };
    let keys = (0..keys).map(|_| key()).collect();
    let stem = random.next_u32();
    let labels = (0..labels).map(|number| format!("nt-{stem:08x}-{number:03}")).collect();
    (keys, labels)
}

/// Gives the keys that are no UUIDs their form. A key stands after the one that it is made from.
pub(super) fn shape(keys: &mut [String], shapes: &BTreeMap<usize, Shape>, max: Option<u16>) {
    let max = usize::from(max.unwrap_or_default());
    for (number, Shape { form, of }) in shapes {
        let of = of.map_or(String::new(), |of| keys[of].clone());
        keys[*number] = match form {
            KeyForm::Longest => filled(&keys[*number], max),
            KeyForm::OtherEnd => {
                let last = if of.ends_with('z') { "y" } else { "z" };
                of[..of.len() - 1].to_owned() + last
            }
            KeyForm::OtherCase => of.chars().map(other_case).collect(),
            KeyForm::AsPattern => format!("%{}", &of[1..]),
            KeyForm::Punctuated => of.replace(&of[1..8], "';\"\\/_*"),
            _ => continue,
        };
    }
}

/// A key with more characters than are legal.
pub(super) fn longer(key: &str, max: Option<u16>) -> String {
    filled(key, usize::from(max.unwrap_or_default()) + 1)
}

fn filled(key: &str, length: usize) -> String {
    key.chars().chain(FILLING.chars().cycle()).take(length.max(key.len())).collect()
}

fn other_case(letter: char) -> char {
    if letter.is_ascii_uppercase() { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() }
}
