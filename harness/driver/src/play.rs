//! Plays one plan: starts the target, walks the steps, settles, counts, and gives the run.

mod act;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nottwice_model::fault::{At, Do, Fault};
use nottwice_model::history::{CountedFrom, Outcome, What};
use nottwice_model::plan::{Identity, Plan, PlannedCall, PlannedStep};
use nottwice_model::run::Run;
use nottwice_model::scenario::{Connection, Until};
use nottwice_model::target::{Credential, Era, Hook, Limit};
use tokio::task::{JoinError, JoinHandle, JoinSet};

use crate::caller::{Attempt, Caller, Signals};
use crate::clock::Watchdog;
use crate::connect::Fleet;
use crate::error::DriveError;
use crate::lock::Lock;
use crate::oracle::{self, Counting};
use crate::place::{Place, Setting};
use crate::recorder::Recorder;
use crate::slots::Slot;
use crate::turns::Turn;
use crate::worker::Who;

/// A run, and whether its record on disk is whole.
#[derive(Debug)]
pub struct Played {
    /// The run.
    pub run: Run,
    /// The first error of writing the record; the run itself is whole.
    pub unrecorded: Option<std::io::Error>,
}

/// A call that a step left standing.
pub(crate) struct Standing {
    task: JoinHandle<Outcome>,
    signals: Arc<Signals>,
    line: crate::connect::Line,
    /// The id of its request on the wire.
    request_id: u64,
    hold: bool,
    /// The hook that makes it stand inside the server.
    hook: Option<Hook>,
}

/// A play that is given up takes its calls with it.
impl Drop for Standing {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One play in progress.
pub(crate) struct Player {
    pub(crate) plan: Arc<Plan>,
    pub(crate) place: Arc<Place>,
    pub(crate) recorder: Recorder,
    pub(crate) fleet: Fleet,
    /// What is different for a plan that takes its turn on a server that others use too.
    pub(crate) turn: Option<Turn>,
    slot: Option<Arc<Slot>>,
    pub(crate) standing: BTreeMap<String, Standing>,
    begun: bool,
    pub(crate) lock: Option<Lock>,
    pub(crate) revoked: bool,
}

/// Plays a plan on a server of its own and records it, line by line, in a file if one is named. While it
/// only waits for a declared limit to pass, others may use its slot.
///
/// # Errors
/// The target could not be started or counted at all. What goes wrong later is an event of the run.
pub async fn play(
    setting: &Setting,
    plan: &Plan,
    record: Option<&Path>,
    slot: Option<Arc<Slot>>,
) -> Result<Played, DriveError> {
    play_until(setting, plan, record, slot, true).await
}

/// The same, and says whether to settle: a probe only asks, and promises nothing about what comes after.
pub(crate) async fn play_until(
    setting: &Setting,
    plan: &Plan,
    record: Option<&Path>,
    slot: Option<Arc<Slot>>,
    settled: bool,
) -> Result<Played, DriveError> {
    let place = Arc::new(Place::new(setting)?);
    let recorder = Recorder::idle(secrets(setting));
    recorder.begin(plan, record)?;
    let era = plan.survey.era.unwrap_or(Era::Legacy);
    let fleet = Fleet::new(place, era, recorder);
    let mut player = Player::new(plan, fleet, slot);
    let watchdog = Watchdog::start();
    let complete = player.play_through(settled).await;
    // However it ended, no process may be left.
    player.fleet.end().await;
    Ok(player.finish(complete?, &watchdog))
}

/// Credentials that must not be written down; very short ones would blot out ordinary text.
pub(crate) fn secrets(setting: &Setting) -> Vec<String> {
    let credentials = setting.target.principals.iter().flat_map(|principal| &principal.credentials);
    let values = credentials.map(|credential| match credential {
        Credential::Header { value, .. } | Credential::Env { value, .. } => value.clone(),
    });
    let mut secrets: Vec<_> = values.filter(|value| value.len() >= 8).collect();
    // One may be a part of another.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets
}

impl Player {
    pub(crate) fn new(plan: &Plan, fleet: Fleet, slot: Option<Arc<Slot>>) -> Player {
        Player {
            plan: Arc::new(plan.clone()),
            place: fleet.place.clone(),
            recorder: fleet.recorder.clone(),
            fleet,
            turn: None,
            slot,
            standing: BTreeMap::new(),
            begun: false,
            lock: None,
            revoked: false,
        }
    }

