//! What goes along with the monitors of a session.

use super::occurrence::{Occurrence, Times};
use eigenhedge::MonitorTotals;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// All that goes along with the monitors and is saved with them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    /// Rows of this table that were looked at.
    pub rows: u64,
    /// The first events and changes.
    pub listed: Vec<Occurrence>,
    /// Of this table, all monitors together.
    pub totals: MonitorTotals,
    /// By the position of the key.
    pub tracks: Vec<Track>,
    /// True once the state was accepted that --accept names.
    pub is_accepted: bool,
    /// Rows with missing cells that were filled in.
    pub filled_rows: u64,
}

impl State {
    /// Before the first row of a table, with monitors for so many keys.
    pub fn before(keys: usize) -> Self {
        Self { tracks: vec![Track::default(); keys], ..Self::default() }
    }
}

/// Memory of one monitor in this table.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Track {
    /// True once it has had a row.
    pub has_begun: bool,
    /// True once it has a reference.
    pub is_ready: bool,
    pub totals: MonitorTotals,
    /// True while its level has left the reference.
    pub in_drift: bool,
    /// Times of the last rows, as text and in seconds.
    pub recent: VecDeque<(u64, String, Option<f64>)>,
    /// Times of the event that goes on.
    pub event: Times,
}
