//! Outcomes of requests, and counts of rows and keys.

use crate::service::problem::{Problem, cut};
use crate::service::rows::Rows;
use crate::service::shape::Shape;
use eigenhedge::Error;
use eigenhedge_io::{iso_time, refusal};
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct Places {
    pub folder: PathBuf,
    pub fleet_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    pub rows: u64,
    pub skipped: u64,
    pub last_row: u64,
}

impl Counts {
    pub fn last_row_text(&self) -> String {
        if self.last_row == 0 { String::new() } else { format!("{}Z", iso_time(self.last_row as f64)) }
    }
}

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Outcome {
    /// Results as lines of JSON, one per row.
    pub answers: Vec<u8>,
    pub learned: u64,
    pub last: Option<usize>,
    pub alarms: u64,
    pub loss: f64,
    pub score: Option<f64>,
    /// Problem of the request or of its first rejected row.
    pub refused: Option<Problem>,
    pub broken: Option<String>,
}

pub struct KeyCounts {
    pub key: String,
    pub rows: u64,
    pub alarms: u64,
    pub severity: f64,
}

impl Outcome {
    /// Appends an error line with the number `row`. The first call also sets `refused`, with the index `in_request`.
    pub fn refuse(&mut self, row: u64, in_request: u64, sentence: &str, column: Option<String>) {
        let line = serde_json::json!({ "row": row, "error": cut(sentence) });
        self.answers.extend_from_slice(line.to_string().as_bytes());
        self.answers.push(b'\n');
        self.refused.get_or_insert_with(|| Problem::unsound(sentence).at(Some(in_request), column.as_deref()));
    }

    pub fn refuse_row(&mut self, error: &Error, (rows, i, first): (&Rows, usize, u64), shape: &Shape) {
        let column = match error {
            Error::Entry { what: "row", index, .. } => Some(shape.name(*index)),
            _ => None,
        };
        let sentence = refusal(error, |column| shape.label(column));
        self.refuse(first + rows.number(i), rows.number(i), &sentence, column);
    }
}
