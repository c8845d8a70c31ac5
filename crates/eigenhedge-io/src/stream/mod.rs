//! Stream of rows in any supported format.
//!
//! A bad row (text or infinity instead of a number, a wrong number of cells) either ends the stream with an error that
//! gives its location, or is counted and skipped. The caller can reject further rows.
//!
//! [`Stream::resume`] with an earlier [`Stream::state`] returns exactly the remaining rows. NPY, Parquet and
//! uncompressed text files are resumed in place, except CSV and TSV files with carriage returns, UTF-16 text, and JSON
//! that is not one row per line. Other files are read again up to the row. A pipe must send all its rows again.

mod kept;

pub use kept::Moment;

use crate::columns::Columns as Selection;
use crate::error::refusal;
use crate::format::{Format, Source};
use crate::read_ahead::ReadAhead;
use crate::read_as::read_as;
use crate::reader::{
    Error, Fault, InputSource, Layout, OnBadRow, Opened, Progress, ReadPosition, Reader, Row, RowPlace,
};
use crate::reading::Reading;
use crate::saved::count;
use crate::time_order::TimeOrder;
use eigenhedge::Missing;
use serde::{Deserialize, Serialize};

/// Maximum number of stored messages about bad rows.
pub const REMEMBERED: usize = 5;

/// State of a stream between two rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamState {
    columns: Vec<usize>,
    position: ReadPosition,
    #[serde(deserialize_with = "count")]
    delivered: u64,
    #[serde(deserialize_with = "count")]
    skipped: u64,
    /// First few messages about bad rows, with their row numbers.
    messages: Vec<(u64, String)>,
    reading: Option<Reading>,
    #[serde(default)]
    times: TimeOrder,
    #[serde(default)]
    incomplete: u64,
}

impl StreamState {
    /// Returns the detected properties of the table, if the state contains them.
    pub fn reading(&self) -> Option<&Reading> {
        self.reading.as_ref()
    }
}

/// Reader of the rows of a table.
pub struct Stream {
    input: InputSource,
    more: usize,
    /// Layout, with the detected format of times.
    layout: Layout,
    reader: Box<dyn Reader>,
    key: Option<usize>,
    compares_times: bool,
    reading: Reading,
    read_as: Option<String>,
    selection: Selection,
    names: Vec<String>,
    row: Row,
    /// State after the most recently returned row. Its reading is filled in when it is returned.
    state: StreamState,
    bad_since: u64,
}

impl Stream {
    pub(crate) fn of(
        source: &Source,
        layout: &Layout,
        (input, Opened { reader, columns, reading }): (InputSource, Opened),
    ) -> Result<Self, Error> {
        let (time, left_out) = (columns.has_time.then(|| columns.kept[0]), columns.left_out.clone());
        let (clock, states) = (columns.clock, columns.states.clone());
        let reading = Reading { time, clock, states, left_out, ..reading };
        if layout.time_format.is_some() && time.is_none() {
            let rule = "has no column of times for --time-format; --time names one";
            return Err(input.fault(Fault::Table(rule.to_owned())));
        }
        let time_format = layout.time_format.clone().or_else(|| reading.time_format.clone());
        Ok(Self {
            input,
            more: source.parts().len().saturating_sub(1),
            key: columns.first_kept.filter(|_| layout.has_key),
            // If the times are the key, they are not compared.
            compares_times: !(columns.has_time && layout.has_key && columns.first_kept == Some(0)),
            read_as: read_as(layout, &reading, &columns),
            layout: Layout { time_format, found: None, ..layout.clone() },
            reading,
            state: StreamState { position: reader.position(), columns: columns.features(), ..StreamState::default() },
            bad_since: 0,
            reader,
            names: columns.selected_names(),
            selection: columns,
            row: Row::default(),
        })
    }

