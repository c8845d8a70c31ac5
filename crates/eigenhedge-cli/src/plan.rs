//! The command line as built: every value that can be judged without the data has been.

<<<<<<< HEAD
use crate::args::{BadRow, Center, Eta, MixingRule, RunArgs, SummaryForm};
use eigenhedge::Watch;
use eigenhedge::kernel::KernelParameters;
use eigenhedge::options::{self, Checked, Options, Rate};
use eigenhedge_io::{Form, Format, Layout, OnBadRow, Selector, Source, Target};
use std::path::Path;
=======
use crate::args::{Center, Eta, MixingRule, RunArgs, SummaryForm};
use crate::number::exact;
use crate::table::{self, Usage, is_dash};
use eigenhedge::kernel::{KERNELS, KernelParameters, VectorKernel};
use eigenhedge::run::AnyLearner;
use eigenhedge::simplex::Multiplicity;
use eigenhedge::spec::Family;
use eigenhedge::{Error, Kind, Mixing, NormBound, Spec, Watch};
use eigenhedge_io::{Form, Layout, Source, Target};
>>>>>>> a205137520a1a96ac94a6f80c92fdcf6c064683e

/// What `run` is to do.
#[derive(Debug)]
pub struct Plan {
    /// Where rows come from.
    pub source: Source,
    /// How the table is laid out.
    pub layout: Layout,
    /// The learner, but for what the length of rows decides.
    pub options: Checked,
    /// What the run compares itself with.
    pub watch: Watch,
    /// Seed of the learner's draws.
    pub seed: u64,
    /// Where the answers go.
    pub target: Target,
    /// What form they take there.
    pub form: Form,
    /// The summary to print, if any.
    pub summary: Option<SummaryForm>,
}

<<<<<<< HEAD
/// A command line that cannot mean anything, as one sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(String);
=======
const ETA: f64 = 1.0;
const HEBBIAN_ETA: f64 = 0.05;
const ALPHA: f64 = 1e-3;
const FORGET: f64 = 0.95;
const CENTER_PRIOR: f64 = 0.0;
>>>>>>> a205137520a1a96ac94a6f80c92fdcf6c064683e

impl Plan {
    /// Checks what was typed.
    pub fn new(args: &RunArgs) -> Result<Self, Usage> {
<<<<<<< HEAD
        let options = options(args).checked(typed).map_err(|misuse| Usage(misuse.to_string()))?;
        let source = if is_dash(&args.input) { Source::Standard } else { Source::File(args.input.clone()) };
=======
        let spec = spec(args)?;
        let kernel = kernel(args)?;
        judge(&spec, kernel.as_ref())?;
        let source = table::source(&args.input);
>>>>>>> a205137520a1a96ac94a6f80c92fdcf6c064683e
        let target = match &args.out {
            None => Target::Nowhere,
            Some(path) if is_dash(path) => Target::Standard,
            Some(path) => Target::File(path.clone()),
        };
        Ok(Self {
            layout: table::layout(&args.table, &source)?,
            form: form(args, &target)?,
            source,
            options,
            watch: Watch { hindsight: true, segments: args.segments },
            seed: args.seed,
            target,
            summary: Some(args.summary).filter(|form| !args.quiet || *form == SummaryForm::Json),
        })
    }
}

<<<<<<< HEAD
fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
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
=======
impl Plan {
    /// The learner for rows of this length.
    pub fn spec_for(&self, length: usize) -> Result<Spec, Error> {
        let kernel =
            self.kernel.as_ref().and_then(|(name, parameters)| VectorKernel::from_name(name, parameters, length));
        let spec = Spec { kernel, ..self.spec.clone() };
        match self.ceiling {
            Some(ceiling) => spec.tuned(ceiling, length),
            None => Ok(spec),
        }
    }
}

