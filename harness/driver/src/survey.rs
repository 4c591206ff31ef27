//! Finds out what a target can do, in a throw-away process on a throw-away state folder.

use nottwice_model::ability::Ability;
use nottwice_model::history::{Outcome, What};
use nottwice_model::ledger::Row;
use nottwice_model::plan;
use nottwice_model::reply::Class;
use nottwice_model::scenario::{Arguments, Scenario};
use nottwice_model::survey::{Survey, declared, restarting};
use nottwice_model::target::{Era, KeyPlace, Transport};
use serde_json::Value;

use crate::connect::Fleet;
use crate::error::DriveError;
use crate::mcp::{self, Listed};
use crate::place::{Place, Setting};
use crate::play::play_until;
use crate::recorder::Recorder;
use crate::transports::mcp_stdio::StdioLink;
use crate::worker::{Seat, Worker};

/// Surveys a target: its era and tools, and how its key is seen to arrive.
///
/// `probe` is a scenario that calls without the key, then twice with it, then with other arguments; its
/// answers are evidence about the key and nothing else.
///
/// # Errors
/// The target could not be started, reached or counted.
pub async fn survey(setting: &Setting, file: &str, probe: &Scenario) -> Result<Survey, DriveError> {
    let target = &setting.target;
    let (abilities, restarting) = (declared(target), restarting(target));
    let mut survey = Survey { abilities, restarting, ..Survey::default() };
    let probed = if target.reach.transport.speaks_mcp() {
        described_and_probed(setting, file, &mut survey, probe).await?
    } else {
        probed(setting, file, &survey, probe).await?
    };
    if target.reach.transport == Transport::McpHttp && survey.era == Some(Era::Legacy) {
        survey.abilities.insert(Ability::Cancel, "it speaks in the legacy era".to_owned());
    }
    if survey.described.get("outputSchema").is_some_and(Value::is_object) {
        survey.abilities.insert(Ability::OutputSchema, "tools/list".to_owned());
    }
    if let KeyPlace::Arguments(pointer) = &target.key.at
        && in_schema(&survey.described, pointer)
    {
        survey.key_seen = Some("the published input schema has it there".to_owned());
    }
    if probed.in_store {
        survey.abilities.insert(Ability::Receipts, "the key of a call stands in the receipts".to_owned());
    }
    survey.key_seen = survey.key_seen.or(probed.sign);
    Ok(survey)
}

/// Asks for era and tools while the probe is played already in the era that is tried first; if it is
/// another, that probe is given up.
async fn described_and_probed(
    setting: &Setting,
    file: &str,
    survey: &mut Survey,
    probe: &Scenario,
) -> Result<Probed, DriveError> {
    let first = setting.target.reach.era.unwrap_or(Era::Modern);
    let guess = Survey { era: Some(first), ..survey.clone() };
    let describing = describe(setting);
    let probing = probed(setting, file, &guess, probe);
    tokio::pin!(describing, probing);
    let mut early = None;
    let Described { era, main, streamed } = loop {
        tokio::select! {
            biased;
            described = &mut describing => break described?,
            probed = &mut probing, if early.is_none() => early = Some(probed),
        }
    };
    survey.era = Some(era);
    survey.described = main;
    if streamed {
        survey.abilities.insert(Ability::Events, "tools/list came as one".to_owned());
    }
    match early {
        _ if era != first => probed(setting, file, survey, probe).await,
        Some(probed) => probed,
        None => probing.await,
    }
}

/// Whether a published input schema has a member at a pointer into the arguments.
fn in_schema(described: &Value, pointer: &str) -> bool {
    let place = pointer.replace('/', "/properties/");
    described.pointer(&format!("/inputSchema{place}")).is_some()
}

/// What a server that speaks MCP says of itself.
struct Described {
    era: Era,
    /// What it says of the main tool.
    main: Value,
    /// Whether it answers in a stream of events.
    streamed: bool,
}

