//! Output of tables of numbers as CSV. Files are either complete or absent.

use crate::stdout;
use anyhow::{Context, Result};
use eigenhedge_io::{WholeFile, csv_cell};
use std::io::{BufWriter, StdoutLock, Write};
use std::path::Path;

/// Writer of rows of numbers with a header.
pub struct CsvWriter {
    sink: Sink,
}

enum Sink {
    Standard(BufWriter<StdoutLock<'static>>),
    File(WholeFile),
}

impl CsvWriter {
    /// Starts a table with a header. `-` and `None` mean standard output.
    pub fn create(path: Option<&Path>, header: &[String]) -> Result<Self> {
        let sink = match path.filter(|path| path.as_os_str() != "-") {
            None => Sink::Standard(BufWriter::new(stdout::output()?)),
            Some(path) => Sink::File(WholeFile::create(path)?),
        };
        let mut sheet = Self { sink };
        let header: Vec<_> = header.iter().map(|name| csv_cell(name)).collect();
        sheet.line(&header.join(","))?;
        Ok(sheet)
    }

    /// Writes a row. Reading the numbers back gives the same values.
    pub fn row(&mut self, numbers: impl IntoIterator<Item = f64>) -> Result<()> {
        let cells: Vec<String> = numbers.into_iter().map(|x| format!("{x:?}")).collect();
        self.line(&cells.join(","))
    }

    /// Writes a line of text without quoting.
    pub fn line(&mut self, line: &str) -> Result<()> {
        match &mut self.sink {
            Sink::Standard(out) => writeln!(out, "{line}").context(stdout::UNWRITABLE),
            Sink::File(file) => Ok(file.write(line.as_bytes()).and_then(|()| file.write(b"\n"))?),
        }
    }

    /// Completes the table. A file appears under its name only now.
    pub fn finish(self) -> Result<()> {
        match self.sink {
            Sink::Standard(mut out) => out.flush().context(stdout::UNWRITABLE),
            Sink::File(file) => Ok(file.finish()?),
        }
    }
}

/// Returns the column names `z0, z1, …`.
pub fn coordinate_names(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("z{i}")).collect()
}
