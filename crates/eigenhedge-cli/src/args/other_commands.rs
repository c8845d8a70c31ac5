//! Arguments of the commands other than `demo`, `run`, `monitor` and `serve`.

use super::Directions;
use super::options::{OfCompare, OfKernels, OptionArgs, learners};
use super::{OutArgs, SummaryForm, TableArgs, choices};
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use eigenhedge::Kind;
use eigenhedge::batch::Center;
use eigenhedge::registry::{ExpertKind, defaults};
use eigenhedge_pages::compare::{LEARNERS, WARM_UP};
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  eigenhedge compare data.csv -k 3
  eigenhedge compare data.csv -k 3 --learners auto,tracking,leader --plot losses.svg")]
pub struct CompareArgs {
    /// Table to read; several files are read as one table
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Number of directions to keep, or the share of the energy of the first rows that they explain [default: 0.9]
    #[arg(short, value_name = "K|SHARE", value_parser = Directions::from_text)]
    pub k: Option<Directions>,
    /// Learners to compare
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = learners(),
          default_value = LEARNERS)]
    pub learners: Vec<Kind>,
    /// Center to subtract from each row: the running mean, or none
    #[arg(long, value_name = "CENTER", default_value = "mean", value_parser = centers())]
    pub center: Center,
    #[command(flatten)]
    pub options: OptionArgs<OfCompare>,
    /// Number of rows to fit the frozen PCA to, at least k + 1; all losses are counted after them, or from the start if
    /// the table has no more rows
    #[arg(long, value_name = "ROWS", default_value_t = WARM_UP)]
    pub warm_up: usize,
    /// File for a plot of the cumulative losses (SVG)
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// File for an HTML page with the plot and the table
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Format of the table of losses
    #[arg(long, value_enum, value_name = "FORM", default_value_t = SummaryForm::Text)]
    pub summary: SummaryForm,
    #[command(flatten)]
    pub table: TableArgs,
}

const MODEL_NOTES: &str = "\
The columns of the model are found by name, in any order and among others. If the table or the model has no names, they are matched by position, \
and their number must match. Columns are scaled as in the model. Losses are in squared units of the input \
or, if the model was made with --standardize, in squared standard deviations.

Examples:
  eigenhedge run data.csv -k 3 --standardize warmup:500 --snapshot model.snap
  eigenhedge transform model.snap new.csv --out coordinates.csv
  eigenhedge reconstruct model.snap coordinates.csv --out rows.csv";

#[derive(Debug, Args)]
#[command(after_help = "\
The loss online is that of the k leading directions of the earlier rows (`run --learner leader --max-rank R`, with R = K + 8); the loss in hindsight is that of the best k directions of all rows. \
Both are measured from the mean. Row 0 sets the center, and its loss does not count.

Examples:
  eigenhedge scree data.csv
  eigenhedge scree data.csv --standardize running --share 0.9 --plot scree.svg")]
pub struct ScreeArgs {
    /// Table to read; several files are read as one table
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// Maximum number of directions to try; at most one less than the number of columns [default: 20]
    #[arg(long, value_name = "K", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub max_k: Option<usize>,
    /// Share of the energy that the suggested k must keep
    #[arg(long, value_name = "F", default_value_t = 0.95, value_parser = share)]
    pub share: f64,
    /// File for a plot of the shares kept (SVG)
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub table: TableArgs,
}

fn centers() -> impl TypedValueParser<Value = Center> {
    choices([("mean", "The mean", Center::Mean), ("none", "The origin", Center::None)])
}

fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "must be a number from 0 to 1".to_owned())
}

fn finite(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| "must be a finite number".to_owned())
}

