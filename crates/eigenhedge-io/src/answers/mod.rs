//! Output tables with one answer per input row, such as its loss and coordinates. A file is either complete or absent.
//!
//! A file is written under a temporary name in the target's folder and renamed when it is complete (see
//! [`crate::WholeFile`]). The temporary name is derived from the target's name, so that a new run finds the partial
//! output of a killed run: [`Answers::sync`] flushes the output to disk and returns its size, and [`Answers::resume`]
//! truncates to that size and continues. The resulting file has the same bytes as that of an uninterrupted run. After a
//! sync, the staging file is kept when a run fails. Before that, and after a complete run, it is removed. If a complete
//! run is resumed from an earlier state, its answers are truncated in the target. This is impossible for Parquet.
//!
//! The staging file is locked during a run: a second run with the same target is refused.
//!
//! Answers to standard output or to a device are flushed after each row on request and cannot be withdrawn. A resumed run
//! continues after the last synced row.

mod behind;
mod cells;
mod form;
mod number;
mod parquet;
mod verdict;

pub use behind::Output;
pub use cells::{Answer, Cell, CellKind};
pub use form::Form;
pub(crate) use form::quoted_cell;
pub use verdict::{CAUSES, cause_columns, verdict_cells, verdict_columns};

use crate::error::{Error, Fault};
use crate::staging::{Kind, Place, Staging, cut_from_target, unwritable};
use cells::Columns;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

/// Destination of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// No output.
    Nowhere,
    /// Standard output.
    Standard,
    /// File with this path.
    File(PathBuf),
}

/// Appends an answer as a line of JSON. `names` contains the names of the copied columns.
pub fn json_answer(answer: &Answer<'_>, names: &[String], out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = Form::Jsonl.write(answer, names, out);
}

/// Appends a row of these columns as a line of JSON.
pub fn json_cells(columns: &[(String, CellKind)], row: &[Cell<'_>], out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = Form::Jsonl.cells(columns, row, out);
}

/// Extent of the output that is safely on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Position {
    /// Number of answers written.
    pub rows: u64,
    /// Size of the staging file in bytes, or zero if there is no staging file.
    pub bytes: u64,
}

/// Writer of a table of answers.
pub struct Answers {
    sink: Sink,
    form: Form,
    kept: usize,
    /// Names of the copied columns, or of all columns in a table of rows.
    names: Vec<String>,
    is_of_rows: bool,
    /// Names and types of the columns, for a table of cells.
    cells: Columns,
    /// True to flush each answer before the next row is read.
    at_once: bool,
    /// True to protect cells that a spreadsheet would interpret as a formula.
    is_safe: bool,
    rows: u64,
}

enum Sink {
    Nowhere,
    Standard(BufWriter<Stdout>),
    /// Device or other special file, which must not be replaced by a regular file.
    Device(BufWriter<File>, PathBuf),
    File(Staging),
}

impl Answers {
    /// Opens a table and checks that the target is writable. A file appears at the target only when the table is
    /// complete. `kept` is the number of coordinates. If `at_once` is true, each answer is flushed immediately.
    pub fn open(target: &Target, form: Form, kept: usize, at_once: bool) -> Result<Self, Error> {
        Self::start(target, form, kept, at_once, None)
    }

    /// Opens a table that continues after a position returned by [`Answers::sync`] for the same target.
    pub fn resume(target: &Target, form: Form, kept: usize, at_once: bool, position: &Position) -> Result<Self, Error> {
        Self::start(target, form, kept, at_once, Some(position))
    }

    fn start(
        target: &Target,
        form: Form,
        kept: usize,
        at_once: bool,
        position: Option<&Position>,
    ) -> Result<Self, Error> {
        form.judge().map_err(|fault| Error::at(form.name(), fault))?;
        let sink = match target {
            Target::Nowhere => Sink::Nowhere,
            Target::Standard => Sink::Standard(BufWriter::new(io::stdout())),
            Target::File(path) => {
                let lines = |position: &Position| form.lines(position.rows);
                open_file(path, position.map(|position| (position.bytes, lines(position))))?
            }
        };
        let rows = position.map_or(0, |position| position.rows);
        Ok(Self {
            sink,
            form,
            kept,
            names: Vec::new(),
            is_of_rows: false,
            cells: Vec::new(),
            at_once,
            is_safe: false,
            rows,
        })
    }

