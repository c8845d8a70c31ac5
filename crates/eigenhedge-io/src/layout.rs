//! Layout of a table: its format, the selected columns, and their treatment, which can also be set by option names.

use crate::dates::duration;
use crate::format::Format;
use crate::memory::MaxMemory;
use crate::reading::Reading;
use crate::stop::Stop;
use crate::time_format::TimeFormat;
use crate::timezone::Timezone;
use eigenhedge::Missing;
use eigenhedge::kernel::TextItems;

/// Columns of a table in long format. Each row of such a table has a time, a tag and a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Pivot {
    /// Column of times.
    pub time: Selector,
    /// Column of tags. Each tag becomes a column.
    pub tag: Selector,
    /// Column of values.
    pub value: Selector,
    /// Length in seconds of the intervals that form rows, or `None` to join values of equal times.
    pub every: Option<f64>,
    /// True if a cell is the mean of the values in its interval, false if it is the last value.
    pub mean: bool,
}

/// Layout of a table: its format, the selected columns, and their treatment.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// Format of the table.
    pub format: Format,
    /// True if the first line of a CSV or TSV table is a header, false if it is a row, or `None` to detect this.
    pub header: Option<bool>,
    /// Delimiter of a CSV or TSV table, or `None` to detect it.
    pub delimiter: Option<u8>,
    /// Decimal separator of a CSV or TSV table: a point, a comma, or `None` to detect it.
    pub decimal: Option<u8>,
    /// Separator between thousands in a CSV or TSV table: a point, a comma, or `None` to detect it.
    pub thousands: Option<u8>,
    /// Number of lines to skip before a CSV or TSV table, or `None` to detect lines of text there.
    pub skip_lines: Option<u64>,
    /// Cells of a CSV or TSV table that count as missing, in addition to empty cells, NaN and the default list.
    pub na_values: Vec<String>,
    /// True if the default list of missing cells does not apply.
    pub na_values_only: bool,
    /// Columns to use, in this order. If the list is empty, all columns that no other field leaves out are used.
    pub columns: Vec<Selector>,
    /// Columns to leave out.
    pub exclude: Vec<Selector>,
    /// Column names of a model. In a table with names, only these columns are used, in this order.
    pub model_columns: Option<Vec<String>>,
    /// True to leave out columns whose first rows contain no numbers. Later files may then have additional columns.
    pub only_numeric: bool,
    /// False to leave out columns whose first rows contain no numbers, provided that `columns` is empty.
    pub keeps_text: bool,
    /// Columns whose cells are copied to the output. The model uses them only if `columns` names them.
    pub keep: Vec<Selector>,
    /// Time column, which comes first among the copied columns, or `None` if none is given.
    pub time: Option<Selector>,
    /// Column of the time of day, if the time column holds dates only.
    pub clock: Option<Selector>,
    /// Time zone of times without a zone of their own, or `None` to read them as they are.
    pub timezone: Option<Timezone>,
    /// Format of the time column, or `None` to detect it.
    pub time_format: Option<TimeFormat>,
    /// True to search for a time column, if `time` is `None`, among the columns that no option names.
    pub find_time: bool,
    /// True if the first column of `keep` is a key. Times are then compared only within each key.
    pub has_key: bool,
    /// Properties detected by an earlier inspection of the first lines, or `None` to inspect them.
    pub found: Option<Reading>,
    /// Kind of items if rows are texts or sets. The selected column has a text or a JSON array, with a number per item.
    pub items: Option<TextItems>,
    /// Name of the array in an NPZ archive, or `None` for the only array.
    pub array: Option<String>,
    /// Name of the sheet in a workbook, or `None` for the first visible sheet that holds a table.
    pub sheet: Option<String>,
    /// Columns of a long table, which gets one column per tag, or `None` for other tables.
    pub pivot: Option<Pivot>,
    /// Number of columns of a LIBSVM table, or `None` to use the largest index in the file.
    pub dim: Option<usize>,
    /// Handling of bad rows.
    pub on_bad_row: OnBadRow,
    /// Handling of missing cells. With [`Missing::Fill`], a missing cell is returned as NaN. `None`
    /// works like [`Missing::Fail`], but error messages do not mention options for missing cells.
    pub missing: Option<Missing>,
    /// Memory limit for reading the table.
    pub max_memory: MaxMemory,
    /// Signal that interrupts the wait for rows of a pipe, or `None` to wait without interruption.
    pub stop: Option<Stop>,
}

impl Layout {
    pub(crate) fn names_columns(&self) -> bool {
        let mut selectors =
            self.columns.iter().chain(&self.exclude).chain(&self.keep).chain(&self.time).chain(&self.clock);
        selectors.any(|selector| !matches!(selector, Selector::Position(_)))
    }

    /// Creates a layout with default values for this format. It selects all columns with numbers in the first rows.
    pub fn new(format: Format) -> Self {
        Self { format, ..Self::default() }
    }

    pub(crate) fn is_of_model(&self, name: &str) -> bool {
        self.model_columns.as_ref().is_some_and(|columns| columns.iter().any(|column| column == name))
    }

    pub(crate) fn leaves_out(&self) -> bool {
        self.items.is_none() && (self.only_numeric || !self.keeps_text && self.columns.is_empty())
    }

    pub(crate) fn fills(&self) -> bool {
        self.missing == Some(Missing::Fill)
    }
}

