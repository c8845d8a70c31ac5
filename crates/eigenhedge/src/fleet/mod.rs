//! Fleets: one model or monitor per key, for sensors, machines or customers whose rows arrive in one stream.
//!
//! Setting: all members have the same options, and each learns only from the rows of its own key. Results of models are
//! bit-for-bit those of a separate stream of these rows. Monitors of new keys may borrow a shared reference
//! ([`Fleet::with_pool`]).
//!
//! Cost per row: one step of a member and one lookup of the key. Memory: one member per key. With a [`Store`], only a
//! limited number of recently used members is in memory. The others are saved as bytes and loaded when their key
//! returns. A quarter of the members is evicted at a time, so that choosing them costs O(1) per row.

mod blocks;
mod member;
mod saved;

pub use member::FleetMember;
pub use saved::{FleetIndex, checked_bytes};

use crate::error::Error;
use crate::learner::Loss;
use crate::model::Model;
use crate::state::length;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Storage for members that have not been used recently.
pub trait Store: Send + Sync {
    /// Stores bytes. Returns a number that identifies them.
    fn put(&mut self, bytes: &[u8]) -> io::Result<u64>;
    /// Returns the bytes that are stored under this number.
    fn get(&mut self, place: u64) -> io::Result<Vec<u8>>;
    /// Deletes the bytes that are stored under this number.
    fn free(&mut self, place: u64);
}

/// A fleet of models or monitors, one per key.
///
/// ```
/// use eigenhedge::{Fleet, Kind, Model, Spec, streams};
///
/// let mut fleet = Fleet::new(Model::new(Spec::new(Kind::Auto, 2), 20, 0)?)?;
/// for (t, row) in streams::three_subspaces(1).iter().enumerate() {
///     let (loss, _model) = fleet.step(if t % 2 == 0 { "left" } else { "right" }, row)?;
///     assert!(loss.expected <= 4.0); // rows of norm 1, around their running mean
/// }
/// assert_eq!(fleet.keys().collect::<Vec<_>>(), ["left", "right"]);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
pub struct Fleet<T> {
    /// Template of new members, with the columns of all members.
    fresh: T,
    common: Option<T>,
    keys: Vec<Arc<str>>,
    positions: HashMap<Arc<str>, usize>,
    places: Vec<Place>,
    slots: Vec<MemberSlot<T>>,
    most: usize,
    store: Option<Box<dyn Store>>,
    clock: u64,
    aligns: bool,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Memory(usize),
    Stored(u64),
}

struct MemberSlot<T> {
    member: T,
    key: usize,
    used: u64,
}

fn cannot_store(error: io::Error) -> Error {
    Error::Store(error.into())
}

impl<T: FleetMember> Fleet<T> {
    /// Creates a fleet whose members are copies of this template. The resume state of the template is cleared. Returns
    /// `Err` for a model that has learned rows, or whose columns are scaled by a warm-up.
    pub fn new(mut fresh: T) -> Result<Self, Error> {
        fresh.check_fresh()?;
        fresh.resume_state_mut().clear();
        Ok(Self {
            fresh,
            common: None,
            keys: Vec::new(),
            positions: HashMap::new(),
            places: Vec::new(),
            slots: Vec::new(),
            most: usize::MAX,
            store: None,
            clock: 0,
            aligns: false,
        })
    }

    /// Limits the number of members in memory as [`Self::set_store`].
    #[must_use]
    pub fn with_store(mut self, most: usize, store: Box<dyn Store>) -> Self {
        self.set_store(most, store);
        self
    }

    /// Limits the number of members in memory to `most`, at least 1. All others are saved in the store. Must be called
    /// before the first row.
    pub fn set_store(&mut self, most: usize, store: Box<dyn Store>) {
        (self.most, self.store) = (most.max(1), Some(store));
    }

    /// Changes the limit on members in memory. Excess members are stored when the next key needs memory.
    pub fn set_most(&mut self, most: usize) {
        self.most = most.max(1);
    }

    /// Returns true if the fleet has a store.
    pub fn has_store(&self) -> bool {
        self.store.is_some()
    }

    /// Returns the template that is copied for each new key, with the columns of all members.
    pub fn fresh(&self) -> &T {
        &self.fresh
    }

    /// Returns the member that all keys share, if any: for monitors, the one with the shared reference.
    pub fn common(&self) -> Option<&T> {
        self.common.as_ref()
    }

