//! Builds the binary again when a shipped scenario or target is added or changed.

fn main() {
    for folder in ["../../scenarios", "../../fixtures/targets"] {
        println!("cargo:rerun-if-changed={folder}");
    }
}
