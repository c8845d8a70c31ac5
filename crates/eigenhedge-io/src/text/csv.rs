//! Reader of CSV and TSV tables. A single read of the source may go beyond the requested row, but no further read is
//! made, so that rows from a pipe are delivered as they arrive. Repeated headers are skipped. An uncompressed file
//! without carriage returns, and not in UTF-16, is resumed at its byte offset. Others are read again from the start.

use super::cells::{CellStyle, has_thousands};
use super::csv_columns::FirstLines;
use super::first_lines::{Lines, Peeked};
use super::sniff::Look;
use crate::format::Format;
use crate::read_as::spelled;
use crate::reader::{
    Columns, Error, Fault, InputSource, Layout, OnBadRow, Opened, Progress, ReadPosition, Reader, Row, RowPlace,
    allow_columns, quoted, shown,
};
use crate::reading::{Reading, TwoStates};
use crate::recode::text_of;
use crate::time_format::{Found, TimeFormat};
use csv::ByteRecord;
use std::io::{self, Read};

type Records = csv::Reader<Lines<Box<dyn Read>>>;

pub struct Csv {
    input: InputSource,
    records: Records,
    record: ByteRecord,
    held: bool,
    cells: usize,
    /// Header, if it contains a word, and lines of units. Later lines that repeat one of them are skipped.
    headers: Vec<ByteRecord>,
    judges_columns: bool,
    fills: bool,
    columns: Columns,
    style: CellStyle,
    reading: Reading,
    wordy: Vec<usize>,
    has_comments: bool,
    delimiter_hint: String,
    rows: u64,
    lines_before: u64,
    bytes_before: u64,
}

impl Csv {
    pub fn open(input: &InputSource, layout: &Layout, like: Option<&Columns>) -> Result<Opened, Error> {
        let before =
            layout.skip_lines.map_or(0, |lines| usize::try_from(lines).unwrap_or(usize::MAX)).min(usize::MAX / 2);
        let source = Peeked::new(input, before.saturating_add(2))?;
        if source.is_blank() {
            return Err(input.fault(Fault::Empty));
        }
        let start = source.lines().trim_ascii_start();
        if ["{\"", "[{", "[[", "{\n", "{\r"].iter().any(|json| start.starts_with(json.as_bytes())) {
            return Err(input.fault(Fault::OtherFormat { wanted: layout.format.name(), found: "JSON (jsonl)" }));
        }
        let look = Look::new(source.lines(), layout);
        let delimiter = look.reading.signs.delimiter;
        let style = CellStyle::new(&look.reading, &layout.na_values, layout.na_values_only);
        let is_recoded = std::str::from_utf8(source.lines()).is_err();
        let (source, bytes_before) = source.after_lines(look.reading.skipped);
        let delimiter_hint = match (layout.delimiter, layout.format) {
            (Some(_), _) | (_, Format::Tsv) => String::new(),
            _ => format!(" (is the delimiter right? {} was assumed)", spelled(delimiter)),
        };
        let mut table = Self {
            input: input.clone(),
            records: records(source, delimiter, look.has_comments),
            record: ByteRecord::new(),
            held: true,
            cells: 0,
            headers: Vec::new(),
            judges_columns: layout.on_bad_row == OnBadRow::Fail && layout.header != Some(false),
            fills: layout.fills(),
            columns: Columns::default(),
            style,
            reading: Reading::default(),
            wordy: Vec::new(),
            has_comments: look.has_comments,
            delimiter_hint,
            rows: 0,
            lines_before: look.reading.skipped,
            bytes_before,
        };
        if !table.advance()? {
            return Err(input.fault(Fault::Empty));
        }
        table.cells = table.record.len();
        allow_columns(input, table.cells as u128)?;
        let lines = FirstLines { input, layout, first: &table.record, look: &look, style: &table.style };
        let (columns, reading, wordy) = lines.settle(like)?;
        table.held = !reading.has_header;
        if reading.has_header && table.record.iter().any(|cell| table.style.is_word(cell)) {
            table.headers.push(table.record.clone());
        }
        for _ in 0..reading.unit_lines {
            table.advance()?;
            table.headers.push(table.record.clone());
        }
        let sheet = input.sheet.clone().filter(|(_, count)| *count > 1).map(|(name, _)| name);
        // If the first line is a row, it has been read already.
        let first_line = table.lines_before + table.records.position().line() - u64::from(table.held);
        table.reading = Reading { is_recoded, sheet, first_line, ..reading };
        (table.columns, table.wordy) = (columns.clone(), wordy);
        let reading = table.reading.clone();
        Ok(Opened { reading, ..Opened::new(table, columns) })
    }

