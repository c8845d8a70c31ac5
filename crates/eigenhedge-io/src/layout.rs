//! The layout of a table: its format, the columns that are wanted, and how they are treated.

use crate::format::Format;
use crate::memory::MaxMemory;
use crate::reading::Reading;
use crate::stop::Stop;
use crate::time_format::TimeFormat;
use eigenhedge::kernel::TextItems;
use eigenhedge::{Missing, Standardize};

/// How a table is laid out, which of its columns are wanted, and how they are treated.
#[derive(Debug, Clone)]
pub struct Layout {
    /// How the table is written down.
    pub format: Format,
    /// True if the first line of a text table is a header when it looks like one.
    pub may_have_header: bool,
    /// The character between two cells of a text table; none if it is to be found.
    pub delimiter: Option<u8>,
    /// The decimal sign of a text table, `b'.'` or `b','`; none if it is to be found.
    pub decimal: Option<u8>,
    /// Cells of a text table that stand for a missing number, besides empty ones and NaN; none for the usual signs.
    pub na_values: Option<Vec<String>>,
    /// Columns to use, in this order; none stands for all.
    pub columns: Vec<Selector>,
    /// Columns to leave out.
    pub exclude: Vec<Selector>,
    /// Names of a model's columns: those are taken of the selected ones, in this order, if the table has names.
    pub model_columns: Option<Vec<String>>,
    /// True if columns without numbers in the first rows are left out, also in a later file that has more columns.
    pub only_numeric: bool,
    /// True if columns without numbers in the first rows are left out when `columns` names none.
    pub leave_out_text: bool,
    /// Columns whose texts go along with each row; they are no features, unless `columns` names them.
    pub keep: Vec<Selector>,
    /// The column that says when a row was: the first of those whose texts go along.
    pub time: Option<Selector>,
    /// The form of its cells; none if it is to be found.
    pub time_format: Option<TimeFormat>,
    /// True if, without `time`, the first column is that of the time if its cells are dates.
    pub find_time: bool,
    /// True if the first column of `keep` is a key: times are then compared with those of the same key.
    pub has_key: bool,
    /// How the table was read before, in place of another look at its first lines.
    pub found: Option<Reading>,
    /// The items of a text, if rows are texts or sets: the one column that is selected holds a text or a JSON array, and a row
    /// is the numbers of its items.
    pub items: Option<TextItems>,
    /// Which array of an archive.
    pub array: Option<String>,
    /// The number of columns of a LIBSVM table.
    pub dim: Option<usize>,
    /// The effect of a bad row.
    pub on_bad_row: OnBadRow,
    /// The effect of a missing cell; none when the program does not let its users say, which is [`Missing::Fail`].
    /// [`Missing::Fill`] delivers it as NaN.
    pub missing: Option<Missing>,
    /// How columns are brought to a common scale.
    pub standardize: Standardize,
    /// Memory that reading may take.
    pub max_memory: MaxMemory,
    /// The signal that ends the wait for rows of a pipe.
    pub stop: Option<Stop>,
}

impl Layout {
    /// True if a column is asked for by its name.
    pub(crate) fn names_columns(&self) -> bool {
        let mut selectors = self.columns.iter().chain(&self.exclude).chain(&self.keep).chain(&self.time);
        selectors.any(|selector| !matches!(selector, Selector::Position(_)))
    }

    /// All columns of a table of this format, as they are.
    pub fn new(format: Format) -> Self {
        Self {
            format,
            may_have_header: true,
            delimiter: None,
            decimal: None,
            na_values: None,
            columns: Vec::new(),
            exclude: Vec::new(),
            model_columns: None,
            only_numeric: false,
            leave_out_text: true,
            keep: Vec::new(),
            time: None,
            time_format: None,
            find_time: false,
            has_key: false,
            found: None,
            items: None,
            array: None,
            dim: None,
            on_bad_row: OnBadRow::Fail,
            missing: None,
            standardize: Standardize::None,
            max_memory: MaxMemory::of_machine(),
            stop: None,
        }
    }

    /// True if columns without numbers are left out.
    pub(crate) fn leaves_out(&self) -> bool {
        self.items.is_none() && (self.only_numeric || self.leave_out_text && self.columns.is_empty())
    }

    /// True if missing cells are delivered.
    pub(crate) fn fills(&self) -> bool {
        self.missing == Some(Missing::Fill)
    }
}

/// The effect of a bad row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnBadRow {
    /// It ends the stream.
    Fail,
    /// It is counted and passed over.
    Skip,
}

/// One column, or the columns of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// Counted from 0.
    Position(usize),
    /// As the table calls it.
    Name(String),
    /// `*` stands for any characters and `?` for one.
    Pattern(String),
}

/// As it would be typed.
impl std::fmt::Display for Selector {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Position(position) => write!(out, "{position}"),
            Self::Name(text) | Self::Pattern(text) => out.write_str(text),
        }
    }
}

impl Selector {
    /// A whole number is a position, a text with `*` or `?` a pattern, anything else a name.
    pub fn from_text(text: &str) -> Self {
        let text = text.trim();
        match text.parse() {
            Ok(position) => Self::Position(position),
            Err(_) if text.contains(['*', '?']) => Self::Pattern(text.to_owned()),
            Err(_) => Self::Name(text.to_owned()),
        }
    }
}
