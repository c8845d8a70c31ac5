//! Parts of a session that the page thread may read while the session waits for a row.

use super::key_state::KeyState;
use super::occurrence::Occurrence;
use super::record::Records;
use super::state::{State, Track};
use crate::live::Shared;
use std::sync::Arc;

/// Exchange point: the session puts the data of the page there, and takes them back.
pub type Counter = Arc<Shared<Option<Lent>>>;

/// Data of the page.
pub struct Lent {
    pub state: State,
    pub records: Option<Records>,
    pub latest: Latest,
}

/// State of all monitors after their last rows. Kept up to date by a session with a live page.
#[derive(Default)]
pub struct Latest {
    pub keys: Vec<KeyState>,
    /// Current event of each key, by position.
    pub open: Vec<Option<Occurrence>>,
    pub skipped: u64,
    pub in_memory: usize,
}

impl Latest {
    /// Returns the state before the first row, for the existing monitors.
    pub fn of<'a>(keys: impl Iterator<Item = &'a str>, tracks: &[Track]) -> Self {
        let keys: Vec<KeyState> = keys.zip(tracks).map(|(key, track)| KeyState::waiting(key, track)).collect();
        Self { open: vec![None; keys.len()], keys, ..Self::default() }
    }

    /// Updates the key at this position after a row, with its current event. A new key has the next free position.
    pub fn enter(&mut self, place: usize, state: KeyState, open: Option<Occurrence>) {
        match self.keys.get_mut(place) {
            Some(before) => (*before, self.open[place]) = (state, open),
            None => {
                self.keys.push(state);
                self.open.push(open);
            }
        }
    }

    /// Updates the numbers of skipped rows and of monitors in memory.
    pub fn count(&mut self, skipped: u64, in_memory: usize) {
        (self.skipped, self.in_memory) = (skipped, in_memory);
    }
}