    /// Plays it, and says whether it came to its end.
    ///
    /// # Errors
    /// Nothing could be asked at all.
    pub(crate) async fn play_through(&mut self, settled: bool) -> Result<bool, DriveError> {
        match self.whole(settled).await {
            Ok(()) => Ok(true),
            Err(error) if !self.begun => Err(error),
            Err(error) => {
                self.recorder.add(What::Trouble { what: error.to_string() });
                Ok(false)
            }
        }
    }

    /// The run, once nothing is added to it any more.
    pub(crate) fn finish(&self, complete: bool, watchdog: &Watchdog) -> Played {
        self.recorder.add(What::Lag { millis: watchdog.stop() });
        let (history, unrecorded) = self.recorder.finish(complete);
        Played { run: Run { plan: (*self.plan).clone(), history, complete }, unrecorded }
    }

    async fn whole(&mut self, settled: bool) -> Result<(), DriveError> {
        let first = self.plan.calls().next().map(|call| (call.worker, self.who(call.identity)));
        if let Some((worker, who)) = first {
            self.fleet.line(worker, who, false).await?;
        }
        self.fleet.keeps_inside()?;
        self.count().await?;
        let plan = self.plan.clone();
        for step in &plan.steps {
            match step {
                PlannedStep::Call(call) => self.call(call).await?,
                PlannedStep::Together(calls) => self.together(calls).await?,
                PlannedStep::Await(name) => self.wait(name).await,
                PlannedStep::Act(act) => self.act(act).await?,
            }
            self.undress().await?;
            self.count().await?;
        }
        self.let_all_go().await?;
        self.undress().await?;
        if settled {
            self.settle().await?;
        }
        self.fleet.keeps_inside()
    }

    /// The attempt that a planned call asks for.
    fn attempt(&self, call: &PlannedCall) -> Attempt {
        Attempt { request_id: self.request_id(call.request_id), ..Attempt::of(call) }
    }

    /// The id on the wire: on a server that others use too none is ever used again.
    pub(crate) fn request_id(&self, planned: u64) -> u64 {
        self.turn.as_ref().map_or(planned, |turn| turn.request_id(planned))
    }

    /// A call that stands at a worker, if one does.
    pub(crate) fn standing_at(&self, worker: u8) -> Option<&str> {
        let at = |standing: &Standing| {
            standing.line.worker.as_ref().is_some_and(|running| running.seat.worker == worker)
        };
        self.standing.iter().find(|(_, standing)| at(standing)).map(|(name, _)| name.as_str())
    }

    /// Who calls for an identity.
    pub(crate) fn who(&self, identity: usize) -> Who {
        let Identity { role, place, .. } = self.plan.identities[identity];
        Who { role, place }
    }

    async fn call(&mut self, call: &PlannedCall) -> Result<(), DriveError> {
        let fault = call.fault;
        let fresh = call.connection == Connection::New;
        let who = self.who(call.identity);
        self.dress(call.worker, fault).await?;
        let line = self.fleet.line(call.worker, who, fresh).await?;
        let copies = fault
            .is_some_and(|fault| fault.at == At::Request && matches!(fault.deed, Do::Duplicate | Do::Double));
        let by_connection = self.place.target().reach.transport.over_http();
        let second =
            if copies && by_connection { Some(self.fleet.line(call.worker, who, true).await?) } else { None };
        let attempt = self.attempt(call);
        let request_id = attempt.request_id;
        let signals = Signals::new();
        let caller = self.caller(line.clone(), second, attempt, signals.clone());
        self.begun = true;
        let task = tokio::spawn(caller.attempt());
        let hold = fault.is_some_and(|fault: Fault| fault.deed == Do::Hold);
        let hook = self.hook(fault).filter(|_| hold).cloned();
        self.standing.insert(call.name.clone(), Standing { task, signals, line, request_id, hold, hook });
        match self.slot.clone().filter(|_| self.lock.is_some()) {
            // It waits for the store until its own timeout has passed.
            Some(slot) => slot.lend(self.until(&call.name, call.until)).await,
            None => self.until(&call.name, call.until).await,
        }
        Ok(())
    }

    /// Many callers at one time: every connection is open before the first request is sent.
    async fn together(&mut self, calls: &[PlannedCall]) -> Result<(), DriveError> {
        let apart = self.place.target().reach.transport.over_http();
        let mut callers = Vec::new();
        for call in calls {
            let line = self.fleet.line(call.worker, self.who(call.identity), apart).await?;
            callers.push(self.caller(line, None, self.attempt(call), Signals::new()));
        }
        self.begun = true;
        let mut tasks = JoinSet::new();
        for caller in callers {
            tasks.spawn(caller.attempt());
        }
        while let Some(joined) = tasks.join_next().await {
            note_panic(joined.err(), &self.recorder);
        }
        Ok(())
    }