    /// Opens a table at the state of an earlier stream. `names` are the column names of that stream, if it had any.
    pub fn resume(
        source: &Source,
        layout: &Layout,
        state: &StreamState,
        names: Option<&[String]>,
    ) -> Result<Self, Error> {
        let mut stream = Self::open(source, &Layout { found: state.reading.clone(), ..layout.clone() })?;
        let then: Vec<String> = match names {
            Some(names) => names.to_vec(),
            None => state.columns.iter().map(|position| stream.selection.typed(*position)).collect(),
        };
        if stream.names != then {
            let differ = stream.names.iter().zip(&then).find(|(now, then)| now != then);
            let reason = match differ {
                Some((now, then)) => format!("{now:?} stands where {then:?} stood"),
                None => format!("{} instead of {}", stream.names.len(), then.len()),
            };
            let rule = format!("must have the columns it had when the run was stopped: {reason}");
            return Err(stream.input.fault(Fault::Table(rule)));
        }
        let found = stream.reader.go_to(&state.position)?;
        if found != state.position.rows {
            let rule =
                format!("must still hold the {} rows that were read before the run was stopped", state.position.rows);
            return Err(stream.input.fault(Fault::Table(format!("{rule}, got {found}"))));
        }
        stream.state = StreamState { columns: stream.state.columns, ..state.clone() };
        Ok(stream)
    }

    /// Reads the following rows ahead on a second thread, if possible. Rows and errors do not change. `source` and
    /// `layout` must be those with which the stream was opened.
    pub fn read_ahead(&mut self, source: &Source, layout: &Layout) -> Result<bool, Error> {
        if !source.is_regular() || layout.pivot.is_some() || self.reader.position() != self.state.position {
            return Ok(false);
        }
        let layout = Layout { found: Some(self.reading()), ..layout.clone() };
        let ahead = ReadAhead::behind(&*self.reader, &self.input, (source, &layout), self.columns().len());
        self.reader = Box::new(ahead.map_err(|error| self.input.unreadable(error))?);
        Ok(true)
    }

    /// Returns the names of the selected columns, or `None` if the table has no names.
    pub fn own_names(&self) -> Option<Vec<String>> {
        self.selection.names.is_some().then(|| self.names.clone())
    }

    /// Returns the state after the most recently returned row.
    pub fn state(&self) -> StreamState {
        let before = |message: &&(u64, String)| message.0 < self.state.position.rows;
        let messages = self.state.messages.iter().filter(before).cloned().collect();
        StreamState { messages, reading: Some(self.reading()), ..self.state.clone() }
    }

    /// Returns the name of the first source, and the number of further files if there are any.
    pub fn source(&self) -> String {
        match self.more {
            0 => self.input.name(),
            1 => format!("{} and 1 more file", self.input.name()),
            more => format!("{} and {more} more files", self.input.name()),
        }
    }

    /// Returns the names of the copied columns. The time column, if there is one, comes first.
    pub fn kept_columns(&self) -> Vec<String> {
        self.selection.kept_names()
    }

    /// Returns the index of the first [`Layout::keep`] column among the copied columns, if any.
    pub fn first_kept(&self) -> Option<usize> {
        self.selection.first_kept
    }

    /// Returns true if there is a time column.
    pub fn has_time(&self) -> bool {
        self.selection.has_time
    }

    /// Returns the detected properties, for [`Layout::found`] of another stream over this table.
    pub fn reading(&self) -> Reading {
        Reading { time_format: self.layout.time_format.clone(), ..self.reading.clone() }
    }

    /// Returns a line that describes how the table was read, or `None` for plain CSV numbers.
    pub fn read_as(&self) -> Option<&str> {
        self.read_as.as_deref()
    }

