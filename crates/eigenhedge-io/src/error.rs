//! Errors in a table or a file, with their place: always one sentence.
//!
//! The error of the system behind it is the [source](std::error::Error::source) and no part of the sentence. `{:#}` prints
//! both.

use crate::recode::text_of;
use crate::time_format::TimeFormat;
use std::error::Error as _;
use std::io;

/// An error, with its place.
#[derive(Debug)]
pub struct Error {
    place: String,
    fault: Fault,
}

impl std::fmt::Display for Error {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Names in files and of files may hold anything.
        out.write_str(&printable(&match &self.fault {
            fault @ (Fault::Unwritable(_) | Fault::Busy) => format!("{} {fault}", self.place),
            fault => format!("{}: {fault}", self.place),
        }))?;
        match self.source() {
            Some(source) if out.alternate() => write!(out, ": {}", printable(&source.to_string())),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.fault.source()
    }
}

impl Error {
    /// A fault at a place: a file, or a row of it.
    pub(crate) fn at(place: impl Into<String>, fault: Fault) -> Self {
        Self { place: place.into(), fault }
    }

    /// The same fault at a place that is known better.
    pub(crate) fn moved_to(self, place: String) -> Self {
        Self { place, ..self }
    }

    /// True if only one row is bad, so that the rows after it can still be read.
    pub fn is_row(&self) -> bool {
        self.fault.is_row()
    }

    /// True if the sentence says what can be done about the row.
    pub fn is_advised(&self) -> bool {
        matches!(self.fault, Fault::Missing { advised: true, .. })
    }

    /// The column that is to blame, as messages show it: its position, and its name if it has one.
    pub fn column(&self) -> Option<&str> {
        self.place.rsplit_once(", column ").map(|(_, column)| column)
    }

