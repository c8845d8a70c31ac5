//! Tables of numbers, one row at a time.
//!
//! Memory does not depend on the number of rows: one record and one row are reused. Nothing is read beyond the row
//! that is asked for, except what a single read of the source brings along, so rows from a pipe come out as they arrive.

use crate::lines::Lines;
use csv::ByteRecord;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// Where rows come from.
#[derive(Debug, Clone)]
pub enum Source {
    /// Standard input.
    Standard,
    /// A file.
    File(PathBuf),
}

/// How a table is laid out and which of its columns are wanted.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Whether the first line is a header when it looks like one.
    pub may_have_header: bool,
    /// Columns to use, in this order; none stands for all.
    pub columns: Vec<Selector>,
    /// Columns to leave out.
    pub exclude: Vec<Selector>,
    /// What separates cells.
    pub delimiter: u8,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// Counted from 0.
    Position(usize),
    /// As the header calls it.
    Name(String),
}

impl Selector {
    /// A whole number is a position, anything else a name.
    pub fn from_text(text: &str) -> Self {
        let text = text.trim();
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Position)
    }
}

/// What is wrong with a table, and where.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {fault}")]
pub struct Error {
    place: String,
    fault: Fault,
}

/// What is wrong with a table.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("must hold at least one row, got nothing")]
    Empty,
    #[error("must hold at least one row, got only a header")]
    HeaderOnly,
    #[error("must have {expected} cells like the first line, got {found}")]
    Ragged { expected: usize, found: usize },
    #[error("must be a finite number, got {0}")]
    Cell(String),
    #[error("there is no column {position}: positions run from 0 to {last}")]
    NoPosition { position: usize, last: usize },
    #[error("there is no column {0:?} in the header")]
    NoName(String),
    #[error("the column name {0:?} must be unique, but the header has it more than once; use its position")]
    Ambiguous(String),
    #[error("column {0} must be selected once, not twice")]
    Twice(usize),
    #[error("at least one column must be left, but all are excluded")]
    NoColumns,
}

/// A table that is being read.
pub struct Rows {
    reader: csv::Reader<Lines<Box<dyn Read>>>,
    source: String,
    record: ByteRecord,
    /// The record holds the first line, which turned out to be a row.
    held: bool,
    /// Cells in every line.
    cells: usize,
    header: Option<Vec<String>>,
    /// Positions of the selected cells.
    columns: Vec<usize>,
    row: Vec<f64>,
    rows: u64,
}

impl Rows {
    /// Opens the source and reads its first line.
    pub fn open(source: &Source, layout: &Layout) -> Result<Self, Error> {
        let (name, input): (String, Box<dyn Read>) = match source {
            Source::Standard => ("standard input".into(), Box::new(io::stdin().lock())),
            Source::File(path) => {
                let place = path.display().to_string();
                match File::open(path) {
                    Ok(file) => (place, Box::new(file)),
                    Err(error) => return Err(Error { place, fault: Fault::Unreadable(error) }),
                }
            }
        };
        Self::over(input, name, layout)
    }

    /// Reads from anything; messages call it by the name.
    fn over(input: Box<dyn Read>, source: String, layout: &Layout) -> Result<Self, Error> {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(layout.delimiter)
            .buffer_capacity(1 << 16)
            .from_reader(Lines::new(input));
        let mut rows = Self {
            reader,
            source,
            record: ByteRecord::new(),
            held: true,
            cells: 0,
            header: None,
            columns: Vec::new(),
            row: Vec::new(),
            rows: 0,
        };
        if !rows.advance()? {
            return Err(rows.fault(Fault::Empty));
        }
        rows.cells = rows.record.len();
        rows.settle(layout).map_err(|fault| rows.fault(fault))?;
        Ok(rows)
    }

    /// Numbers in a row.
    pub fn length(&self) -> usize {
        self.columns.len()
    }

    /// Name of the source.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Where the row read last stands: the source and the line, from 1.
    pub fn place(&self) -> String {
        // The reader knows where a record ends; where it says a record starts there may be blank lines.
        let inside = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64;
        format!("{}, line {}", self.source, self.reader.position().line().saturating_sub(inside + 1))
    }

    /// The next row; none after the last. A table without rows is an error.
    pub fn next_row(&mut self) -> Result<Option<&[f64]>, Error> {
        if !std::mem::take(&mut self.held) && !self.advance()? {
            return if self.rows == 0 { Err(self.fault(Fault::HeaderOnly)) } else { Ok(None) };
        }
        if self.record.len() != self.cells {
            let fault = Fault::Ragged { expected: self.cells, found: self.record.len() };
            return Err(Error { place: self.place(), fault });
        }
        self.row.clear();
        for &column in &self.columns {
            match number(&self.record[column]) {
                Some(value) if value.is_finite() => self.row.push(value),
                _ => return Err(self.bad_cell(column)),
            }
        }
        self.rows += 1;
        Ok(Some(&self.row))
    }

    /// Reads one record; false at the end.
    fn advance(&mut self) -> Result<bool, Error> {
        self.reader
            .read_byte_record(&mut self.record)
            .map_err(|error| Error { place: self.source.clone(), fault: Fault::Unreadable(error.into()) })
    }

