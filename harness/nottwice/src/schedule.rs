//! Who plays when: which plans share a server, who begins first, and who is played again alone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, PoisonError};

use nottwice_driver::{DriveError, Ended, Ends, Setting, Shared, Slot, Slots, play, play_in_turn};
use nottwice_model::run::Run;
use nottwice_model::{repeat, verdict};
use tokio::task::JoinSet;

use crate::Failure;
use crate::campaign::interrupted;

/// What has been played so far.
#[derive(Default)]
pub(crate) struct Played {
    /// Runs with their records, by the place of their plan.
    pub(crate) runs: BTreeMap<usize, (Run, String)>,
    /// Why the target could not be started or counted.
    pub(crate) failure: Option<String>,
    /// What the user should know about the records.
    pub(crate) warnings: Vec<String>,
    /// Whether somebody ended it early.
    pub(crate) interrupted: bool,
}

/// In which company plans are played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Company {
    /// They take turns on one server.
    Shared,
    /// On a server of its own, while others are played beside it.
    Beside,
    /// On a server of its own, while nothing else is played.
    Alone,
}

/// Plans that are played in one slot, by their places.
#[derive(Debug)]
struct Job {
    company: Company,
    places: Vec<usize>,
}

/// What came of a job: the turns that have ended, and why it ended early.
type Done = (usize, Result<(), DriveError>);

/// One campaign at work.
pub(crate) struct Schedule {
    setting: Setting,
    slots: Slots,
    plans: Vec<Shared>,
    queue: VecDeque<Job>,
    /// What needs the machine to itself, after everything else.
    alone: VecDeque<usize>,
    begun: Vec<(Job, Ends)>,
    playing: JoinSet<Done>,
    all: Played,
}

impl Schedule {
    /// Puts plans in order: first those that wait for limits, the longest first, then those that share.
    pub(crate) fn new(setting: &Setting, slots: &Slots, plans: Vec<Shared>) -> Schedule {
        let (mut sharing, mut own): (Vec<usize>, Vec<usize>) =
            (0..plans.len()).partition(|place| plans[*place].plan.shares());
        if sharing.len() == 1 {
            own.append(&mut sharing);
        }
        own.sort_by_key(|place| Reverse(plans[*place].plan.waits()));
        let waiting = own.iter().filter(|place| !plans[**place].plan.waits().is_zero()).count();
        let beside = |place: &usize| Job { company: Company::Beside, places: vec![*place] };
        let mut queue: VecDeque<_> = own[..waiting].iter().map(beside).collect();
        queue.extend(batches(&sharing, slots));
        queue.extend(own[waiting..].iter().map(beside));
        Schedule {
            setting: setting.clone(),
            slots: slots.clone(),
            plans,
            queue,
            alone: VecDeque::new(),
            begun: Vec::new(),
            playing: JoinSet::new(),
            all: Played::default(),
        }
    }

    /// Plays everything; the order of the runs is that of the plans, however they end.
    pub(crate) async fn play(mut self) -> Result<Played, Failure> {
        let interrupt = interrupted();
        tokio::pin!(interrupt);
        loop {
            if !self.queue.is_empty() || !self.playing.is_empty() {
                tokio::select! {
                    biased;
                    () = &mut interrupt, if !self.all.interrupted => self.give_up(),
                    Some(joined) = self.playing.join_next() => match joined {
                        Ok((number, ended)) => self.ended(number, ended),
                        Err(error) if error.is_cancelled() => {}
                        Err(error) => return Err(Failure::Harness(error.to_string())),
                    },
                    slot = self.slots.one(), if !self.queue.is_empty() => self.begin(slot),
                }
            } else if let Some(place) = self.alone.pop_front() {
                tokio::select! {
                    biased;
                    () = &mut interrupt, if !self.all.interrupted => self.give_up(),
                    slot = self.slots.every() => {
                        self.queue.push_front(Job { company: Company::Alone, places: vec![place] });
                        self.begin(slot);
                    }
                }
            } else {
                return Ok(self.interrupted_turns());
            }
        }
    }

