//! Figures of monitors for summaries and pages, during the stream and at its end.

use super::key_state::KeyState;
use super::occurrence::Occurrence;
use eigenhedge::{Limit, MonitorTotals};
use eigenhedge_io::Stream;

/// Monitors and what they found.
pub struct Account {
    pub table: TableFacts,
    /// The state of each key; of an empty one if there is one monitor.
    pub keys: Vec<KeyState>,
    /// Of this table, all monitors together.
    pub totals: MonitorTotals,
    pub rows: u64,
    /// Events, drifts and changes.
    pub listed: Vec<Occurrence>,
    /// Key and first row of the events among them that go on.
    pub open: Vec<(String, u64)>,
    /// Rows with missing cells that were filled in.
    pub filled_rows: u64,
    pub limit: Limit,
    /// Monitors in memory.
    pub in_memory: usize,
    /// Rows of a warm-up, while the stream goes on.
    pub running: Option<u64>,
}

/// Facts about a table besides its rows.
#[derive(Debug, Clone)]
pub struct TableFacts {
    pub source: String,
    pub columns: Vec<String>,
    /// Name of the column of times.
    pub time: Option<String>,
    /// Line of the file that the first row stands on.
    pub first_line: Option<u64>,
    /// Rows that were passed over.
    pub skipped: u64,
}

impl TableFacts {
    /// Of the table of this stream.
    pub fn of(stream: &Stream) -> Self {
        Self {
            source: stream.source(),
            columns: stream.columns().to_vec(),
            // The first column that is copied is that of times.
            time: stream.kept_columns().into_iter().next().filter(|_| stream.has_time()),
            first_line: stream.first_line(),
            skipped: stream.skipped(),
        }
    }
}