    /// Decides which columns are used and whether the first line is a header.
    fn settle(&mut self, layout: &Layout) -> Result<(), Fault> {
        let names: Vec<String> =
            self.record.iter().map(|cell| String::from_utf8_lossy(cell.trim_ascii()).into_owned()).collect();
        let mut columns: Vec<usize> = match layout.columns.as_slice() {
            [] => (0..names.len()).collect(),
            selectors => selectors.iter().map(|selector| find(selector, &names)).collect::<Result<_, _>>()?,
        };
        if let Some(twice) = (1..columns.len()).find(|i| columns[..*i].contains(&columns[*i])) {
            return Err(Fault::Twice(columns[twice]));
        }
        for selector in &layout.exclude {
            let excluded = find(selector, &names)?;
            columns.retain(|column| *column != excluded);
        }
        if columns.is_empty() {
            return Err(Fault::NoColumns);
        }
        // An empty cell alone makes no header: it is more likely a number that is missing.
        let wordy = |column: &usize| !names[*column].is_empty() && number(&self.record[*column]).is_none();
        let named = layout.columns.iter().chain(&layout.exclude).any(|s| matches!(s, Selector::Name(_)));
        if layout.may_have_header && (named || columns.iter().any(wordy)) {
            self.header = Some(names);
            self.held = false;
        }
        self.columns = columns;
        Ok(())
    }

    fn fault(&self, fault: Fault) -> Error {
        Error { place: self.source.clone(), fault }
    }

    fn bad_cell(&self, column: usize) -> Error {
        let name = self.header.as_ref().map_or(String::new(), |header| format!(" ({:?})", header[column]));
        let cell = String::from_utf8_lossy(self.record[column].trim_ascii());
        let shown = match cell.char_indices().nth(LONGEST_SHOWN) {
            _ if cell.is_empty() => "an empty cell".to_owned(),
            Some((end, _)) => format!("{:?}…", &cell[..end]),
            None => format!("{cell:?}"),
        };
        Error { place: format!("{}, column {column}{name}", self.place()), fault: Fault::Cell(shown) }
    }
}

/// Characters of a bad cell that a message repeats.
const LONGEST_SHOWN: usize = 40;

fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell.trim_ascii()).ok()?.parse().ok()
}

fn find(selector: &Selector, names: &[String]) -> Result<usize, Fault> {
    match selector {
        Selector::Position(position) if *position < names.len() => Ok(*position),
        Selector::Position(position) => Err(Fault::NoPosition { position: *position, last: names.len() - 1 }),
        Selector::Name(name) => {
            let mut matches = (0..names.len()).filter(|i| names[*i] == *name);
            match (matches.next(), matches.next()) {
                (Some(position), None) => Ok(position),
                (None, _) => Err(Fault::NoName(name.clone())),
                (Some(_), Some(_)) => Err(Fault::Ambiguous(name.clone())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Layout = Layout { may_have_header: true, columns: Vec::new(), exclude: Vec::new(), delimiter: b',' };

    fn read(text: &'static str, layout: &Layout) -> Result<Vec<Vec<f64>>, String> {
        let mut rows =
            Rows::over(Box::new(text.as_bytes()), "table".into(), layout).map_err(|error| error.to_string())?;
        let mut all = Vec::new();
        while let Some(row) = rows.next_row().map_err(|error| error.to_string())? {
            all.push(row.to_vec());
        }
        Ok(all)
    }

    fn selecting(columns: &[&str], exclude: &[&str]) -> Layout {
        let selectors = |texts: &[&str]| texts.iter().map(|text| Selector::from_text(text)).collect();
        Layout { columns: selectors(columns), exclude: selectors(exclude), ..ALL }
    }

    #[test]
    fn a_first_line_with_a_word_is_a_header_and_one_with_numbers_is_not() {
        let rows = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
        assert_eq!(read("a,b\n1,2\n3,4\n", &ALL), Ok(rows.clone()));
        assert_eq!(read("1,2\n3,4", &ALL), Ok(rows.clone()));
        assert_eq!(read("\u{feff}a,b\r\n 1, 2 \r\n\r\n\"3\",4\r\n", &ALL), Ok(rows));
    }

    #[test]
    fn only_selected_cells_decide_about_the_header() {
        let layout = selecting(&["1"], &[]);
        assert_eq!(read("monday,1\ntuesday,2\n", &layout), Ok(vec![vec![1.0], vec![2.0]]));
        assert_eq!(read("day,x\ntuesday,2\n", &layout), Ok(vec![vec![2.0]]));
        assert_eq!(read("monday,1\ntuesday,2\n", &selecting(&[], &["0"])), Ok(vec![vec![1.0], vec![2.0]]));
    }

    #[test]
    fn columns_come_in_the_order_asked_for() {
        assert_eq!(read("a,b,c\n1,2,3\n", &selecting(&["c", "0"], &[])), Ok(vec![vec![3.0, 1.0]]));
        assert_eq!(read("a,b,c\n1,2,3\n", &selecting(&["c", "0"], &["a"])), Ok(vec![vec![3.0]]));
    }

    #[test]
    fn messages_count_lines_as_an_editor_does() {
        let message = |line| Err(format!("table, line {line}, column 0: must be a finite number, got \"x\""));
        assert_eq!(read("1\n2\nx\n", &ALL), message(3));
        assert_eq!(read("1\r\n2\r\nx\r\n", &ALL), message(3));
        assert_eq!(read("1\n\n\n2\n\nx\n", &ALL), message(6));
        assert_eq!(read("1\r\n\r\n2\r\n\r\nx", &ALL), message(5));
        assert_eq!(read("1\r2\rx\r", &ALL), message(3));
        assert_eq!(
            read("\"name\nof it\"\n1\n\"x\"\n", &ALL),
            Err("table, line 4, column 0 (\"name\\nof it\"): must be a finite number, got \"x\"".into())
        );
    }
}
