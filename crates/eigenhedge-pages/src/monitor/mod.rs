//! Journal and page of one monitor, or of one for each key.

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

/// Facts about a table and its monitors that the journal does not hold.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Name of the table.
    pub source: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Name of the column of times.
    pub time: Option<String>,
    /// Name of the column of keys, if there is a monitor for each key.
    pub by: Option<String>,
    /// Line of the file that holds the first row.
    pub first_line: Option<u64>,
    /// Number of rows that the reader skipped.
    pub skipped: u64,
    /// Rule of the limit.
    pub limit: Limit,
    /// Origin of the reference, if it is not the first rows of the table.
    pub reference: Option<String>,
    /// Number of monitors in memory.
    pub in_memory: usize,
    /// Number of rows of a warm-up while the stream goes on; `None` at its end.
    pub running: Option<u64>,
}
