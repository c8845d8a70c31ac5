//! The state of one monitor, for summaries and pages.

use super::state::Track;
use eigenhedge::{Monitor, MonitorTotals};
use serde_json::{Value, json};

/// State of a monitor after a row, or at the end of a table.
#[derive(Debug, Clone)]
pub struct KeyState {
    /// Key of the monitor; empty without `--group-by`.
    pub key: String,
    /// Totals since the monitor's first row, and totals of this table.
    pub totals: MonitorTotals,
    pub in_table: MonitorTotals,
    pub is_ready: bool,
    pub is_borrowed: bool,
    pub directions: Option<usize>,
    pub lags: usize,
    pub has_differences: bool,
    pub limit: Option<f64>,
    /// First row of the current drift.
    pub drift_since: Option<u64>,
}

impl KeyState {
    /// Returns the state of a key's monitor.
    pub fn of(key: &str, monitor: &Monitor) -> Self {
        Self {
            key: key.to_owned(),
            totals: monitor.totals(),
            in_table: monitor.totals(),
            is_ready: monitor.is_ready(),
            is_borrowed: monitor.is_borrowed(),
            directions: monitor.directions(),
            lags: monitor.lags(),
            has_differences: monitor.has_differences(),
            limit: monitor.limit(),
            drift_since: monitor.open_drift().map(|report| report.since),
        }
    }

    /// Returns the state of a monitor that has not received a row since the table was opened.
    pub fn waiting(key: &str, track: &Track) -> Self {
        Self {
            key: key.to_owned(),
            totals: track.totals,
            in_table: track.totals,
            is_ready: track.is_ready,
            is_borrowed: false,
            directions: None,
            lags: 0,
            has_differences: false,
            limit: None,
            drift_since: None,
        }
    }

    /// Returns the state as a JSON object.
    pub fn json(&self) -> Value {
        json!({
            "key": self.key,
            "warm_up": self.totals.warm_up,
            "rows": self.in_table.rows,
            "alarms": self.in_table.alarms,
            "directions": self.directions,
            "lags": self.lags,
            "differences": self.has_differences,
            "limit": self.limit,
            "borrowed_reference": self.is_borrowed,
            "drift_rows": self.in_table.drift_rows,
            "drift_since": self.drift_since,
        })
    }
}
