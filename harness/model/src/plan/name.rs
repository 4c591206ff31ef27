//! The keys and labels of a plan: fresh for each play, and the same again from its seed and nonce.

use chacha20::ChaCha8Rng;
use rand::{Rng, SeedableRng};

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
