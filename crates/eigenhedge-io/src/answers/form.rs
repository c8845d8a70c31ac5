//! Formats of output tables: CSV, TSV, JSON Lines and Parquet.

use super::cells::{Answer, Cell, CellKind};
use super::number::write_number;
use crate::error::Fault;
use crate::format::Format;
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
}

impl Form {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Csv, Self::Tsv, Self::Jsonl, Self::Parquet];

    /// Returns the name of the format on the command line.
    pub fn name(self) -> &'static str {
        let format = match self {
            Self::Csv => Format::Csv,
            Self::Tsv => Format::Tsv,
            Self::Jsonl => Format::Jsonl,
            Self::Parquet => Format::Parquet,
        };
        format.name()
    }

    /// Returns the format with this name, or `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }

    /// Returns the format for the extension of a file name. An unknown extension means CSV.
    pub fn of_path(path: &Path) -> Self {
        Self::from_name(Format::of_path(path).name()).unwrap_or(Self::Csv)
    }

    /// Returns an error if this build cannot write the format.
    pub(crate) fn judge(self) -> Result<(), Fault> {
        match self {
            Self::Parquet if !cfg!(feature = "parquet") => Err(Fault::NotBuilt(self.name())),
            _ => Ok(()),
        }
    }

    /// Writes the header of a table of answers, if the format has one. `kept` is the number of coordinates.
    pub(crate) fn header(self, names: &[String], kept: usize, out: &mut dyn Write) -> io::Result<()> {
        let Some(comma) = self.comma() else { return Ok(()) };
        write!(out, "row")?;
        names.iter().try_for_each(|name| write!(out, "{comma}{}", quoted_cell(name, comma)))?;
        write!(out, "{comma}expected_loss{comma}loss")?;
        (0..kept).try_for_each(|i| write!(out, "{comma}z{i}"))?;
        writeln!(out)
    }

    /// Writes an answer. Each number is written as the shortest string that reads back as the same number.
    pub(crate) fn write(self, answer: &Answer<'_>, names: &[String], out: &mut dyn Write) -> io::Result<()> {
        let Answer { row, expected_loss, loss, coordinates, texts } = *answer;
        match self {
            Self::Csv | Self::Tsv => {
                let comma = self.comma().unwrap_or(',');
                write!(out, "{row}")?;
                texts.iter().try_for_each(|text| write!(out, "{comma}{}", quoted_cell(text, comma)))?;
                for number in [expected_loss, loss].iter().chain(coordinates) {
                    out.write_all(&[comma as u8])?;
                    write_number(*number, out)?;
                }
                out.write_all(b"\n")
            }
            Self::Jsonl => {
                write!(out, "{{\"row\":{row}")?;
                for (name, text) in names.iter().zip(texts) {
                    write!(out, ",{}:{}", serde_json::to_string(name)?, serde_json::to_string(text)?)?;
                }
                out.write_all(b",\"expected_loss\":")?;
                write_number(expected_loss, out)?;
                out.write_all(b",\"loss\":")?;
                write_number(loss, out)?;
                for (i, z) in (0usize..).zip(coordinates) {
                    write!(out, ",\"z{i}\":")?;
                    write_number(*z, out)?;
                }
                writeln!(out, "}}")
            }
            Self::Parquet => {
                out.write_all(&row.to_le_bytes())?;
                texts.iter().try_for_each(|text| text_record(text, out))?;
                let numbers = [expected_loss, loss].into_iter().chain(coordinates.iter().copied());
                numbers.into_iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))
            }
        }
    }

    /// Writes the header of a table with these columns, if the format has one.
    pub(crate) fn names<'a>(self, names: impl Iterator<Item = &'a String>, out: &mut dyn Write) -> io::Result<()> {
        let Some(comma) = self.comma() else { return Ok(()) };
        let cells: Vec<Cow<'_, str>> = names.map(|name| quoted_cell(name, comma)).collect();
        writeln!(out, "{}", cells.join(&comma.to_string()))
    }

    /// Writes a row of a table with these columns. Reading the numbers back gives the same values.
    pub(crate) fn row(self, names: &[String], row: &[f64], out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Csv | Self::Tsv => {
                let comma = self.comma().unwrap_or(',');
                for (i, x) in row.iter().enumerate() {
                    if i > 0 {
                        out.write_all(&[comma as u8])?;
                    }
                    write_number(*x, out)?;
                }
                out.write_all(b"\n")
            }
            Self::Jsonl => {
                let cell = |(name, x): (&String, &f64)| Ok(format!("{}:{x:?}", serde_json::to_string(name)?));
                let cells: io::Result<Vec<String>> = names.iter().zip(row).map(cell).collect();
                writeln!(out, "{{{}}}", cells?.join(","))
            }
            Self::Parquet => row.iter().try_for_each(|x| out.write_all(&x.to_le_bytes())),
        }
    }

    /// Writes a row of a table whose columns have different types. A missing number becomes an empty cell or null.
    pub(crate) fn cells(self, columns: &[(String, CellKind)], row: &[Cell<'_>], out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Csv | Self::Tsv => {
                let comma = self.comma().unwrap_or(',');
                for (i, cell) in row.iter().enumerate() {
                    if i > 0 {
                        write!(out, "{comma}")?;
                    }
                    match *cell {
                        Cell::Whole(Some(number)) => write!(out, "{number}")?,
                        Cell::Number(number) if !number.is_nan() => write_number(number, out)?,
                        Cell::Text(text) => write!(out, "{}", quoted_cell(text, comma))?,
                        Cell::Whole(None) | Cell::Number(_) => {}
                    }
                }
                writeln!(out)
            }
            Self::Jsonl => {
                for (i, ((name, _), cell)) in columns.iter().zip(row).enumerate() {
                    write!(out, "{}{}:", if i == 0 { '{' } else { ',' }, serde_json::to_string(name)?)?;
                    match *cell {
                        Cell::Whole(Some(number)) => write!(out, "{number}")?,
                        Cell::Number(number) if number.is_finite() => write_number(number, out)?,
                        Cell::Text(text) => write!(out, "{}", serde_json::to_string(text)?)?,
                        Cell::Whole(None) | Cell::Number(_) => write!(out, "null")?,
                    }
                }
                writeln!(out, "}}")
            }
            Self::Parquet => row.iter().try_for_each(|cell| match *cell {
                Cell::Whole(number) => out.write_all(&number.unwrap_or(NO_NUMBER).to_le_bytes()),
                Cell::Number(number) => out.write_all(&number.to_le_bytes()),
                Cell::Text(text) => text_record(text, out),
            }),
        }
    }

    /// Returns the number of lines in a file with this many answers, including a header. Returns `None` for formats
    /// without lines.
    pub(crate) fn lines(self, answers: u64) -> Option<u64> {
        match self {
            Self::Csv | Self::Tsv => Some(answers + 1),
            Self::Jsonl => Some(answers),
            Self::Parquet => None,
        }
    }

    fn comma(self) -> Option<char> {
        match self {
            Self::Csv => Some(','),
            Self::Tsv => Some('\t'),
            Self::Jsonl | Self::Parquet => None,
        }
    }
}

/// Value that encodes a missing integer in a record.
pub(super) const NO_NUMBER: u64 = u64::MAX;

/// Writes a string as a record: its length in bytes as 32 bits, then its bytes.
fn text_record(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(text.as_bytes())
}

/// Returns a CSV or TSV cell, in double quotes if necessary.
pub(crate) fn quoted_cell(text: &str, comma: char) -> Cow<'_, str> {
    let is_plain = !text.contains([comma, '"', '\n', '\r']) && text.trim() == text;
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))) }
}