    /// Somebody interrupted: dropping a play ends every process that it started.
    fn give_up(&mut self) {
        self.all.interrupted = true;
        self.queue.clear();
        self.alone.clear();
        self.playing.abort_all();
    }

    /// Begins the next job in a slot.
    fn begin(&mut self, slot: Slot) {
        let Some(job) = self.queue.pop_front() else { return };
        let (setting, slot, number) = (self.setting.clone(), Arc::new(slot), self.begun.len());
        let plans: Vec<_> = job.places.iter().map(|place| self.plans[*place].clone()).collect();
        let ends = Ends::default();
        let company = job.company;
        self.begun.push((job, ends.clone()));
        self.playing.spawn(async move {
            let ended = match (company, plans.as_slice()) {
                (Company::Beside | Company::Alone, [Shared { plan, record }]) => {
                    let played = play(&setting, plan, record.as_deref(), Some(slot)).await;
                    played.map(|played| put(&ends, Ended { played, undisturbed: true }))
                }
                _ => play_in_turn(&setting, &plans, &slot, &ends).await,
            };
            (number, ended)
        });
    }

    /// Takes what came of a job, and plays again what is no last word.
    fn ended(&mut self, number: usize, ended: Result<(), DriveError>) {
        let (job, ends) = &self.begun[number];
        let (company, ends) = (job.company, take(ends));
        let (places, played) = (job.places.clone(), ends.len());
        for (place, ended) in places.iter().zip(ends) {
            self.take(*place, company, ended);
        }
        match ended {
            Err(error) => drop(self.all.failure.get_or_insert(error.to_string())),
            Ok(()) => places[played..].iter().for_each(|place| self.again(*place)),
        }
    }

    /// Plays a plan again on a server of its own, before others begin.
    fn again(&mut self, place: usize) {
        self.queue.push_front(Job { company: Company::Beside, places: vec![place] });
    }

    fn take(&mut self, place: usize, company: Company, ended: Ended) {
        let run = &ended.played.run;
        match company {
            Company::Shared if !(ended.undisturbed && stands_in_company(run)) => return self.again(place),
            Company::Beside if !repeat::stands_beside_others(run, &verdict::judge(run)) => {
                self.alone.push_back(place);
            }
            _ => {}
        }
        self.keep(place, ended);
    }

    fn keep(&mut self, place: usize, ended: Ended) {
        let record = self.plans[place].record.as_ref();
        let record = record.map(|path| path.display().to_string()).unwrap_or_default();
        if let Some(error) = ended.played.unrecorded {
            self.all.warnings.push(format!("the record {record} ends early: {error}"));
        }
        self.all.runs.insert(place, (ended.played.run, record));
    }

    /// What was played until an interruption. Of turns that the rest of their company did not outlive only
    /// those stand in which everything was kept: nothing else was played again.
    fn interrupted_turns(mut self) -> Played {
        for (job, ends) in std::mem::take(&mut self.begun) {
            for (place, ended) in job.places.into_iter().zip(take(&ends)) {
                if stands_in_company(&ended.played.run) {
                    self.keep(place, ended);
                }
            }
        }
        self.all
    }
}

fn stands_in_company(run: &Run) -> bool {
    repeat::stands_in_company(run, &verdict::judge(run))
}

/// The plans that share, dealt to as many servers as the machine has cores.
fn batches(sharing: &[usize], slots: &Slots) -> Vec<Job> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(slots.all());
    let each = sharing.len().div_ceil(cores).max(1);
    let job = |places: &[usize]| Job { company: Company::Shared, places: places.to_vec() };
    sharing.chunks(each).map(job).collect()
}

fn put(ends: &Ends, ended: Ended) {
    ends.lock().unwrap_or_else(PoisonError::into_inner).push(ended);
}

fn take(ends: &Ends) -> Vec<Ended> {
    std::mem::take(&mut *ends.lock().unwrap_or_else(PoisonError::into_inner))
}
