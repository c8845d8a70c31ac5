//! The commands besides `demo` and `run`, as typed.

use super::options::{OfCompare, OfKernels, OptionArgs, learners};
use super::{SummaryForm, TableArgs};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use eigenhedge::Kind;
use eigenhedge::registry::{ExpertKind, defaults};
use std::path::PathBuf;

/// The center of rows, for commands that see all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CenterArg {
    /// The mean
    Mean,
    /// The origin
    None,
}

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  eigenhedge compare data.csv -k 3
  eigenhedge compare data.csv -k 3 --learners auto,tracking,leader --plot losses.svg")]
pub struct CompareArgs {
    /// Table to read; several files are read as one
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Directions to keep
    #[arg(short, value_name = "K")]
    pub k: usize,
    /// Who learns
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = learners(),
          default_value = "auto,tracking,anchored,leader,forgetting-leader,additive")]
    pub learners: Vec<Kind>,
    /// Center that is subtracted from each row: the running mean, or nothing
    #[arg(long, value_enum, value_name = "CENTER", default_value_t = CenterArg::Mean)]
    pub center: CenterArg,
    /// Options of all learners.
    #[command(flatten)]
    pub options: OptionArgs<OfCompare>,
    /// Rows that the frozen PCA is fitted to; everybody is charged for the rows behind them
    #[arg(long, value_name = "ROWS", default_value_t = 100)]
    pub warm_up: usize,
    /// Draw the cumulated losses
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// The same and the table, as one page for a browser
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
}

const MODEL_NOTES: &str = "\
The model's columns are found by name, in any order and among others; by position if the table or the model has no names, \
and then there must be as many. Columns are brought to the scale of the model; losses are squared, in units of the input \
or, if the model was made with --standardize, in standard deviations.

Examples:
  eigenhedge run data.csv -k 3 --standardize warmup:500 --snapshot model.snap
  eigenhedge transform model.snap new.csv --out coordinates.csv
  eigenhedge reconstruct model.snap coordinates.csv --out rows.csv";

/// Options of `scree`.
#[derive(Debug, Args)]
#[command(after_help = "\
Online, row t is charged to the k leading directions of the rows before it; in hindsight, all rows to their best k directions. \
Both around the mean; row 0 fixes the center and is not charged.

Examples:
  eigenhedge scree data.csv
  eigenhedge scree data.csv --standardize running --share 0.9 --plot scree.svg")]
pub struct ScreeArgs {
    /// Table to read; several files are read as one table
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Most directions to try [default: 20, or one less than there are columns]
    #[arg(long, value_name = "K", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    pub max_k: Option<usize>,
    /// Share of the energy that the suggestion must keep
    #[arg(long, value_name = "F", default_value_t = 0.95, value_parser = share)]
    pub share: f64,
    /// Draw the shares that are kept
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
}

fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "must be a number from 0 to 1".to_owned())
}

