//! Formats of output tables: CSV, TSV, JSON Lines, Parquet and NPY.

use super::cells::{Cell, CellKind, Column};
use super::number::write_number;
use crate::error::Fault;
use crate::format::Format;
use crate::reading::Dialect;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

/// Format of an output table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// Comma-separated cells with a header.
    Csv,
    /// Tab-separated cells with a header.
    Tsv,
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet. Rows are stored as plain records and converted when the table is complete.
    Parquet,
    /// NumPy array of numbers. Its header contains the number of rows and is therefore known only at the end.
    Npy,
}

impl Form {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Csv, Self::Tsv, Self::Jsonl, Self::Parquet, Self::Npy];

    /// Returns the name of the format on the command line.
    pub fn name(self) -> &'static str {
        ["csv", "tsv", "jsonl", "parquet", "npy"][self as usize]
    }

    /// Returns the format with this name, or `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }

    /// Returns the format by extension: CSV if it is unknown, `None` for other files such as `.gz` or `.xlsx`.
    pub fn of_path(path: &Path) -> Option<Self> {
        const OTHERS: [&str; 12] =
            ["gz", "zst", "bz2", "xz", "xlsx", "xls", "xlsm", "xlsb", "ods", "html", "htm", "svg"];
        let is_other = path.extension().is_some_and(|end| OTHERS.iter().any(|other| end.eq_ignore_ascii_case(other)));
        Self::from_name(Format::of_path(path).name()).filter(|_| !is_other)
    }

    /// Returns true for formats that need a file: Parquet and NPY.
    pub fn needs_file(self) -> bool {
        matches!(self, Self::Parquet | Self::Npy)
    }

    pub(crate) fn judge(self, columns: &[Column]) -> Result<(), Fault> {
        let text = columns.iter().find(|(_, kind)| *kind == CellKind::Text);
        match (self, text) {
            (Self::Parquet, _) if !cfg!(feature = "parquet") => Err(Fault::NotBuilt(self.name())),
            (Self::Npy, Some((name, _))) => {
                Err(Fault::Table(format!("has only numbers, and the column {name:?} is text")))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn header(self, columns: &[Column], dialect: Dialect, out: &mut dyn Write) -> io::Result<()> {
        if !matches!(self, Self::Csv | Self::Tsv) {
            return Ok(());
        }
        (0..columns.len()).try_for_each(|i| self.cell(columns, i, Cell::Text(&columns[i].0), dialect, out))?;
        self.end(out)
    }

    /// Writes a cell with its separator. A missing number becomes an empty cell or null, in JSON also infinity.
    pub(crate) fn cell(
        self,
        columns: &[Column],
        i: usize,
        cell: Cell<'_>,
        dialect: Dialect,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Self::Csv | Self::Tsv => {
                let comma = if self == Self::Csv { char::from(dialect.delimiter) } else { '\t' };
                if i > 0 {
                    out.write_all(&[comma as u8])?;
                }
                match cell {
                    Cell::Whole(Some(number)) => write!(out, "{number}"),
                    Cell::Number(number) if !number.is_nan() && self == Self::Csv && dialect.decimal != b'.' => {
                        let mut text = Vec::new();
                        write_number(number, &mut text)?;
                        text.iter_mut().filter(|byte| **byte == b'.').for_each(|byte| *byte = dialect.decimal);
                        out.write_all(&text)
                    }
                    Cell::Number(number) if !number.is_nan() => write_number(number, out),
                    Cell::Text(text) if !text.is_empty() => out.write_all(quoted_cell(text, comma).as_bytes()),
                    // An empty cell would give a blank line, which readers skip.
                    _ if columns.len() == 1 => out.write_all(b"\"\""),
                    _ => Ok(()),
                }
            }
            Self::Jsonl => {
                out.write_all(if i == 0 { b"{" } else { b"," })?;
                serde_json::to_writer(&mut *out, &columns[i].0)?;
                out.write_all(b":")?;
                match cell {
                    Cell::Whole(Some(number)) => write!(out, "{number}"),
                    Cell::Number(number) if number.is_finite() => write_number(number, out),
                    Cell::Text(text) => Ok(serde_json::to_writer(out, text)?),
                    Cell::Whole(None) | Cell::Number(_) => out.write_all(b"null"),
                }
            }
            Self::Parquet => cell.to_record(out),
            Self::Npy => match cell {
                Cell::Whole(Some(number)) => out.write_all(&(number as f64).to_le_bytes()),
                Cell::Number(number) => out.write_all(&number.to_le_bytes()),
                Cell::Whole(None) | Cell::Text(_) => out.write_all(&f64::NAN.to_le_bytes()),
            },
        }
    }

    pub(crate) fn end(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Csv | Self::Tsv => out.write_all(b"\n"),
            Self::Jsonl => out.write_all(b"}\n"),
            Self::Parquet | Self::Npy => Ok(()),
        }
    }

    pub(crate) fn lines(self, answers: u64) -> Option<u64> {
        match self {
            Self::Csv | Self::Tsv => Some(answers + 1),
            Self::Jsonl => Some(answers),
            Self::Parquet | Self::Npy => None,
        }
    }
}

fn quoted_cell(text: &str, comma: char) -> Cow<'_, str> {
    let is_plain = !text.contains([comma, '"', '\n', '\r']) && text.trim() == text;
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))) }
}
