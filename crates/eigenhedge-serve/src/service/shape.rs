//! The columns of a stream.

use super::problem::Problem;
use eigenhedge_io::{Selector, TimeFormat};
use serde::{Deserialize, Serialize};

/// Columns of a stream, which its first row determines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Names of the numeric columns, if any.
    pub names: Option<Vec<String>>,
    /// Number of values per row.
    pub width: usize,
    /// Names of the columns whose cells are copied with each row. The time column, if there is one, comes
    /// first.
    pub kept: Vec<String>,
    /// Position of the key in `kept`.
    pub key: Option<usize>,
    /// True if there is a time column.
    pub has_time: bool,
    /// Format of the time column.
    pub time_format: Option<TimeFormat>,
}

impl Shape {
    /// Returns the selector of the time column, for later requests.
    pub fn time(&self) -> Option<Selector> {
        let name = self.kept.first().filter(|_| self.has_time)?;
        Some(if self.names.is_some() { Selector::Name(name.clone()) } else { Selector::from_text(name) })
    }

    /// Returns the position of a column, and its name if it has one.
    pub fn label(&self, column: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(column)) {
            Some(name) => format!("column {column} ({name:?})"),
            None => format!("column {column}"),
        }
    }

    /// Returns the name of a column, or its position if it has no name.
    pub fn name(&self, column: usize) -> String {
        self.names.as_ref().and_then(|names| names.get(column)).cloned().unwrap_or_else(|| column.to_string())
    }

    /// Returns the names of all numeric columns.
    pub fn all_names(&self) -> Vec<String> {
        (0..self.width).map(|column| self.name(column)).collect()
    }

    /// Returns an error if rows of the other shape would be mistaken for rows of this one.
    pub fn check(&self, other: &Self) -> Result<(), Problem> {
        let (width, found) = (self.width, other.width);
        if width != found {
            let sentence = format!("the request: must have {width} selected columns like the stream, got {found}");
            return Err(Problem::unsound(sentence));
        }
        if self.kept.len() != other.kept.len() || self.has_time != other.has_time {
            let columns = if self.kept.is_empty() { "none".to_owned() } else { self.kept.join(", ") };
            let sentence =
                format!("the request: the columns besides numbers must be those of the first one: {columns}");
            return Err(Problem::unsound(sentence));
        }
        Ok(())
    }
}
