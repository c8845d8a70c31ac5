//! Rows in standard units (deviations from the mean of the column, divided by its scale).

use crate::error::Error as TableError;
use crate::error::refusal;
use crate::reader::Row;
use crate::stream::Stream;
use eigenhedge::{Error, Standardize, Standardizer};
use std::collections::VecDeque;

type Result<T> = std::result::Result<T, TableError>;

/// Stream whose rows are in standard units.
pub struct ScaledStream {
    stream: Stream,
    standardizer: Standardizer,
    /// Function that is called after the warm-up with the number of its rows, possibly fewer than requested.
    pub on_short_warm_up: fn(Standardize, u64),
    waiting: VecDeque<Row>,
    delivered: Option<Row>,
    /// True if the row in `delivered` is included in the statistics, or was rejected.
    is_counted: bool,
    row: Vec<f64>,
}

impl ScaledStream {
    /// Creates a stream of the scaled rows of `stream`.
    pub fn new(stream: Stream, how: Standardize) -> Self {
        let (standardizer, waiting) = (Standardizer::new(how, stream.columns().len()), VecDeque::new());
        let on_short_warm_up = |_, _| ();
        Self { stream, standardizer, on_short_warm_up, waiting, delivered: None, is_counted: true, row: Vec::new() }
    }

    /// Returns the stream of unscaled rows. It may be ahead of the scaled rows.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Returns the names of the columns.
    pub fn columns(&self) -> &[String] {
        self.stream.columns()
    }

    /// Returns the name of the source of the table.
    pub fn source(&self) -> String {
        self.stream.source()
    }

    /// Returns the place of the most recently returned row.
    pub fn place(&self) -> String {
        self.delivered.as_ref().map_or_else(|| self.stream.place(), Row::place)
    }

    /// Returns the index of the most recently returned row, or 0 before the first row.
    pub fn row_number(&self) -> u64 {
        self.delivered.as_ref().map_or(0, |row| row.number)
    }

    /// Returns the copied cells of the most recently returned row.
    pub fn kept(&self) -> &[String] {
        self.delivered.as_ref().map_or(&[], |row| &row.kept)
    }

    /// Rejects the most recently returned row. Returns `reason` as an error if bad rows are errors.
    pub fn refuse(&mut self, reason: String) -> Result<()> {
        self.is_counted = true;
        match &self.delivered {
            Some(row) => self.stream.refuse_row(row, reason),
            None => Ok(()),
        }
    }

    /// Returns the next row in standard units, or `None` after the last.
    pub fn next_row(&mut self) -> Result<Option<&[f64]>> {
        if let (false, Some(last)) = (std::mem::replace(&mut self.is_counted, true), &self.delivered) {
            self.standardizer.count_in(last.numbers());
        }
        if self.standardizer.is_warming_up() {
            self.warm_up()?;
        }
        while let Some(next) = self.next_delivered()? {
            let raw = self.delivered.insert(next).numbers();
            let scaled = match self.standardizer.spoiled(raw) {
                None => self.standardizer.apply(raw, &mut self.row),
                Some(column) => Err(column),
            };
            match scaled {
                Ok(()) => {
                    self.is_counted = false;
                    return Ok(Some(&self.row));
                }
                Err(column) => {
                    let error = cannot_standardize(raw, column);
                    self.refuse(refusal(&error, |column| self.stream.label(column)))?;
                }
            }
        }
        Ok(None)
    }

    fn next_delivered(&mut self) -> Result<Option<Row>> {
        if let Some(waiting) = self.waiting.pop_front() {
            return Ok(Some(waiting));
        }
        if self.stream.next_row()?.is_none() {
            return Ok(None);
        }
        let mut row = self.delivered.take().unwrap_or_default();
        self.stream.deliver_into(&mut row);
        Ok(Some(row))
    }

    fn warm_up(&mut self) -> Result<()> {
        let standardizer = &mut self.standardizer;
        let rows = self.stream.read_warm_up(|raw| match standardizer.spoiled(raw) {
            Some(column) => Err(cannot_standardize(raw, column)),
            None => {
                standardizer.count_in(raw);
                Ok(standardizer.is_warming_up())
            }
        })?;
        self.waiting = rows.into();
        (self.on_short_warm_up)(self.standardizer.how(), self.waiting.len() as u64);
        self.standardizer.settle();
        Ok(())
    }
}

fn cannot_standardize(raw: &[f64], index: usize) -> Error {
    Error::Entry { what: "row", index, rule: "finite once standardized", value: raw[index] }
}
