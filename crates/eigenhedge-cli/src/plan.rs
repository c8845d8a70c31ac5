//! The command line as built: every value that can be judged without the data has been.

use crate::args::{Center, Eta, KeepArgs, MixingRule, RunArgs, SummaryForm};
use crate::table::{self, Usage, is_dash};
use eigenhedge::kernel::KernelParameters;
use eigenhedge::options::{self, Checked, Options, Rate};
use eigenhedge::{Comparators, Kind, NormBound};
use eigenhedge_io::{Form, Layout, Source, Target};
use std::path::Path;

/// What `run` is to do.
#[derive(Debug)]
pub struct Plan {
    /// Where rows come from.
    pub source: Source,
    /// How the table is laid out.
    pub layout: Layout,
    /// Which learner.
    pub learner: Kind,
    /// The learner, but for what the length of rows decides.
    pub options: Checked,
    /// What the run compares itself with.
    pub comparators: Comparators,
    /// Seed of the learner's draws.
    pub seed: u64,
    /// Where the answers go.
    pub target: Target,
    /// What form they take there.
    pub form: Form,
    /// The summary to print, if any.
    pub summary: Option<SummaryForm>,
    /// Whether nobody wants to know how far it has come.
    pub quiet: bool,
    /// Snapshots and pictures.
    pub keep: KeepArgs,
}

impl Plan {
    /// Checks what was typed.
    pub fn new(args: &RunArgs) -> Result<Self, Usage> {
        let options = options(args).checked(typed).map_err(|misuse| Usage(misuse.to_string()))?;
        let source = table::source(&args.input);
        let target = match &args.out {
            None => Target::Nowhere,
            Some(path) if is_dash(path) => Target::Standard,
            Some(path) => Target::File(path.clone()),
        };
        places(args)?;
        Ok(Self {
            layout: table::layout(&args.table, &source)?,
            form: form(args, &target)?,
            source,
            learner: args.learner,
            options,
            comparators: Comparators { hindsight: true, segments: args.segments },
            seed: args.seed,
            target,
            summary: Some(args.summary).filter(|form| !args.quiet || *form == SummaryForm::Json),
            quiet: args.quiet,
            keep: args.keep.clone(),
        })
    }
}

/// The options of the learner as typed.
fn options(args: &RunArgs) -> Options {
    Options {
        eta: args.eta.map(|eta| match eta {
            Eta::Auto => Rate::Auto,
            Eta::Given(eta) => Rate::Given(eta),
        }),
        ceiling: args.ceiling,
        mixing: args.mixing.map(|rule| match rule {
            MixingRule::None => options::MixingRule::None,
            MixingRule::FixedShare => options::MixingRule::FixedShare,
            MixingRule::PastAverage => options::MixingRule::PastAverage,
        }),
        alpha: args.alpha,
        forget: args.forget,
        center: args.center.map(|center| center == Center::Mean),
        center_prior: args.center_prior,
        norm_bound: args.norm_bound,
        select: args.select,
        feature_dim: args.feature_dim,
        as_printed: args.as_printed,
        merge: args.merge,
        max_rank: args.max_rank,
        budget: args.budget,
        kernel: args.kernel,
        parameters: KernelParameters { gamma: args.gamma, degree: args.degree, coef0: args.coef0, length_scale: None },
        ..Options::new(args.learner, args.k)
    }
}

/// An option as it is typed.
fn typed(name: &str) -> String {
    if name == "k" { "-k".into() } else { format!("--{name}") }
}

fn form(args: &RunArgs, target: &Target) -> Result<Form, Usage> {
    if args.out_format.is_some() && *target == Target::Nowhere {
        return Err(Usage("--out-format is not read without --out".into()));
    }
    let form = args.out_format.unwrap_or(match target {
        Target::File(path) => Form::of_path(path),
        _ => Form::Csv,
    });
    let is_file = match target {
        Target::File(path) => !path.exists() || path.is_file(),
        Target::Nowhere | Target::Standard => false,
    };
    if form == Form::Parquet && !is_file && *target != Target::Nowhere {
        return Err(Usage("--out must be a file when answers are written as parquet".into()));
    }
    if let Target::File(path) = target
        && path.is_file()
        && path.canonicalize().ok() == args.input.canonicalize().ok()
    {
        return Err(Usage(format!("--out must not be the input, got {}", path.display())));
    }
    Ok(form)
}

/// Files to write are files, and each is another one.
fn places(args: &RunArgs) -> Result<(), Usage> {
    let KeepArgs { report, plot, snapshot, .. } = &args.keep;
    let mut taken = vec![("the input", args.input.as_path())];
    taken.extend(args.out.as_deref().map(|path| ("--out", path)));
    for (option, path) in [("--report", report), ("--plot", plot), ("--snapshot", snapshot)] {
        let Some(path) = path.as_deref() else { continue };
        if is_dash(path) {
            return Err(Usage(format!("{option} must be a file, got -")));
        }
        let same =
            |other: &Path| path == other || path.is_file() && path.canonicalize().ok() == other.canonicalize().ok();
        if let Some((other, _)) = taken.iter().find(|(_, other)| same(other)) {
            return Err(Usage(format!("{option} must not be {other}, got {}", path.display())));
        }
        taken.push((option, path));
    }
    Ok(())
}

/// A learner with the defaults of `run`, centered if it can be.
pub fn with_defaults(learner: Kind, kept: usize, centered: bool, norm_bound: NormBound) -> Result<Checked, Usage> {
    let center = Some(centered && learner.entry().reads.center);
    let options = Options { center, norm_bound, ..Options::new(learner, kept) };
    options.checked(typed).map_err(|misuse| Usage(misuse.to_string()))
}