    /// Opens a table of numeric rows with these column names, for [`Self::write_row`]. If a position is given, the
    /// output continues after it.
    pub fn of_rows(
        target: &Target,
        form: Form,
        names: &[String],
        at_once: bool,
        position: Option<&Position>,
    ) -> Result<Self, Error> {
        // If all names are numbers, they get a prefix. A header of numbers would be read as a row.
        let are_positions = names.iter().all(|name| name.parse::<f64>().is_ok());
        let name = |name: &String| if are_positions { format!("x{name}") } else { name.clone() };
        let names = names.iter().map(name).collect();
        Ok(Self { names, is_of_rows: true, ..Self::start(target, form, 0, at_once, position)? })
    }

    /// Opens a table with columns of these names and types, for [`Self::write_cells`]. If a position is given, the
    /// output continues after it. Returns an error if two columns have the same name.
    pub fn of_cells(
        target: &Target,
        form: Form,
        cells: Vec<(String, CellKind)>,
        at_once: bool,
        position: Option<&Position>,
    ) -> Result<Self, Error> {
        let is_repeated =
            |(i, (name, _)): &(usize, &(String, CellKind))| cells[..*i].iter().any(|(other, _)| other == name);
        if let Some((_, (name, _))) = cells.iter().enumerate().find(is_repeated) {
            return Err(Error::at("the answers", Fault::TakenName(name.clone())));
        }
        Ok(Self { cells, ..Self::start(target, form, 0, at_once, position)? })
    }

    fn columns(&self) -> Columns {
        let numbers = |names: &[String]| names.iter().map(|name| (name.clone(), CellKind::Number)).collect::<Columns>();
        if !self.cells.is_empty() {
            return self.cells.clone();
        }
        if self.is_of_rows {
            return numbers(&self.names);
        }
        let texts = self.names.iter().map(|name| (name.clone(), CellKind::Text));
        let losses = ["expected_loss", "loss"].map(str::to_owned).into_iter();
        let losses: Vec<String> = losses.chain((0..self.kept).map(|i| format!("z{i}"))).collect();
        [("row".to_owned(), CellKind::Whole)].into_iter().chain(texts).chain(numbers(&losses)).collect()
    }

    /// Adds text columns with these names, after the row number. Returns an error if a numeric column has such a name.
    pub fn with_texts(self, names: Vec<String>) -> Result<Self, Error> {
        let is_coordinate = |name: &str| (0..self.kept).any(|i| name == format!("z{i}"));
        let is_taken =
            |name: &&String| matches!(name.as_str(), "row" | "expected_loss" | "loss") || is_coordinate(name);
        match names.iter().find(is_taken) {
            Some(name) => Err(Error::at("the answers", Fault::TakenName(name.clone()))),
            None => Ok(Self { names, ..self }),
        }
    }

    /// Sets whether CSV and TSV cells that a spreadsheet would interpret as a formula get a leading apostrophe. These
    /// are cells that start with `=`, `+`, `-` or `@` and are not numbers.
    pub fn with_safe_cells(self, is_safe: bool) -> Self {
        let is_safe = is_safe && matches!(self.form, Form::Csv | Form::Tsv);
        Self { is_safe, ..self }
    }

    /// Writes the answer to a row. Reading the numbers back gives the same values.
    pub fn write(&mut self, answer: &Answer<'_>) -> Result<(), Error> {
        let (form, first, at_once) = (self.form, self.rows == 0, self.at_once);
        self.rows += 1;
        debug_assert_eq!((answer.coordinates.len(), answer.texts.len()), (self.kept, self.names.len()));
        let safe: Vec<String>;
        let mut answer = *answer;
        if self.is_safe {
            safe = answer.texts.iter().map(|text| safe_cell(text).into_owned()).collect();
            answer.texts = &safe;
        }
        let names = std::mem::take(&mut self.names);
        let written = self.hand_over(|out| {
            if first {
                form.header(&names, answer.coordinates.len(), out)?;
            }
            form.write(&answer, &names, out)?;
            if at_once { out.flush() } else { Ok(()) }
        });
        self.names = names;
        written
    }

