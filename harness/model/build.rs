//! Builds the model again when a preset is added or changed.

fn main() {
    println!("cargo:rerun-if-changed=../../presets");
}