    /// Describes irregular times, a possible table in long format, and values that were left out, if there are any.
    pub fn times(&self) -> Option<String> {
        let parts = [self.state.times.sentence(), self.long_table(), self.reader.remarks()];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn long_table(&self) -> Option<String> {
        let (left_out, [value]) = (self.left_out(), &self.names[..]) else { return None };
        let (time, tag) = (self.kept_columns().into_iter().next()?, left_out.first()?);
        (self.has_time() && self.state.times.goes_back()).then(|| {
            format!("if {tag} names what {value} is, --pivot {time},{tag},{value} makes a column of each name")
        })
    }

    /// Returns the names of the columns that were left out because they are not numeric.
    pub fn left_out(&self) -> Vec<String> {
        self.selection.left_out.iter().map(|position| self.selection.typed(*position)).collect()
    }

    /// Returns an error if `bytes` for `what`, such as stored rows, exceed the memory limit.
    pub fn allow(&self, what: &str, bytes: u128) -> Result<(), Error> {
        self.input.allow(what, bytes)
    }

    /// Creates an error about the whole table.
    pub fn failure(&self, reason: String) -> Error {
        Error::at(self.source(), Fault::Table(reason))
    }

    /// Returns the names of all columns of the table, or `None` if it has no names.
    pub fn names(&self) -> Option<&[String]> {
        self.selection.names.as_deref()
    }

    /// Returns the names of the selected columns, or their positions if there are no names.
    pub fn columns(&self) -> &[String] {
        &self.names
    }

    /// Returns the names of the selected columns, with units if known, such as `TI502 [°C]`.
    pub fn shown_columns(&self) -> Vec<String> {
        self.selection.shown_names()
    }

    /// Returns the line number (from 1) of the first row, or `None` unless the table is CSV or TSV.
    pub fn first_line(&self) -> Option<u64> {
        let is_text = matches!(self.layout.format, Format::Csv | Format::Tsv);
        Some(self.reading.first_line).filter(|line| is_text && *line > 0)
    }

    /// Describes a selected column for messages: its position in the table, and its name if it has one.
    pub fn label(&self, column: usize) -> String {
        self.selection.selected.get(column).map_or_else(|| column.to_string(), |place| self.selection.label(*place))
    }

    /// Returns the number of rows that were returned and not rejected.
    pub fn rows(&self) -> u64 {
        self.state.delivered
    }

    /// Returns the index (from 0) of the most recently returned row. Bad rows are included.
    pub fn row_number(&self) -> u64 {
        self.state.position.rows.saturating_sub(1)
    }

    /// Returns the number of rows read, including bad rows.
    pub fn rows_read(&self) -> u64 {
        self.reader.position().rows
    }

    /// Returns the number of skipped rows.
    pub fn skipped(&self) -> u64 {
        self.state.skipped + self.bad_since
    }

    /// Returns the number of rows skipped as bad, without those skipped for missing cells.
    pub fn bad_rows(&self) -> u64 {
        self.skipped().saturating_sub(self.state.incomplete)
    }

    /// Returns the messages about the first few skipped rows.
    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.state.messages.iter().map(|(_, message)| message.as_str())
    }

    /// Returns the number of rows or bytes read, and the total if it is known.
    pub fn progress(&self) -> Progress {
        self.reader.progress()
    }

    /// Returns the place of the most recently returned row: the source, and a line (from 1) or a row (from 0).
    pub fn place(&self) -> String {
        self.reader.place().to_string()
    }

    /// Returns the next good row, or `None` after the last. A table without good rows is an error.
    pub fn next_row(&mut self) -> Result<Option<&[f64]>, Error> {
        let found = self.pull()?;
        self.state.position = self.reader.position();
        self.state.skipped += std::mem::take(&mut self.bad_since);
        if !found {
            return self.end();
        }
        self.row.number = self.row_number();
        if let Some(time) = self.row.time.filter(|_| self.compares_times) {
            self.row.time = Some(self.state.times.enter(self.row.key(self.key), time, self.row.number));
        }
        self.state.delivered += 1;
        Ok(Some(self.row.numbers()))
    }

    /// Returns the row that [`Self::next_row`] returned most recently, with its copied cells and its time.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// Moves the most recently returned row to `row`, and reuses the memory of its old value.
    pub fn deliver_into(&mut self, row: &mut Row) {
        self.row.place = self.reader.place();
        std::mem::swap(&mut self.row, row);
    }

    /// Rejects the most recently returned row: returns the reason as an error if bad rows are errors, or counts it.
    pub fn refuse(&mut self, reason: String) -> Result<(), Error> {
        self.reject(self.reader.place(), self.row_number(), reason)
    }

