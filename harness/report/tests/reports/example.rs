//! Small runs built by hand: a plan for a tiny target, and what happened, event by event.

use nottwice_model::fault::{At, Do, Fault};
use nottwice_model::history::{CountedFrom, Event, History, Outcome, What, Why};
use nottwice_model::input::Source;
use nottwice_model::ledger::{Ledger, Row};
use nottwice_model::plan::{self, Plan};
use nottwice_model::reply::Answer;
use nottwice_model::run::Run;
use nottwice_model::scenario::{self, KeyForm};
use nottwice_model::survey::{self, Survey};
use nottwice_model::target::{self, TargetFacts};
use serde_json::Value;

/// A target with a key.
pub(crate) const KEYED: &str = r#"
name = "notes"
[start]
command = ["notes"]
[reach]
transport = "http"
base = "http://127.0.0.1:{port}"
[tool.main]
path = "/notes"
arguments = { body = "{label}" }
[key]
at = "header:Idempotency-Key"
[[store]]
sqlite = "{state}/notes.db"
effects = "SELECT id, body AS label FROM notes"
[promise]
kind = "keyed"
[recovery]
bound = "1s"
[replies]
id = "/body/id"
value = "/body"
[[replies.rule]]
class = "replayed"
at = "/headers/replayed"
equals = "true"
[[hook]]
point = "between-writes"
arm = { write = "{state}/arm", content = "between-writes" }
reached = "{state}/reached"
"#;

/// A target that promises nothing.
pub(crate) const KEYLESS: &str = r#"
name = "plain"
[reach]
transport = "http"
base = "http://127.0.0.1:9"
[tool.main]
path = "/notes"
arguments = { body = "{label}" }
[[store]]
command = ["count"]
"#;

/// The call and its repetition, with nothing in between.
pub(crate) const RETRY: &str = r#"
title = "The call is repeated"
source = "these tests"
[[step]]
call = "first"
intent = "note"
[[step]]
call = "again"
intent = "note"
"#;

/// The call is killed inside the server and repeated.
pub(crate) const CRASH: &str = r#"
title = "The worker is killed between its two writes"
source = "these tests"
[[step]]
call = "first"
intent = "note"
fault = { at = "between-writes", do = "crash" }
[[step]]
act = "restart"
[[step]]
call = "again"
intent = "note"
"#;

/// What may be known of a target.
pub(crate) fn facts(target: &str) -> TargetFacts {
    parsed(target).facts("notes.toml")
}

fn parsed(text: &str) -> target::Target {
    target::parse(Source { file: "notes.toml", text }).expect("the target is right")
}

/// A run that is being written down.
pub(crate) struct Play {
    plan: Plan,
    events: Vec<Event>,
    incarnation: u32,
    connections: u32,
}

impl Play {
    /// A play of a scenario on a target.
    pub(crate) fn of(target: &str, name: &str, scenario: &str) -> Play {
        let target = parsed(target);
        let scenario =
            scenario::parse(name, Source { file: "scenario.toml", text: scenario }).expect("it is right");
        let survey = Survey {
            abilities: survey::declared(&target),
            key_seen: Some("it was answered with a replay".to_owned()),
            ..Survey::default()
        };
        let plans =
            plan::plan(&scenario, &target.facts("notes.toml"), &survey, 1, 2).expect("it can be played");
        let plan = plans.into_iter().next().expect("one plan");
        Play { plan, events: Vec::new(), incarnation: 0, connections: 0 }
    }

    /// The same without a sign that the key arrives.
    pub(crate) fn key_unseen(mut self) -> Play {
        self.plan.survey.key_seen = None;
        self
    }

    fn add(mut self, what: What) -> Play {
        let at = self.events.last().map_or(0, |last| last.at) + 1_250_000;
        self.events.push(Event { at, what });
        self
    }

    fn pid(&self) -> u32 {
        4_710 + self.incarnation
    }

    /// The worker starts.
    pub(crate) fn started(mut self) -> Play {
        self.incarnation += 1;
        let (incarnation, pid) = (self.incarnation, self.pid());
        self.add(What::Started { worker: 1, incarnation, pid })
    }

    /// A request is sent.
    pub(crate) fn sent(mut self, call: &str) -> Play {
        self.connections += 1;
        let body = self.plan.arguments(0, 0, KeyForm::Missing).to_string();
        let key = self.plan.key(0).map(|key| format!("Idempotency-Key: {key}\r\n")).unwrap_or_default();
        let sent = What::Sent {
            call: call.to_owned(),
            identity: 0,
            variant: 0,
            worker: 1,
            incarnation: self.incarnation,
            pid: self.pid(),
            connection: self.connections,
            request_id: (999 + self.connections).to_string(),
            keyed: self.plan.key(0).is_some(),
            bytes: format!("POST /notes HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n{key}\r\n{body}"),
        };
        self.add(sent)
    }

