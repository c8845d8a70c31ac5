//! Formats of output tables, and their content: columns, rows of cells, and records (rows encoded as bytes), which the
//! writer thread receives and which are stored until a Parquet table is complete.

use crate::error::Fault;
use crate::format::Format;
use crate::reading::Dialect;
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Read, Write};
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

/// Type of an output column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Unsigned integers, some of which may be missing.
    Whole,
    /// Floating-point numbers. A missing number is NaN.
    Number,
    /// Strings.
    Text,
}

/// Cell of an output table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Integer, or `None` if missing.
    Whole(Option<u64>),
    /// Number, or NaN if missing.
    Number(f64),
    /// String.
    Text(&'a str),
}

/// Name and type of an output column.
pub type Column = (String, CellKind);

/// Returns a column of numbers for each name. Names that repeat get a suffix; names that are all numbers get an `x`.
pub fn number_columns(names: &[String]) -> Vec<Column> {
    let are_positions = names.iter().all(|name| name.parse::<f64>().is_ok());
    let mut seen: HashSet<String> = names.iter().cloned().collect();
    let mut first = HashSet::new();
    let names = names.iter().enumerate().map(|(i, name)| {
        let is_first = first.insert(name.as_str());
        let name = if are_positions { format!("x{name}") } else { name.clone() };
        let mut other = format!("{name}_{i}");
        while !is_first && !seen.insert(other.clone()) {
            other.push('_');
        }
        if is_first { name } else { other }
    });
    names.map(|name| (name, CellKind::Number)).collect()
}

/// Returns the cells of a row of numbers.
pub fn number_cells(row: &[f64]) -> Vec<Cell<'_>> {
    row.iter().copied().map(Cell::Number).collect()
}

const NO_NUMBER: u64 = u64::MAX;

impl Cell<'_> {
    pub(super) fn to_record(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Whole(number) => out.write_all(&number.unwrap_or(NO_NUMBER).to_le_bytes()),
            Self::Number(number) => out.write_all(&number.to_le_bytes()),
            Self::Text(text) => {
                let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
                out.write_all(&length.to_le_bytes())?;
                out.write_all(text.as_bytes())
            }
        }
    }
}

pub(super) fn read_cell<'a>(kind: CellKind, records: &mut impl Read, text: &'a mut Vec<u8>) -> io::Result<Cell<'a>> {
    Ok(match kind {
        CellKind::Whole => {
            Cell::Whole(Some(u64::from_le_bytes(read_bytes(records)?)).filter(|number| *number != NO_NUMBER))
        }
        CellKind::Number => Cell::Number(f64::from_le_bytes(read_bytes(records)?)),
        CellKind::Text => {
            let length = u32::from_le_bytes(read_bytes(records)?);
            text.clear();
            records.take(length.into()).read_to_end(text)?;
            Cell::Text(std::str::from_utf8(text).map_err(io::Error::other)?)
        }
    })
}

fn read_bytes<const N: usize>(source: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    source.read_exact(&mut bytes)?;
    Ok(bytes)
}

const PLAIN: std::ops::Range<f64> = 1e-4..1e16;

pub(super) fn write_number(number: f64, out: &mut dyn Write) -> io::Result<()> {
    let size = number.abs();
    if PLAIN.contains(&size) || size == 0.0 {
        return out.write_all(zmij::Buffer::new().format_finite(number).as_bytes());
    }
    write!(out, "{number:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_form_of_debug_and_read_back_exactly() {
        let bits = |i: u64| f64::from_bits(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let powers = (-330..=310).flat_map(|e| ["1", "1.5", "9.999999999999999"].map(|m| format!("{m}e{e}")));
        let decades = powers.filter_map(|text| text.parse::<f64>().ok());
        let near =
            (0..20_000).map(|i| f64::from(i) * 0.37 - 3000.0).chain((0..20_000).map(|i| 1.0 / (f64::from(i) + 0.3)));
        let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE, f64::MAX, 1e16, 1e15];
        for number in (0..200_000).map(bits).chain(decades).chain(near).chain(special) {
            let mut found = Vec::new();
            write_number(number, &mut found).unwrap();
            let (found, debug) = (String::from_utf8(found).unwrap(), format!("{number:?}"));
            assert_eq!((found.len(), found.contains('e')), (debug.len(), debug.contains('e')), "{found} {debug}");
            assert_eq!(
                found.parse::<f64>().unwrap().to_bits(),
                debug.parse::<f64>().unwrap().to_bits(),
                "{found} {debug}"
            );
        }
    }
}