    /// True if a table has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self.fault, Fault::Empty | Fault::HeaderOnly)
    }

    /// True if it is about a missing cell.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.fault, Fault::Missing { .. } | Fault::NoCell | Fault::NoItems)
    }

    /// The same, with the name of the option that decides what a missing cell does.
    pub(crate) fn advised(mut self) -> Self {
        if let Fault::Missing { advised, .. } = &mut self.fault {
            *advised = true;
        }
        self
    }

    /// True if the reader of our output has left.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(&self.fault, Fault::Unwritable(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Kind of an error.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    // One row.
    #[error("must have {expected} cells like the first {like}, got {found}{hint}")]
    Ragged { expected: usize, found: usize, like: &'static str, hint: String },
    #[error("must be a finite number, got {0}")]
    Cell(String),
    #[error("must be a finite number, got {found}{}", if *.advised { ADVICE } else { "" })]
    Missing { found: String, advised: bool },
    #[error("must hold at least one number, got missing cells only")]
    NoCell,
    #[error("must hold at least one item, got none")]
    NoItems,
    #[error("must be a JSON array or object: {0}")]
    NotJson(String),
    #[error("must be {wanted} like the first row, got {found}")]
    OtherShape { wanted: &'static str, found: &'static str },
    #[error("the key {} must be in the first row too; --columns would leave it out", quoted(.0))]
    ExtraKey(String),
    #[error("the key {} must stand in an object once, not twice", quoted(.0))]
    TwiceKey(String),
    #[error("must be a label and then INDEX:VALUE, got {0}")]
    NotPair(String),
    #[error("an index must be a whole number from 1, got {0}")]
    BadIndex(String),
    #[error("indices must increase, got {index} after {before}")]
    IndexOrder { before: u64, index: u64 },
    #[error("an index must not exceed the number of columns, {dim}, got {index}")]
    IndexRange { index: u64, dim: usize },
    #[error("must be a finite number once standardized, got {0:e}")]
    Standardized(f64),
    #[error("must be {rule}, got {found}")]
    Time { rule: String, found: String },
    #[error("must be a number without thousands signs, got {0}; export the table without digit grouping")]
    Thousands(String),
    #[error("a quote is opened here and not closed")]
    OpenQuote,
    #[error("{0}")]
    Refused(String),

    // The table.
    #[error("cannot be read")]
    Unreadable(#[source] io::Error),
    #[error("must hold at least one row, got nothing")]
    Empty,
    #[error("must hold at least one row, got only a header")]
    HeaderOnly,
    #[error("must hold at least one good row, but all {rows} are bad; the first: {first}")]
    AllBad { rows: u64, first: String },
    #[error("must have at least one column, got none")]
    ZeroColumns,
    #[error("{cell} can be two dates: {readings}")]
    AmbiguousTime { cell: String, readings: String },
    #[error("has no column of times for --time-format; --time names one")]
    NoTime,
    #[error("must hold numbers, got {found}{advice}")]
    NotNumeric { found: String, advice: String },
    #[error("there is no column {position}: positions run from 0 to {last}")]
    NoPosition { position: usize, last: usize },
    #[error("there is no column {name:?}{list}{hint}")]
    NoName { name: String, list: &'static str, hint: String },
    #[error("must have the same columns, but {name} is missing{hint}")]
    NotInTable { name: String, hint: String },
    #[error("the column {} must be in the first file too; --columns would leave it out", quoted(.0))]
    ExtraColumn(String),
    #[error("must have {expected} columns like the first file, got {found}")]
    OtherWidth { expected: usize, found: usize },
    #[error("must have no header, like the first file")]
    LaterHeader,
    #[error("{label} cannot be kept as text, got the type {kind}")]
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    CannotKeep { label: String, kind: String },
    #[error("several LIBSVM files need the number of columns, --dim")]
    NeedsDimForFiles,
    #[error("no column matches {0:?}")]
    NoMatch(String),
    #[error("the column name {name:?} must be unique, but {list} has it more than once; use its position")]
    Ambiguous { name: String, list: &'static str },
    #[error("column {0} must be selected once, not twice")]
    Twice(usize),
    #[error("rows that are texts must have one column: name it with --columns; {0} are selected")]
    OneText(usize),
    #[error("an array must hold texts, numbers or truth values, got {0}")]
    NoItem(String),
    #[error("at least one column must be left, but all are excluded")]
    NoColumns,
    #[error("must be {wanted}, but the file starts like {found}; --format says what a file is")]
    OtherFormat { wanted: &'static str, found: &'static str },
    #[error("must be a sound {format} file: {reason}")]
    Unsound { format: &'static str, reason: String },
    #[error("must hold {wanted} rows, as its header says, got {found}")]
    Truncated { wanted: u64, found: u64 },
    #[error("must have 2 dimensions, rows and columns, got {0}")]
    Dimensions(String),
    #[error("must hold real numbers of 1 to 8 bytes, got elements of type {0:?}")]
    ElementType(String),
    #[error("--array must be one of {names}, got {got}")]
    NoArray { names: String, got: String },
    #[error("holds no arrays")]
    NoArrays,
    #[error("{what} would take {wanted} of memory, and --max-memory allows {limit}")]
    Memory { what: String, wanted: String, limit: String },
    #[error("a quote is opened here and not closed within {longest} bytes")]
    LongQuote { longest: u64 },
    #[error("must be at most {longest} bytes long{limit}")]
    LongLine { longest: u64, limit: String },
    #[error("{what} would take {wanted} of memory, and the system does not give that")]
    NoMemory { what: String, wanted: String },
    #[error("a pipe cannot be read as {0}: give a file")]
    NeedsFile(&'static str),
    #[error("must not be compressed as a whole to be read as {0}: unpack it")]
    NeedsPlain(&'static str),
    #[error("the number of columns must be given with --dim when LIBSVM rows come through a pipe")]
    NeedsDim,
    #[cfg_attr(feature = "parquet", allow(dead_code))]
    #[error("{0} files cannot be read or written by this build, which was made without the feature parquet")]
    NotBuilt(&'static str),

    // Resuming.
    #[error("must have the columns it had when the run was stopped: {0}")]
    OtherColumns(String),
    #[error("must still hold the {wanted} rows that were read before the run was stopped, got {found}")]
    Shrunk { wanted: u64, found: u64 },
    #[error("must still hold the {wanted} bytes written before the run was stopped, got {found}")]
    PartShrunk { wanted: u64, found: u64 },

    // Output.
    #[error("must have one column of each name, but {0:?} would be a text that is kept and a number")]
    TakenName(String),
    #[error("cannot be written")]
    Unwritable(#[source] io::Error),
    #[error("must end in .json, .csv or .npz; .onnx is written by eigenhedge.export in Python")]
    NoExport,
    #[error("is being written by another run")]
    Busy,
}

/// Names the option that decides what a missing cell does.
const ADVICE: &str = "; --missing skip passes such rows over, --missing fill fills such cells in";

impl Fault {
    /// A cell that is missing, or holds no finite number.
    pub fn cell(found: String, is_missing: bool) -> Self {
        if is_missing { Self::Missing { found, advised: false } } else { Self::Cell(found) }
    }

    /// A date with two readings: forms of times, and the dates that they give.
    pub fn ambiguous(cell: String, readings: [(TimeFormat, String); 2]) -> Self {
        let reading =
            |(format, date): (TimeFormat, String)| format!("{date} with --time-format {}", typed(&format.to_string()));
        Self::AmbiguousTime { cell: shown(cell.as_bytes()), readings: readings.map(reading).join(", ") }
    }

    fn is_row(&self) -> bool {
        matches!(
            self,
            Self::Ragged { .. }
                | Self::Cell(_)
                | Self::Missing { .. }
                | Self::NoCell
                | Self::NoItems
                | Self::NoItem(_)
                | Self::NotJson(_)
                | Self::OtherShape { .. }
                | Self::ExtraKey(_)
                | Self::TwiceKey(_)
                | Self::NotPair(_)
                | Self::BadIndex(_)
                | Self::IndexOrder { .. }
                | Self::IndexRange { .. }
                | Self::Standardized(_)
                | Self::Time { .. }
                | Self::Thousands(_)
                | Self::OpenQuote
                | Self::Refused(_)
        )
    }
}

/// The text with characters that a terminal would obey, or that would hide others, written as `\u{1b}` is.
pub fn printable(text: &str) -> String {
    let is_obeyed = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_obeyed(c) { shown.extend(c.escape_debug()) } else { shown.push(c) }
    }
    shown
}

/// The path as messages show it.
pub fn printable_path(path: &std::path::Path) -> String {
    printable(&path.to_string_lossy())
}

/// A name as messages show it: quoted, and not all of it when it is long.
pub(crate) fn quoted(name: &str) -> String {
    const LONGEST: usize = 200;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &name[..end]),
        None => format!("{name:?}"),
    }
}

/// A word as it would be typed in a shell.
fn typed(word: &str) -> String {
    if word.contains(' ') { format!("\"{word}\"") } else { word.to_owned() }
}

/// Characters of a bad cell that a message repeats.
const LONGEST_SHOWN: usize = 40;

/// A cell as a message shows it: quoted, and not all of it when it is long.
pub(crate) fn shown(cell: &[u8]) -> String {
    let cell = text_of(cell.trim_ascii());
    match cell.char_indices().nth(LONGEST_SHOWN) {
        _ if cell.is_empty() => "an empty cell".to_owned(),
        Some((end, _)) => format!("{:?}…", &cell[..end]),
        None => format!("{cell:?}"),
    }
}
