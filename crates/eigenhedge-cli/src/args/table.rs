//! Options of tables, shared by all commands that read a table.

use super::{choices, named};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use eigenhedge::Standardize;
use eigenhedge_io::{Format, Layout, MaxMemory, OnBadRow};

/// Options of tables.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Table")]
pub struct TableArgs {
    /// Format of the table [default: by the file extension, otherwise csv]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: Option<Format>,
    /// Read the first line as a header. By default it is a header if columns are selected by name, or if its
    /// selected cells contain words and no numbers
    #[arg(long, conflicts_with = "no_header")]
    pub header: bool,
    /// Read the first line as a row, not as a header
    #[arg(long)]
    pub no_header: bool,
    /// Columns to use: names, patterns such as `sensor_*`, or positions from 0; an integer is always a position. The
    /// word `numeric` alone selects all columns with a number in the first rows [default: numeric]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Columns to leave out, in the same form as --columns
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub exclude: Vec<String>,
    /// Delimiter of cells: one character, or `tab` [default: comma, semicolon, tab or bar, detected from the first
    /// lines]
    #[arg(long, value_name = "CHAR", value_parser = setting("delimiter"))]
    pub delimiter: Option<String>,
    /// Decimal separator: `.` or `,` [default: detected from the first lines]
    #[arg(long, value_name = "SIGN", value_parser = setting("decimal"))]
    pub decimal: Option<String>,
    /// Sign between thousands: `.` or `,` [default: detected from the first lines]
    #[arg(long, value_name = "SIGN", value_parser = setting("thousands"))]
    pub thousands: Option<String>,
    /// Number of lines before the table, which are not read [default: lines of text before the header, detected]
    #[arg(long, value_name = "N", value_parser = setting("skip-lines"))]
    pub skip_lines: Option<String>,
    /// Cell values to treat as missing; for example `-999,off`. Case is ignored. Empty cells, NaN,
    /// NA, N/A, #N/A, n.a., null, none, -, --, ---, ?, and words of process historians and
    /// spreadsheets, such as `Bad`, `No Data` or #VALUE!, are missing too
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    pub na_values: Option<Vec<String>>,
    /// Like --na-values, but only these values, empty cells and NaN are missing
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true, conflicts_with = "na_values")]
    pub na_values_only: Option<Vec<String>>,
    /// Name of the sheet in a workbook [default: the first visible sheet with a table]
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,
    /// Columns of a long table, which has a time, a tag and a value in each row. It is read as a
    /// table with a column for each tag
    #[arg(long, value_name = "TIME,TAG,VALUE", value_delimiter = ',', num_args = 1)]
    pub pivot: Vec<String>,
    /// With --pivot: interval whose values form one row, such as 1min. A cell is the last value up to the end of the
    /// interval, or with `1min:mean` the mean within it [default: values with equal times form one row]
    #[arg(long, value_name = "DURATION", requires = "pivot", value_parser = setting("every"))]
    pub every: Option<String>,
    /// Name of the array in an npz archive [default: the only array]
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Number of columns of a libsvm table [default: the largest index of the file]
    #[arg(long, value_name = "N")]
    pub dim: Option<usize>,
    /// Standardize columns to mean 0 and standard deviation 1: none, running (by the previous rows), or warmup:ROWS (by
    /// the first ROWS rows, which are buffered). Losses are then in standard units [default: none; in `monitor`, by the
    /// warm-up, and `running` is an error there]
    #[arg(long, value_name = "HOW", value_parser = named::<Standardize>)]
    pub standardize: Option<Standardize>,
    /// Handling of bad rows: text or infinity instead of a number, a wrong number of cells, a row that the learner
    /// rejects, or a missing cell unless another option handles it. Use `skip` for an endless pipe
    #[arg(long, value_name = "WHAT", default_value = "fail", value_parser = on_bad_row())]
    pub on_bad_row: OnBadRow,
    /// Do not fail if more than half of the rows were skipped as bad. Only `run` and `monitor` fail then
    #[arg(long)]
    pub allow_skipped: bool,
    /// Memory limit for reading the table, in bytes or with a unit: 500M, 2G. A line of text may take a sixteenth of it
    /// [default: half of the machine's memory, and 64M for a line]
    #[arg(long, value_name = "SIZE", value_parser = max_memory)]
    pub max_memory: Option<MaxMemory>,
}

/// Options for columns that are copied to the results: times, keys and other text.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Table")]
pub struct BesideArgs {
    /// Columns to copy to the results as text, such as an identifier. They are not features, unless --columns also lists
    /// them by name, not by a pattern
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub copy_columns: Vec<String>,
    /// Time column, which is copied to the results and is the axis of the plots; `Date,Time` joins a column of dates
    /// and one of times of day [default: the first column of dates, or of numbers that can only be times]
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', num_args = 1)]
    pub time: Vec<String>,
    /// Time zone of times that have none of their own, such as Europe/Berlin. Times in the results
    /// then have their UTC offset, which distinguishes the two hours at the end of summer time
    #[arg(long, value_name = "ZONE", value_parser = setting("timezone"))]
    pub timezone: Option<String>,
    /// Format of the time column: iso; s, ms, us or ns since 1970; excel; or a strftime pattern such as
    /// `%d.%m.%Y %H:%M` [default: by the first rows, if unambiguous]
    #[arg(long, value_name = "FORM", value_parser = setting("time-format"))]
    pub time_format: Option<String>,
    /// Put an apostrophe before csv and tsv cells that start with =, +, - or @, which a spreadsheet would
    /// interpret as formulas
    #[arg(long)]
    pub safe_cells: bool,
    /// Run one model per value of this column (key), which is copied to the results. The text summary has a line for
    /// each of up to 40 keys, and a snapshot contains all models
    #[arg(long, value_name = "COLUMN")]
    pub group_by: Option<String>,
    /// With --group-by: maximum number of models or monitors in memory; the least recently used ones are moved to a
    /// file [default: 4096]
    #[arg(long, value_name = "N", requires = "group_by", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_groups: Option<u32>,
}

fn on_bad_row() -> impl TypedValueParser<Value = OnBadRow> {
    let skip = "Skip the row; `run` and `monitor` list the first skipped rows at the end";
    choices([("fail", "Stop with an error", OnBadRow::Fail), ("skip", skip, OnBadRow::Skip)])
}

fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
        .try_map(|name| Format::from_name(&name).ok_or("not a format"))
}

fn max_memory(text: &str) -> Result<MaxMemory, String> {
    MaxMemory::from_text(text).ok_or_else(|| "must be a number of bytes, or one of K, M, G or T such as 2G".to_owned())
}

/// Checks the text of an option as [`Layout::set`] does.
fn setting(name: &'static str) -> impl Fn(&str) -> Result<String, String> + Clone {
    move |text| {
        let mut layout = Layout::new(Format::Csv);
        // The option `every` needs a pivot.
        let tried = layout.set("pivot", &["0", "1", "2"].map(str::to_owned));
        let tried = tried.and_then(|()| layout.set(name, &[text.to_owned()]));
        tried.map(|()| text.to_owned()).map_err(|rule| format!("must be {rule}"))
    }
}