/// Options of `transform`.
#[derive(Debug, Args)]
#[command(after_help = MODEL_NOTES)]
pub struct TransformArgs {
    /// Snapshot to use
    pub model: PathBuf,
    /// Table to read
    pub input: PathBuf,
    /// Where to write row, loss, z0, …; standard output if not given
    #[arg(long, value_name = "FILE|-")]
    pub out: Option<PathBuf>,
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Options of `reconstruct`.
#[derive(Debug, Args)]
#[command(after_help = "\
The coordinates are those of `transform` with the same model, not those of `run --out`: each of these belongs to a subspace \
that was left behind. Rows come out in units of the input, under the names of the model's columns.")]
pub struct ReconstructArgs {
    /// Snapshot to use
    pub model: PathBuf,
    /// Table of coordinates, as `transform` writes it
    pub coordinates: PathBuf,
    /// Where to write the rows; standard output if not given
    #[arg(long, value_name = "FILE|-")]
    pub out: Option<PathBuf>,
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Options of `inspect`.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// Snapshot to look into: a model, learners of `run --group-by`, or a monitor
    pub model: PathBuf,
    /// Form of the summary
    #[arg(long, value_enum, value_name = "FORM", default_value_t = SummaryForm::Text)]
    pub summary: SummaryForm,
}

/// Options of `merge`.
#[derive(Debug, Args)]
#[command(after_help = "\
The learner must be one that does not depend on the order of rows: leader, anchored or product-sets, with the same options over \
the same columns, standardized by the same scale or not at all. The model is then that of all rows in one pass. Losses were \
charged part by part, and add up; the best subspace in hindsight is that of all rows that were charged. Models of \
`run --group-by` unite their keys; a key that two of them have is merged, so that keys that only one has may have any learner.

Examples:
  eigenhedge run monday.csv -k 3 --learner leader --snapshot monday.snap
  eigenhedge run tuesday.csv -k 3 --learner leader --snapshot tuesday.snap
  eigenhedge merge monday.snap tuesday.snap --out week.snap")]
pub struct MergeArgs {
    /// Snapshots of parts of a table: models, or the learners of `run --group-by`
    #[arg(required = true, num_args = 2.., value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// File for the model of all parts
    #[arg(long, value_name = "MODEL")]
    pub out: PathBuf,
    /// Form of the summary
    #[arg(long, value_enum, value_name = "FORM", default_value_t = SummaryForm::Text)]
    pub summary: SummaryForm,
    /// Print no text summary
    #[arg(long)]
    pub quiet: bool,
}

/// Options of `export`.
#[derive(Debug, Args)]
#[command(after_help = "\
The coordinates of a row x are components * ((x - mean) / scale), and the row of coordinates z is mean + scale * (z * components).

Examples:
  eigenhedge export model.snap --out model.json")]
pub struct ExportArgs {
    /// Snapshot to use
    pub model: PathBuf,
    /// File to write; the end of its name says its form
    #[arg(long, value_name = "FILE.json|FILE.csv|FILE.npz")]
    pub out: PathBuf,
}

/// Streams that can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Made {
    /// A subspace that changes twice (JMLR figure 3)
    ThreeSubspaces,
    /// One subspace under noise
    Iid,
    /// A subspace that turns all the time
    Drift,
    /// Three subspaces that come back
    Recurring,
    /// Two strong directions, then many weaker rows in a third
    Starvation,
    /// What fools follow the leader
    LeaderTrap,
    /// Sensors with three faults: x1 is off for 30 rows from the middle on, x2 is stuck for 40 from seven tenths on, x3 changes its
    /// level in the last tenth
    Faults,
}

/// Options of `make`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  eigenhedge make three-subspaces --out stream.csv
  eigenhedge make drift --rows 10000 --dim 50 -k 3 | eigenhedge run - -k 3")]
pub struct MakeArgs {
    /// Which stream
    #[arg(value_enum)]
    pub stream: Made,
    /// Rows
    #[arg(long, value_name = "N", default_value_t = 1500)]
    pub rows: usize,
    /// Numbers in a row
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub dim: usize,
    /// Dimension of the subspaces
    #[arg(short, value_name = "K", default_value_t = 2)]
    pub k: usize,
    /// Size of the noise (iid, faults)
    #[arg(long, value_name = "F", default_value_t = 0.3)]
    pub noise: f64,
    /// Angle by which the subspace turns at each row (drift)
    #[arg(long, value_name = "F", default_value_t = 0.01)]
    pub turn: f64,
    /// Which one of its kind
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Where to write it; standard output if not given
    #[arg(long, value_name = "FILE|-")]
    pub out: Option<PathBuf>,
}

