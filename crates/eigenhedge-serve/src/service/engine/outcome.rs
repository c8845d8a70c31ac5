//! Outcomes of requests, row counts, and storage for fleet members that are not in memory.

use crate::service::problem::{Problem, cut};
use crate::service::rows::Rows;
use crate::service::shape::Shape;
use eigenhedge::Error;
use eigenhedge_io::refusal;
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct Places {
    pub folder: PathBuf,
    pub fleet_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Number of rows received, including bad ones. It is also the number of the next row.
    pub rows: u64,
    pub skipped: u64,
    /// Wall-clock time of the most recent rows, in seconds since 1970.
    pub last_row: u64,
}

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Outcome {
    /// Answers, as one line of JSON per row.
    pub answers: Vec<u8>,
    pub learned: u64,
    /// Number of rows with an alarm, or 0 for models.
    pub alarms: u64,
    pub loss: f64,
    /// Score of the last row of the request, or `None` for models and for a score that is not finite.
    pub score: Option<f64>,
    /// Problem of the request or of its first rejected row.
    pub refused: Option<Problem>,
    /// Reason why the learner is unusable: fleet members on disk cannot be read or written.
    pub broken: Option<String>,
}

pub struct KeyCounts {
    pub key: String,
    pub rows: u64,
    pub alarms: u64,
    /// Severity of the ongoing incident, silence included, or 0 without one.
    pub severity: f64,
}

impl Outcome {
    /// Appends an error line for row `row` of the stream, which is row `in_request` of the request.
    pub fn refuse(&mut self, row: u64, in_request: u64, sentence: &str, column: Option<String>) {
        let line = serde_json::json!({ "row": row, "error": cut(sentence) });
        self.answers.extend_from_slice(line.to_string().as_bytes());
        self.answers.push(b'\n');
        self.refused.get_or_insert_with(|| Problem::unsound(sentence).at(Some(in_request), column.as_deref()));
    }

    /// Appends an error line for row `i` of a request, whose first row is number `first` of the stream.
    pub fn refuse_row(&mut self, error: &Error, (rows, i, first): (&Rows, usize, u64), shape: &Shape) {
        let column = match error {
            Error::Entry { what: "row", index, .. } => Some(shape.name(*index)),
            _ => None,
        };
        let sentence = refusal(error, |column| shape.label(column));
        self.refuse(first + rows.number(i), rows.number(i), &sentence, column);
    }
}
