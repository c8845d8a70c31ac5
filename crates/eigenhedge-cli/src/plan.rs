//! The command line as built: every value that can be judged without the data has been.

use crate::answers::Target;
use crate::args::{Center, Eta, MixingRule, RunArgs, SummaryForm};
use crate::rows::{Layout, Selector, Source};
use eigenhedge::Watch;
use eigenhedge::kernel::KernelParameters;
use eigenhedge::options::{self, Checked, Options, Rate};
use std::path::Path;

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
    /// The summary to print, if any.
    pub summary: Option<SummaryForm>,
}

/// A command line that cannot mean anything, as one sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(String);

impl Plan {
    /// Checks what was typed.
    pub fn new(args: &RunArgs) -> Result<Self, Usage> {
        let options = options(args).checked(typed).map_err(|misuse| Usage(misuse.to_string()))?;
        Ok(Self {
            source: if is_dash(&args.input) { Source::Standard } else { Source::File(args.input.clone()) },
            layout: layout(args)?,
            options,
            watch: Watch { hindsight: true, segments: args.segments },
            seed: args.seed,
            target: match &args.out {
                None => Target::Nowhere,
                Some(path) if is_dash(path) => Target::Standard,
                Some(path) => Target::File(path.clone()),
            },
            summary: Some(args.summary).filter(|form| !args.quiet || *form == SummaryForm::Json),
        })
    }
}

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

fn layout(args: &RunArgs) -> Result<Layout, Usage> {
    let selectors =
        |texts: &[String]| -> Vec<Selector> { texts.iter().map(|text| Selector::from_text(text)).collect() };
    let layout = Layout {
        may_have_header: !args.no_header,
        columns: selectors(&args.columns),
        exclude: selectors(&args.exclude),
        delimiter: args.delimiter,
    };
    for (option, selectors) in [("--columns", &layout.columns), ("--exclude", &layout.exclude)] {
        if let Some(Selector::Name(name)) = selectors.iter().find(|s| matches!(s, Selector::Name(_)))
            && !layout.may_have_header
        {
            return Err(Usage(format!("{option} must hold positions when there is --no-header, got {name:?}")));
        }
    }
    Ok(layout)
}
