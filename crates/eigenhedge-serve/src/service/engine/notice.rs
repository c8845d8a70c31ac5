//! Notices of a monitor: alarms, drifts, changes and new references.

use eigenhedge::Cause;
use eigenhedge_pages::monitor::Seen;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Event of a stream that is reported to users.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// Id of the notice: its number in the stream, counted from 1.
    pub id: u64,
    /// Kind: `alarm` at the first row of an event, `drift` when a drift is reported, `returned` when it ends,
    /// `rise` or `fall` when the level of the score changes, `accepted` for a new reference.
    pub kind: String,
    /// Key of the monitor. It is empty for a single monitor.
    pub key: String,
    /// Number of the row in the stream, counted from 0.
    pub row: u64,
    /// Time of the row, as in the table. It is empty if there is no time column.
    pub time: String,
    /// Score of the row, or `None` if the score is not finite or the notice is about a reference that was accepted on
    /// request.
    pub score: Option<f64>,
    /// Main causes: columns with their shares of the squared deviations.
    pub causes: Vec<(String, f64)>,
}

impl Notice {
    /// Creates the notice of a reference that was accepted on request before `row`.
    pub fn accepted(row: u64, key: &str) -> Self {
        let (kind, key) = ("accepted".to_owned(), key.to_owned());
        Self { id: 0, kind, key, row, time: String::new(), score: None, causes: Vec::new() }
    }

    /// Returns the notices that a row causes. Their ids are not yet assigned.
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

/// Most recent notices of a stream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Notices {
    /// Number of notices so far.
    pub count: u64,
    last: VecDeque<Notice>,
}

impl Notices {
    /// Maximum number of stored notices.
    pub const REMEMBERED: usize = 1000;

    /// Assigns the next id to a notice and stores the notice.
    pub fn push(&mut self, mut notice: Notice) {
        self.count += 1;
        notice.id = self.count;
        self.last.push_back(notice);
        if self.last.len() > Self::REMEMBERED {
            self.last.pop_front();
        }
    }

    /// Returns the stored notices whose ids are greater than `id`.
    pub fn after(&self, id: u64) -> impl Iterator<Item = &Notice> {
        self.last.iter().filter(move |notice| notice.id > id)
    }
}
