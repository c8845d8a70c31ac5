//! Results of monitors for summaries and pages, during the stream and at its end.

use super::key_state::KeyState;
use super::occurrence::Occurrence;
use eigenhedge::{Limit, MonitorTotals};
use eigenhedge_io::Stream;

/// Results of all monitors.
pub struct Account {
    pub table: TableFacts,
    /// State of each key. A single monitor has an empty key.
    pub keys: Vec<KeyState>,
    /// Totals of this table over all monitors.
    pub totals: MonitorTotals,
    pub rows: u64,
    /// Events, drifts and changes.
    pub listed: Vec<Occurrence>,
    /// Key and first row of each current event.
    pub open: Vec<(String, u64)>,
    /// Number of rows with imputed missing cells.
    pub filled_rows: u64,
    pub limit: Limit,
    /// Number of monitors in memory.
    pub in_memory: usize,
    /// Number of rows of the warm-up. `None` once the stream has ended.
    pub running: Option<u64>,
}

/// Properties of a table.
#[derive(Debug, Clone)]
pub struct TableFacts {
    pub source: String,
    pub columns: Vec<String>,
    /// Name of the time column.
    pub time: Option<String>,
    /// Line number of the first row.
    pub first_line: Option<u64>,
    /// Number of skipped rows.
    pub skipped: u64,
}

impl TableFacts {
    /// Returns the properties of a stream's table.
    pub fn of(stream: &Stream) -> Self {
        Self {
            source: stream.source(),
            columns: stream.columns().to_vec(),
            // The time column is the first copied column.
            time: stream.kept_columns().into_iter().next().filter(|_| stream.has_time()),
            first_line: stream.first_line(),
            skipped: stream.skipped(),
        }
    }
}
