//! CSV and TSV.
//!
//! One record is reused, and nothing is read beyond the row that is asked for, except what a single read of the source
//! brings along: rows from a pipe come out as they arrive.
//!
//! **Header.** The first line is one when a selected cell in it is a word, when columns are asked for by name, or when it
//! holds the names of a model's columns. An empty cell or another sign for a missing number alone makes no
//! header.
//! A later line that repeats the header, as in files that were put together, is no row and is passed over.
//!
//! **Going on.** A file without carriage returns is taken up at its byte; another one is read again from the start.

use super::line_ends::Lines;
use super::{is_missing, number};
use crate::columns::{Columns, allow_columns, select};
use crate::error::{Error, Fault, shown};
use crate::input_source::InputSource;
use crate::layout::{Layout, OnBadRow};
use crate::reader::{Opened, Progress, ReadPosition, Reader};
use csv::ByteRecord;
use std::io::{self, Read};

type Records = csv::Reader<Lines<Box<dyn Read>>>;

/// A table that is being read.
pub struct Csv {
    input: InputSource,
    records: Records,
    record: ByteRecord,
    /// The record holds the first line, which turned out to be a row.
    held: bool,
    /// Cells in every line.
    cells: usize,
    has_header: bool,
    /// The header, if it holds a word: a line that repeats it is no row.
    header: Option<ByteRecord>,
    /// True if a word in the first row means that its column is one of words.
    judges_columns: bool,
    fills: bool,
    columns: Columns,
    delimiter: u8,
    rows: u64,
    /// Lines and bytes before those that the reader has counted.
    lines_before: u64,
    bytes_before: u64,
}

impl Csv {
    /// Opens the source and reads its first line.
    pub fn open(input: &InputSource, layout: &Layout, like: Option<&Columns>) -> Result<Opened, Error> {
        let mut table = Self {
            input: input.clone(),
            records: records(input.open()?, layout.delimiter),
            record: ByteRecord::new(),
            held: true,
            cells: 0,
            has_header: false,
            header: None,
            judges_columns: layout.on_bad_row == OnBadRow::Fail,
            fills: layout.fills(),
            columns: Columns::default(),
            delimiter: layout.delimiter,
            rows: 0,
            lines_before: 0,
            bytes_before: 0,
        };
        if !table.advance()? {
            return Err(input.fault(Fault::Empty));
        }
        table.cells = table.record.len();
        allow_columns(input, table.cells as u128)?;
        table.settle(layout, like)?;
        let columns = table.columns.clone();
        Ok(Opened { reader: Box::new(table), columns })
    }

    /// Reads one record; false at the end.
    fn advance(&mut self) -> Result<bool, Error> {
        let longest = self.input.memory.line();
        self.records.get_mut().allow(longest);
        let line = self.lines_before + self.records.position().line();
        self.records.read_byte_record(&mut self.record).map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                let place = format!("{}, line {line}", self.input.name());
                Error::at(place, Fault::LongLine { longest, limit: self.input.memory.to_string() })
            }
            csv::ErrorKind::Io(error) => self.input.unreadable(error),
            other => self.input.unreadable(io::Error::other(format!("{other:?}"))),
        })
    }

    /// Reads the next record that is a row; false at the end.
    fn next_row(&mut self) -> Result<bool, Error> {
        const MARK: &[u8] = "\u{feff}".as_bytes();
        loop {
            if !self.advance()? {
                return Ok(false);
            }
            let cells = self.record.as_slice();
            let is_header = |header: &ByteRecord| {
                let cells = cells.strip_prefix(MARK).unwrap_or(cells);
                header.len() == self.record.len() && header.as_slice() == cells
            };
            if !self.header.as_ref().is_some_and(is_header) {
                return Ok(true);
            }
        }
    }

    /// Decides which columns are used and whether the first line is a header.
    fn settle(&mut self, layout: &Layout, like: Option<&Columns>) -> Result<(), Error> {
        const LIST: &str = " in the header";
        let names: Vec<String> =
            self.record.iter().map(|cell| String::from_utf8_lossy(cell.trim_ascii()).into_owned()).collect();
        let count = names.len();
        let fault = |fault| self.input.fault(fault);
        let wordy = |column: &usize| is_word(&self.record[*column]);
        let is_header = match like {
            None => {
                // Every column is looked at before it is known which hold text.
                let every = Layout { only_numeric: false, model_columns: None, items: None, ..layout.clone() };
                let selected = select(Some(names.clone()), count, &every, LIST, |_| false).map_err(fault)?.selected;
                // A model's columns may be called 1 and 2.
                let model = layout.model_columns.as_ref();
                let of_model = model.is_some_and(|wanted| wanted.iter().all(|name| names.contains(name)));
                layout.names_columns() || of_model || selected.iter().any(wordy)
            }
            Some(like) => {
                let repeats = like.names.as_ref().is_some_and(|first| names.iter().all(|name| first.contains(name)));
                repeats || like.selected.iter().filter(|column| **column < count).any(wordy)
            }
        };
        self.has_header = layout.may_have_header && is_header;
        if self.has_header && (0..count).any(|column| wordy(&column)) {
            self.header = Some(self.record.clone());
        }
        self.columns = match like {
            Some(like) if self.has_header => {
                if like.names.is_none() {
                    return Err(fault(Fault::LaterHeader));
                }
                like.of_later(names, layout, LIST).map_err(fault)?
            }
            Some(like) if like.count != count => {
                return Err(fault(Fault::OtherWidth { expected: like.count, found: count }));
            }
            Some(like) => like.clone(),
            None => {
                let known = self.has_header.then_some(names);
                // The first row shows which columns hold text.
                let shown = if self.has_header && layout.only_numeric { self.advance()? } else { !self.has_header };
                self.held = shown;
                let holds_text = |column: usize| shown && self.record.get(column).is_some_and(is_word);
                select(known, count, layout, LIST, holds_text).map_err(|fault| self.input.fault(fault))?
            }
        };
        if like.is_some() {
            self.held = !self.has_header;
        }
        Ok(())
    }

    fn bad_cell(&self, column: usize) -> Error {
        if self.rows == 1 && self.judges_columns && self.has_header && is_word(&self.record[column]) {
            let words = self.columns.selected.iter().filter(|column| is_word(&self.record[**column]));
            let bad: Vec<(usize, String)> = words.map(|column| (*column, shown(&self.record[*column]))).collect();
            // A header that holds numbers may be a row that was taken for one; by position it will not be.
            let names = self.columns.selected_names();
            let doubtful = names.iter().any(|name| number(name.as_bytes()).is_some());
            return self.columns.not_numeric(&self.place(), &bad, doubtful);
        }
        let place = format!("{}, {}", self.place(), self.columns.label(column));
        let cell = &self.record[column];
        Error::at(place, Fault::cell(shown(cell), is_missing(cell)))
    }

    fn bytes(&self) -> u64 {
        self.bytes_before + self.records.position().byte()
    }
}