fn spec(args: &RunArgs) -> Result<Spec, Usage> {
    let entry = args.learner.entry();
    let unread = |option: &str| Usage(format!("{option} is not read by the learner {}", entry.name));
    if matches!(args.eta, Some(Eta::Given(_))) && !entry.reads.eta {
        return Err(unread("--eta"));
    }
    if args.forget.is_some() && !entry.reads.forget {
        return Err(unread("--forget"));
    }
    if args.max_rank.is_some() && !entry.reads.max_rank {
        return Err(unread("--max-rank"));
    }
    let hebbian = entry.family == Family::Hebbian;
    let self_confident = match args.eta {
        Some(Eta::Given(_)) if args.ceiling.is_some() => {
            return Err(Usage("--ceiling is read by --eta auto only".into()));
        }
        Some(Eta::Given(_)) => false,
        _ if args.ceiling.is_some() && !matches!(args.learner, Kind::Tracking | Kind::Anchored) => {
            return Err(unread("--ceiling"));
        }
        _ if args.ceiling.is_some() && args.norm_bound == NormBound::Running => {
            return Err(Usage("--ceiling needs a --norm-bound".into()));
        }
        Some(Eta::Auto) if hebbian => return Err(Usage(format!("--eta auto is not for the learner {}", entry.name))),
        Some(Eta::Auto) => entry.reads.eta && args.ceiling.is_none(),
        None => args.learner == Kind::Anchored && args.ceiling.is_none(),
    };
    let eta = match args.eta {
        Some(Eta::Given(eta)) => eta,
        _ if hebbian => HEBBIAN_ETA,
        _ => ETA,
    };
    let rule = args.mixing.unwrap_or(match args.learner {
        Kind::Tracking => MixingRule::FixedShare,
        _ => MixingRule::None,
    });
    // No mixing is true of every learner, so it may be said.
    if rule != MixingRule::None && !entry.reads.mixing {
        return Err(unread("--mixing"));
    }
    if args.alpha.is_some() && !entry.reads.mixing {
        return Err(unread("--alpha"));
    }
    let alpha = args.alpha.unwrap_or(ALPHA);
    let mixing = match rule {
        MixingRule::None if args.alpha.is_some() => return Err(Usage("--alpha is not read by --mixing none".into())),
        MixingRule::None => Mixing::None,
        MixingRule::FixedShare => Mixing::FixedShare { alpha },
        MixingRule::PastAverage => Mixing::PastAverage { alpha },
    };
    let center = match args.center {
        Some(Center::Mean) if !entry.reads.center => return Err(unread("--center mean")),
        _ if args.center_prior.is_some() && !entry.reads.center => return Err(unread("--center-prior")),
        None if !entry.reads.center => None,
        Some(Center::None) if args.center_prior.is_some() => {
            return Err(Usage("--center-prior is not read by --center none".into()));
        }
        Some(Center::None) => None,
        Some(Center::Mean) | None => Some(args.center_prior.unwrap_or(CENTER_PRIOR)),
    };
    Ok(Spec {
        eta,
        self_confident,
        mixing,
        forget: args.forget.unwrap_or(FORGET),
        center,
>>>>>>> a205137520a1a96ac94a6f80c92fdcf6c064683e
        norm_bound: args.norm_bound,
        select: args.select,
        feature_dim: args.feature_dim,
        as_printed: args.as_printed,
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

/// A learner with the defaults of `run`.
pub fn default_spec(learner: Kind, kept: usize, centered: bool, norm_bound: NormBound) -> Spec {
    let entry = learner.entry();
    let hebbian = entry.family == Family::Hebbian;
    Spec {
        eta: if hebbian { HEBBIAN_ETA } else { ETA },
        self_confident: learner == Kind::Anchored,
        mixing: if entry.reads.mixing { Mixing::FixedShare { alpha: ALPHA } } else { Mixing::None },
        forget: FORGET,
        center: (centered && entry.reads.center).then_some(CENTER_PRIOR),
        norm_bound,
        ..Spec::new(learner, kept)
    }
}
