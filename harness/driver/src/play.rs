//! Plays one plan: starts the target, walks the steps, settles, counts, and gives the run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nottwice_model::fault::{At, Do, Fault};
use nottwice_model::history::{CountedFrom, Outcome, What};
use nottwice_model::plan::{Identity, Plan, PlannedCall, PlannedStep};
use nottwice_model::run::Run;
use nottwice_model::scenario::{Act, Bound, Connection, Side, Until};
use nottwice_model::target::{Credential, Era, Hook, Limit};
use tokio::task::JoinHandle;

use crate::caller::{Attempt, Caller, Signals};
use crate::clock::Watchdog;
use crate::connect::Fleet;
use crate::error::DriveError;
use crate::hook;
use crate::lock::Lock;
use crate::oracle::{self, Counting};
use crate::place::{Place, Setting};
use crate::recorder::Recorder;
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
    pub(crate) standing: BTreeMap<String, Standing>,
    begun: bool,
    pub(crate) lock: Option<Lock>,
    pub(crate) revoked: bool,
}

/// Plays a plan and records it, line by line, in a file if one is named.
///
/// # Errors
/// The target could not be started or counted at all. What goes wrong later is an event of the run.
pub async fn play(setting: &Setting, plan: &Plan, record: Option<&Path>) -> Result<Played, DriveError> {
    play_until(setting, plan, record, true).await
}

/// The same, and says whether to settle: a probe only asks, and promises nothing about what comes after.
pub(crate) async fn play_until(
    setting: &Setting,
    plan: &Plan,
    record: Option<&Path>,
    settled: bool,
) -> Result<Played, DriveError> {
    let place = Arc::new(Place::new(setting)?);
    let recorder = Recorder::new(plan, record, secrets(setting))?;
    let era = plan.survey.era.unwrap_or(Era::Legacy);
    let fleet = Fleet::new(place.clone(), era, recorder.clone());
    let plan = Arc::new(plan.clone());
    let watchdog = Watchdog::start();
    let mut player = Player {
        plan,
        place,
        recorder,
        fleet,
        standing: BTreeMap::new(),
        begun: false,
        lock: None,
        revoked: false,
    };
    let complete = match player.whole(settled).await {
        Ok(()) => true,
        Err(error) if !player.begun => return Err(error),
        Err(error) => {
            player.recorder.add(What::Trouble { what: error.to_string() });
            false
        }
    };
    player.fleet.end().await;
    player.recorder.add(What::Lag { millis: watchdog.stop() });
    let (history, unrecorded) = player.recorder.finish(complete);
    Ok(Played { run: Run { plan: (*player.plan).clone(), history, complete }, unrecorded })
}

