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
pub use table::{FirstRow, TableMonitors, fresh_monitor, in_rows, usual_step};
pub use track::Track;

use eigenhedge::{Limit, Monitor};

#[derive(Debug, Clone)]
pub struct Facts {
    pub source: String,
    pub columns: Vec<String>,
    pub time: Option<String>,
    pub by: Option<String>,
    pub first_line: Option<u64>,
    pub skipped: u64,
    pub limit: Limit,
    /// Origin of the reference, or `None` if it consists of the first rows.
    pub reference: Option<String>,
    pub in_memory: usize,
    /// Number of warm-up rows, or `None` after the end of the stream.
    pub running: Option<u64>,
}

impl Facts {
    pub fn of_stream(source: String, by: Option<String>, monitor: &Monitor) -> Self {
        Self {
            source,
            columns: column_names(monitor),
            time: None,
            by,
            first_line: None,
            skipped: 0,
            limit: monitor.options().limit,
            reference: None,
            in_memory: 1,
            running: Some(monitor.options().warm_up_rows(monitor.width())),
        }
    }
}

/// Returns the names of the columns, or their positions if they have no names.
pub fn column_names(monitor: &Monitor) -> Vec<String> {
    let names = monitor.columns().names.clone();
    names.unwrap_or_else(|| (0..monitor.width()).map(|column| column.to_string()).collect())
}
