//! Errors in a table or a file, with their location. Each message is one sentence, without the underlying system error,
//! which is the [source](std::error::Error::source). `{:#}` prints both.

use crate::recode::text_of;
use crate::time_format::TimeFormat;
use std::error::Error as _;
use std::fmt;
use std::io;
use std::sync::Arc;

/// Error in a table or a file, with its location.
#[derive(Debug)]
pub struct Error {
    place: String,
    fault: Fault,
}

impl std::fmt::Display for Error {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Names of files and of columns may contain control characters.
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

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RowPlace {
    pub source: Arc<str>,
    pub unit: &'static str,
    pub number: u64,
}

impl fmt::Display for RowPlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            "" => out.write_str(&self.source),
            unit => write!(out, "{}, {unit} {}", self.source, self.number),
        }
    }
}

impl From<RowPlace> for String {
    fn from(place: RowPlace) -> Self {
        place.to_string()
    }
}

impl Error {
    pub(crate) fn at(place: impl Into<String>, fault: Fault) -> Self {
        Self { place: place.into(), fault }
    }

    pub(crate) fn moved_to(self, place: String) -> Self {
        Self { place, ..self }
    }

    /// Returns the word found where a number was expected, if the word may mark a missing cell.
    pub fn word(&self) -> Option<&str> {
        let Fault::TextCell(found) = &self.fault else { return None };
        let word = found.strip_prefix('"')?.strip_suffix('"')?;
        let is_sign = |sign: char| sign.is_alphanumeric() || " _-./#!*?".contains(sign);
        let is_word = word.len() <= LONGEST_WORD && word.chars().all(is_sign) && word.parse::<f64>().is_err();
        // Text with digits that does not start with a letter, such as `1.2.3`, is a mistyped number and not a word.
        let has_digits = word.contains(|sign: char| sign.is_ascii_digit());
        (is_word && !word.is_empty() && (!has_digits || word.starts_with(char::is_alphabetic))).then_some(word)
    }

    /// Returns true if the error concerns a single row, so that the following rows can still be read.
    pub fn is_row(&self) -> bool {
        self.fault.is_row()
    }

    /// Returns true if the message contains advice about `--missing`.
    pub fn is_advised(&self) -> bool {
        matches!(self.fault, Fault::Missing { advised: true, .. })
    }

