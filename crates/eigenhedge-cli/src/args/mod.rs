//! The command line as typed. What the values mean together is decided in [`crate::plan`].

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use eigenhedge::kernel::KERNELS;
use eigenhedge::registry::REGISTRY;
use eigenhedge::simplex::{Multiplicity, Select};
use eigenhedge::{Kind, NormBound};
use eigenhedge_io::Form;
use std::path::PathBuf;

mod other_commands;
mod outputs;
mod reproduce;
mod table;

pub use outputs::KeepArgs;

pub use other_commands::{
    CompareArgs, ExpertsArgs, InspectArgs, KernelArgs, KernelPcaArgs, KernelRidgeArgs, Made, MakeArgs, PairArgs,
    PcaArgs, ReconstructArgs, TransformArgs,
};
pub use reproduce::ReproduceArgs;
pub use table::{BadRow, TableArgs};

/// Online PCA with guarantees.
///
/// Rows arrive one at a time. Before each row a learner commits to a k-dimensional subspace, is charged for what
/// that subspace loses of the row, and then learns.
#[derive(Debug, Parser)]
#[command(name = "eigenhedge", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run every learner on a made-up stream that changes twice, and compare their losses
    Demo(DemoArgs),
    /// Run a learner over a table: one trial for each row
    Run(Box<RunArgs>),
    /// Several learners and the batch baselines on one stream
    Compare(Box<CompareArgs>),
    /// Coordinates of rows in the directions of a saved model, without learning
    Transform(TransformArgs),
    /// Rows from coordinates, by a saved model
    Reconstruct(ReconstructArgs),
    /// What a saved model holds
    Inspect(InspectArgs),
    /// Make a stream with a known truth, to try things on
    Make(MakeArgs),
    /// Two streams side by side: subspaces of one that go with subspaces of the other
    Pair(PairArgs),
    /// Losses of experts, one column each: keep k of them
    Experts(ExpertsArgs),
    /// Batch PCA
    Pca(PcaArgs),
    /// Batch kernel PCA
    KernelPca(KernelPcaArgs),
    /// Kernel ridge regression, with the deviation of its Gaussian-process reading
    KernelRidge(KernelRidgeArgs),
    /// Rows cleaned by batch kernel PCA: pre-images of their projections
    Preimage(KernelPcaArgs),
    /// Completions for a shell, on standard output
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Manual pages, one for each command
    #[command(hide = true)]
    Man {
        /// Folder to write them to
        #[arg(long, value_name = "FOLDER")]
        out: PathBuf,
    },
    /// Make the papers' figures again, and check what they claim
    Reproduce(ReproduceArgs),
}

const EXAMPLES: &str = "\
Examples:
  eigenhedge demo                             see what the learners do; no data needed
  eigenhedge run data.csv -k 3                keep 3 directions; print what was lost
  eigenhedge run data.csv -k 3 --report r.html  also draw what happened, in one page for a browser
  eigenhedge run data.csv -k 3 --out out.csv  also write each row's losses and coordinates
  eigenhedge run - -k 3 --out -               in a pipe: one answer for each row, at once
  eigenhedge compare data.csv -k 3            several learners and the best subspace in hindsight

Exit status: 0 done, 1 bad data or failed run, 2 wrong usage.";

/// Options of `demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  eigenhedge demo
  eigenhedge demo --seed 7 --draws 200 --no-report")]
pub struct DemoArgs {
    /// Which stream to make; the learners' draws follow from it too
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Over how many independent draws the realised loss is measured
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub draws: u32,
    /// Where to write the page with the pictures
    #[arg(long, value_name = "FILE.html", default_value = "eigenhedge-demo.html")]
    pub report: PathBuf,
    /// Write no page
    #[arg(long, conflicts_with = "report")]
    pub no_report: bool,
}

// A backslash ends a line of the source, not of the text: paragraphs are wrapped to the terminal.
const RUN_NOTES: &str = "\
Tables: csv, tsv, jsonl (arrays, or objects keyed by column), npy, npz, parquet, arrow, feather, libsvm. The first \
line of csv and tsv is a header when one of the selected cells in it is not a number. In messages, lines count from 1; \
rows and columns count from 0, as in --columns.

