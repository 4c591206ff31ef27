//! How many plans are played at a time, over all that is played together.

use std::sync::Arc;

use tokio::sync::watch;

/// Places for plays. Clones share them.
#[derive(Debug, Clone)]
pub struct Slots {
    taken: Arc<watch::Sender<Taken>>,
    all: usize,
}

#[derive(Debug, Default)]
struct Taken {
    /// How many places are taken; for a moment there may be more than there are, see [`Slot::lend`].
    places: usize,
    /// How many plays wait for time to pass and have lent their place.
    lent: usize,
    /// How many wait until nobody plays; nobody else begins meanwhile.
    wait_for_all: usize,
}

/// A place for one play; dropping it gives it back.
#[derive(Debug)]
pub struct Slot {
    slots: Slots,
    places: usize,
}

impl Slots {
    /// So many places, at least one.
    pub fn new(all: usize) -> Slots {
        Slots { taken: Arc::new(watch::channel(Taken::default()).0), all: all.max(1) }
    }

    /// How many places there are.
    pub fn all(&self) -> usize {
        self.all
    }

    /// A place, as soon as one is free.
    pub async fn one(&self) -> Slot {
        self.take(1, |taken, all| taken.places < all && taken.wait_for_all == 0).await
    }

    /// Every place, as soon as nobody plays: what is played in it has the machine to itself.
    pub async fn every(&self) -> Slot {
        self.taken.send_modify(|taken| taken.wait_for_all += 1);
        let _waiting = Undo(self, |taken| taken.wait_for_all -= 1);
        self.take(self.all, |taken, _| taken.places == 0 && taken.lent == 0).await
    }

    async fn take(&self, places: usize, may: impl Fn(&Taken, usize) -> bool) -> Slot {
        let mut changes = self.taken.subscribe();
        loop {
            let took = self.taken.send_if_modified(|taken| {
                let free = may(taken, self.all);
                taken.places += if free { places } else { 0 };
                free
            });
            if took {
                return Slot { slots: self.clone(), places };
            }
            // The sender is ours, so that it is there as long as we wait.
            let _ = changes.changed().await;
        }
    }
}

impl Slot {
    /// Does something that only waits for time to pass, while somebody else may play. The place is taken
    /// back at once, whether or not it is free: a limit that is over cannot wait.
    pub(crate) async fn lend<T>(&self, wait: impl Future<Output = T>) -> T {
        self.slots.taken.send_modify(|taken| {
            taken.places -= self.places;
            taken.lent += 1;
        });
        let places = self.places;
        let _lent = Undo(&self.slots, move |taken: &mut Taken| {
            taken.places += places;
            taken.lent -= 1;
        });
        wait.await
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.taken.send_modify(|taken| taken.places -= self.places);
    }
}

/// Takes a change back, also where the work is given up in the middle.
struct Undo<'s, F: Fn(&mut Taken)>(&'s Slots, F);

impl<F: Fn(&mut Taken)> Drop for Undo<'_, F> {
    fn drop(&mut self) {
        self.0.taken.send_modify(&self.1);
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use super::Slots;

    #[tokio::test]
    async fn a_lent_place_is_somebody_elses_and_taken_back_at_once() {
        let slots = Slots::new(1);
        let first = slots.one().await;
        let second = first.lend(slots.one()).await;
        assert_eq!(slots.taken.borrow().places, 2, "the first does not wait for the second");
        drop((first, second));
        assert_eq!(slots.taken.borrow().places, 0);
    }

    #[tokio::test]
    async fn who_wants_every_place_waits_for_all_and_lets_nobody_begin() {
        let slots = Slots::new(2);
        let playing = slots.one().await;
        let every = slots.every();
        tokio::pin!(every);
        tokio::select! {
            biased;
            _ = &mut every => panic!("somebody plays"),
            _ = slots.one() => panic!("somebody waits for every place"),
            () = ready(()) => {}
        }
        playing
            .lend(async {
                tokio::select! {
                    biased;
                    _ = &mut every => panic!("who has lent a place plays too"),
                    () = ready(()) => {}
                }
            })
            .await;
        drop(playing);
        drop(every.await);
        drop(slots.one().await);
        assert_eq!(slots.taken.borrow().places, 0);
    }
}