    /// Returns the label of the column that caused the error, such as `3 ("a")`, if there is one.
    pub fn column(&self) -> Option<&str> {
        self.place.rsplit_once(", column ").map(|(_, column)| column)
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self.fault, Fault::Empty | Fault::HeaderOnly)
    }

    /// Returns true if a table has rows, but all of them were skipped.
    pub fn is_all_bad(&self) -> bool {
        matches!(self.fault, Fault::AllBad { .. })
    }

    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.fault, Fault::Missing { .. } | Fault::NoCell | Fault::NoItems)
    }

    pub(crate) fn advised(mut self) -> Self {
        if let Fault::Missing { advised, .. } = &mut self.fault {
            *advised = true;
        }
        self
    }

    /// Returns true if output failed because the reader of the pipe has closed it.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(&self.fault, Fault::Unwritable(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    // Errors of one row.
    #[error("must have {expected} cells like the first {like}, got {found}{hint}")]
    Ragged { expected: usize, found: usize, like: &'static str, hint: String },
    #[error("must be a finite number, got {0}")]
    Cell(String),
    /// Cell of a CSV or TSV table that is not a number. The option `--na-values` can mark such cells as missing.
    #[error("must be a finite number, got {0}")]
    TextCell(String),
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
    #[error("the key {} must be in one of the first rows too; --columns would leave it out", quoted(.0))]
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
    #[error("must be {rule}, got {found}")]
    Time { rule: String, found: String },
    #[error("must be a number with one decimal sign, got {0}; --decimal names the sign")]
    Thousands(String),
    #[error("must be {off} or {on}, as in the first rows, got {found}; --exclude leaves the column out")]
    State { off: String, on: String, found: String },
    #[error("a quote is opened here and not closed")]
    OpenQuote,
    #[error("{0}")]
    Refused(String),

    // Errors of the table.
    #[error("{0}")]
    Failed(String),
    #[error("there is no such file{0}")]
    NoFile(String),
    #[error("is a folder: name a file in it")]
    Folder,
    #[error("{0}")]
    Archive(&'static str),
    #[error("is compressed by {by}, which is not read: {unpack} unpacks it, also into a pipe that is read as -")]
    Packed { by: &'static str, unpack: &'static str },
    #[cfg_attr(not(feature = "workbook"), allow(dead_code))]
    #[error("there is no sheet {name:?}; the sheets are {names}{hint}")]
    NoSheet { name: String, names: String, hint: String },
    #[error("cannot be read")]
    Unreadable(#[source] io::Error),
    #[error("must hold at least one row, got nothing")]
    Empty,
    #[error("must hold at least one row, got only a header")]
    HeaderOnly,
    #[error("must hold at least one good row, but all {rows} are bad; the first: {first}")]
    AllBad { rows: u64, first: String },
    #[error(
        "line 1 may be a header or a row: its numbers, {0}, …, are unlike those below; --header or --no-header settles it"
    )]
    DoubtfulHeader(String),
    #[error("must have at least one column, got none")]
    ZeroColumns,
    #[error("{cell} can be two dates: {readings}")]
    AmbiguousTime { cell: String, readings: String },
    #[error(
        "is a long table: {tags} tags in the column {tag} and one value in each row; --pivot {time},{tag},{value} makes a column of \
         each tag, --columns {value} reads the rows as they are"
    )]
    Long { time: String, tag: String, value: String, tags: usize },
    #[error("has no column of times for --time-format; --time names one")]
    NoTime,
    #[error(
        "must have commas, semicolons, tabs or bars between its cells, got spaces; awk '{{$1=$1}} 1' OFS=, writes commas"
    )]
    Spaces,
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

    // Errors of resuming.
    #[error("must have the columns it had when the run was stopped: {0}")]
    OtherColumns(String),
    #[error("must still hold the {wanted} rows that were read before the run was stopped, got {found}")]
    Shrunk { wanted: u64, found: u64 },
    #[error("must still hold the {wanted} bytes written before the run was stopped, got {found}")]
    PartShrunk { wanted: u64, found: u64 },

    // Errors of the output.
    #[error("cannot be written")]
    Unwritable(#[source] io::Error),
    #[error("must end in .json, .csv or .npz; .onnx is written by eigenhedge.export in Python")]
    NoExport,
    #[error("is being written by another run")]
    Busy,
}

const ADVICE: &str = "; --missing skip passes such rows over, --missing fill fills such cells in";

const LONGEST_WORD: usize = 20;

impl Fault {
    pub fn cell(found: String, is_missing: bool) -> Self {
        if is_missing { Self::Missing { found, advised: false } } else { Self::Cell(found) }
    }

    pub fn text_cell(found: String, is_missing: bool) -> Self {
        if is_missing { Self::Missing { found, advised: false } } else { Self::TextCell(found) }
    }

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
                | Self::TextCell(_)
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
                | Self::Time { .. }
                | Self::Thousands(_)
                | Self::State { .. }
                | Self::OpenQuote
                | Self::Refused(_)
        )
    }
}

/// Escapes characters that a terminal would interpret or that would hide others, for example as `\u{1b}`.
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

/// Returns a path as text, with special characters escaped as by [`printable`].
pub fn printable_path(path: &std::path::Path) -> String {
    printable(&path.to_string_lossy())
}

/// Returns a hint with the most similar name, or an empty string if no name is similar enough.
pub fn hint(name: &str, names: &[String]) -> String {
    const NEAR: f64 = 0.75;
    let near = names.iter().map(|candidate| (strsim::jaro_winkler(name, candidate), candidate));
    let best = near.filter(|(nearness, _)| *nearness > NEAR).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or(String::new(), |(_, candidate)| format!("; did you mean {}?", quoted(candidate)))
}

pub(crate) fn quoted(name: &str) -> String {
    const LONGEST: usize = 200;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &name[..end]),
        None => format!("{name:?}"),
    }
}

fn typed(word: &str) -> String {
    if word.contains(' ') { format!("\"{word}\"") } else { word.to_owned() }
}

const LONGEST_SHOWN: usize = 40;

pub(crate) fn shown(cell: &[u8]) -> String {
    let cell = text_of(cell.trim_ascii());
    match cell.char_indices().nth(LONGEST_SHOWN) {
        _ if cell.is_empty() => "an empty cell".to_owned(),
        Some((end, _)) => format!("{:?}…", &cell[..end]),
        None => format!("{cell:?}"),
    }
}