A row of the output is row,expected_loss,loss,z0,...: the row's number in the table from 0, the mean loss over the learner's own \
randomness, the loss of the choice that was made, and the row's coordinates in the directions that were kept. \
Losses are in squared units of the input. An output file appears when the run is complete, or not at all.

Values that are wrong whatever the data end with status 2. Values that do not fit the data, such as a -k that is not \
less than the number of columns, end with status 1.

With --snapshot, the signals INT and TERM (Ctrl-C) finish the row, save and end with status 0; --resume with the same \
command goes on, and everything comes out as if nothing had happened. Without --snapshot they end the run as the end of \
the table would. A second signal ends the program at once. A pipe that is resumed must send its rows again from the \
first.

Examples:
  eigenhedge run data.csv -k 3
  eigenhedge run data.csv -k 3 --report report.html
  eigenhedge run log.csv -k 3 --out out.csv --snapshot run.snap --snapshot-every 10000
  eigenhedge run log.csv -k 3 --out out.csv --snapshot run.snap --resume run.snap
  eigenhedge run data.csv -k 3 --exclude id,date --out coordinates.csv
  eigenhedge run data.parquet -k 3 --columns 'sensor_*' --standardize running --out coordinates.parquet
  eigenhedge run data.csv -k 3 --mixing none --center none --norm-bound 10
  tail -f log.csv | eigenhedge run - -k 2 --no-header --out -";

/// Options of `run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_NOTES)]
pub struct RunArgs {
    /// Table to read, one row for each trial; `-` reads rows from standard input as they arrive
    pub input: PathBuf,
    /// Directions to keep
    #[arg(short, value_name = "K")]
    pub k: usize,

    /// Who learns
    #[arg(long, value_name = "NAME", default_value = Kind::Auto.entry().name, value_parser = learners())]
    pub learner: Kind,
    /// Learning rate, for rows of norm at most one; `auto` follows the learner's own loss, or --ceiling [default: auto
    /// for anchored, 0.05 for oja, gha and apex, else 1]
    #[arg(long, value_name = "F|auto", value_parser = eta, allow_hyphen_values = true)]
    pub eta: Option<Eta>,
    /// What the best subspace loses at most, to tune --eta auto by the papers' formula; needs --norm-bound
    #[arg(long, value_name = "F", allow_hyphen_values = true)]
    pub ceiling: Option<f64>,
    /// What is mixed in after each row, so that a change can be followed [default: fixed-share for tracking, else none]
    #[arg(long, value_name = "RULE")]
    pub mixing: Option<MixingRule>,
    /// Share that is mixed in [default: 0.001]
    #[arg(long, value_name = "F", allow_hyphen_values = true)]
    pub alpha: Option<f64>,
    /// Factor on the forgetting leader's memory at each row [default: 0.95]
    #[arg(long, value_name = "F", allow_hyphen_values = true)]
    pub forget: Option<f64>,
    /// Subtract the running mean, or nothing [default: mean; none for oja, gha and apex]
    #[arg(long, value_enum, value_name = "HOW")]
    pub center: Option<Center>,
    /// Imaginary rows at the origin that the running mean starts from [default: 0]
    #[arg(long, value_name = "F", allow_hyphen_values = true)]
    pub center_prior: Option<f64>,
    /// Norm that no row exceeds, or `auto` for the largest seen so far
    #[arg(long, value_name = "F|auto", default_value = "auto", value_parser = norm_bound, allow_hyphen_values = true)]
    pub norm_bound: NormBound,
    /// Learn from features of rows: the kernel's name
    #[arg(long, value_name = "NAME", value_parser = kernels())]
    pub kernel: Option<&'static str>,
    /// γ of the kernel [default: one over the number of columns]
    #[arg(long, value_name = "F", allow_hyphen_values = true)]
    pub gamma: Option<f64>,
    /// Degree of the polynomial kernel [default: 3]
    #[arg(long, value_name = "N")]
    pub degree: Option<u32>,
    /// Constant of the polynomial or sigmoid kernel [default: 1]
    #[arg(long, value_name = "F", allow_hyphen_values = true)]
    pub coef0: Option<f64>,
    /// For kernels: keep at most this many rows as atoms
    #[arg(long, value_name = "ATOMS")]
    pub budget: Option<usize>,
    /// Cap the directions seen so far among themselves (anchored, ICML Algorithm 6 as printed)
    #[arg(long)]
    pub as_printed: bool,
    /// What merging directions that differ little from the rest may cost, as a share of what fixed share costs; 0 merges
    /// nothing [default: 0.25]
    #[arg(long, value_name = "SHARE")]
    pub merge: Option<f64>,
    /// At most this many explicit directions: memory is then bounded whatever the stream, at a price that is printed
    #[arg(long, value_name = "R")]
    pub max_rank: Option<usize>,
    /// Also compare with the best partition of the stream into up to this many segments
    #[arg(long, value_name = "S", default_value_t = 0, hide_default_value = true)]
    pub segments: usize,
    /// Dimension of the space the rows (or their features) lie in, when it is larger than a row (or the kernel's)
    #[arg(long, value_name = "N|inf", value_parser = feature_dim)]
    pub feature_dim: Option<Multiplicity>,
    /// How the kept directions are drawn
    #[arg(long, value_name = "HOW", default_value = Select::default().name(), value_parser = selects())]
    pub select: Select,
    /// Seed of the learner's draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Where to write each row's answer; `-` is standard output
    #[arg(long, value_name = "FILE|-")]
    pub out: Option<PathBuf>,
    /// Form of the summary (on standard error with `--out -`, else on standard output)
    #[arg(long, value_enum, value_name = "FORM", default_value_t = SummaryForm::Text)]
    pub summary: SummaryForm,
    /// Print no text summary and no progress
    #[arg(long)]
    pub quiet: bool,

