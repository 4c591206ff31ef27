//! Runs of any length for the benches: many intents, each attempted, retried and counted.

use nottwice_model::history::{CountedFrom, Event, History, Outcome, What};
use nottwice_model::input::Source;
use nottwice_model::ledger::{Ledger, Row};
use nottwice_model::plan::{self, Plan};
use nottwice_model::reply::Answer;
use nottwice_model::run::Run;
use nottwice_model::{scenario, survey, target};

/// A right run of so many intents, each called twice, with the stores counted at both ends.
///
/// # Panics
/// Never: the texts it parses are its own.
pub fn run(intents: usize) -> Run {
    let plan = plan_of(intents);
    let count = |began, ledger| What::Counted { began, from: CountedFrom::Running, ledger };
    let mut events = vec![count(0, Ledger::default())];
    for identity in 0..intents {
        for retry in [false, true] {
            events.extend(attempt(identity, retry));
        }
    }
    let rows = (0..intents).map(|identity| Row {
        id: identity.to_string(),
        label: plan.label(identity, 0).to_owned(),
        scope: None,
    });
    events.push(count(events.len(), Ledger { effects: rows.collect(), receipts: None }));
    let events = events.into_iter().map(|what| Event { at: 0, what }).collect();
    Run { plan, history: History { events }, complete: true }
}

fn attempt(identity: usize, retry: bool) -> [What; 2] {
    let call = format!("{identity} {retry}");
    let sent = What::Sent {
        call: call.clone(),
        identity,
        variant: 0,
        worker: 1,
        incarnation: 1,
        pid: 1,
        connection: 1,
        request_id: (identity * 2 + usize::from(retry)).to_string(),
        keyed: true,
        bytes: String::new(),
    };
    let answer = Answer { id: Some(identity.to_string()), replayed: retry, value: serde_json::Value::Null };
    [sent, What::Ended { call, outcome: Outcome::Acked(answer) }]
}

fn plan_of(intents: usize) -> Plan {
    let text = r#"
        name = "bench"
        [start]
        command = ["none"]
        [reach]
        transport = "mcp-stdio"
        [tool.main]
        name = "create"
        arguments = { text = "{label}" }
        [key]
        at = "arguments:/key"
        [[store]]
        sqlite = "db"
        effects = "SELECT 1"
        [replies]
        id = "/result/id"
    "#;
    let target = target::parse(Source { file: "bench.toml", text }).expect("the target is well formed");
    let steps: String = (0..intents)
        .map(|number| format!("[[step]]\ncall = \"{number}\"\nintent = \"{number}\"\n"))
        .collect();
    let text = format!("title = \"bench\"\nsource = \"this bench\"\n{steps}");
    let scenario =
        scenario::parse("bench/judge", Source { file: "bench.toml", text: &text }).expect("well formed");
    let found = survey::Survey {
        abilities: survey::declared(&target),
        key_seen: Some("the bench says so".to_owned()),
        ..survey::Survey::default()
    };
    let plans = plan::plan(&scenario, &target.facts("bench.toml"), &found, 1, 1);
    plans.expect("the target can do it").remove(0)
}
