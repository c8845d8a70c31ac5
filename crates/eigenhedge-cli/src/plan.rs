//! Checked arguments of `run`.

use crate::args::{Directions, KeepArgs, RunArgs, SummaryForm, typed};
use crate::destination::{Destination, judge_outputs, judge_page, judge_plot};
use crate::table::choose_k;
use crate::table::{self, Usage};
use eigenhedge::batch::Center;
use eigenhedge::options::{Options, Setup, spelled};
use eigenhedge::{AnyLearner, Error, Kind, Missing, Standardize};
use eigenhedge_io::{Layout, Source};
use std::path::PathBuf;

#[derive(Debug)]
pub struct Plan {
    pub args: RunArgs,
    pub source: Source,
    pub layout: Layout,
    pub standardize: Standardize,
    pub beginning: Beginning,
    pub out: Destination,
    pub reconstruct: Destination,
    pub filled: Destination,
}

#[derive(Debug)]
pub enum Beginning {
    Setup(Box<Setup>),
    /// Saved model, which the options must match.
    Model(PathBuf),
}

impl Beginning {
    fn new(args: &RunArgs, source: &Source, layout: &Layout) -> anyhow::Result<Self> {
        if let Some(path) = &args.keep.start_from {
            if let Some(Directions::Share(share)) = args.k {
                return Err(Usage(format!("-k must be a number with --start-from, got {share}")).into());
            }
            return Ok(Self::Model(path.clone()));
        }
        let standardize = args.table.standardize.unwrap_or_default();
        // The options are checked before the table is read.
        let tried = setup(&args.options.options(Kind::Auto, 1))?;
        let items = tried.text_items();
        let layout = Layout { items, ..layout.clone() };
        let center = tried.spec.center.map_or(Center::None, |_| Center::Mean);
        // A resumed run keeps the number that was chosen at its start.
        let is_quiet = args.quiet || args.keep.resume.is_some();
        let k = choose_k(args.k, source, &layout, (standardize, center), is_quiet)?;
        Ok(Self::Setup(setup(&args.options.options(Kind::Auto, k))?.into()))
    }
}

impl Plan {
    pub fn new(args: RunArgs) -> anyhow::Result<Self> {
        let source = table::source(&args.inputs)?;
        places(&args)?;
        let standardize = args.table.standardize.unwrap_or_default();
        let layout = table::with_beside(table::layout(&args.table, &source)?, &args.beside, standardize)?;
        let beginning = Beginning::new(&args, &source, &layout)?;
        Ok(Self {
            layout: match &beginning {
                Beginning::Setup(setup) => {
                    let layout = Layout { missing: Some(setup.spec.missing), ..layout };
                    table::of_texts(layout, setup.text_items(), standardize)?
                }
                Beginning::Model(_) => layout,
            },
            out: args.out.destination()?,
            reconstruct: reconstruct(&args, &beginning)?,
            filled: filled(&args, &beginning)?,
            standardize,
            source,
            beginning,
            args,
        })
    }

    pub fn summary(&self) -> Option<SummaryForm> {
        Some(self.args.summary).filter(|form| !self.args.quiet || *form == SummaryForm::Json)
    }

    pub fn k(&self) -> Option<usize> {
        if let Some(Directions::Number(k)) = self.args.k { Some(k) } else { None }
    }

    pub fn records(&self) -> bool {
        let KeepArgs { report, plot, .. } = &self.args.keep;
        report.is_some() || plot.is_some() || self.args.live.live.is_some()
    }
}

fn reconstruct(args: &RunArgs, beginning: &Beginning) -> Result<Destination, Usage> {
    if let (Some(_), Beginning::Setup(setup)) = (&args.reconstruct, beginning) {
        let refused = |error: Error| Usage(format!("--reconstruct: {}", spelled(&error, typed)));
        let length = setup.spec.kept.saturating_add(1);
        setup.for_rows(length).and_then(|setup| setup.spec.check_reconstructions()).map_err(refused)?;
    }
    Destination::new("--reconstruct", args.reconstruct.as_deref(), None)
}

fn filled(args: &RunArgs, beginning: &Beginning) -> Result<Destination, Usage> {
    match (&args.filled, beginning) {
        (Some(_), Beginning::Setup(setup)) if setup.spec.missing != Missing::Fill => {
            Err(Usage("--filled needs --missing fill".into()))
        }
        (path, _) => Destination::new("--filled", path.as_deref(), None),
    }
}

fn places(args: &RunArgs) -> Result<(), Usage> {
    let KeepArgs { report, plot, snapshot, .. } = &args.keep;
    let outputs = [
        ("--out", &args.out.out),
        ("--reconstruct", &args.reconstruct),
        ("--filled", &args.filled),
        ("--report", report),
        ("--plot", plot),
        ("--snapshot", snapshot),
    ];
    judge_outputs(args.inputs.iter().map(|path| ("the input", path)), &outputs)?;
    judge_page(report.as_deref())?;
    judge_plot(plot.as_deref())
}

pub fn setup(options: &Options) -> Result<Setup, Usage> {
    let setup = options.resolve(typed).map_err(|misuse| Usage(misuse.to_string()))?;
    AnyLearner::try_out(&setup).map_err(|error| match error {
        Error::Kept { kept, dimension } => Usage(format!("-k must be less than --feature-dim {dimension}, got {kept}")),
        error => Usage(spelled(&error, typed)),
    })?;
    Ok(setup)
}
