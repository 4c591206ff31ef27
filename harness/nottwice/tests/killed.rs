//! A run that is killed can clear nothing away, so the next one does. This test has a program of its own: any
//! other run of this user, at the same time, would do it as well.

#[path = "cli/left.rs"]
mod left;
#[path = "cli/project.rs"]
#[expect(dead_code, reason = "shared with the tests of the command line")]
mod project;
#[path = "cli/servers.rs"]
#[expect(dead_code, reason = "shared with the tests of the command line")]
mod servers;
#[path = "cli/wait.rs"]
mod wait;

use project::Project;

#[test]
fn a_run_that_is_killed_is_cleared_away_by_the_next() {
    for name in ["reference-stdio", "reference-http"] {
        let project = Project::new().with("mine.toml", servers::slow_reference(name));
        let killed = project.start("run mine.toml recovery/crash-after-claim");
        let record = project.path(&format!("reports/runs/{name}/recovery-crash-after-claim.jsonl"));
        wait::until("a run under way", || {
            let text = std::fs::read_to_string(&record).ok()?;
            text.contains("\"event\":\"settling\"").then_some(())
        });
        killed.signal("KILL");
        assert!(!left::all(killed.pid(), &project.temp()).is_empty(), "it left something to clear away");
        let next = format!("run {name} receipt/plain-retry");
        let ended = project.run(&next).exits(0).says("an earlier run was killed");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended}");
        assert_eq!(left::all(killed.pid(), &project.temp()), Vec::<String>::new(), "{ended}");
        assert_eq!(project.run(&next).exits(0).stderr, "", "there is nothing any more");
    }
}
