//! The command line as typed. [`crate::plan`] checks how the options of `run` fit together.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::str::FromStr;

mod monitor;
mod monitor_options;
mod options;
mod other_commands;
mod outputs;
#[cfg(feature = "serve")]
mod serve;
mod table;

pub use eigenhedge_pages::directions::Directions;
pub use monitor::MonitorArgs;
pub use options::{OfKernels, OfRun, OptionArgs, typed};
pub use outputs::{AnswersAs, KeepArgs, LiveArgs, OutArgs};

pub use other_commands::{
    CompareArgs, ExpertsArgs, ExportArgs, InspectArgs, KernelPcaArgs, KernelRidgeArgs, Made, MakeArgs, MergeArgs,
    MmdArgs, PairArgs, PcaArgs, ReconstructArgs, ReproduceArgs, ScreeArgs, TransformArgs,
};
#[cfg(feature = "serve")]
pub use serve::ServeArgs;
pub use table::{BesideArgs, TableArgs};

/// Online PCA with guarantees.
///
/// Rows arrive one at a time. Before each row a learner commits to a k-dimensional subspace. The row arrives, its
/// squared reconstruction error is recorded as the loss, and then the learner updates.
#[derive(Debug, Parser)]
#[command(name = "eigenhedge", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Cli {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare the main learners on a synthetic stream that changes twice
    Demo(DemoArgs),
    /// Run a learner over a table, one trial per row
    Run(Box<RunArgs>),
    /// Compute scores, limits, alarms, causes and change points for rows of sensors
    Monitor(Box<MonitorArgs>),
    /// Compare several learners and the batch baselines on one stream
    Compare(Box<CompareArgs>),
    /// Show the loss for every number of directions, to choose k
    Scree(ScreeArgs),
    /// Compute coordinates of rows in the directions of a saved model, without learning
    Transform(TransformArgs),
    /// Compute rows from coordinates with a saved model
    Reconstruct(ReconstructArgs),
    /// Show the contents of a saved model or monitor
    Inspect(InspectArgs),
    /// Merge saved models of the parts of a table
    Merge(MergeArgs),
    /// Export components, mean, scale and column names of a saved model for other programs
    Export(ExportArgs),
    /// Generate a synthetic stream with known subspaces
    Make(MakeArgs),
    /// Find directions of one stream that correlate with directions of another
    Pair(PairArgs),
    /// Keep k experts, given a table with the losses of one expert per column
    Experts(ExpertsArgs),
    /// Batch PCA
    Pca(PcaArgs),
    /// Batch kernel PCA
    KernelPca(KernelPcaArgs),
    /// Kernel ridge regression, with Gaussian-process standard deviations
    KernelRidge(KernelRidgeArgs),
    /// Denoise rows by batch kernel PCA: pre-images of their projections
    Preimage(KernelPcaArgs),
    /// Test whether two tables come from the same distribution (maximum mean discrepancy)
    Mmd(MmdArgs),
    /// Print completions for a shell
    Completions {
        /// Name of the shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages, one per command
    #[command(hide = true)]
    Man {
        /// Output folder
        #[arg(long, value_name = "FOLDER")]
        out: PathBuf,
    },
    /// Reproduce the figures of the papers and check their claims
    Reproduce(ReproduceArgs),
    /// Serve models and monitors by name over HTTP, with a durable store
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
}

const EXAMPLES: &str = "\
Examples:
  eigenhedge demo                             show what the learners do; needs no data
  eigenhedge run data.csv -k 3                keep 3 directions and print the loss
  eigenhedge run data.csv -k 3 --report r.html  also write an HTML page with charts
  eigenhedge run data.csv -k 3 --out out.csv  also write each row's losses and coordinates
  eigenhedge run - -k 3 --out -               in a pipe: write the result of each row immediately
  eigenhedge monitor data.csv --events e.csv  find unusual rows, when they began, and which columns caused them
  eigenhedge compare data.csv -k 3            compare several learners and the best fixed subspace in hindsight

Exit status: 0 done, 1 bad data or failed run, 2 wrong usage, 3 an incident with `monitor --fail-on-alarm`.";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  eigenhedge demo
  eigenhedge demo --seed 7 --draws 200 --no-report")]
pub struct DemoArgs {
    /// Seed of the stream and of the learners' draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Number of independent draws for the realized loss
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub draws: u32,
    /// File for the HTML page
    #[arg(long, value_name = "FILE.html", default_value = "eigenhedge-demo.html")]
    pub report: PathBuf,
    /// Do not write a page
    #[arg(long, conflicts_with = "report")]
    pub no_report: bool,
}

// Paragraphs are wrapped to the terminal, so a backslash joins the lines of a paragraph.
const RUN_NOTES: &str = "\
Tables: csv, tsv, jsonl (arrays, or objects keyed by column), npy, npz, parquet, arrow, feather, libsvm, lines of text, workbooks (xlsx, ods); names of compressed \
files end in .gz or .zst, such as data.csv.gz. The first \
line of csv and tsv files is a header if its selected cells contain words and no numbers; lines that repeat the header are skipped. In messages, lines are counted from 1; \
rows and columns are counted from 0, as in --columns.

