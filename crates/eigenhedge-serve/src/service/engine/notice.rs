//! Notices of a monitor: alarms, drifts, changes and new references.

use eigenhedge::Cause;
use eigenhedge_pages::monitor::Seen;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Notices that are remembered.
const REMEMBERED: usize = 1000;

/// Something that a person wants to know of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// Number of the notice in its stream, from 1.
    pub id: u64,
    /// `alarm` at the first row of an event, `drift` when a drift is reported, `returned` when it is over, `rise` or `fall` for a
    /// change of the level of the score, `accepted` for a new reference.
    pub kind: String,
    /// Key of the monitor; empty if there is one.
    pub key: String,
    /// The row.
    pub row: u64,
    /// Its time as the table has it; empty if there is none.
    pub time: String,
    /// Its score.
    pub score: Option<f64>,
    /// Columns with their shares of the squared deviations.
    pub causes: Vec<(String, f64)>,
}

impl Notice {
    /// A reference that was accepted before a row.
    pub fn accepted(row: u64, key: &str) -> Self {
        let (kind, key) = ("accepted".to_owned(), key.to_owned());
        Self { id: 0, kind, key, row, time: String::new(), score: None, causes: Vec::new() }
    }

    /// Returns the notices of a row.
    pub fn of_row(seen: &Seen, key: &str, time: &str, names: &[String]) -> Vec<Self> {
        let verdict = &seen.verdict;
        let score = Some(verdict.score).filter(|score| score.is_finite());
        let notice = |kind: &str, causes: &[Option<Cause>]| Self {
            id: 0,
            kind: kind.to_owned(),
            key: key.to_owned(),
            row: verdict.row,
            time: time.to_owned(),
            score,
            causes: causes
                .iter()
                .flatten()
                .map(|cause| (names.get(cause.column).cloned().unwrap_or_default(), cause.share))
                .collect(),
        };
        let mut notices = Vec::new();
        if seen.begins_event {
            notices.push(notice("alarm", &verdict.causes));
        }
        if let Some(report) = &verdict.drift {
            notices.push(notice("drift", &report.causes));
        }
        if let Some(report) = &verdict.returned {
            notices.push(notice("returned", &report.causes));
        }
        if let Some(change) = &verdict.change {
            notices.push(notice(if change.is_rise { "rise" } else { "fall" }, &change.columns));
        }
        if verdict.accepted {
            notices.push(notice("accepted", &[]));
        }
        notices
    }
}

/// The last notices of a stream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Notices {
    /// Notices so far.
    pub count: u64,
    last: VecDeque<Notice>,
}

impl Notices {
    /// Adds a notice and numbers it.
    pub fn push(&mut self, mut notice: Notice) {
        self.count += 1;
        notice.id = self.count;
        self.last.push_back(notice);
        if self.last.len() > REMEMBERED {
            self.last.pop_front();
        }
    }

    /// The notices after this number that are remembered.
    pub fn after(&self, id: u64) -> impl Iterator<Item = &Notice> {
        self.last.iter().filter(move |notice| notice.id > id)
    }
}
