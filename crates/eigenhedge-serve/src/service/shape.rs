//! Columns of a stream, determined by its first request.

use super::problem::Problem;
use eigenhedge_io::{Selector, TimeFormat};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    pub names: Option<Vec<String>>,
    pub width: usize,
    /// Columns that are copied to answers. The time column, if any, comes first.
    pub kept: Vec<String>,
    pub key: Option<usize>,
    pub has_time: bool,
    pub time_format: Option<TimeFormat>,
    /// Offset of the first time from UTC, in seconds.
    pub time_offset: Option<i32>,
    /// A model was uploaded before the first rows. `kept` are then the texts of the options.
    pub is_open: bool,
}

impl Shape {
    pub fn time(&self) -> Option<Selector> {
        let name = self.kept.first().filter(|_| self.has_time)?;
        Some(if self.names.is_some() { Selector::Name(name.clone()) } else { Selector::from_text(name) })
    }

    pub fn label(&self, column: usize) -> String {
        match self.names.as_ref().and_then(|names| names.get(column)) {
            Some(name) => format!("column {column} ({name:?})"),
            None => format!("column {column}"),
        }
    }

    pub fn name(&self, column: usize) -> String {
        self.names.as_ref().and_then(|names| names.get(column)).cloned().unwrap_or_else(|| column.to_string())
    }

    pub fn all_names(&self) -> Vec<String> {
        (0..self.width).map(|column| self.name(column)).collect()
    }

    /// Matches the columns of `stream` by name if both have names.
    pub fn places_of(&self, stream: &Self) -> Result<Vec<usize>, Problem> {
        let (Some(found), Some(wanted)) = (&self.names, &stream.names) else { return Ok((0..self.width).collect()) };
        let missing =
            |name: &String| Problem::unsound(format!("the request: must have the column {name:?} of the stream"));
        let place = |name: &String| found.iter().position(|one| one == name).ok_or_else(|| missing(name));
        wanted.iter().map(place).collect()
    }

    /// Returns the shape with the copied columns of these rows, if it is open.
    pub fn settled(&self, rows: &Self) -> Option<Self> {
        let is_open = self.names.is_some() && rows.names.is_none();
        self.is_open.then(|| Self { names: self.names.clone(), width: self.width, is_open, ..rows.clone() })
    }

    pub fn check(&self, other: &Self) -> Result<(), Problem> {
        let (width, found) = (self.width, other.width);
        if width != found {
            let sentence = format!("the request: must have {width} selected columns like the stream, got {found}");
            return Err(Problem::unsound(sentence));
        }
        let is_named = self.names.is_some() && other.names.is_some();
        let is_other = if is_named { self.kept != other.kept } else { self.kept.len() != other.kept.len() };
        if (is_other && !self.is_open) || self.has_time != other.has_time {
            let columns = if self.kept.is_empty() { "none".to_owned() } else { self.kept.join(", ") };
            let sentence =
                format!("the request: the columns besides numbers must be those of the first one: {columns}");
            return Err(Problem::unsound(sentence));
        }
        Ok(())
    }
}