    pub(crate) fn caller(
        &self,
        line: crate::connect::Line,
        second: Option<crate::connect::Line>,
        attempt: Attempt,
        signals: Arc<Signals>,
    ) -> Caller {
        let (plan, place, recorder) = (self.plan.clone(), self.place.clone(), self.recorder.clone());
        Caller { plan, place, recorder, line, second, attempt, signals }
    }

    /// Waits for the end of a call step. A call that still stands stays in the list.
    async fn until(&mut self, name: &str, until: Until) {
        let Some(standing) = self.standing.get_mut(name) else { return };
        let mut reached = standing.signals.reached.subscribe();
        let ended = match until {
            Until::Answered => {
                finish(&mut standing.task, &self.recorder).await;
                true
            }
            Until::Reached | Until::ReachedOrAnswered => {
                tokio::select! {
                    biased;
                    _ = reached.wait_for(|reached| *reached) => false,
                    () = finish(&mut standing.task, &self.recorder) => true,
                }
            }
            Until::AnsweredOrBlocked => {
                let limits = &self.plan.target.limits;
                let declared = limits.in_flight.or(limits.lock_timeout);
                let bound = declared.unwrap_or(Limit::from_millis(1_000));
                let answered = finish(&mut standing.task, &self.recorder);
                tokio::time::timeout(bound.with_tolerance(), answered).await.is_ok()
            }
        };
        if ended {
            self.standing.remove(name);
        }
    }

    async fn wait(&mut self, name: &str) {
        if let Some(mut standing) = self.standing.remove(name) {
            finish(&mut standing.task, &self.recorder).await;
        }
    }

    /// Nothing stands after the last step: holds end, paused workers go on, the lock is freed, access is
    /// given back, and every call is waited for.
    async fn let_all_go(&mut self) -> Result<(), DriveError> {
        let paused: Vec<_> = self.recorder.paused();
        for worker in paused {
            self.fleet.resume(worker);
        }
        self.release_lock().await?;
        if self.revoked {
            self.access(false).await?;
        }
        let names: Vec<_> = self.standing.keys().cloned().collect();
        for name in &names {
            self.release(name);
        }
        for name in &names {
            self.wait(name).await;
        }
        Ok(())
    }

    /// Waits until what has been done must be at the store, where the target says that it may be late. False
    /// while the server cannot bring it there: then the store would be found short of it.
    async fn delivered(&self) -> bool {
        let Some(visible) = self.plan.target.effect.visible else { return true };
        let free = self.lock.is_none() && self.recorder.paused().is_empty();
        if !(free && self.fleet.all_alive().await) {
            return false;
        }
        self.linger(visible.with_tolerance()).await;
        true
    }

    /// Lets time pass, while others may use the slot.
    pub(crate) async fn linger(&self, time: Duration) {
        let wait = tokio::time::sleep(time);
        match &self.slot {
            Some(slot) => slot.lend(wait).await,
            None => wait.await,
        }
    }

    /// Counts the stores, from a copy if nothing of the server runs. Where the server is asked itself, only
    /// while nothing is under way.
    pub(crate) async fn count(&mut self) -> Result<(), DriveError> {
        if !self.delivered().await {
            return Ok(());
        }
        let Some(askers) = self.askers().await? else { return Ok(()) };
        let from = match self.fleet.any_alive().await {
            true if askers.is_empty() => CountedFrom::Running,
            true => CountedFrom::Asked,
            false => CountedFrom::Copy,
        };
        let may_be_absent = !self.recorder.has_acknowledged();
        let began = self.recorder.len();
        let counting = Counting { place: self.place.clone(), from, askers };
        if let Some(ledger) = oracle::count(&counting, may_be_absent).await? {
            let ledger = match &mut self.turn {
                Some(turn) => turn.own(&self.plan, ledger),
                None => ledger,
            };
            self.recorder.add(What::Counted { began, from, ledger });
        }
        Ok(())
    }
}

/// Waits for a call's task. A panic in it is the harness's own failure and is written down as such.
async fn finish(task: &mut JoinHandle<Outcome>, recorder: &Recorder) {
    note_panic(task.await.err(), recorder);
}

fn note_panic(error: Option<JoinError>, recorder: &Recorder) {
    if error.is_some_and(|error| error.is_panic()) {
        recorder.add(What::Trouble { what: "the harness itself failed in a call".to_owned() });
    }
}