    /// Rejects a row that was returned earlier, like [`Self::refuse`].
    pub fn refuse_row(&mut self, row: &Row, reason: String) -> Result<(), Error> {
        self.reject(row.place.clone(), row.number, reason)
    }

    fn reject(&mut self, place: RowPlace, row: u64, reason: String) -> Result<(), Error> {
        self.state.delivered = self.state.delivered.saturating_sub(1);
        self.remember(Error::at(place, Fault::Row(reason)), row)?;
        self.state.skipped += 1;
        Ok(())
    }

    fn pull(&mut self) -> Result<bool, Error> {
        loop {
            let read = self.reader.read(&mut self.row);
            // A row without values needs no time: spreadsheets end with lines of delimiters.
            let has_values = self.row.numbers().is_empty() || !self.row.numbers().iter().all(|x| x.is_nan());
            let outcome = match read {
                Ok(true) if has_values => self.take_kept().map(|()| true),
                Ok(true) => Err(Error::at(self.reader.place(), Fault::NoValue("number, got missing cells only"))),
                outcome => outcome,
            };
            match outcome {
                Err(error) if error.is_row() => {
                    self.remember(error, self.rows_read().saturating_sub(1))?;
                    self.bad_since += 1;
                }
                outcome => return outcome,
            }
        }
    }

    /// Reads rows as long as `add` returns true, and rejects those for which it returns an error.
    #[doc(hidden)]
    pub fn read_warm_up(
        &mut self,
        mut add: impl FnMut(&[f64]) -> Result<bool, eigenhedge::Error>,
    ) -> Result<Vec<Row>, Error> {
        /// Memory of a buffered row in bytes, in addition to its numbers and texts.
        const ROW: usize = 256;
        let (mut rows, mut needs_more) = (Vec::new(), true);
        while needs_more && self.next_row()?.is_some() {
            let mut row = Row::default();
            self.deliver_into(&mut row);
            match add(row.numbers()) {
                Err(error) => self.refuse_row(&row, refusal(&error, |column| self.label(column)))?,
                Ok(more) => {
                    let bytes = 8 * row.numbers().len() + row.kept.iter().map(String::len).sum::<usize>() + ROW;
                    self.allow("the rows of the warm-up", bytes as u128 * (rows.len() as u128 + 1))?;
                    needs_more = more;
                    rows.push(row);
                }
            }
        }
        Ok(rows)
    }

    /// Returns the UTC offset in seconds of [`Row::time`] in a table with a time zone: that of the first row.
    pub fn time_offset(&self) -> Option<i32> {
        self.state.times.offset
    }

    /// Continues an earlier part of the table with its UTC offset in seconds and the last [`Row::time`].
    pub fn continue_times(&mut self, offset: i32, last: Option<f64>) {
        self.state.times.continue_from(offset, last);
    }

    fn remember(&mut self, error: Error, row: u64) -> Result<(), Error> {
        let passes_over = error.is_missing() && matches!(self.layout.missing, Some(Missing::Skip | Missing::Fill));
        if self.layout.on_bad_row == OnBadRow::Fail && !passes_over {
            return Err(if self.layout.missing.is_some() { error.advised() } else { error });
        }
        self.state.incomplete += u64::from(passes_over);
        let messages = &mut self.state.messages;
        let place = messages.partition_point(|(before, _)| *before <= row);
        if place < REMEMBERED {
            messages.insert(place, (row, error.to_string()));
            messages.truncate(REMEMBERED);
        }
        Ok(())
    }

    fn end(&self) -> Result<Option<&[f64]>, Error> {
        if self.state.delivered > 0 {
            return Ok(None);
        }
        Err(self.input.fault(match self.state.messages.first() {
            Some((_, first)) => Fault::AllBad { rows: self.skipped(), first: first.clone() },
            None if self.reading.has_header => Fault::HeaderOnly,
            None => Fault::Empty,
        }))
    }
}