#[derive(Debug, Args)]
#[command(after_help = MODEL_NOTES)]
#[command(mut_arg("out", |out| out.help("File for the columns row, loss, z0, … [default: standard output]")))]
pub struct TransformArgs {
    /// Model file
    pub model: PathBuf,
    /// Table to read
    pub input: PathBuf,
    #[command(flatten)]
    pub out: OutArgs,
    #[command(flatten)]
    pub table: TableArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The coordinates must come from `transform` with the same model. Those of `run --out` cannot be used, because each row has its own subspace \
there. Rows are in units of the input, with the column names of the model.")]
#[command(mut_arg("out", |out| out.help("File for the rows [default: standard output]")))]
pub struct ReconstructArgs {
    /// Model file
    pub model: PathBuf,
    /// Table of coordinates written by `transform`
    pub coordinates: PathBuf,
    #[command(flatten)]
    pub out: OutArgs,
    #[command(flatten)]
    pub table: TableArgs,
}

#[derive(Debug, Args)]
pub struct InspectArgs {
    /// File to inspect: a model, a monitor, or the models or monitors of --group-by
    pub model: PathBuf,
    /// Format of the summary
    #[arg(long, value_enum, value_name = "FORM", default_value_t = SummaryForm::Text)]
    pub summary: SummaryForm,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The learner must not depend on the order of rows: leader, anchored or product-sets. Options and columns must match, and columns must be \
standardized by the same scale or not at all. The result is the model of all rows in one pass. Losses of the parts are \
added; the best fixed subspace in hindsight is that of all rows whose loss counts. For models of \
`run --group-by`, the result contains the keys of all files. Only keys that occur in several files are merged, so other keys may have any learner.

Examples:
  eigenhedge run monday.csv -k 3 --learner leader --snapshot monday.snap
  eigenhedge run tuesday.csv -k 3 --learner leader --snapshot tuesday.snap
  eigenhedge merge monday.snap tuesday.snap --out week.snap")]
pub struct MergeArgs {
    /// Models of parts of a table, or files of `run --group-by` or `monitor --group-by`
    #[arg(required = true, num_args = 2.., value_name = "MODEL")]
    pub models: Vec<PathBuf>,
    /// File for the merged model
    #[arg(long, value_name = "MODEL")]
    pub out: PathBuf,
    /// Format of the summary
    #[arg(long, value_enum, value_name = "FORM", default_value_t = SummaryForm::Text)]
    pub summary: SummaryForm,
    /// Print no text summary
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The coordinates of a row x are components * ((x - mean) / scale), and the row of coordinates z is mean + scale * (z * components).

Examples:
  eigenhedge export model.snap --out model.json")]
pub struct ExportArgs {
    /// Model file
    pub model: PathBuf,
    /// Output file; the format follows from the extension
    #[arg(long, value_name = "FILE.json|FILE.csv|FILE.npz")]
    pub out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Made {
    /// A subspace that changes twice (JMLR figure 3)
    ThreeSubspaces,
    /// A fixed subspace plus noise
    Iid,
    /// A rotating subspace
    Drift,
    /// Three subspaces that recur
    Recurring,
    /// Two strong directions, then many weaker rows in a third
    Starvation,
    /// An adversarial stream for follow the leader
    LeaderTrap,
    /// Sensors with three faults: x1 has an offset for 30 rows from the middle on, x2 is stuck for 40 rows from 70 %
    /// on, x3 changes its level in the last tenth
    Faults,
    /// A plant of twelve sensors with times and five faults: TI202 biased, PI301 stuck, AI701 drifting, a peak of
    /// FI101, and a dropout of LI401
    Plant,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  eigenhedge make plant --out sensors.csv
  eigenhedge make three-subspaces --out stream.csv
  eigenhedge make drift --rows 10000 --dim 50 -k 3 | eigenhedge run - -k 3")]
#[command(mut_arg("out", |out| out.help("Output file [default: standard output]")))]
pub struct MakeArgs {
    /// Kind of stream
    #[arg(value_enum)]
    pub stream: Made,
    /// Number of rows [default: 1500; plant: 8640, 30 days]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub rows: Option<usize>,
    /// Number of columns; a plant has twelve
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub dim: usize,
    /// Dimension of the subspaces
    #[arg(short, value_name = "K", default_value_t = 2, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub k: usize,
    /// Level of the noise (iid, faults)
    #[arg(long, value_name = "F", default_value_t = 0.3, value_parser = finite)]
    pub noise: f64,
    /// Rotation angle per row in radians (drift)
    #[arg(long, value_name = "F", default_value_t = 0.01, value_parser = finite, allow_hyphen_values = true)]
    pub turn: f64,
    /// Seed of the stream
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub out: OutArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("out", |out| out.help("File for the columns row, expected_gain, gain; `-` for standard output")))]
pub struct PairArgs {
    /// First table
    pub left: PathBuf,
    /// Second table, with the same number of rows
    pub right: PathBuf,
    /// Number of pairs of directions to keep
    #[arg(short, value_name = "K")]
    pub k: usize,
    /// Learning rate, for rows of norm at most 1
    #[arg(long, value_name = "F", default_value_t = defaults::PAIR_ETA)]
    pub eta: f64,
    /// Share of the uniform distribution that is mixed in; the theorem covers only 0
    #[arg(long, value_name = "F", default_value_t = defaults::PAIR_ALPHA)]
    pub alpha: f64,
    /// Center to subtract from the rows of both tables: the mean of the previous rows, or none. With none, the
    /// directions of independent tables are their means
    #[arg(long, value_name = "CENTER", default_value = "mean", value_parser = centers())]
    pub center: Center,
    /// Bound Q such that |x| |y| ≤ Q² for every centered pair; required by the theorem [default: the smallest that
    /// holds so far]
    #[arg(long, value_name = "F")]
    pub norm_bound: Option<f64>,
    /// Seed of the random draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub out: OutArgs,
    /// File for the learned directions: probability of being kept, left part and right part
    #[arg(long, value_name = "FILE")]
    pub directions: Option<PathBuf>,
    #[command(flatten)]
    pub table: TableArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("out", |out| out.help("File for the columns row, expected_loss, loss and, if available, the probabilities of being kept; `-` for standard output")))]
pub struct ExpertsArgs {
    /// Table of losses in [0, 1], one column per expert
    pub losses: PathBuf,
    /// Number of experts to keep; the losses of the others are charged
    #[arg(short, value_name = "K")]
    pub k: usize,
    /// Algorithm
    #[arg(long, value_name = "NAME", default_value = "capped-hedge",
          value_parser = PossibleValuesParser::new(ExpertKind::ALL.map(ExpertKind::name)))]
    pub learner: String,
    /// Learning rate; has no effect with `--learner leader`
    #[arg(long, value_name = "F", default_value_t = defaults::EXPERTS_ETA)]
    pub eta: f64,
    /// Distribution that capped Hedge mixes in after each row [default: fixed-share if --alpha is above 0, otherwise
    /// none]
    #[arg(long, value_name = "RULE", value_parser = PossibleValuesParser::new(["none", "fixed-share", "past-average"]))]
    pub mixing: Option<String>,
    /// Weight of the distribution that --mixing adds, from 0 to 1 [default: 0.001 with --mixing]
    #[arg(long, value_name = "F")]
    pub alpha: Option<f64>,
    /// Sampling method of capped Hedge
    #[arg(long, value_name = "HOW", default_value = "systematic",
          value_parser = PossibleValuesParser::new(["systematic", "corners", "top"]))]
    pub select: String,
    /// Seed of the random draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub out: OutArgs,
    #[command(flatten)]
    pub table: TableArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("out", |out| out.help("File for the coordinates of the rows; `-` for standard output")))]