    fn advance(&mut self) -> Result<bool, Error> {
        let longest = self.input.memory.line;
        self.records.get_mut().allow(longest);
        let line = self.records.position().line();
        let outcome = self.records.read_byte_record(&mut self.record);
        let found = outcome.map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                let place = self.input.line(self.lines_before + line);
                // A record continues after a line end only within quotes.
                let is_open = self.records.position().line() > line + 1;
                let quote = format!("a quote is opened here and not closed within {longest} bytes");
                Error::at(place, if is_open { Fault::Table(quote) } else { self.input.memory.long_line() })
            }
            csv::ErrorKind::Io(error) => self.input.unreadable(error),
            other => self.input.unreadable(io::Error::other(format!("{other:?}"))),
        })?;
        if self.record.as_slice().last() == Some(&b'\n')
            && self.records.get_ref().ends_openly(self.records.position().byte())
        {
            self.rows += u64::from(self.cells > 0);
            let before = self.record.iter().rev().skip(1).flatten().filter(|byte| **byte == b'\n').count() as u64;
            let inside = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
            let end = self.lines_before + self.records.position().line();
            let line = (end + before).saturating_sub(inside);
            let unclosed = Fault::Row("a quote is opened here and not closed".to_owned());
            return Err(Error::at(self.input.line(line), unclosed));
        }
        Ok(found)
    }

    fn next_row(&mut self) -> Result<bool, Error> {
        const MARK: &[u8] = "\u{feff}".as_bytes();
        while self.advance()? {
            let cells = self.record.as_slice();
            let is_header = |header: &ByteRecord| {
                let cells = cells.strip_prefix(MARK).unwrap_or(cells);
                header.len() == self.record.len() && header.as_slice() == cells
            };
            if !self.headers.iter().any(is_header) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns 0 or 1 for a cell of a two-word column, or NaN if missing cells are filled in, or an error.
    #[cold]
    fn other_cell(&self, column: usize) -> Result<f64, Error> {
        let cell = &self.record[column];
        let states = self.columns.states.iter().find(|state| state.position == column);
        if let Some(value) = states.and_then(|states| states.value(cell)) {
            return Ok(value);
        }
        let is_missing = self.style.is_missing(cell);
        if self.fills && (states.is_some() || is_missing) {
            return Ok(f64::NAN);
        }
        let Some(TwoStates { words: [off, on], .. }) = states.filter(|_| !is_missing) else {
            return Err(self.bad_cell(column));
        };
        let rule = format!("must be {} or {}, as in the first rows", quoted(off), quoted(on));
        let reason = format!("{rule}, got {}; --exclude leaves the column out", shown(cell));
        Err(self.columns.at(self.place(), column, Fault::Row(reason)))
    }

    fn bad_cell(&self, column: usize) -> Error {
        let Self { record, style, .. } = self;
        let cell = &record[column];
        let is_number = |part: &[u8]| style.number(part).is_some();
        let parts = cell.split(u8::is_ascii_whitespace).filter(|part| !part.is_empty());
        if self.rows == 1 && self.cells == 1 && parts.filter(|part| is_number(part)).count() > 1 {
            let rule = "must have commas, semicolons, tabs or bars between its cells, got spaces;";
            let reason = format!("{rule} awk '{{$1=$1}} 1' OFS=, writes commas");
            return Error::at(self.place(), Fault::Table(reason));
        }
        if self.rows == 1 && self.judges_columns && style.is_word(cell) {
            let words = self.columns.selected.iter().filter(|column| style.is_word(&record[**column]));
            let bad: Vec<(usize, String)> = words.map(|column| (*column, shown(&self.record[*column]))).collect();
            // A header with numbers may be a row, so the message refers to columns by position.
            let names = self.columns.selected_names();
            let doubtful = names.iter().any(|name| style.number(name.as_bytes()).is_some());
            let is_time = |column: &usize| TimeFormat::find(&[&text_of(&record[*column])]) != Found::Nothing;
            let time = bad.iter().map(|(column, _)| *column).find(is_time).filter(|_| !self.columns.has_time);
            let is_line = bad.iter().all(|(column, _)| !self.wordy.contains(column));
            let header = if self.reading.has_header { "" } else { "; --header reads the line as a header" };
            return self.columns.not_numeric(&self.place().to_string(), &bad, (doubtful, is_line), time, header);
        }
        let fault = if style.number(cell).is_none() && has_thousands(cell) {
            let rule = "must be a number with one decimal sign, got";
            Fault::Row(format!("{rule} {}; --decimal names the sign", shown(cell)))
        } else {
            let found = shown(cell) + style.hint(cell);
            if style.is_missing(cell) { Fault::cell(found, true) } else { Fault::TextCell(found) }
        };
        self.columns.at(self.place(), column, fault)
    }

    fn bytes(&self) -> u64 {
        self.bytes_before + self.records.position().byte()
    }
}

impl Reader for Csv {
    fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        let numbers = row.cleared();
        if !std::mem::take(&mut self.held) && !self.next_row()? {
            return Ok(false);
        }
        self.rows += 1;
        if self.record.len() != self.cells {
            let (expected, found, hint) = (self.cells, self.record.len(), &self.delimiter_hint);
            let reason = format!("must have {expected} cells like the first line, got {found}{hint}");
            return Err(Error::at(self.place(), Fault::Row(reason)));
        }
        // UTF-8 is validated once per line, because cells are short.
        let line = std::str::from_utf8(self.record.as_slice()).ok();
        for &column in &self.columns.selected {
            let cell = line.and_then(|line| line.get(self.record.range(column)?));
            let number = match cell {
                Some(cell) => self.style.number_of_text(cell),
                None => self.style.number(&self.record[column]),
            };
            match number {
                Some(value) if value.is_finite() => numbers.push(value),
                _ => numbers.push(self.other_cell(column)?),
            }
        }
        row.kept.extend(self.columns.kept.iter().map(|column| text_of(&self.record[*column]).into_owned()));
        Ok(true)
    }

    fn place(&self) -> RowPlace {
        // The line is counted back from the end of the record, because blank lines may precede it.
        let inside = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
        let line = self.lines_before + self.records.position().line().saturating_sub(inside + 1);
        self.input.line(line)
    }

    fn position(&self) -> ReadPosition {
        // The first line may have been read as a row but not returned yet.
        let exact = self.records.get_ref().is_exact() && !self.held;
        let lines = self.lines_before + self.records.position().line() - 1;
        ReadPosition { rows: self.rows, lines, bytes: exact.then(|| self.bytes()), ..ReadPosition::default() }
    }

    fn go_to(&mut self, position: &ReadPosition) -> Result<u64, Error> {
        if let Some(bytes) = position.bytes
            && self.input.size().is_some_and(|size| size >= bytes)
            && let Some(source) = self.input.open_at(bytes)?
        {
            self.records = records(source, self.reading.signs.delimiter, self.has_comments);
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
}

fn records(source: Box<dyn Read>, delimiter: u8, has_comments: bool) -> Records {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .comment(has_comments.then_some(b'#'))
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(1 << 16)
        .from_reader(Lines::new(source).of_cells(delimiter))
}
