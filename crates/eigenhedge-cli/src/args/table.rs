//! How a table is laid out, as typed: shared by all commands that read one.

use super::named;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use eigenhedge::Standardize;
use eigenhedge_io::{Format, MaxMemory, TimeFormat};

/// Options of tables.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Table")]
pub struct TableArgs {
    /// Format of the table [default: by the end of the file's name, else csv]
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: Option<Format>,
    /// Take the first line as a row, whatever it holds
    #[arg(long)]
    pub no_header: bool,
    /// Columns to use: names, patterns such as `sensor_*`, or positions from 0; a whole number is always a position. The
    /// word `numeric` alone stands for all that hold a number in the first rows [default: numeric]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Columns to leave out, in the same form
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub exclude: Vec<String>,
    /// Delimiter of cells: one character, or `tab` [default: comma, semicolon, tab or bar, by the first lines]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// Decimal sign: `.` or `,` [default: by the first lines]
    #[arg(long, value_name = "SIGN", value_parser = decimal)]
    pub decimal: Option<u8>,
    /// Cells that stand for a missing number, besides empty ones and NaN, such as `-999,off` [default: NA, N/A, #N/A, n.a., null,
    /// none, -, --, ---, ?, in small or capital letters]
    #[arg(long, value_name = "LIST", value_delimiter = ',', allow_hyphen_values = true)]
    pub na_values: Option<Vec<String>>,
    /// Which array of an npz archive [default: its only one]
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Number of columns of a libsvm table [default: the largest index of the file]
    #[arg(long, value_name = "N")]
    pub dim: Option<usize>,
    /// Bring columns to mean 0 and deviation 1: none, running (by the rows before), or warmup:ROWS (by the first ROWS
    /// rows, which wait for that). Losses are then in standardized units [default: none]
    #[arg(long, value_name = "HOW", value_parser = named::<Standardize>)]
    pub standardize: Option<Standardize>,
    /// What a bad row does: infinity, too few cells, a row that the learner must refuse; or a missing cell, if nothing else
    /// is said about those. A pipe that never ends wants `skip`
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = BadRow::Fail)]
    pub on_bad_row: BadRow,
    /// Memory that reading the table may take, in bytes or with a unit: 500M, 2G. What would take more is refused; a
    /// line of text may have a sixteenth of it [default: half of the machine's, and 64M for a line]
    #[arg(long, value_name = "SIZE", value_parser = max_memory)]
    pub max_memory: Option<MaxMemory>,
}

/// Columns that are no features, and go along with each row.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Table")]
pub struct BesideArgs {
    /// Columns to copy into the answers as text; they are features only if --columns names them too
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub copy_columns: Vec<String>,
    /// The column that says when a row was. It is copied into the answers, and is the axis of the pictures [default: the
    /// first column, if its cells are dates]
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<String>,
    /// The form of its cells: iso; s, ms, us or ns since 1970; or as strftime has it, such as `%d.%m.%Y %H:%M` [default: by
    /// the first rows, if they leave no doubt]
    #[arg(long, value_name = "FORM", value_parser = time_format)]
    pub time_format: Option<TimeFormat>,
    /// In csv and tsv answers, put an apostrophe before texts that begin with =, +, - or @, which a spreadsheet would take for
    /// formulas
    #[arg(long)]
    pub safe_cells: bool,
    /// One learner for each value of this column, which is copied into the answers. The summary has a line for each, and a
    /// snapshot holds all of them
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["report", "plot", "reconstruct", "live"])]
    pub group_by: Option<String>,
    /// With --group-by: at most this many models in memory; those that have not been used for longest wait in a file [default: 4096]
    #[arg(long, value_name = "N", requires = "group_by", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_groups: Option<u32>,
}

/// What a bad row does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BadRow {
    /// End the run
    Fail,
    /// Count it, and list the first few at the end
    Skip,
}

fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name))
        .try_map(|name| Format::from_name(&name).ok_or("not a format"))
}

fn max_memory(text: &str) -> Result<MaxMemory, String> {
    MaxMemory::from_text(text).ok_or_else(|| "must be a number of bytes, or one of K, M, G or T such as 2G".to_owned())
}

fn decimal(text: &str) -> Result<u8, String> {
    match text {
        "." => Ok(b'.'),
        "," => Ok(b','),
        _ => Err("must be . or ,".to_owned()),
    }
}

pub(super) fn time_format(text: &str) -> Result<TimeFormat, String> {
    let rule = "must be iso, s, ms, us, ns, or signs of strftime such as %d.%m.%Y %H:%M";
    TimeFormat::from_text(text).ok_or_else(|| rule.to_owned())
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => Err("must be one ASCII character other than a quote or a line end, or tab".to_owned()),
    }
}
