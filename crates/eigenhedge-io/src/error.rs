//! Errors in a table or a file, with their location. Each message is one sentence, without the underlying system error,
//! which is the [source](std::error::Error::source). `{:#}` prints both.

use crate::recode::text_of;
use crate::time_format::TimeFormat;
use std::error::Error as _;
use std::sync::Arc;
use std::{fmt, io};

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

impl Error {
    pub(crate) fn at(place: impl ToString, fault: Fault) -> Self {
        Self { place: place.to_string(), fault }
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
        self.is_missing() || matches!(self.fault, Fault::Cell(_) | Fault::TextCell(_) | Fault::Row(_))
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
        matches!(self.fault, Fault::Missing { .. } | Fault::NoValue(_))
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
    #[error("must be a finite number, got {0}")]
    Cell(String),
    /// Cell of a CSV or TSV table that is not a number. The option `--na-values` can mark such cells as missing.
    #[error("must be a finite number, got {0}")]
    TextCell(String),
    #[error("must be a finite number, got {found}{}", if *.advised { ADVICE } else { "" })]
    Missing { found: String, advised: bool },
    /// Row without any value.
    #[error("must hold at least one {0}")]
    NoValue(&'static str),
    /// Any other error of one row.
    #[error("{0}")]
    Row(String),
    /// Any other error of a table or a file.
    #[error("{0}")]
    Table(String),
    #[error("must hold at least one row, got nothing")]
    Empty,
    #[error("must hold at least one row, got only a header")]
    HeaderOnly,
    #[error("must hold at least one good row, but all {rows} are bad; the first: {first}")]
    AllBad { rows: u64, first: String },
    #[error("must have at least one column, got none")]
    ZeroColumns,
    #[error("must have {expected} columns like the first file, got {found}")]
    OtherWidth { expected: usize, found: usize },
    #[error("must be {wanted}, but the file starts like {found}; --format says what a file is")]
    OtherFormat { wanted: &'static str, found: &'static str },
    #[error("must be a sound {format} file: {reason}")]
    Unsound { format: &'static str, reason: String },
    #[cfg_attr(feature = "parquet", allow(dead_code))]
    #[error("{0} files cannot be read or written by this build, which was made without the feature parquet")]
    NotBuilt(&'static str),
    #[error("cannot be read")]
    Unreadable(#[source] io::Error),
    #[error("cannot be written")]
    Unwritable(#[source] io::Error),
    #[error("is being written by another run")]
    Busy,
}

const ADVICE: &str = "; --missing skip passes such rows over, --missing fill fills such cells in";

const LONGEST_WORD: usize = 20;

impl Fault {
    pub fn cell(found: String, is_missing: bool) -> Self {
        if is_missing { Self::Missing { found, advised: false } } else { Self::Cell(found) }
    }

    pub fn ambiguous_name(name: &str, list: &str) -> Self {
        Self::Table(format!(
            "the column name {name:?} must be unique, but {list} has it more than once; use its position"
        ))
    }

    /// `readings` contains two formats and the date that each gives.
    pub fn ambiguous(cell: &str, readings: [(TimeFormat, String); 2]) -> Self {
        let reading = |(format, date): (TimeFormat, String)| match format.to_string() {
            spaced if spaced.contains(' ') => format!("{date} with --time-format \"{spaced}\""),
            format => format!("{date} with --time-format {format}"),
        };
        Self::Table(format!("{} can be two dates: {}", shown(cell.as_bytes()), readings.map(reading).join(", ")))
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

const LONGEST_SHOWN: usize = 40;

pub(crate) fn shown(cell: &[u8]) -> String {
    let cell = text_of(cell.trim_ascii());
    match cell.char_indices().nth(LONGEST_SHOWN) {
        _ if cell.is_empty() => "an empty cell".to_owned(),
        Some((end, _)) => format!("{:?}…", &cell[..end]),
        None => format!("{cell:?}"),
    }
}

/// Returns the message for a row that a learner rejects. `label` describes the column at an index.
pub fn refusal(error: &eigenhedge::Error, label: impl Fn(usize) -> String) -> String {
    use eigenhedge::{Error, options::exact};
    match error {
        Error::Entry { what: "row", index, rule, value } => {
            format!("{} must be {rule}, got {}", label(*index), exact(*value))
        }
        Error::Norm { norm, bound } => {
            format!("the norm of the row must not exceed the norm bound {}, got {}", exact(*bound), exact(*norm))
        }
        Error::Overflow { largest } => {
            format!("the squared norm of the row must be finite, got a largest entry of {}", exact(*largest))
        }
        other => other.to_string(),
    }
}