/// Options of `pair`.
#[derive(Debug, Args)]
pub struct PairArgs {
    /// First table
    pub left: PathBuf,
    /// Second table, as many rows
    pub right: PathBuf,
    /// Pairs of directions to keep
    #[arg(short, value_name = "K")]
    pub k: usize,
    /// Learning rate, for rows of norm at most one
    #[arg(long, value_name = "F", default_value_t = defaults::PAIR_ETA)]
    pub eta: f64,
    /// Share of the uniform distribution that is mixed in; the theorem covers 0
    #[arg(long, value_name = "F", default_value_t = defaults::PAIR_ALPHA)]
    pub alpha: f64,
    /// Q with |x| |y| at most Q² for all pairs; the theorem needs it [default: the largest so far]
    #[arg(long, value_name = "F")]
    pub norm_bound: Option<f64>,
    /// Seed of the draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Where to write row, expected_gain, gain
    #[arg(long, value_name = "FILE|-")]
    pub out: Option<PathBuf>,
    /// Where to write the directions that were learned: the probability of being kept, the left part and the right part of each
    #[arg(long, value_name = "FILE")]
    pub directions: Option<PathBuf>,
    /// The tables.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Options of `experts`.
#[derive(Debug, Args)]
pub struct ExpertsArgs {
    /// Table of losses in [0, 1], one column for each expert
    pub losses: PathBuf,
    /// Experts to keep: the others pay their losses
    #[arg(short, value_name = "K")]
    pub k: usize,
    /// Who learns
    #[arg(long, value_name = "NAME", default_value = "capped-hedge",
          value_parser = PossibleValuesParser::new(ExpertKind::ALL.map(ExpertKind::name)))]
    pub learner: String,
    /// Learning rate; has no effect with the leader
    #[arg(long, value_name = "F", default_value_t = defaults::EXPERTS_ETA)]
    pub eta: f64,
    /// What capped Hedge mixes in after each row [default: fixed-share if there is an alpha, else none]
    #[arg(long, value_name = "RULE", value_parser = PossibleValuesParser::new(["none", "fixed-share", "past-average"]))]
    pub mixing: Option<String>,
    /// Share that is mixed in [default: 0.001 if there is a rule]
    #[arg(long, value_name = "F")]
    pub alpha: Option<f64>,
    /// How capped Hedge draws the sets
    #[arg(long, value_name = "HOW", default_value = "systematic",
          value_parser = PossibleValuesParser::new(["systematic", "corners", "top"]))]
    pub select: String,
    /// Seed of the draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Where to write row, expected_loss, loss and, if the learner has them, the probabilities of being kept
    #[arg(long, value_name = "FILE|-")]
    pub out: Option<PathBuf>,
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Options of `pca`.
#[derive(Debug, Args)]
pub struct PcaArgs {
    /// Table to read
    pub input: PathBuf,
    /// Components
    #[arg(short, value_name = "K")]
    pub k: usize,
    /// Center that is subtracted from each row
    #[arg(long, value_enum, value_name = "CENTER", default_value_t = CenterArg::Mean)]
    pub center: CenterArg,
    /// Where to write the coordinates of the rows
    #[arg(long, value_name = "FILE|-")]
    pub out: Option<PathBuf>,
    /// Where to write the components, one in each row
    #[arg(long, value_name = "FILE")]
    pub components: Option<PathBuf>,
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Options of `kernel-pca` and `preimage`.
#[derive(Debug, Args)]
pub struct KernelPcaArgs {
    /// Table to read
    pub input: PathBuf,
    /// Components
    #[arg(short, value_name = "K")]
    pub k: usize,
    /// Center that is subtracted from the features of each row
    #[arg(long, value_enum, value_name = "CENTER", default_value_t = CenterArg::Mean)]
    pub center: CenterArg,
    /// The kernel.
    #[command(flatten)]
    pub kernel: OptionArgs<OfKernels>,
    /// Where to write the coordinates (kernel-pca) or the rows (preimage)
    #[arg(long, value_name = "FILE|-")]
    pub out: Option<PathBuf>,
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Options of `mmd`.
#[derive(Debug, Args)]
#[command(after_help = "\
The discrepancy is the squared distance of the means of the two tables' features. If rows of both come from one source, every way \
to split them is equally likely: the p-value is the share of splits, this one among them, whose halves are at least as far apart. \
The columns of the second table are found by name if both have names.

Examples:
  eigenhedge mmd january.csv february.csv --gamma 0.1
  eigenhedge mmd monday.log tuesday.log --kernel spectrum --items words --splits 999")]
pub struct MmdArgs {
    /// First table
    pub first: PathBuf,
    /// Second table
    pub second: PathBuf,
    /// The kernel.
    #[command(flatten)]
    pub kernel: OptionArgs<OfKernels>,
    /// Random splits of all rows to compare with
    #[arg(long, value_name = "N", default_value_t = defaults::MMD_SPLITS, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub splits: u32,
    /// Seed of the splits
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Form of the result
    #[arg(long, value_enum, value_name = "FORM", default_value_t = SummaryForm::Text)]
    pub summary: SummaryForm,
    /// The tables.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Options of `kernel-ridge`.
#[derive(Debug, Args)]
pub struct KernelRidgeArgs {
    /// Table to learn from
    pub input: PathBuf,
    /// The column to predict: a name or a position
    #[arg(long, value_name = "COLUMN")]
    pub target: String,
    /// Table to predict for, with or without the target [default: the same table]
    #[arg(long, value_name = "FILE")]
    pub predict: Option<PathBuf>,
    /// Weight of the squared norm: the variance of the noise in the Gaussian-process reading
    #[arg(long, value_name = "F", default_value_t = defaults::RIDGE_ALPHA)]
    pub alpha: f64,
    /// The kernel.
    #[command(flatten)]
    pub kernel: OptionArgs<OfKernels>,
    /// Where to write predictions and deviations; standard output if not given
    #[arg(long, value_name = "FILE|-")]
    pub out: Option<PathBuf>,
    /// The table.
    #[command(flatten)]
    pub table: TableArgs,
}
