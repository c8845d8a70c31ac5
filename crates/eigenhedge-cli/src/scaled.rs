//! Rows in standard units, for commands whose model has no scale of its own.

use crate::say::say_short_warm_up;
use anyhow::Result;
use eigenhedge::{Error, Standardize, Standardizer};
use eigenhedge_io::{Delivered, Stream, refusal};
use std::collections::VecDeque;

/// Memory of a buffered row in bytes, in addition to its numbers and texts.
const ROW: usize = 256;

pub struct ScaledStream {
    stream: Stream,
    standardizer: Standardizer,
    /// Rows of the warm-up that have not been returned yet.
    waiting: VecDeque<(Vec<f64>, Delivered)>,
    /// Most recently returned row in units of the table.
    raw: Vec<f64>,
    /// True if that row is included in the statistics, or was rejected.
    is_counted: bool,
    row: Vec<f64>,
    delivered: Option<Delivered>,
}

impl ScaledStream {
    /// Creates a stream that scales the rows of `stream`, which must be at its first row.
    pub fn new(stream: Stream, how: Standardize) -> Self {
        let standardizer = Standardizer::new(how, stream.columns().len());
        Self {
            stream,
            standardizer,
            waiting: VecDeque::new(),
            raw: Vec::new(),
            is_counted: true,
            row: Vec::new(),
            delivered: None,
        }
    }

    /// Returns the stream of unscaled rows. It may be ahead of the scaled rows.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    pub fn columns(&self) -> &[String] {
        self.stream.columns()
    }

    pub fn source(&self) -> String {
        self.stream.source()
    }

    /// Returns the place of the most recently returned row.
    pub fn place(&self) -> String {
        self.delivered.as_ref().map_or_else(|| self.stream.place(), Delivered::place)
    }

    /// Returns the number of the most recently returned row, counted from 0.
    pub fn row_number(&self) -> u64 {
        self.delivered.as_ref().map_or(0, |row| row.number)
    }

    /// Returns the copied cells of the most recently returned row.
    pub fn kept(&self) -> &[String] {
        self.delivered.as_ref().map_or(&[], |row| &row.kept)
    }

    /// Rejects the most recently returned row for this reason. Returns the reason as an error if bad rows are errors.
    pub fn refuse(&mut self, reason: String) -> Result<()> {
        self.is_counted = true;
        match &self.delivered {
            Some(row) => Ok(self.stream.refuse_row(row, reason)?),
            None => Ok(()),
        }
    }

    /// Returns the next row in standard units, or `None` after the last.
    pub fn next_row(&mut self) -> Result<Option<&[f64]>> {
        if !std::mem::replace(&mut self.is_counted, true) {
            self.standardizer.count_in(&self.raw);
        }
        if self.standardizer.is_warming_up() {
            self.warm_up()?;
        }
        while let Some((raw, delivered)) = self.next_raw()? {
            let scaled = match self.standardizer.spoiled(&raw) {
                None => self.standardizer.apply(&raw, &mut self.row),
                Some(column) => Err(column),
            };
            self.delivered = Some(delivered);
            match scaled {
                Ok(()) => {
                    (self.raw, self.is_counted) = (raw, false);
                    return Ok(Some(&self.row));
                }
                Err(column) => self.refuse(cannot_standardize(&raw, column, &self.stream))?,
            }
        }
        Ok(None)
    }

    fn next_raw(&mut self) -> Result<Option<(Vec<f64>, Delivered)>> {
        if let Some(waiting) = self.waiting.pop_front() {
            return Ok(Some(waiting));
        }
        let Some(row) = self.stream.next_row()? else { return Ok(None) };
        // The memory of the previous row is used again.
        let mut raw = std::mem::take(&mut self.raw);
        raw.clear();
        raw.extend_from_slice(row);
        let delivered = match self.delivered.take() {
            Some(mut delivered) => {
                self.stream.deliver_into(&mut delivered);
                delivered
            }
            None => self.stream.delivered(),
        };
        Ok(Some((raw, delivered)))
    }

    /// Buffers the first rows until the statistics are complete.
    fn warm_up(&mut self) -> Result<()> {
        while self.standardizer.is_warming_up() {
            let Some(row) = self.stream.next_row()? else { break };
            let (raw, delivered) = (row.to_vec(), self.stream.delivered());
            if let Some(column) = self.standardizer.spoiled(&raw) {
                self.stream.refuse_row(&delivered, cannot_standardize(&raw, column, &self.stream))?;
                continue;
            }
            self.standardizer.count_in(&raw);
            let bytes = 8 * raw.len() + delivered.kept.iter().map(String::len).sum::<usize>() + ROW;
            self.stream.allow("the rows of the warm-up", bytes as u128 * (self.waiting.len() as u128 + 1))?;
            self.waiting.push_back((raw, delivered));
        }
        say_short_warm_up(self.standardizer.how(), self.waiting.len() as u64);
        self.standardizer.settle();
        Ok(())
    }
}

/// Returns the message for a number that is not finite in standard units.
fn cannot_standardize(raw: &[f64], index: usize, stream: &Stream) -> String {
    let error = Error::Entry { what: "row", index, rule: "finite once standardized", value: raw[index] };
    refusal(&error, |column| stream.label(column))
}
