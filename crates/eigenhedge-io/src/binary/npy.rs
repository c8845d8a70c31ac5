//! Reader of NPY arrays, one block of rows at a time.
//!
//! In Fortran order, a block is read from a regular file as a piece of each selected column. A pipe or an archive
//! cannot be read in pieces, so the whole array is read into memory. The header is validated before memory is
//! allocated: a file or a member must be able to contain the stated bytes, and a pipe must deliver its first row.

use super::npy_header::{Element, Header};
use super::npz_member::Member;
use crate::columns::{Columns, allow_columns};
use crate::error::{Error, Fault, RowPlace};
use crate::input_source::InputSource;
use crate::layout::Layout;
use crate::reader::{Opened, Progress, ReadPosition, Reader};
use crate::row::Row;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Maximum size of a block of several rows in bytes. A longer row is a block of its own.
const BLOCK: u64 = 1 << 20;

pub enum Origin {
    File,
    Member(Member),
}

enum Feed {
    Forward(Box<dyn Read>),
    Anywhere(File),
}

pub struct Npy {
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

impl Npy {
    pub fn open(input: &InputSource, origin: Origin, layout: &Layout) -> Result<Opened, Error> {
        let format = layout.format.name();
        let in_file = matches!(origin, Origin::File) && input.size().is_some();
        let mut source = match &origin {
            Origin::File => input.open()?,
            Origin::Member(member) => member.open(input)?,
        };
        let header = Header::read(&mut source).map_err(|error| broken(input, format, error))?;
        let header = header.map_err(|reason| input.fault(Fault::Unsound { format, reason }))?;
        let [rows, width] = header.shape[..] else {
            let reason = format!("must have 2 dimensions, rows and columns, got {}", header.shape.len());
            return Err(input.fault(Fault::Table(reason)));
        };
        let element = Element::of(&header).map_err(|fault| input.fault(fault))?;
        let too_large = || Fault::Unsound { format, reason: format!("{rows} x {width} elements are too many") };
        let row_bytes = width.checked_mul(element.size() as u64).ok_or_else(|| input.fault(too_large()))?;
        let data = row_bytes.checked_mul(rows).ok_or_else(|| input.fault(too_large()))?;
        if width == 0 {
            return Err(input.fault(Fault::ZeroColumns));
        }
        if rows == 0 {
            return Err(input.fault(Fault::Empty));
        }
        if in_file
            && let Some(found) = input.size().map(|size| size.saturating_sub(header.size))
            && found < data
        {
            return Err(input.fault(truncated(rows, found / row_bytes)));
        }
        if let Origin::Member(member) = &origin {
            let found = member.size.saturating_sub(header.size);
            if found < data {
                return Err(input.fault(truncated(rows, found / row_bytes)));
            }
        }
        allow_columns(input, width.into())?;
        let width_here = usize::try_from(width).map_err(|_| input.fault(too_large()))?;
        let by_column = header.by_column && rows > 1 && width > 1;
        let mut array = Self {
            input: input.clone(),
            format,
            feed: if in_file { Feed::Anywhere(input.file(format)?) } else { Feed::Forward(source) },
            element,
            by_column,
            rows,
            width: width_here,
            data_start: header.size,
            fills: layout.fills(),
            columns: Columns::default(),
            block: Vec::new(),
            block_first: 0,
            block_rows: 0,
            most_block_rows: match () {
                () if input.is_pipe() && !by_column => 1,
                () if by_column && !in_file => rows,
                () => (BLOCK / row_bytes).max(1),
            },
            next: 0,
        };
        if by_column && !in_file {
            input.allow(
                format_args!("all {rows} rows, which must be held because columns are together,"),
                data.into(),
            )?;
        }
        // The first row of a pipe must have arrived before the stated length is trusted.
        if !in_file {
            array.fill()?;
        }
        array.columns = Columns::choose(input, layout, None, width_here, |_| false)?;
        let columns = array.columns.clone();
        Ok(Opened { reader: Box::new(array), columns })
    }

    fn fill(&mut self) -> Result<(), Error> {
        let (first, rows) = (self.next, self.most_block_rows.min(self.rows - self.next));
        let size = self.element.size() as u64;
        self.block.clear();
        let read = match &mut self.feed {
            Feed::Forward(source) => read_onto(source, rows * self.width as u64 * size, &mut self.block),
            Feed::Anywhere(file) if self.by_column => {
                let columns = self.columns.selected.iter();
                columns.map(|column| (*column as u64 * self.rows + first) * size).try_for_each(|start| {
                    file.seek(SeekFrom::Start(self.data_start + start))?;
                    read_onto(file, rows * size, &mut self.block)
                })
            }
            Feed::Anywhere(file) => file
                .seek(SeekFrom::Start(self.data_start + first * self.width as u64 * size))
                .and_then(|_| read_onto(file, rows * self.width as u64 * size, &mut self.block)),
        };
        match read {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                let whole = if self.by_column { 0 } else { self.block.len() as u64 / (self.width as u64 * size) };
                Err(self.input.fault(truncated(self.rows, first + whole)))
            }
            Err(error) => Err(broken(&self.input, self.format, error)),
            Ok(()) => {
                (self.block_first, self.block_rows) = (first, rows);
                Ok(())
            }
        }
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

pub fn read_whole(input: &InputSource, format: &'static str, source: &mut dyn Read) -> Result<Array, Error> {
    let unsound = |reason: String| input.fault(Fault::Unsound { format, reason });
    let header = Header::read(source).map_err(|error| broken(input, format, error))?.map_err(unsound)?;
    let element = Element::of(&header).map_err(|fault| input.fault(fault))?;
    if header.by_column && header.shape.len() > 1 {
        return Err(unsound("its numbers are in Fortran order".to_owned()));
    }
    let count = header.shape.iter().try_fold(1u64, |count, axis| count.checked_mul(*axis));
    let bytes = count.and_then(|count| count.checked_mul(element.size() as u64));
    let bytes = bytes.ok_or_else(|| unsound(format!("{:?} elements are too many", header.shape)))?;
    input.allow("the array", 9 * u128::from(bytes))?;
    let mut data = Vec::new();
    read_onto(&mut &mut *source, bytes, &mut data).map_err(|error| broken(input, format, error))?;
    let mut numbers = Vec::new();
    element.decode(&data, (0..data.len()).step_by(element.size()), &mut numbers);
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
        let (size, rows, width) = (self.element.size(), self.block_rows as usize, self.width);
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
        match row.iter().position(|value| !(value.is_finite() || self.fills && value.is_nan())) {
            None => Ok(true),
            Some(bad) => {
                let place = format!("{}, {}", self.place(), self.columns.label(selected[bad]));
                Err(Error::at(place, Fault::cell(row[bad].to_string(), row[bad].is_nan())))
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
            return Ok(goal);
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