    pub(crate) fn common_mut(&mut self) -> &mut Option<T> {
        &mut self.common
    }

    /// Returns the keys in the order of their first rows.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.keys.iter().map(|key| &**key)
    }

    /// Returns the index of a key in [`Self::keys`], or `None` for an unknown key.
    pub fn position(&self, key: &str) -> Option<usize> {
        self.positions.get(key).copied()
    }

    /// Returns the number of members in memory.
    pub fn in_memory(&self) -> usize {
        self.slots.len()
    }

    /// Applies `work` to the template, the common member and the member of every key, until the first error.
    pub fn change(&mut self, work: impl Fn(&mut T) -> Result<(), Error>) -> Result<(), Error> {
        work(&mut self.fresh)?;
        self.common.as_mut().map_or(Ok(()), &work)?;
        let keys: Vec<String> = self.keys().map(str::to_owned).collect();
        keys.iter().try_for_each(|key| self.with(key, &work))
    }

    /// Calls `work` with the member of a key. A new key is added, with a copy of the template, unless `work` fails.
    pub fn with<R>(&mut self, key: &str, work: impl FnOnce(&mut T) -> Result<R, Error>) -> Result<R, Error> {
        self.slot_after(key, work).map(|(_, outcome)| outcome)
    }

    /// The fleet stores the names for all members.
    fn new_member(&self) -> T {
        let mut member = self.fresh.clone();
        member.set_names(None);
        member
    }

    fn slot_after<R>(&mut self, key: &str, work: impl FnOnce(&mut T) -> Result<R, Error>) -> Result<(usize, R), Error> {
        self.clock += 1;
        let (slot, outcome) = match self.positions.get(key) {
            Some(position) => {
                let slot = self.fetch(*position)?;
                (slot, work(&mut self.slots[slot].member)?)
            }
            None if key.len() > member::LONGEST_KEY as usize => {
                return Err(Error::Unsupported("a key must be at most 1 MiB long"));
            }
            None => {
                let mut member = self.new_member();
                let outcome = work(&mut member)?;
                (self.enter(key, member)?, outcome)
            }
        };
        self.slots[slot].used = self.clock;
        Ok((slot, outcome))
    }

    /// Sorts the keys from index `known` on by the index of their first accepted row, in case an earlier one was rejected.
    fn order_by_first_rows(&mut self, known: usize, first_rows: &[usize]) {
        if first_rows.is_sorted() {
            return;
        }
        let mut order: Vec<usize> = (0..first_rows.len()).collect();
        order.sort_by_key(|i| first_rows[*i]);
        let moved: Vec<_> = order.iter().map(|i| (self.keys[known + i].clone(), self.places[known + i])).collect();
        for (position, (key, place)) in (known..).zip(moved) {
            if let Place::Memory(slot) = place {
                self.slots[slot].key = position;
            }
            self.positions.insert(key.clone(), position);
            (self.keys[position], self.places[position]) = (key, place);
        }
    }

    /// Returns a copy of the member of a key, with the names of the columns, or `None` for an unknown key.
    pub fn get(&mut self, key: &str) -> Result<Option<T>, Error> {
        let Some(position) = self.positions.get(key).copied() else { return Ok(None) };
        let mut member = match self.places[position] {
            Place::Memory(slot) => self.slots[slot].member.clone(),
            Place::Stored(place) => self.stored(place)?,
        };
        member.set_names(self.fresh.columns().names.clone());
        Ok(Some(member))
    }

    /// Adds the members of another fleet with the same options and columns. New keys are appended. Members of a key that
    /// is in both fleets are merged ([`Model::merge`](crate::Model::merge)), so their state must not depend on the order
    /// of rows. Such errors leave the fleet unchanged. After an error of the store, the merge is incomplete.
    pub fn merge(&mut self, other: &mut Self) -> Result<(), Error> {
        let (own, theirs) = (&self.fresh, &other.fresh);
        length("a row of the other fleet", theirs.width(), own.width())?;
        own.check_alike(theirs)?;
        let mut columns = own.columns().clone();
        columns.agree(theirs.columns())?;
        let keys: Vec<String> = other.keys().map(str::to_owned).collect();
        if let Some(key) = keys.iter().find(|key| self.positions.contains_key(key.as_str())) {
            let mergeable = own.check_mergeable().and_then(|()| columns.merge(theirs.columns()));
            mergeable.map_err(|error| match error {
                Error::Merge(sentence) => Error::Merge(format!("key '{key}' is in both fleets, and {sentence}")),
                error => error,
            })?;
        }
        self.fresh.set_names(columns.names);
        for key in keys {
            let Some(mut member) = other.get(&key)? else { continue };
            member.set_names(None);
            self.clock += 1;
            match self.positions.get(&*key).copied() {
                None => _ = self.enter(&key, member)?,
                Some(position) => {
                    let slot = self.fetch(position)?;
                    self.slots[slot].member = self.slots[slot].member.clone().merge(member)?;
                    self.slots[slot].used = self.clock;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn insert_stored(&mut self, key: &str, place: u64) -> Result<(), Error> {
        if self.positions.contains_key(key) {
            return Err(Error::State("each key must have one member"));
        }
        self.insert(key, Place::Stored(place));
        Ok(())
    }

    fn insert(&mut self, key: &str, place: Place) {
        let key: Arc<str> = key.into();
        self.positions.insert(key.clone(), self.keys.len());
        self.keys.push(key);
        self.places.push(place);
    }

    fn enter(&mut self, key: &str, member: T) -> Result<usize, Error> {
        self.make_room()?;
        let slot = self.slots.len();
        self.slots.push(MemberSlot { member, key: self.keys.len(), used: self.clock });
        self.insert(key, Place::Memory(slot));
        Ok(slot)
    }

    fn fetch(&mut self, position: usize) -> Result<usize, Error> {
        let place = match self.places[position] {
            Place::Memory(slot) => return Ok(slot),
            Place::Stored(place) => place,
        };
        let member = self.stored(place)?;
        self.make_room()?;
        if let Some(store) = &mut self.store {
            store.free(place);
        }
        let slot = self.slots.len();
        self.slots.push(MemberSlot { member, key: position, used: self.clock });
        self.places[position] = Place::Memory(slot);
        Ok(slot)
    }

    fn stored(&mut self, place: u64) -> Result<T, Error> {
        let bytes = self.stored_bytes(place)?;
        let member = T::from_bytes(&bytes)
            .map_err(|refusal| cannot_store(io::Error::new(io::ErrorKind::InvalidData, refusal.to_string())))?;
        match member.check_alike(&self.fresh) {
            Ok(()) => Ok(member),
            Err(_) => Err(Error::State("all members of a fleet must have the same options")),
        }
    }

    fn stored_bytes(&mut self, place: u64) -> Result<Vec<u8>, Error> {
        let store = self.store.as_mut().ok_or(Error::State("a member that was put away must have a store"))?;
        store.get(place).map_err(cannot_store)
    }

    fn make_room(&mut self) -> Result<(), Error> {
        let Some(store) = &mut self.store else { return Ok(()) };
        if self.slots.len() < self.most {
            return Ok(());
        }
        let excess = self.slots.len() + 1 - self.most;
        let count = excess.max(self.most.div_ceil(4)).min(self.slots.len());
        let mut oldest: Vec<(u64, usize)> = self.slots.iter().enumerate().map(|(i, slot)| (slot.used, i)).collect();
        if count < oldest.len() {
            oldest.select_nth_unstable(count);
            oldest.truncate(count);
        }
        // In descending order, so that `swap_remove` only moves members that stay in memory.
        oldest.sort_unstable_by_key(|(_, slot)| std::cmp::Reverse(*slot));
        for (_, slot) in oldest {
            let place = store.put(&self.slots[slot].member.to_bytes()?).map_err(cannot_store)?;
            let gone = self.slots.swap_remove(slot);
            self.places[gone.key] = Place::Stored(place);
            if let Some(moved) = self.slots.get(slot) {
                self.places[moved.key] = Place::Memory(slot);
            }
        }
        Ok(())
    }
}

impl Fleet<Model> {
    /// Sets whether models compute aligned coordinates of later rows ([`Model::ask_for_coordinates`]).
    pub fn ask_for_coordinates(&mut self, asked: bool) {
        self.aligns = asked;
    }

    /// Runs one trial of the model of a key. Returns the loss and the updated model. On an error nothing changes.
    pub fn step(&mut self, key: &str, row: &[f64]) -> Result<(Loss, &Model), Error> {
        let aligns = self.aligns;
        let (slot, loss) = self.slot_after(key, |model| {
            model.ask_for_coordinates(aligns);
            model.step(row)
        })?;
        Ok((loss, &self.slots[slot].member))
    }
}

#[cfg(test)]
mod tests;
