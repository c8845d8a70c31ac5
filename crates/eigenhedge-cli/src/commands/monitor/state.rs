//! State of a session and of each of its monitors.

use super::occurrence::{Occurrence, Times};
use eigenhedge::MonitorTotals;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// State of the session that is saved with the monitors.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    /// Rows of this table processed so far.
    pub rows: u64,
    /// The first events and changes.
    pub listed: Vec<Occurrence>,
    /// Totals of this table over all monitors.
    pub totals: MonitorTotals,
    /// One entry per key, by position.
    pub tracks: Vec<Track>,
    /// True once `--accept` has taken effect.
    pub is_accepted: bool,
    /// Number of rows with imputed missing cells.
    pub filled_rows: u64,
}

impl State {
    /// Returns the state before the first row of a table, for `keys` monitors.
    pub fn before(keys: usize) -> Self {
        Self { tracks: vec![Track::default(); keys], ..Self::default() }
    }
}

/// State of one monitor in this table.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Track {
    /// True once the monitor has received a row.
    pub has_begun: bool,
    /// True once the monitor has a reference.
    pub is_ready: bool,
    pub totals: MonitorTotals,
    /// True during a drift.
    pub in_drift: bool,
    /// Times of the last rows, as text and in seconds.
    pub recent: VecDeque<(u64, String, Option<f64>)>,
    /// Times of the current event.
    pub event: Times,
}