/// Asks in which era the server speaks and what it says of the main tool.
async fn describe(setting: &Setting) -> Result<Described, DriveError> {
    let eras: &[Era] = match setting.target.reach.era {
        Some(Era::Legacy) => &[Era::Legacy],
        Some(Era::Modern) => &[Era::Modern],
        None => &[Era::Modern, Era::Legacy],
    };
    let mut failure = DriveError::Protocol("it answers in no era of MCP".to_owned());
    for era in eras {
        match listed(setting, *era).await {
            Ok(Listed { tools, streamed }) => {
                let named = |tool: &Value| tool.get("name").and_then(Value::as_str).map(str::to_owned);
                let there = |name: &String| tools.iter().find(|tool| named(tool).as_ref() == Some(name));
                let missing = setting.target.tools.values().find(|tool| there(&tool.name).is_none());
                if let Some(missing) = missing {
                    return Err(no_such_tool(&missing.name, &tools));
                }
                let main = there(&setting.target.main().name).expect("no tool is missing");
                return Ok(Described { era: *era, main: main.clone(), streamed });
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn no_such_tool(name: &str, tools: &[Value]) -> DriveError {
    let known: Vec<_> = tools.iter().filter_map(|tool| tool.get("name").and_then(Value::as_str)).collect();
    DriveError::Protocol(format!("it has no tool `{name}`; its tools are: {}", known.join(", ")))
}

/// The tools that the server lists in one era. Each era is tried in a process of its own, because some
/// servers stay in the era of their first message, and some die of a message that they do not know.
async fn listed(setting: &Setting, era: Era) -> Result<Listed, DriveError> {
    let place = std::sync::Arc::new(Place::new(setting)?);
    if setting.target.reach.transport == Transport::McpHttp {
        let mut fleet = Fleet::new(place, era, Recorder::idle(Vec::new()));
        let tools = fleet.tools().await;
        fleet.end().await;
        return tools;
    }
    let start = setting.target.start.as_ref().expect("checked: stdio needs a start");
    let recorder = Recorder::idle(Vec::new());
    let seat = Seat { worker: 1, who: None };
    let worker = Worker::start(&place, start, seat, 1, None, &recorder)?;
    let pipes = worker.take_pipes().expect("just started");
    let link = StdioLink::new(0, 1, era, pipes, recorder, worker.heard.clone());
    let asked = async {
        mcp::greet(&link).await.ok()?;
        mcp::tools(&link).await.ok()
    };
    let tools = tokio::time::timeout(start.ready_within.duration(), asked).await;
    // Only a closed pipe is a sign that the server is ending; one that is merely slow is not waited for.
    let (status, said) = match &tools {
        Ok(None) => worker.last_words().await,
        _ => (None, worker.said()),
    };
    worker.kill().await;
    match (tools, status) {
        (Ok(Some(tools)), _) => Ok(tools),
        (_, Some(status)) => Err(DriveError::Died { status, said }),
        (Err(_), None) => Err(DriveError::NotReady { within: start.ready_within.to_string(), said }),
        (Ok(None), None) => Err(DriveError::Protocol(format!("it does not list its tools{said}"))),
    }
}

/// What the probe showed.
#[derive(Default)]
struct Probed {
    /// Any sign that the key arrived.
    sign: Option<String>,
    /// Whether receipts are named by the key.
    in_store: bool,
}

/// Plays the probe and looks for any sign that the key arrived.
async fn probed(
    setting: &Setting,
    file: &str,
    survey: &Survey,
    probe: &Scenario,
) -> Result<Probed, DriveError> {
    if setting.target.key.at == KeyPlace::None {
        return Ok(Probed::default());
    }
    let facts = setting.target.facts(file);
    let without_change: Scenario;
    let probe = if survey.abilities.contains_key(&Ability::Change(Arguments::Other)) {
        probe
    } else {
        without_change = Scenario { steps: unchanged(probe), ..probe.clone() };
        &without_change
    };
    let mut probed = Probed::default();
    let Ok(plans) = plan::plan(probe, &facts, survey, 0, nonce()) else { return Ok(probed) };
    for plan in plans {
        let played = play_until(setting, &plan, None, None, false).await?;
        for event in &played.run.history.events {
            match &event.what {
                What::Ended { call, outcome } => {
                    probed.sign = probed.sign.take().or_else(|| sign(call, outcome))
                }
                What::Counted { ledger, .. } => {
                    let named = |row: &Row| plan.keys.iter().any(|key| row.id.contains(key));
                    probed.in_store |= ledger.receipts.iter().flatten().any(named);
                }
                _ => {}
            }
        }
    }
    if probed.in_store {
        probed.sign.get_or_insert_with(|| "it stands in the server's own store".to_owned());
    }
    Ok(probed)
}

fn unchanged(probe: &Scenario) -> Vec<nottwice_model::scenario::Step> {
    use nottwice_model::scenario::Step;
    let changes = |step: &Step| matches!(step, Step::Call(call) if call.arguments != Arguments::Base);
    probe.steps.iter().filter(|step| !changes(step)).cloned().collect()
}

fn sign(call: &str, outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Refused { class: Class::Invalid, .. } if call == "bare" => {
            Some("a call without it is refused as invalid".to_owned())
        }
        Outcome::Acked(answer) if answer.replayed => {
            Some("a repeated call was marked as a replay".to_owned())
        }
        Outcome::Refused { class: Class::Conflict, .. } => {
            Some("other arguments under it were refused as a conflict".to_owned())
        }
        _ => None,
    }
}

/// A number that no earlier survey of this process used; a survey's state is thrown away with it.
fn nonce() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}
