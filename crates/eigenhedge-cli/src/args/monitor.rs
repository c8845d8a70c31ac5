//! Options of `monitor`, as typed.

use super::monitor_options::OfMonitor;
use super::{AnswersAs, BesideArgs, LiveArgs, OptionArgs, OutArgs, SummaryForm, TableArgs};
use clap::Args;
use eigenhedge_pages::monitor::{Lasting, Severity};
use std::path::PathBuf;
use std::str::FromStr;

// Paragraphs are wrapped to the terminal, so a backslash joins the lines of a paragraph.
const NOTES: &str = "\
The first rows (--warm-up), or the rows of --train, are assumed to be normal: they are the reference. Every later row has a score. It \
measures how unlikely three values are: the distance of the row from the directions of normal rows (q), its position along them (t2), and its most unusual column.

There are two verdicts. An alarm is a row that is unusual compared with the reference and with the last rows. An incident is a \
stretch of rows in which something is wrong, on any of several time scales: a spike, a shift, a slow drift, a column that is stuck, \
without values, or that was constant and moved. It is reported once and lasts until the rows are usual again or it is accepted \
(--accept, --rebaseline). A fault never becomes the reference by itself.

The columns of the output are row,score,q,t2,limit,alarm,state,incident,change,cause_1,share_1,cause_2,share_2,cause_3,share_3 (columns \
of --time, --copy-columns and --group-by follow row). Rows without a score, such as those of the warm-up, have empty cells. alarm is 0 or 1; limit \
is the score that the row would need for an alarm. state is normal, alarm, incident, or unscored for a row without a score; incident is the number \
of the ongoing incident. change is the row at which the level of the scores changed; it is written in the row at which the change was detected. \
Causes are columns with their shares of the squared deviations, largest first.

--events has one line per incident: kind,incident,start,reported,end,severity,grade,signs,rows,alarms,peak and causes, with times if the \
table has them. end is empty while the incident is going on. Severity s: normal rows do this once in 10^s times --incident-time.

With --group-by, the rows of a key with few rows are scored after its first 20 rows, against a shared reference from the first rows of all keys, moved to the \
level of the key. This ends when the key has enough rows of its own.

Incidents below --min-severity or --min-duration are listed by --events-detail only, as unreported.

With --fail-on-alarm, the exit status is 3 if an incident was reported. The results are complete in any case.

Examples:
  eigenhedge monitor sensors.csv --out scores.csv --events events.csv
  eigenhedge monitor today.csv --train normal.csv --lags auto --out scores.csv
  eigenhedge monitor sensors.csv --time date --exclude id --limit auto:0.001 --events events.csv
  eigenhedge monitor sensors.csv --time date --lags auto --report page.html
  eigenhedge monitor fleet.csv --group-by machine --out scores.csv
  eigenhedge monitor today.csv --start-from monitor.snap --snapshot monitor.snap --fail-on-alarm
  tail -n +1 -f log.csv | eigenhedge monitor - --on-bad-row skip --out - --out-format jsonl";

fn least<T: FromStr<Err = &'static str>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|words| format!("must be {words}"))
}

#[derive(Debug, Clone, Args)]
#[command(after_help = NOTES)]
#[command(mut_arg("group_by", |key| key.help("Run one monitor per value of this column, which is copied to the results")))]
pub struct MonitorArgs {
    /// Table to read; `-` reads rows from standard input as they arrive. Several files are read as one table
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    #[command(flatten)]
    pub options: OptionArgs<OfMonitor>,
    /// Table of normal rows to learn from first. The rows of INPUT then have scores from the first one on, or with
    /// --lags from the first row that has enough earlier rows
    #[arg(long, value_name = "TABLE")]
    pub train: Option<PathBuf>,
    /// Make the rows up to this row, or up to the first row at or after this time, the new reference: as many as the
    /// warm-up had, but none from before the ongoing incident. If these are too few, later rows are added
    #[arg(long, value_name = "ROW|TIME", conflicts_with = "group_by")]
    pub accept: Option<String>,

    #[command(flatten)]
    pub out: OutArgs,
    /// File for the list of incidents; the format follows from the extension. `-` prints JSON lines to standard output
    #[arg(long, value_name = "FILE|-")]
    pub events: Option<PathBuf>,
    /// Also list events (groups of nearby alarms), changes, acceptances and unreported incidents in the file of
    /// --events
    #[arg(long, requires = "events")]
    pub events_detail: bool,
    /// Report, notify and count only incidents of at least this severity: minor, major, critical or a number
    #[arg(long, value_name = "SEVERITY", default_value = "minor", value_parser = least::<Severity>)]
    pub min_severity: Severity,
    /// Report, notify and count only incidents of at least this many rows or this duration (30min)
    #[arg(long, value_name = "ROWS|DURATION", default_value = "0", value_parser = least::<Lasting>)]
    pub min_duration: Lasting,
    /// Delimiter and decimal sign of csv results: input (semicolons and decimal commas if the input
    /// has them), or csv (commas and points)
    #[arg(long, value_enum, value_name = "SIGNS", default_value_t)]
    pub answers_as: AnswersAs,
    /// Shell command to run when an incident opens and when it closes. It receives a line of JSON on its standard
    /// input. The stream does not wait for it
    #[arg(long, value_name = "COMMAND")]
    pub on_alarm: Option<String>,
    /// File for the numbers of rows, alarms and incidents in the Prometheus text format, written
    /// about every ten seconds while rows arrive, and at the end
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,
    /// File for a self-contained HTML page with incidents, causes, scores and alarms
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Exit with status 3 if an incident was reported
    #[arg(long)]
    pub fail_on_alarm: bool,
    /// Format of the summary (on standard error with `--out -` or `--events -`, otherwise on standard output)
    #[arg(long, value_enum, value_name = "FORM", default_value_t = SummaryForm::Text)]
    pub summary: SummaryForm,
    /// Print no text summary and no progress
    #[arg(short, long)]
    pub quiet: bool,

    /// File to save the monitor to, at the end and when a signal stops it
    #[arg(long, value_name = "FILE", help_heading = "Snapshots")]
    pub snapshot: Option<PathBuf>,
    /// Also save the monitor each time this many rows have been read
    #[arg(long, value_name = "ROWS", requires = "snapshot", help_heading = "Snapshots",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub snapshot_every: Option<u64>,
    /// Continue from this snapshot; settings that affect the result must match
    #[arg(long, value_name = "FILE", help_heading = "Snapshots", conflicts_with = "start_from")]
    pub resume: Option<PathBuf>,
    /// Start with this saved monitor, or with the monitors of --group-by, on a new table. Columns are matched by name,
    /// and the saved options apply, except --missing if given. Rows are scored as with --train. New keys have a warm-up
    #[arg(long, value_name = "FILE", help_heading = "Snapshots",
          conflicts_with_all = ["train", "standardize"])]
    pub start_from: Option<PathBuf>,

    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub beside: BesideArgs,
    /// With --group-by of a mode: number of rows without a score after each change of the mode
    #[arg(long, value_name = "ROWS", requires = "group_by", default_value_t = 0, help_heading = "Table")]
    pub settle: u64,

    #[command(flatten)]
    pub live: LiveArgs,
}