/// Handling of bad rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnBadRow {
    /// A bad row ends the stream with an error.
    #[default]
    Fail,
    /// A bad row is counted and skipped.
    Skip,
}

/// Selector of a column, or of all columns that match a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// Position, counted from 0.
    Position(usize),
    /// Name in the table.
    Name(String),
    /// Pattern in which `*` matches any number of characters and `?` one character.
    Pattern(String),
}

/// Formats the selector as on the command line.
impl std::fmt::Display for Selector {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Position(position) => write!(out, "{position}"),
            Self::Name(text) | Self::Pattern(text) => out.write_str(text),
        }
    }
}

impl Selector {
    /// Parses a selector. A whole number is a position, text with `*` or `?` is a pattern, and anything else is a name.
    pub fn from_text(text: &str) -> Self {
        let text = text.trim();
        match text.parse() {
            Ok(position) => Self::Position(position),
            Err(_) if text.contains(['*', '?']) => Self::Pattern(text.to_owned()),
            Err(_) => Self::Name(text.to_owned()),
        }
    }
}

/// Names of the options that [`Layout::set`] takes. An option comes after those that it needs.
pub const TABLE_OPTIONS: [&str; 19] = [
    "group-by",
    "copy-columns",
    "columns",
    "exclude",
    "time",
    "time-format",
    "timezone",
    "delimiter",
    "decimal",
    "thousands",
    "skip-lines",
    "header",
    "no-header",
    "na-values",
    "na-values-only",
    "on-bad-row",
    "sheet",
    "pivot",
    "every",
];

impl Layout {
    /// Returns true if the option of this name takes several values.
    pub fn takes_list(name: &str) -> bool {
        const LISTS: [&str; 7] = ["copy-columns", "columns", "exclude", "time", "na-values", "na-values-only", "pivot"];
        LISTS.contains(&name)
    }

    /// Sets an option of [`TABLE_OPTIONS`]. If `texts` is invalid, returns the rule for its values as an error.
    pub fn set(&mut self, name: &str, texts: &[String]) -> Result<(), &'static str> {
        let text = texts.first().map_or("", String::as_str);
        let selectors = || texts.iter().map(|text| Selector::from_text(text)).collect::<Vec<_>>();
        let is_one = |selector: &Selector| !matches!(selector, Selector::Pattern(_));
        let point_or_comma = || matches!(text, "." | ",").then(|| text.as_bytes()[0]).ok_or(". or ,");
        match name {
            "columns" => self.columns = selectors(),
            "exclude" => self.exclude = selectors(),
            "copy-columns" => self.keep.extend(selectors()),
            "group-by" => {
                self.keep.insert(0, Some(Selector::from_text(text)).filter(is_one).ok_or("one column")?);
                self.has_key = true;
            }
            "time" => {
                if !selectors().iter().all(is_one) {
                    return Err("one column");
                }
                let mut columns = selectors().into_iter();
                (self.time, self.clock) = (columns.next(), columns.next());
                if !matches!(texts.len(), 1 | 2) {
                    return Err("a column, or a date and a time of day");
                }
            }
            "time-format" => {
                let rule = "iso, s, ms, us, ns, excel, or a strftime pattern such as %d.%m.%Y %H:%M";
                self.time_format = Some(TimeFormat::from_text(text).ok_or(rule)?);
            }
            "timezone" => {
                self.timezone = Some(Timezone::from_name(text).ok_or("the name of a time zone such as Europe/Berlin")?);
            }
            "delimiter" => {
                self.delimiter = Some(match text.as_bytes() {
                    b"tab" => b'\t',
                    [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => *byte,
                    _ => return Err("one ASCII character other than a quote or a line end, or tab"),
                });
            }
            "decimal" => self.decimal = Some(point_or_comma()?),
            "thousands" => self.thousands = Some(point_or_comma()?),
            "skip-lines" => self.skip_lines = Some(text.parse().map_err(|_| "a number of lines")?),
            "header" | "no-header" => {
                let is_set: bool = text.parse().map_err(|_| "true or false")?;
                self.header = Some(is_set == (name == "header"));
            }
            "na-values" => self.na_values.extend_from_slice(texts),
            "na-values-only" => {
                self.na_values.extend_from_slice(texts);
                self.na_values_only = true;
            }
            "on-bad-row" => {
                self.on_bad_row = match text {
                    "fail" => OnBadRow::Fail,
                    "skip" => OnBadRow::Skip,
                    _ => return Err("fail or skip"),
                }
            }
            "sheet" => self.sheet = Some(text.to_owned()),
            "pivot" => {
                let [time, tag, value] = <[Selector; 3]>::try_from(selectors()).map_err(|_| "TIME,TAG,VALUE")?;
                self.pivot = Some(Pivot { time, tag, value, every: None, mean: false });
            }
            "every" => {
                let (length, mean) = match text.strip_suffix(":mean") {
                    Some(length) => (length, true),
                    None => (text.strip_suffix(":last").unwrap_or(text), false),
                };
                let every = duration(length).ok_or("a duration such as 30s, 5min, 2h or 14d, or with :mean")?;
                let pivot = self.pivot.as_mut().ok_or("an option that needs pivot")?;
                (pivot.every, pivot.mean) = (Some(every), mean);
            }
            _ => return Err("an option of tables"),
        }
        Ok(())
    }
}
