//! Parts of a session that the maker of pages borrows while the session waits for a row.

use super::key_state::KeyState;
use super::occurrence::Occurrence;
use super::record::Records;
use super::state::{State, Track};
use crate::live::Shared;
use std::sync::Arc;

/// A place where the session puts what pages are made of, and takes it back.
pub type Counter = Arc<Shared<Option<Lent>>>;

/// Data of pages.
pub struct Lent {
    pub state: State,
    pub records: Option<Records>,
    pub latest: Latest,
}

/// Monitors after their last rows: a session that lends keeps it up to date.
#[derive(Default)]
pub struct Latest {
    pub keys: Vec<KeyState>,
    /// Events that go on, by the position of the key.
    pub open: Vec<Option<Occurrence>>,
    pub skipped: u64,
    pub in_memory: usize,
}

impl Latest {
    /// Before the first row: monitors that are there already have had these.
    pub fn of<'a>(keys: impl Iterator<Item = &'a str>, tracks: &[Track]) -> Self {
        let keys: Vec<KeyState> = keys.zip(tracks).map(|(key, track)| KeyState::waiting(key, track)).collect();
        Self { open: vec![None; keys.len()], keys, ..Self::default() }
    }

    /// After a row of the key at this position, with the event that goes on. Positions of new keys follow each other.
    pub fn enter(&mut self, place: usize, state: KeyState, open: Option<Occurrence>) {
        match self.keys.get_mut(place) {
            Some(before) => (*before, self.open[place]) = (state, open),
            None => {
                self.keys.push(state);
                self.open.push(open);
            }
        }
    }

    /// Rows passed over, and monitors in memory.
    pub fn count(&mut self, skipped: u64, in_memory: usize) {
        (self.skipped, self.in_memory) = (skipped, in_memory);
    }
}
