//! Content of an output table: columns, rows of cells, and records (rows encoded as bytes), which the writer thread
//! receives and which are stored until a Parquet table is complete.

use std::collections::HashSet;
use std::io::{self, Read, Write};

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