    /// Writes a row of a table of numeric rows.
    pub fn write_row(&mut self, row: &[f64]) -> Result<(), Error> {
        let (form, first, at_once) = (self.form, self.rows == 0, self.at_once);
        self.rows += 1;
        let names = std::mem::take(&mut self.names);
        let written = self.hand_over(|out| {
            if first {
                form.names(names.iter(), out)?;
            }
            form.row(&names, row, out)?;
            if at_once { out.flush() } else { Ok(()) }
        });
        self.names = names;
        written
    }

    /// Writes a row of a table of cells.
    pub fn write_cells(&mut self, row: &[Cell<'_>]) -> Result<(), Error> {
        let (form, first, at_once) = (self.form, self.rows == 0, self.at_once);
        self.rows += 1;
        debug_assert_eq!(row.len(), self.cells.len());
        let texts: Vec<Cow<'_, str>>;
        let safe: Vec<Cell<'_>>;
        let mut row = row;
        if self.is_safe {
            let text = |cell: &Cell<'_>| match *cell {
                Cell::Text(text) => safe_cell(text).into_owned().into(),
                _ => Cow::default(),
            };
            texts = row.iter().map(text).collect();
            let cell = |(cell, text)| if matches!(cell, Cell::Text(_)) { Cell::Text(text) } else { cell };
            safe = row.iter().copied().zip(texts.iter().map(AsRef::as_ref)).map(cell).collect();
            row = &safe;
        }
        let columns = std::mem::take(&mut self.cells);
        let written = self.hand_over(|out| {
            if first {
                form.names(columns.iter().map(|(name, _)| name), out)?;
            }
            form.cells(&columns, row, out)?;
            if at_once { out.flush() } else { Ok(()) }
        });
        self.cells = columns;
        written
    }

    /// Flushes the output to disk. Returns the number of rows and bytes written.
    pub fn sync(&mut self) -> Result<Position, Error> {
        self.hand_over(|out| out.flush())?;
        let bytes = match &mut self.sink {
            Sink::File(staging) => staging.sync()?,
            _ => 0,
        };
        Ok(Position { rows: self.rows, bytes })
    }

    /// Completes the output. A staging file is renamed to its target.
    pub fn finish(mut self) -> Result<(), Error> {
        self.hand_over(|out| out.flush())?;
        let columns = self.columns();
        match self.sink {
            Sink::File(staging) if self.form == Form::Parquet => {
                staging.finish_through(|records, out| parquet::convert(records, &columns, out))
            }
            Sink::File(staging) => staging.finish(),
            _ => Ok(()),
        }
    }

    /// Returns true if there is no target.
    fn is_nowhere(&self) -> bool {
        matches!(self.sink, Sink::Nowhere)
    }

    fn hand_over(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        match &mut self.sink {
            Sink::Nowhere => Ok(()),
            Sink::Standard(out) => write(out).map_err(|error| Error::at("standard output", Fault::Unwritable(error))),
            Sink::Device(out, path) => write(out).map_err(|error| unwritable(path, error)),
            Sink::File(staging) => staging.hand_over(write),
        }
    }
}

/// Returns the cell, with a leading apostrophe if a spreadsheet would interpret it as a formula.
fn safe_cell(text: &str) -> Cow<'_, str> {
    match text.trim_start().starts_with(['=', '+', '-', '@']) && text.trim().parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

fn open_file(typed: &Path, written: Option<(u64, Option<u64>)>) -> Result<Sink, Error> {
    let place = match Place::look(typed)? {
        Kind::Device(device) => return Ok(Sink::Device(BufWriter::new(device), typed.to_owned())),
        Kind::File(place) => place,
    };
    let Some((bytes, lines)) = written else { return Staging::create(place).map(Sink::File) };
    if let Some(lines) = lines {
        cut_from_target(&place, bytes, lines)?;
    }
    Staging::resume(place, bytes).map(Sink::File)
}
