//! The command line as built: every value that can be judged without the data has been.

use crate::args::{KeepArgs, OfRun, OptionArgs, RunArgs, SummaryForm, typed};
use crate::files::is_same_file;
use crate::table::{self, Usage, is_dash};
use eigenhedge::options::{Options, Setup, spelled};
use eigenhedge::{AnyLearner, Error, Kind, Standardize};
use eigenhedge_io::{Form, Layout, Source, Target};
use std::path::{Path, PathBuf};

/// The work of `run`.
#[derive(Debug)]
pub struct Plan {
    /// Where rows come from.
    pub source: Source,
    /// How the table is laid out.
    pub layout: Layout,
    /// The beginning of the run.
    pub beginning: Beginning,
    /// Where the answers go.
    pub target: Target,
    /// Their form.
    pub form: Form,
    /// Target and form of the projections of rows.
    pub reconstruct: (Target, Form),
    /// The summary to print, if any.
    pub summary: Option<SummaryForm>,
    /// True if no progress is printed.
    pub quiet: bool,
    /// Snapshots and pictures.
    pub keep: KeepArgs,
    /// True if there is a learner for each key, the first text that the layout keeps.
    pub by_group: bool,
    /// True if texts in the answers that a spreadsheet would take for formulas are quoted.
    pub safe_cells: bool,
    /// Learners in memory, at most.
    pub max_groups: Option<usize>,
}

/// The beginning of a run.
#[derive(Debug)]
pub enum Beginning {
    /// A learner that knows nothing; the length of rows decides the rest.
    Setup(Box<Setup>),
    /// A saved model.
    Model(Given),
}

/// A model to begin with, and what was typed besides: it must agree with the model.
#[derive(Debug)]
pub struct Given {
    /// The model.
    pub path: PathBuf,
    /// Options of the learner.
    pub options: OptionArgs<OfRun>,
    /// Directions to keep.
    pub k: Option<usize>,
    /// Scale of columns.
    pub standardize: Option<Standardize>,
}

impl Beginning {
    fn new(args: &RunArgs) -> Result<Self, Usage> {
        if let Some(path) = &args.keep.start_from {
            let (path, options) = (path.clone(), args.options.clone());
            return Ok(Self::Model(Given { path, options, k: args.k, standardize: args.table.standardize }));
        }
        // Without a model, k is required.
        Ok(Self::Setup(setup(&args.options.options(Kind::Auto, args.k.unwrap_or_default()))?.into()))
    }
}

impl Plan {
    /// Checks what was typed.
    pub fn new(args: &RunArgs) -> Result<Self, Usage> {
        let beginning = Beginning::new(args)?;
        let source = table::source(&args.inputs)?;
        let target = match &args.out {
            None => Target::Nowhere,
            Some(path) if is_dash(path) => Target::Standard,
            Some(path) => Target::File(path.clone()),
        };
        places(args)?;
        let layout = table::with_beside(table::layout(&args.table, &source)?, &args.beside)?;
        Ok(Self {
            layout: match &beginning {
                Beginning::Setup(setup) => {
                    table::of_texts(Layout { missing: Some(setup.spec.missing), ..layout }, setup.text_items())?
                }
                Beginning::Model(_) => layout,
            },
            form: form(args, &target)?,
            reconstruct: reconstruct(args, &beginning)?,
            source,
            beginning,
            target,
            summary: Some(args.summary).filter(|form| !args.quiet || *form == SummaryForm::Json),
            quiet: args.quiet,
            keep: args.keep.clone(),
            safe_cells: args.beside.safe_cells,
            by_group: args.beside.group_by.is_some(),
            max_groups: args.beside.max_groups.map(|most| most as usize),
        })
    }
}

fn form(args: &RunArgs, target: &Target) -> Result<Form, Usage> {
    if args.out_format.is_some() && *target == Target::Nowhere {
        return Err(Usage("--out-format has no effect without --out".into()));
    }
    let form = args.out_format.unwrap_or(match target {
        Target::File(path) => Form::of_path(path),
        _ => Form::Csv,
    });
    suits("--out", "answers", form, target)?;
    if let Target::File(path) = target
        && args.inputs.iter().any(|input| is_same_file(path, input))
    {
        return Err(Usage(format!("--out must not be the input, got {}", path.display())));
    }
    Ok(form)
}

/// Refuses a target that cannot be written in this form.
pub fn suits(option: &str, what: &str, form: Form, target: &Target) -> Result<(), Usage> {
    let is_file = match target {
        Target::File(path) => !path.exists() || path.is_file(),
        Target::Nowhere | Target::Standard => false,
    };
    if form == Form::Parquet && !is_file && *target != Target::Nowhere {
        return Err(Usage(format!("{option} must be a file when {what} are written as parquet")));
    }
    match target {
        Target::File(path)
            if path
                .extension()
                .is_some_and(|end| end.eq_ignore_ascii_case("gz") || end.eq_ignore_ascii_case("zst")) =>
        {
            Err(Usage(format!("{option} writes no compressed files, got {}", path.display())))
        }
        _ => Ok(()),
    }
}

/// The place and the form of the projections of rows.
fn reconstruct(args: &RunArgs, beginning: &Beginning) -> Result<(Target, Form), Usage> {
    let Some(path) = &args.reconstruct else { return Ok((Target::Nowhere, Form::Csv)) };
    if let Beginning::Setup(setup) = beginning {
        let refused = |error: Error| Usage(format!("--reconstruct: {}", spelled(&error, typed)));
        let length = setup.spec.kept.saturating_add(1);
        setup.for_rows(length).and_then(|setup| setup.spec.check_reconstructions()).map_err(refused)?;
    }
    let (target, form) = (Target::File(path.clone()), Form::of_path(path));
    suits("--reconstruct", "projections", form, &target)?;
    Ok((target, form))
}

/// Files to write are files, and each is another one.
fn places(args: &RunArgs) -> Result<(), Usage> {
    let KeepArgs { report, plot, snapshot, .. } = &args.keep;
    let mut taken: Vec<(&str, &Path)> = args.inputs.iter().map(|path| ("the input", path.as_path())).collect();
    taken.extend(args.out.as_deref().map(|path| ("--out", path)));
    let files =
        [("--reconstruct", &args.reconstruct), ("--report", report), ("--plot", plot), ("--snapshot", snapshot)];
    for (option, path) in files {
        let Some(path) = path.as_deref() else { continue };
        if is_dash(path) {
            return Err(Usage(format!("{option} must be a file, got -")));
        }
        if let Some((other, _)) = taken.iter().find(|(_, other)| is_same_file(path, other)) {
            return Err(Usage(format!("{option} must not be {other}, got {}", path.display())));
        }
        taken.push((option, path));
    }
    table::judge_plot(plot.as_deref())
}

/// The run that options describe, judged as far as that is possible without the data.
pub fn setup(options: &Options) -> Result<Setup, Usage> {
    let setup = options.resolve(typed).map_err(|misuse| Usage(misuse.to_string()))?;
    AnyLearner::try_out(&setup).map_err(|error| match error {
        Error::Kept { kept, dimension } => Usage(format!("-k must be less than --feature-dim {dimension}, got {kept}")),
        error => Usage(spelled(&error, typed)),
    })?;
    Ok(setup)
}
