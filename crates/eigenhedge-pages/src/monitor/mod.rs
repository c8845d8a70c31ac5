//! Journal and page of one monitor, or of one monitor per key.

mod charts;
mod headline;
mod journal;
mod least;
mod notice;
mod occurrence;
mod page;
mod record;
mod summary;
mod table;
mod track;

pub use headline::sentence;
pub use journal::{Journal, RowAt, Seen};
pub use least::{Lasting, Least, Severity};
pub use notice::{IncidentNotice, Notice};
pub use occurrence::{IncidentFacts, Occurrence, Times, Told};
pub use page::{Inside, page};
pub use summary::{incident_json, json, limit_in_words, monitor_json, text};
pub use table::{FirstRow, TableMonitors, check_width, fresh_monitor, in_rows, usual_step};
pub use track::Track;

use eigenhedge::Limit;

/// Facts about a table and its monitors that are not in the journal.
#[derive(Debug, Clone)]
pub struct Facts {
    pub source: String,
    pub columns: Vec<String>,
    pub time: Option<String>,
    /// Name of the key column, or `None` for a single monitor.
    pub by: Option<String>,
    /// Line number (from 1) of the first row, or `None` if the source has no lines.
    pub first_line: Option<u64>,
    pub skipped: u64,
    pub limit: Limit,
    /// Origin of the reference in words, or `None` if it consists of the first rows of the table.
    pub reference: Option<String>,
    pub in_memory: usize,
    /// Number of warm-up rows while the stream is running, or `None` after its end.
    pub running: Option<u64>,
}