    /// The reply is a success that names an effect.
    pub(crate) fn replied(self, call: &str, id: &str, replayed: bool) -> Play {
        let value = serde_json::json!({ "id": id });
        let bytes = format!("HTTP/1.1 200 OK\r\nreplayed: {replayed}\r\n\r\n{value}");
        self.replied_with(call, id, replayed, value, &bytes)
    }

    /// The reply is a success with bytes of its own.
    pub(crate) fn replied_with(
        self,
        call: &str,
        id: &str,
        replayed: bool,
        value: Value,
        bytes: &str,
    ) -> Play {
        let outcome = Outcome::Acked(Answer { id: Some(id.to_owned()), replayed, value });
        let bytes = bytes.to_owned();
        self.add(What::Replied {
            call: call.to_owned(),
            bytes,
            outcome: outcome.clone(),
            retryable: None,
            operation: None,
        })
        .add(What::Ended { call: call.to_owned(), outcome })
    }

    /// The worker is killed between its writes.
    pub(crate) fn crashed(self, call: &str) -> Play {
        let (name, pid) = (call.to_owned(), self.pid());
        let fault = Fault { at: At::BetweenWrites, deed: Do::Crash, bytes: None, status: None, spot: None };
        let evidence = format!("`reached` says \"between-writes {pid}\"; then the worker was killed");
        self.add(What::Armed { call: name.clone(), fault })
            .add(What::Fired { call: name.clone(), evidence })
            .add(What::Exited { worker: 1, pid, by_us: true, status: "signal: 9 (SIGKILL)".to_owned() })
            .add(What::Ended { call: name, outcome: Outcome::Unknown { why: Why::NoReply } })
    }

    /// The store is counted: one id for each row, all with the label of the intent.
    pub(crate) fn counted(self, ids: &[&str]) -> Play {
        let label = self.plan.label(0, 0).to_owned();
        let row = |id: &&str| Row { id: (*id).to_owned(), label: label.clone(), scope: None };
        let effects = ids.iter().map(row).collect();
        self.counted_rows(effects)
    }

    /// The store is counted.
    pub(crate) fn counted_rows(self, effects: Vec<Row>) -> Play {
        let (began, ledger) = (self.events.len(), Ledger { effects, receipts: None });
        self.add(What::Counted { began, from: CountedFrom::Running, ledger })
    }

    /// The label of the intent.
    pub(crate) fn label(&self) -> String {
        self.plan.label(0, 0).to_owned()
    }

    /// The worker prints.
    pub(crate) fn printed(self, text: &str) -> Play {
        self.add(What::Printed { worker: 1, stream: "stderr".to_owned(), text: text.to_owned() })
    }

    /// The harness fails.
    pub(crate) fn trouble(self, what: &str) -> Play {
        self.add(What::Trouble { what: what.to_owned() })
    }

    /// The faults stop.
    pub(crate) fn settling(self) -> Play {
        self.add(What::Settling)
    }

    /// The run, with the place of its record.
    pub(crate) fn run(self) -> (Run, String) {
        let record = format!("reports/runs/notes/{}.jsonl", self.plan.scenario.replace('/', "-"));
        let history = History { events: self.events };
        (Run { plan: self.plan, history, complete: true }, record)
    }
}

/// A retry that is answered from the receipt.
pub(crate) fn kept() -> (Run, String) {
    let play = Play::of(KEYED, "receipt/plain-retry", RETRY).started().sent("first");
    let play = play.replied("first", "1", false).counted(&["1"]).sent("again").replied("again", "1", true);
    play.counted(&["1"])
        .settling()
        .sent("settle note #1")
        .replied("settle note #1", "1", true)
        .counted(&["1"])
        .run()
}

/// A retry after a crash that makes the effect again.
pub(crate) fn twice(name: &str) -> (Run, String) {
    let play = Play::of(KEYED, name, CRASH).started().sent("first").crashed("first").counted(&["1"]);
    let play = play.started().sent("again").replied("again", "2", false).counted(&["1", "2"]).settling();
    play.sent("settle note #1").replied("settle note #1", "2", true).counted(&["1", "2"]).run()
}

/// A keyless call repeated, after which the store has these rows.
pub(crate) fn repeated(name: &str, ids: &[&str], answers: [&str; 2]) -> (Run, String) {
    let play = Play::of(KEYLESS, name, RETRY).started().sent("first").replied("first", answers[0], false);
    play.sent("again").replied("again", answers[1], false).settling().counted(ids).run()
}