The columns of the output are row,expected_loss,loss,z0,... (columns of --time and --copy-columns follow row): the number of the row in the table, counted from 0; the mean loss over the learner's \
random draws; the loss of the choice that was drawn; and the coordinates of the row in the kept directions. \
Losses are in squared units of the input. An output file appears only when the run is complete.

The exit status is 2 for option values that are always wrong, and 1 for values that do not fit the data, such as a -k that is not \
less than the number of columns.

With --snapshot, the signals INT and TERM (Ctrl-C) finish the row, save the run and end with status 0; the same command with \
--resume continues it, and the results are those of an uninterrupted run. Without --snapshot, a signal ends the run as if \
the table had ended. A second signal, at least half a second later, ends the program at once. To resume a pipe, send its rows again from the \
first one.

Examples:
  eigenhedge run data.csv -k 3
  eigenhedge run data.csv -k 3 --report report.html
  eigenhedge run log.csv -k 3 --out out.csv --snapshot run.snap --snapshot-every 10000
  eigenhedge run log.csv -k 3 --out out.csv --snapshot run.snap --resume run.snap
  eigenhedge run monday.csv -k 3 --snapshot model.snap
  eigenhedge run tuesday.csv --start-from model.snap --snapshot model.snap
  eigenhedge run data.csv -k 3 --exclude id,date --out coordinates.csv
  eigenhedge run january.csv.gz february.csv.gz -k 3 --time date --copy-columns id --out coordinates.csv --report r.html
  eigenhedge run data.parquet -k 3 --columns 'sensor_*' --standardize running --out coordinates.parquet
  eigenhedge run data.csv -k 3 --mixing none --center none --norm-bound 10
  tail -n +1 -f log.csv | eigenhedge run - -k 2 --no-header --on-bad-row skip --out -";

#[derive(Debug, Args)]
#[command(after_help = RUN_NOTES)]
#[command(mut_arg("group_by", |key| key.conflicts_with_all(["report", "plot", "reconstruct", "filled", "live"])))]
pub struct RunArgs {
    /// Table to read, one trial per row; `-` reads rows from standard input as they arrive. Several files are read as
    /// one table, with columns matched by name
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Number of directions to keep, or the share of the energy of the first rows that they explain [default: 0.9]
    #[arg(short, value_name = "K|SHARE", value_parser = Directions::from_text)]
    pub k: Option<Directions>,

    #[command(flatten)]
    pub options: OptionArgs<OfRun>,

    #[command(flatten)]
    pub out: OutArgs,
    /// Delimiter and decimal sign of csv results: input (semicolons and decimal commas if the input
    /// has them), or csv (commas and points)
    #[arg(long, value_enum, value_name = "SIGNS", default_value_t)]
    pub answers_as: AnswersAs,
    /// Format of the summary (on standard error with `--out -`, otherwise on standard output)
    #[arg(long, value_enum, value_name = "FORM", default_value_t = SummaryForm::Text)]
    pub summary: SummaryForm,
    /// Print no text summary and no progress
    #[arg(short, long)]
    pub quiet: bool,

    /// File for the projection of each row on the subspace drawn for it, in the units and with the
    /// column names of the input; the format follows from the extension
    #[arg(long, value_name = "FILE")]
    pub reconstruct: Option<PathBuf>,
    /// With `--missing fill`: file for the table with its missing cells filled in before their rows
    /// are learned; its last column lists the columns that were filled in
    #[arg(long, value_name = "FILE")]
    pub filled: Option<PathBuf>,

    #[command(flatten)]
    pub keep: KeepArgs,

    #[command(flatten)]
    pub table: TableArgs,

    #[command(flatten)]
    pub beside: BesideArgs,

    #[command(flatten)]
    pub live: LiveArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SummaryForm {
    /// A few lines of text
    Text,
    /// A JSON object
    Json,
}

fn choices<T: Clone + Send + Sync + 'static, const N: usize>(
    all: [(&'static str, &'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(all.each_ref().map(|(name, help, _)| PossibleValue::new(*name).help(*help)));
    let value = move |name: String| all.iter().find(|(own, ..)| *own == name).map(|(.., value)| value.clone());
    names.try_map(move |name| value(name).ok_or("not a choice"))
}

/// Parses a number of directions. For a share, the error explains how to find the number.
fn directions(text: &str) -> Result<usize, String> {
    let is_share = text.parse().is_ok_and(|share: f64| share > 0.0 && share < 1.0);
    match text.parse() {
        Ok(k) => Ok(k),
        Err(_) if is_share => Err(format!(
            "must be a whole number; `eigenhedge scree INPUT --share {text}` finds the number that keeps this share"
        )),
        Err(_) => Err("must be a whole number".to_owned()),
    }
}

fn named<T: FromStr<Err = eigenhedge::Error>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error| match error {
        eigenhedge::Error::Name { rule, .. } => format!("must be {rule}"),
        error => error.to_string(),
    })
}