impl Reader for Csv {
    fn read(&mut self, row: &mut Vec<f64>) -> Result<bool, Error> {
        if !std::mem::take(&mut self.held) && !self.next_row()? {
            return Ok(false);
        }
        self.rows += 1;
        if self.record.len() != self.cells {
            let fault = Fault::Ragged { expected: self.cells, found: self.record.len(), like: "line" };
            return Err(Error::at(self.place(), fault));
        }
        for &column in &self.columns.selected {
            match number(&self.record[column]) {
                Some(value) if value.is_finite() => row.push(value),
                _ if self.fills && is_missing(&self.record[column]) => row.push(f64::NAN),
                _ => return Err(self.bad_cell(column)),
            }
        }
        Ok(true)
    }

    fn kept(&self, texts: &mut Vec<String>) {
        let text = |column: &usize| String::from_utf8_lossy(&self.record[*column]).into_owned();
        texts.extend(self.columns.kept.iter().map(text));
    }

    fn place(&self) -> String {
        // The reader knows where a record ends; where it says a record starts there may be blank lines.
        let inside = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
        let line = self.lines_before + self.records.position().line().saturating_sub(inside + 1);
        format!("{}, line {line}", self.input.name())
    }

    fn position(&self) -> ReadPosition {
        // A first line that is held as a row has been read, but is not behind us.
        let exact = self.records.get_ref().is_exact() && !self.held;
        let lines = self.lines_before + self.records.position().line() - 1;
        ReadPosition { rows: self.rows, lines, bytes: exact.then(|| self.bytes()), ..ReadPosition::default() }
    }

    fn go_to(&mut self, position: &ReadPosition) -> Result<u64, Error> {
        if let Some(bytes) = position.bytes
            && self.input.size().is_some_and(|size| size >= bytes)
            && let Some(source) = self.input.open_at(bytes)?
        {
            self.records = records(source, self.delimiter);
            (self.rows, self.lines_before, self.bytes_before, self.held) =
                (position.rows, position.lines, bytes, false);
            return Ok(self.rows);
        }
        while self.rows < position.rows && (std::mem::take(&mut self.held) || self.next_row()?) {
            self.rows += 1;
        }
        Ok(self.rows)
    }

    fn progress(&self) -> Progress {
        self.input.progress(self.bytes(), self.rows)
    }

    fn has_header(&self) -> bool {
        self.has_header
    }
}

fn records(source: Box<dyn Read>, delimiter: u8) -> Records {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(1 << 16)
        .from_reader(Lines::new(source))
}

/// True if a cell is neither a number nor one of the signs for a missing one.
fn is_word(cell: &[u8]) -> bool {
    number(cell).is_none() && !is_missing(cell)
}