pub struct PcaArgs {
    /// Table to read
    pub input: PathBuf,
    /// Number of components, or the share of the energy of the first rows that they explain [default: 0.9]
    #[arg(short, value_name = "K|SHARE", value_parser = Directions::from_text)]
    pub k: Option<Directions>,
    /// Center to subtract from each row
    #[arg(long, value_name = "CENTER", default_value = "mean", value_parser = centers())]
    pub center: Center,
    #[command(flatten)]
    pub out: OutArgs,
    /// File for the components, one per row
    #[arg(long, value_name = "FILE")]
    pub components: Option<PathBuf>,
    #[command(flatten)]
    pub table: TableArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("out", |out| out.help("File for the coordinates (kernel-pca) or the rows (preimage); `-` for standard output")))]
pub struct KernelPcaArgs {
    /// Table to read
    pub input: PathBuf,
    /// Number of components, or the share of the energy of the first rows that they explain [default: 0.9]
    #[arg(short, value_name = "K|SHARE", value_parser = Directions::from_text)]
    pub k: Option<Directions>,
    /// Center to subtract from the features of each row
    #[arg(long, value_name = "CENTER", default_value = "mean", value_parser = centers())]
    pub center: Center,
    #[command(flatten)]
    pub kernel: OptionArgs<OfKernels>,
    #[command(flatten)]
    pub out: OutArgs,
    #[command(flatten)]
    pub table: TableArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The discrepancy is the squared distance between the mean features of the two tables. If both tables come from the same distribution, all \
splits of the rows are equally likely. The p-value is the share of splits, including the actual one, whose parts are at least as far apart. \
The columns of the second table are found by name if both tables have names.

Examples:
  eigenhedge mmd january.csv february.csv --gamma 0.1
  eigenhedge mmd monday.log tuesday.log --kernel spectrum --items words --splits 999")]
pub struct MmdArgs {
    /// First table
    pub first: PathBuf,
    /// Second table
    pub second: PathBuf,
    #[command(flatten)]
    pub kernel: OptionArgs<OfKernels>,
    /// Number of random splits of all rows
    #[arg(long, value_name = "N", default_value_t = defaults::MMD_SPLITS, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub splits: u32,
    /// Seed of the splits
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Format of the result
    #[arg(long, value_enum, value_name = "FORM", default_value_t = SummaryForm::Text)]
    pub summary: SummaryForm,
    #[command(flatten)]
    pub table: TableArgs,
}

#[derive(Debug, Args)]
#[command(mut_arg("out", |out| out.help("File for predictions and standard deviations [default: standard output]")))]
pub struct KernelRidgeArgs {
    /// Table to learn from
    pub input: PathBuf,
    /// Column to predict: a name or a position
    #[arg(long, value_name = "COLUMN")]
    pub target: String,
    /// Table to predict for, with or without the target [default: the same table]
    #[arg(long, value_name = "FILE")]
    pub predict: Option<PathBuf>,
    /// Regularization weight; the noise variance of the Gaussian process
    #[arg(long, value_name = "F", default_value_t = defaults::RIDGE_ALPHA)]
    pub alpha: f64,
    #[command(flatten)]
    pub kernel: OptionArgs<OfKernels>,
    #[command(flatten)]
    pub out: OutArgs,
    #[command(flatten)]
    pub table: TableArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each figure becomes a folder with its data (CSV), its picture (SVG) and a page (index.html). Each claim is printed as PASS or \
FAIL; a claim that fails ends with status 1. Without --data, EIGENHEDGE_DATA may name the folder.

Examples:
  eigenhedge reproduce list
  eigenhedge reproduce jmlr-figure-4
  eigenhedge reproduce all --quick")]
pub struct ReproduceArgs {
    /// Name of a figure, `all`, or `list` to list the names
    #[arg(value_name = "list|all|NAME", default_value = "list", value_parser = reproductions(), hide_possible_values = true)]
    pub name: String,
    /// Folder with real data (yaleb32_images.npy, yaleb32_labels.npy) [default: synthetic streams, unless
    /// EIGENHEDGE_DATA names a folder]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Use fewer draws and rows: seconds instead of minutes
    #[arg(long)]
    pub quick: bool,
    /// Seed of the streams and draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Output folder
    #[arg(long, value_name = "DIR", default_value = "reproduce")]
    pub out: PathBuf,
}

fn reproductions() -> PossibleValuesParser {
    ["list", "all"]
        .into_iter()
        .chain(eigenhedge_lab::REPRODUCTIONS.iter().map(|one| one.name))
        .collect::<Vec<_>>()
        .into()
}
