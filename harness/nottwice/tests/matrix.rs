//! The kill matrix: the reference keeps everything, and every defect is caught by the clauses made for it.
//!
//! What the scenarios promise is compared with `reports/kill-matrix.md`, so a clause, scenario or defect
//! that goes missing shows here by name. `UPDATE=1` writes it.

use std::path::Path;
use std::sync::OnceLock;

use nottwice::campaign;
use nottwice::matrix::{self, Matrix};
use nottwice_model::fault::{At, Do};
use nottwice_model::scenario::Step;

/// The matrix is played once for all tests of this file.
fn played() -> &'static Matrix {
    static MATRIX: OnceLock<Matrix> = OnceLock::new();
    MATRIX.get_or_init(|| {
        let program = Path::new(env!("CARGO_BIN_EXE_nottwice"));
        campaign::block_on(matrix::play(program, campaign::slots(None))).expect("the harness does its part")
    })
}

#[test]
fn every_defect_is_caught_and_the_reference_keeps_everything() {
    let complaints = played().complaints();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn the_matrix_is_the_one_on_record() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports/kill-matrix.md");
    let seen = matrix::page(&played().scenarios);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &seen).expect("reports/ can be written");
    }
    let known = std::fs::read_to_string(&path).expect("reports/kill-matrix.md exists");
    let differ: Vec<_> = known.lines().filter(|line| !seen.contains(line)).collect();
    let new: Vec<_> = seen.lines().filter(|line| !known.contains(line)).collect();
    assert!(
        differ.is_empty() && new.is_empty(),
        "no longer seen:\n{}\nnew:\n{}\nif this is meant: UPDATE=1 cargo test -p nottwice --test matrix",
        differ.join("\n"),
        new.join("\n")
    );
}

/// A fault word that no scenario uses would never be missed.
#[test]
fn every_fault_word_is_used_by_a_scenario() {
    let steps = played().scenarios.iter().flat_map(|scenario| &scenario.steps);
    let faults: Vec<_> = steps
        .filter_map(|step| match step {
            Step::Call(call) => call.fault,
            _ => None,
        })
        .collect();
    for at in At::ALL {
        assert!(faults.iter().any(|fault| fault.at == at), "no scenario has a fault at `{}`", at.word());
    }
    for deed in Do::ALL {
        assert!(faults.iter().any(|fault| fault.deed == deed), "no scenario does `{}`", deed.word());
    }
}
