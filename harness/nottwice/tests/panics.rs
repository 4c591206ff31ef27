//! A play that panics takes its server with it. This test has a program of its own, so that every process
//! and folder that carries its number is this play's.

use std::path::Path;

use nottwice::campaign::block_on;
use nottwice::shelf;
use nottwice_driver::{Setting, play, survey};
use nottwice_model::plan::{self, PlannedStep};

/// A plan that speaks of an identity that it does not have is a mistake of the harness itself.
#[test]
fn a_play_that_panics_leaves_nothing() {
    let file = "shipped:reference-http".to_owned();
    let program = Path::new(env!("CARGO_BIN_EXE_nottwice")).to_owned();
    let target = shelf::target(&file).expect("it is shipped");
    let setting = Setting { target, file: file.clone(), program };
    let scenarios = shelf::scenarios().expect("they are shipped");
    let retry =
        scenarios.iter().find(|scenario| scenario.name == "receipt/plain-retry").expect("it is shipped");
    let panicked = block_on(async {
        let probe = shelf::probe()?;
        let found = survey(&setting, &file, &probe).await?;
        let planned = plan::plan(retry, &setting.target.facts(&file), &found, 1, 1);
        let mut plan = planned.expect("the reference can do it").remove(0);
        let Some(PlannedStep::Call(last)) = plan.steps.last_mut() else { panic!("it ends with a call") };
        last.identity = plan.identities.len();
        let playing = tokio::spawn(async move { play(&setting, &plan, None, None).await.map(drop) });
        Ok(playing.await.is_err_and(|error| error.is_panic()))
    });
    assert!(panicked.expect("the survey goes well"), "the play panicked");
    assert_eq!(left(), Vec::<String>::new());
}

/// The processes and folders that carry the number of this one.
fn left() -> Vec<String> {
    let own = std::process::id();
    let mark = format!("NOTTWICE_OWNER={own}.");
    let names = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let is_marked = |pid: &String| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environ).contains(&mark)
    };
    let processes = names(Path::new("/proc")).into_iter().filter(is_marked);
    let folders = [names(Path::new("/dev/shm")), names(&std::env::temp_dir())].concat();
    let begin = format!("nottwice-{own}-");
    processes.chain(folders.into_iter().filter(|name| name.starts_with(&begin))).collect()
}
