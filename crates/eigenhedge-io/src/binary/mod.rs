//! Readers of NumPy files (NPY and NPZ), one block of rows at a time.
//!
//! In Fortran order, a block is read from a regular file as a piece of each selected column. A pipe or an archive cannot
//! be read in pieces, so the whole array is read into memory. The header is validated before memory is allocated: a file
//! or a member must be able to contain the stated bytes, and a pipe must deliver its first row.

mod npy_header;
mod npz_member;

use crate::format::{Format, Source};
use crate::reader::{
    Columns, Error, Fault, InputSource, Layout, Opened, Progress, ReadPosition, Reader, Row, RowPlace, allow_columns,
    bad_number,
};
use npy_header::{Element, Header};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

pub(crate) use npy_header::npy_bytes;

/// Maximum size of a block of several rows in bytes. A longer row is a block of its own.
const BLOCK: u64 = 1 << 20;

enum Feed {
    Forward(Box<dyn Read>),
    Anywhere(File),
}

struct Npy {
    input: InputSource,
    format: &'static str,
    feed: Feed,
    element: Element,
    by_column: bool,
    rows: u64,
    width: usize,
    data_start: u64,
    columns: Columns,
    block: Vec<u8>,
    block_first: u64,
    block_rows: u64,
    most_block_rows: u64,
    next: u64,
    fills: bool,
}

pub fn open(input: &InputSource, layout: &Layout) -> Result<Opened, Error> {
    let format = layout.format.name();
    let member = match layout.format {
        Format::Npz => Some(npz_member::find(input, layout.array.as_deref())?),
        _ => None,
    };
    let mut source = match &member {
        Some(member) => member.open(input)?,
        None => input.open()?,
    };
    let header = Header::read(&mut source).map_err(|error| broken(input, format, error))?;
    let [rows, width] = header.shape[..] else {
        let reason = format!("must have 2 dimensions, rows and columns, got {}", header.shape.len());
        return Err(input.fault(Fault::Table(reason)));
    };
    let element = Element::of(&header).map_err(|fault| input.fault(fault))?;
    let too_large =
        || input.fault(Fault::Unsound { format, reason: format!("{rows} x {width} elements are too many") });
    let row_bytes = width.checked_mul(element.size as u64).ok_or_else(too_large)?;
    let data = row_bytes.checked_mul(rows).ok_or_else(too_large)?;
    if width == 0 {
        return Err(input.fault(Fault::ZeroColumns));
    }
    if rows == 0 {
        return Err(input.fault(Fault::Empty));
    }
    let held = member.as_ref().map_or(input.size(), |member| Some(member.size));
    if let Some(found) = held.map(|size| size.saturating_sub(header.size)).filter(|found| *found < data) {
        return Err(input.fault(truncated(rows, found / row_bytes)));
    }
    allow_columns(input, width.into())?;
    let in_file = member.is_none() && held.is_some();
    let by_column = header.by_column && rows > 1 && width > 1;
    let most_block_rows = match () {
        () if input.is_pipe() && !by_column => 1,
        () if by_column && !in_file => rows,
        () => (BLOCK / row_bytes).max(1),
    };
    let mut array = Npy {
        input: input.clone(),
        format,
        feed: if in_file { Feed::Anywhere(input.file(format)?) } else { Feed::Forward(source) },
        element,
        by_column,
        rows,
        width: usize::try_from(width).map_err(|_| too_large())?,
        data_start: header.size,
        fills: layout.fills(),
        columns: Columns::default(),
        block: Vec::new(),
        block_first: 0,
        block_rows: 0,
        most_block_rows,
        next: 0,
    };
    if by_column && !in_file {
        let what = format_args!("all {rows} rows, which must be held because columns are together,");
        input.allow(what, data.into())?;
    }
    // The first row of a pipe must have arrived before the stated length is trusted.
    if !in_file {
        array.fill()?;
    }
    array.columns = Columns::choose(input, layout, None, array.width, |_| false)?;
    let columns = array.columns.clone();
    Ok(Opened::new(array, columns))
}

impl Npy {
    fn fill(&mut self) -> Result<(), Error> {
        let (first, rows) = (self.next, self.most_block_rows.min(self.rows - self.next));
        let (size, row_bytes) = (self.element.size as u64, (self.width * self.element.size) as u64);
        self.block.clear();
        let read = match &mut self.feed {
            Feed::Forward(source) => read_onto(source, rows * row_bytes, &mut self.block),
            Feed::Anywhere(file) if self.by_column => self.columns.selected.iter().try_for_each(|column| {
                let start = (*column as u64 * self.rows + first) * size;
                file.seek(SeekFrom::Start(self.data_start + start))?;
                read_onto(file, rows * size, &mut self.block)
            }),
            Feed::Anywhere(file) => file
                .seek(SeekFrom::Start(self.data_start + first * row_bytes))
                .and_then(|_| read_onto(file, rows * row_bytes, &mut self.block)),
        };
        (self.block_first, self.block_rows) = (first, rows);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let whole = if self.by_column { 0 } else { self.block.len() as u64 / row_bytes };
                self.input.fault(truncated(self.rows, first + whole))
            }
            _ => broken(&self.input, self.format, error),
        })
    }
}

