//! Several plans on one running server, one after the other. Each breaks only its own messages and makes
//! only rows that carry its own labels and keys, so that each run stands as if it had been played alone.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use nottwice_model::history::{CountedFrom, What};
use nottwice_model::ledger::Ledger;
use nottwice_model::plan::Plan;
use nottwice_model::sharing;
use nottwice_model::target::Era;

use crate::clock::Watchdog;
use crate::connect::Fleet;
use crate::error::DriveError;
use crate::oracle::{self, Counting};
use crate::place::{Place, Setting};
use crate::play::{Played, Player, secrets};
use crate::recorder::Recorder;
use crate::slots::Slot;

/// Request ids of one turn are apart from those of the next by more than any plan uses.
const STRIDE: u64 = 1_000_000;

/// A plan that shares a server, and where its run is recorded.
#[derive(Debug, Clone)]
pub struct Shared {
    /// The plan; see [`Plan::shares`].
    pub plan: Plan,
    /// The file of its record; none if absent.
    pub record: Option<PathBuf>,
}

/// How the turn of one plan ended.
#[derive(Debug)]
pub struct Ended {
    /// Its run.
    pub played: Played,
    /// Whether the company is known to have left no mark: the server outlived the turn, and when it was
    /// closed the store held the same effects of this plan and no row that was nobody's.
    pub undisturbed: bool,
}

/// The turns that have ended, put there as they end: what was played is there if the rest is given up.
pub type Ends = Arc<Mutex<Vec<Ended>>>;

/// What is different for a plan that takes its turn.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    number: u64,
    /// What the store held when it was counted first.
    first: Option<Ledger>,
}

impl Turn {
    /// The id on the wire of a planned one.
    pub(crate) fn request_id(&self, planned: u64) -> u64 {
        self.number * STRIDE + planned
    }

    /// What of a count belongs to the plan.
    pub(crate) fn own(&mut self, plan: &Plan, ledger: Ledger) -> Ledger {
        let own = plan.own(&ledger);
        self.first.get_or_insert(ledger);
        own
    }
}

/// Plays plans on one server, one after the other, and puts their ends into `ends`. A plan whose server does
/// not outlive its turn is the last one, so there may be fewer ends than plans.
///
/// # Errors
/// The target could not be started or counted at all by the first plan.
pub async fn play_in_turn(
    setting: &Setting,
    plans: &[Shared],
    slot: &Arc<Slot>,
    ends: &Ends,
) -> Result<(), DriveError> {
    let place = Arc::new(Place::new(setting)?);
    let recorder = Recorder::idle(secrets(setting));
    let era = plans.first().and_then(|first| first.plan.survey.era).unwrap_or(Era::Legacy);
    let mut fleet = Fleet::new(place, era, recorder.clone());
    let mut first = None;
    for (number, shared) in (0..).zip(plans) {
        recorder.begin(&shared.plan, shared.record.as_deref())?;
        fleet.next_turn();
        let mut player = Player::new(&shared.plan, fleet, Some(slot.clone()));
        player.turn = Some(Turn { number, first });
        let watchdog = Watchdog::start();
        let complete = match player.play_through(true).await {
            // A server that died between two turns is no matter of the second plan.
            Err(_) if number > 0 => return Ok(()),
            ended => ended?,
        };
        let played = player.finish(complete, &watchdog);
        let lost = played.run.history.events.iter().any(|event| matches!(event.what, What::Exited { .. }));
        locked(ends).push(Ended { played, undisturbed: false });
        if lost || !complete {
            return Ok(());
        }
        (fleet, first) = (player.fleet, player.turn.and_then(|turn| turn.first));
    }
    close(&mut fleet, first, ends).await;
    Ok(())
}

fn locked(ends: &Ends) -> std::sync::MutexGuard<'_, Vec<Ended>> {
    ends.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts the whole store once more, ends the server, and says whose turn the company did not disturb.
async fn close(fleet: &mut Fleet, first: Option<Ledger>, ends: &Ends) {
    let from = if fleet.any_alive().await { CountedFrom::Running } else { CountedFrom::Copy };
    let counted = match fleet.askers().await {
        Ok(Some(askers)) => {
            let counting = Counting { place: fleet.place.clone(), from, askers };
            oracle::count(&counting, true).await.ok().flatten()
        }
        _ => None,
    };
    fleet.place.close();
    fleet.end().await;
    let (Some(first), Some(last)) = (first, counted) else { return };
    let mut ends = locked(ends);
    let plans: Vec<_> = ends.iter().map(|ended| &ended.played.run.plan).collect();
    let strange = sharing::has_foreign_rows(&plans, &first, &last);
    for ended in ends.iter_mut() {
        let run = &ended.played.run;
        // A late attempt may have left an effect in somebody else's turn.
        let counted = run.last_count().map(|(_, counted)| &counted.effects);
        ended.undisturbed = !strange && counted == Some(&run.plan.own(&last).effects);
    }
}
