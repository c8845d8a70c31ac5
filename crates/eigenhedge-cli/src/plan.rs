//! The command line as built: every value that can be judged without the data has been.

use crate::answers::Target;
use crate::args::{Center, MixingRule, RunArgs, SummaryForm};
use crate::number::exact;
use crate::rows::{Layout, Selector, Source};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Error, Kind, Mixing, Spec};
use std::path::Path;

/// What `run` is to do.
#[derive(Debug)]
pub struct Plan {
    /// Where rows come from.
    pub source: Source,
    /// How the table is laid out.
    pub layout: Layout,
    /// The learner.
    pub spec: Spec,
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

const ETA: f64 = 1.0;
const ALPHA: f64 = 1e-3;
const FORGET: f64 = 0.95;
const CENTER_PRIOR: f64 = 0.0;

impl Plan {
    /// Checks what was typed.
    pub fn new(args: &RunArgs) -> Result<Self, Usage> {
        let spec = spec(args)?;
        judge(&spec)?;
        Ok(Self {
            source: if is_dash(&args.input) { Source::Standard } else { Source::File(args.input.clone()) },
            layout: layout(args)?,
            spec,
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

fn spec(args: &RunArgs) -> Result<Spec, Usage> {
    let entry = args.learner.entry();
    let unread = |option: &str| Usage(format!("{option} is not read by the learner {}", entry.name));
    if args.eta.is_some() && !entry.reads.eta {
        return Err(unread("--eta"));
    }
    if args.forget.is_some() && !entry.reads.forget {
        return Err(unread("--forget"));
    }
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
        Center::None if args.center_prior.is_some() => {
            return Err(Usage("--center-prior is not read by --center none".into()));
        }
        Center::None => None,
        Center::Mean => Some(args.center_prior.unwrap_or(CENTER_PRIOR)),
    };
    Ok(Spec {
        eta: args.eta.unwrap_or(ETA),
        mixing,
        forget: args.forget.unwrap_or(FORGET),
        center,
        norm_bound: args.norm_bound,
        select: args.select,
        dimension: args.feature_dim,
        ..Spec::new(args.learner, args.k)
    })
}

/// Has the library judge the values, by building the learner for the shortest rows there can be.
fn judge(spec: &Spec) -> Result<(), Usage> {
    if spec.kept == 0 {
        return Err(Usage("-k must be at least 1, got 0".into()));
    }
    let dimension = spec.dimension.unwrap_or(Multiplicity::Finite((spec.kept as u64).saturating_add(1)));
    match (Spec { dimension: Some(dimension), ..spec.clone() }).plain(1) {
        Ok(_) => Ok(()),
        Err(Error::Parameter { name, rule, value }) => {
            Err(Usage(format!("--{name} must be {rule}, got {}", exact(value))))
        }
        Err(Error::Kept { kept, dimension }) => {
            Err(Usage(format!("-k must be less than --feature-dim {dimension}, got {kept}")))
        }
        Err(error) => Err(Usage(error.to_string())),
    }
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