fn truncated(wanted: u64, found: u64) -> Fault {
    Fault::Table(format!("must hold {wanted} rows, as its header says, got {found}"))
}

/// Array of real numbers with any number of axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Lengths of the axes.
    pub shape: Vec<u64>,
    /// Numbers in C order.
    pub numbers: Vec<f64>,
}

/// Reads an NPY file, or the named or only array of an NPZ archive, into memory. Several axes must be in C order.
pub fn read_array(path: &Path, name: Option<&str>) -> Result<Array, Error> {
    let layout = Layout::new(Format::of_path(path));
    let (input, format) = (InputSource::new(&Source::File(path.to_path_buf()), &layout)?, layout.format.name());
    let mut source = match layout.format {
        Format::Npz => npz_member::find(&input, name)?.open(&input)?,
        _ => input.open()?,
    };
    let unsound = |reason: String| input.fault(Fault::Unsound { format, reason });
    let header = Header::read(&mut source).map_err(|error| broken(&input, format, error))?;
    let element = Element::of(&header).map_err(|fault| input.fault(fault))?;
    if header.by_column && header.shape.len() > 1 {
        return Err(unsound("its numbers are in Fortran order".to_owned()));
    }
    let count = header.shape.iter().try_fold(1u64, |count, axis| count.checked_mul(*axis));
    let bytes = count.and_then(|count| count.checked_mul(element.size as u64));
    let bytes = bytes.ok_or_else(|| unsound(format!("{:?} elements are too many", header.shape)))?;
    input.allow("the array", 9 * u128::from(bytes))?;
    let mut data = Vec::new();
    read_onto(&mut source, bytes, &mut data).map_err(|error| broken(&input, format, error))?;
    let mut numbers = Vec::new();
    element.decode(&data, (0..data.len()).step_by(element.size), &mut numbers);
    Ok(Array { shape: header.shape, numbers })
}

/// Reads `size` bytes and appends them. Memory grows with the bytes received, not with the stated size.
fn read_onto(source: &mut impl Read, size: u64, block: &mut Vec<u8>) -> io::Result<()> {
    let found = source.by_ref().take(size).read_to_end(block)?;
    if found as u64 == size { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn broken(input: &InputSource, format: &'static str, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            input.fault(Fault::Unsound { format, reason: error.to_string() })
        }
        _ => input.unreadable(error),
    }
}

impl Reader for Npy {
    fn read(&mut self, row: &mut Row) -> Result<bool, Error> {
        let row = row.cleared();
        if self.next == self.rows {
            return Ok(false);
        }
        if self.next >= self.block_first + self.block_rows {
            self.fill()?;
        }
        let at = (self.next - self.block_first) as usize;
        let (size, rows, width) = (self.element.size, self.block_rows as usize, self.width);
        let selected = &self.columns.selected;
        match &self.feed {
            Feed::Anywhere(_) if self.by_column => {
                self.element.decode(&self.block, (0..selected.len()).map(|i| (i * rows + at) * size), row);
            }
            _ if self.by_column => {
                self.element.decode(&self.block, selected.iter().map(|column| (column * rows + at) * size), row);
            }
            _ => self.element.decode(&self.block, selected.iter().map(|column| (at * width + column) * size), row),
        }
        self.next += 1;
        match bad_number(row, self.fills) {
            None => Ok(true),
            Some(bad) => {
                let fault = Fault::cell(row[bad].to_string(), row[bad].is_nan());
                Err(self.columns.at(self.place(), selected[bad], fault))
            }
        }
    }

    fn place(&self) -> RowPlace {
        self.input.row(self.next.saturating_sub(1))
    }

    fn position(&self) -> ReadPosition {
        ReadPosition { rows: self.next, ..ReadPosition::default() }
    }

    fn go_to(&mut self, position: &ReadPosition) -> Result<u64, Error> {
        let goal = position.rows.min(self.rows);
        if matches!(self.feed, Feed::Anywhere(_)) {
            self.next = goal;
        }
        while self.next < goal {
            self.next = goal.min(self.block_first + self.block_rows);
            if self.next < goal {
                self.fill()?;
            }
        }
        Ok(self.next)
    }

    fn progress(&self) -> Progress {
        Progress::Rows(self.next, self.rows)
    }
}