    /// Form of the answers [default: by the end of the file's name, else csv]
    #[arg(long, value_name = "FORM", value_parser = forms())]
    pub out_format: Option<Form>,

    /// What is kept of the run.
    #[command(flatten)]
    pub keep: KeepArgs,

    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
}

/// The mixing rules by the names users type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MixingRule {
    /// Nothing
    None,
    /// The uniform distribution
    FixedShare,
    /// The mean of all earlier distributions
    PastAverage,
}

/// What is subtracted from a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Center {
    /// The mean of the rows before it
    Mean,
    /// Nothing
    None,
}

/// The form of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SummaryForm {
    /// A few lines for people
    Text,
    /// One object for programs
    Json,
}

pub(crate) fn learners() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(REGISTRY.iter().map(|entry| PossibleValue::new(entry.name).help(entry.summary)))
        .try_map(|name| Kind::from_name(&name).ok_or("not in the registry"))
}

/// A learning rate as typed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Eta {
    /// Tuned.
    Auto,
    /// This one.
    Given(f64),
}

fn eta(text: &str) -> Result<Eta, String> {
    match text {
        "auto" => Ok(Eta::Auto),
        _ => text.parse().map(Eta::Given).map_err(|_| "must be a number or auto".to_owned()),
    }
}

/// Kernels by name; `poly` is short for polynomial.
pub(crate) fn kernels() -> impl TypedValueParser<Value = &'static str> {
    let values = KERNELS.iter().map(|entry| {
        let value = PossibleValue::new(entry.name).help(entry.formula);
        if entry.name == "polynomial" { value.alias("poly") } else { value }
    });
    PossibleValuesParser::new(values).try_map(|name| {
        let name = if name == "poly" { "polynomial" } else { &name };
        KERNELS.iter().find(|entry| entry.name == name).map(|entry| entry.name).ok_or("not a kernel")
    })
}

fn selects() -> impl TypedValueParser<Value = Select> {
    PossibleValuesParser::new(Select::ALL.map(Select::name))
        .try_map(|name| Select::from_name(&name).ok_or("not a way to draw"))
}

fn forms() -> impl TypedValueParser<Value = Form> {
    PossibleValuesParser::new(Form::ALL.map(Form::name)).try_map(|name| Form::from_name(&name).ok_or("not a form"))
}

pub(crate) fn norm_bound(text: &str) -> Result<NormBound, String> {
    match text {
        "auto" => Ok(NormBound::Running),
        _ => text.parse().map(NormBound::Given).map_err(|_| "must be a number or auto".to_owned()),
    }
}

fn feature_dim(text: &str) -> Result<Multiplicity, String> {
    match text {
        "inf" => Ok(Multiplicity::Infinite),
        _ => text.parse().map(Multiplicity::Finite).map_err(|_| "must be a whole number or inf".to_owned()),
    }
}
