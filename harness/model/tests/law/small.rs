//! Small histories of one intent: a handful of attempts, how each ended, and what the store held.

use nottwice_model::history::{CountedFrom, Event, History, Outcome, What, Why};
use nottwice_model::input::Source;
use nottwice_model::ledger::{Ledger, Row};
use nottwice_model::plan::{self, Plan};
use nottwice_model::reply::{Answer, Class};
use nottwice_model::run::Run;
use nottwice_model::{scenario, survey, target};
use proptest::prelude::*;

/// How an attempt ended for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Told of this effect.
    Acked(u8),
    /// Told to come back later.
    Busy,
    /// Told nothing.
    Lost,
}

/// One attempt, between two moments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt {
    pub(crate) sent: usize,
    pub(crate) ended: usize,
    pub(crate) end: End,
}

/// Attempts of one intent, and the effects that the store held after all of them.
#[derive(Debug, Clone)]
pub(crate) struct Small {
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) rows: Vec<u8>,
}

/// Up to five attempts that overlap in every way, mostly told of one effect.
pub(crate) fn histories() -> impl Strategy<Value = Small> {
    let end = prop_oneof![5 => Just(End::Acked(1)), 1 => Just(End::Acked(2)), 2 => Just(End::Busy), 3 => Just(End::Lost)];
    let attempt = (0..40_usize, 1..20_usize, end);
    let rows = prop_oneof![1 => Just(vec![]), 6 => Just(vec![1]), 1 => Just(vec![2]), 1 => Just(vec![1, 2])];
    (prop::collection::vec(attempt, 1..=5), rows).prop_map(|(drawn, rows)| {
        let mut moments: Vec<_> = drawn
            .iter()
            .enumerate()
            .flat_map(|(number, (sent, length, _))| [(*sent, 1, number), (sent + length, 0, number)])
            .collect();
        moments.sort_unstable();
        let place = |number, kind| {
            moments.iter().position(|(_, k, n)| *k == kind && *n == number).expect("every moment is there")
        };
        let mut attempts: Vec<_> = drawn
            .iter()
            .enumerate()
            .map(|(number, (_, _, end))| Attempt {
                sent: place(number, 1),
                ended: place(number, 0),
                end: *end,
            })
            .collect();
        attempts.sort_by_key(|attempt| attempt.sent);
        Small { attempts, rows }
    })
}

impl Small {
    /// The history as a run, counted before the first attempt and after the last.
    pub(crate) fn run(&self) -> Run {
        let mut moments: Vec<(usize, What)> = Vec::new();
        for (number, attempt) in self.attempts.iter().enumerate() {
            let call = format!("attempt {number}");
            moments.push((attempt.sent, sent(&call, number)));
            moments.push((attempt.ended, What::Ended { call, outcome: outcome(attempt.end) }));
        }
        moments.sort_by_key(|(moment, _)| *moment);
        let plan = plan(self.attempts.len());
        let label = plan.labels[0].clone();
        let row = |id: &u8| Row { id: id.to_string(), label: label.clone(), scope: None };
        let ledger = Ledger { effects: self.rows.iter().map(row).collect(), receipts: None };
        let count = |began, ledger| What::Counted { began, from: CountedFrom::Running, ledger };
        let mut events = vec![count(0, Ledger::default())];
        events.extend(moments.into_iter().map(|(_, what)| what));
        events.push(count(events.len(), ledger));
        let events = events.into_iter().map(|what| Event { at: 0, what }).collect();
        Run { plan, history: History { events }, complete: true }
    }
}

fn sent(call: &str, number: usize) -> What {
    What::Sent {
        call: call.to_owned(),
        identity: 0,
        variant: 0,
        worker: 1,
        incarnation: 1,
        pid: 1,
        connection: 1,
        request_id: number.to_string(),
        keyed: true,
        bytes: String::new(),
    }
}

fn outcome(end: End) -> Outcome {
    match end {
        End::Acked(id) => Outcome::Acked(Answer {
            id: Some(id.to_string()),
            replayed: false,
            value: serde_json::Value::Null,
        }),
        End::Busy => Outcome::Refused { class: Class::Busy, retry_after: None },
        End::Lost => Outcome::Unknown { why: Why::NoReply },
    }
}

fn plan(attempts: usize) -> Plan {
    let target = target::parse(Source {
        file: "target.toml",
        text: r#"
            name = "small"
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
        "#,
    })
    .expect("the target is well formed");
    let steps: String = (0..attempts)
        .map(|number| format!("[[step]]\ncall = \"attempt {number}\"\nintent = \"note\"\n"))
        .collect();
    let text = format!("title = \"small\"\nsource = \"this test\"\n{steps}");
    let scenario = scenario::parse("law/small", Source { file: "small.toml", text: &text })
        .expect("the scenario is well formed");
    let found = survey::Survey {
        abilities: survey::declared(&target),
        key_seen: Some("this test says so".to_owned()),
        ..survey::Survey::default()
    };
    let plans = plan::plan(&scenario, &target.facts("target.toml"), &found, 1, 1);
    plans.expect("the target can do it").remove(0)
}