/// Credentials that must not be written down; very short ones would blot out ordinary text.
fn secrets(setting: &Setting) -> Vec<String> {
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
    async fn whole(&mut self, settled: bool) -> Result<(), DriveError> {
        let first = self.plan.steps.iter().find_map(|step| match step {
            PlannedStep::Call(call) => Some((call.worker, self.who(call.identity))),
            _ => None,
        });
        if let Some((worker, who)) = first {
            self.fleet.line(worker, who, false).await?;
        }
        self.count().await?;
        let plan = self.plan.clone();
        for step in &plan.steps {
            match step {
                PlannedStep::Call(call) => self.call(call).await?,
                PlannedStep::Await(name) => self.wait(name).await,
                PlannedStep::Act(act) => self.act(act).await?,
            }
            self.undress().await?;
            self.count().await?;
        }
        self.let_all_go().await?;
        self.undress().await?;
        if settled { self.settle().await } else { Ok(()) }
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
        let copies = fault.is_some_and(|fault| fault.at == At::Request && fault.deed == Do::Duplicate);
        let by_connection = self.place.target().reach.transport == nottwice_model::target::Transport::Http;
        let second =
            if copies && by_connection { Some(self.fleet.line(call.worker, who, true).await?) } else { None };
        let attempt = Attempt {
            call: call.name.clone(),
            identity: call.identity,
            variant: call.variant,
            keyed: call.keyed,
            worker: call.worker,
            request_id: call.request_id,
            fault,
        };
        let signals = Signals::new();
        let caller = self.caller(line.clone(), second, attempt, signals.clone());
        self.begun = true;
        let task = tokio::spawn(caller.attempt());
        let hold = fault.is_some_and(|fault: Fault| fault.deed == Do::Hold);
        let hook = self.hook(fault).filter(|_| hold).cloned();
        self.standing.insert(call.name.clone(), Standing { task, signals, line, hold, hook });
        self.until(&call.name, call.until).await;
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

    async fn act(&mut self, act: &Act) -> Result<(), DriveError> {
        match act {
            Act::Kill { worker } => self.fleet.kill(*worker).await,
            Act::Stop { worker } => self.fleet.stop(*worker).await,
            Act::Restart { worker } => self.fleet.restart(*worker).await?,
            Act::Release { call } => self.release(call),
            Act::Abandon { call } => self.abandon(call).await?,
            Act::Resume { worker } => self.fleet.resume(*worker),
            Act::HoldLock => self.hold_lock().await?,
            Act::ReleaseLock => self.release_lock().await?,
            Act::Pass { limit, to } => self.pass(*limit, *to).await,
            Act::Revoke => self.access(true).await?,
            Act::Grant => self.access(false).await?,
            Act::Rotate => self.rotate().await?,
            // The planner has spread it into calls.
            Act::Observe | Act::Fill { .. } => {}
        }
        Ok(())
    }

    async fn hold_lock(&mut self) -> Result<(), DriveError> {
        let lock = Lock::hold(&self.place).await?;
        self.recorder.add(What::LockHeld { proof: lock.proof.clone() });
        self.lock = Some(lock);
        Ok(())
    }

    async fn release_lock(&mut self) -> Result<(), DriveError> {
        if let Some(lock) = self.lock.take() {
            let held = lock.release().await?;
            self.recorder.add(What::LockFreed { held });
        }
        Ok(())
    }

    /// Waits until a limit is nearly or just over. A receipt's window counts from the last answer; a lease
    /// counts from now, since only the server knows when it was taken.
    async fn pass(&self, limit: Bound, to: Side) {
        let facts = &self.plan.target;
        let (bound, since) = match limit {
            Bound::Retention => (facts.retention.window, self.recorder.since_last_end()),
            Bound::Lease => (facts.recovery.lease, Duration::ZERO),
        };
        let Some(bound) = bound.map(Limit::duration) else { return };
        let until = match to {
            Side::JustInside => bound.mul_f64(0.55),
            Side::JustPast => bound.mul_f64(1.1),
        };
        tokio::time::sleep(until.saturating_sub(since)).await;
        self.recorder.add(What::Passed { limit, to });
    }

    fn release(&mut self, call: &str) {
        if let Some(standing) = self.standing.get_mut(call) {
            standing.signals.release.notify_one();
            standing.hold = false;
        }
    }

    /// The caller leaves: its task ends, and with it the connection. What the call stands at inside the
    /// server is let go, or it would stand there for ever.
    async fn abandon(&mut self, call: &str) -> Result<(), DriveError> {
        let Some(mut standing) = self.standing.remove(call) else { return Ok(()) };
        standing.task.abort();
        let _ = (&mut standing.task).await;
        standing.line.link.close().await;
        self.recorder.add(What::Abandoned { call: call.to_owned() });
        if let Some(hook) = &standing.hook {
            hook::let_go(&self.place, &standing.line, hook).await?;
            self.recorder.add(What::Released { call: call.to_owned() });
        }
        Ok(())
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

    /// Counts the stores, from a copy if nothing of the server runs. Where the server is asked itself, only
    /// while nothing is under way.
    pub(crate) async fn count(&mut self) -> Result<(), DriveError> {
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
            self.recorder.add(What::Counted { began, from, ledger });
        }
        Ok(())
    }
}

/// Waits for a call's task. A panic in it is the harness's own failure and is written down as such.
async fn finish(task: &mut JoinHandle<Outcome>, recorder: &Recorder) {
    if let Err(panic) = task.await
        && panic.is_panic()
    {
        recorder.add(What::Trouble { what: "the harness itself failed in a call".to_owned() });
    }
}
