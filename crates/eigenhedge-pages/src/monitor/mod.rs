//! Journal and page of one monitor, or of one monitor per key.

mod charts;
mod headline;
mod journal;
mod occurrence;
mod page;
mod record;
mod summary;
mod track;

pub use journal::{Journal, RowAt, Seen};
pub use occurrence::{Occurrence, Times};
pub use page::{Inside, page};
pub use summary::{json, limit_in_words, monitor_json, text};
pub use track::Track;

use eigenhedge::Limit;

/// Facts about a table and its monitors that are not in the journal.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Name of the table.
    pub source: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Name of the time column, or `None` if there is none.
    pub time: Option<String>,
    /// Name of the key column, or `None` for a single monitor.
    pub by: Option<String>,
    /// Line of the file that contains the first row, if the file has lines.
    pub first_line: Option<u64>,
    /// Number of rows that the reader skipped.
    pub skipped: u64,
    /// Rule for the alarm limit.
    pub limit: Limit,
    /// Origin of the reference, or `None` if the reference consists of the first rows of the table.
    pub reference: Option<String>,
    /// Number of monitors in memory.
    pub in_memory: usize,
    /// Number of warm-up rows if the stream is still running, or `None` after its end.
    pub running: Option<u64>,
}
