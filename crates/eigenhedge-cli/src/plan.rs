//! The checked arguments of `run`. All values are validated as far as possible without the data.

use crate::args::{KeepArgs, LiveArgs, OfRun, OptionArgs, RunArgs, SummaryForm, typed};
use crate::files::is_same_file;
use crate::table::{self, Usage, is_dash};
use anyhow::anyhow;
use eigenhedge::options::{Options, Setup, spelled};
use eigenhedge::{AnyLearner, Error, Kind, Missing, Standardize};
use eigenhedge_io::{Form, Layout, Source, Target, printable_path};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Checked arguments of `run`.
#[derive(Debug)]
pub struct Plan {
    /// Source of the rows.
    pub source: Source,
    /// Layout of the table.
    pub layout: Layout,
    /// Scale of the columns of a new model.
    pub standardize: Standardize,
    /// New or saved model with which the run starts.
    pub beginning: Beginning,
    /// Destination of the results.
    pub target: Target,
    /// Format of the results.
    pub form: Form,
    /// Destination and format of the reconstructed rows.
    pub reconstruct: (Target, Form),
    /// Format of the summary, or `None` for no summary.
    pub summary: Option<SummaryForm>,
    /// True if no progress is printed.
    pub quiet: bool,
    /// Options for snapshots, plots and threads.
    pub keep: KeepArgs,
    /// True for one model per key. The key is then the first entry of `layout.keep`.
    pub by_group: bool,
    /// True if cells that a spreadsheet would interpret as formulas are protected.
    pub safe_cells: bool,
    /// Maximum number of models in memory, or `None` for the default.
    pub max_groups: Option<usize>,
    /// Options of the live page.
    pub live: LiveArgs,
}

/// Model with which a run starts.
#[derive(Debug)]
pub enum Beginning {
    /// Settings of a new learner. Some of them are resolved once the number of columns is known.
    Setup(Box<Setup>),
    /// Saved model.
    Model(Given),
}

/// Saved model to start with, and the options on the command line, which must match the model.
#[derive(Debug)]
pub struct Given {
    /// Path of the model.
    pub path: PathBuf,
    /// Options of the learner that were given on the command line.
    pub options: OptionArgs<OfRun>,
    /// Number of directions to keep, if given.
    pub k: Option<usize>,
    /// Scaling of the columns, if given.
    pub standardize: Option<Standardize>,
}

impl Given {
    /// Applies `--missing`, if given, to the saved model or models and to their options. Missing cells are a property
    /// of the new table.
    pub fn new_missing(
        &self,
        learner: Kind,
        options: &mut Map<String, Value>,
        change: impl FnOnce(Missing) -> Result<(), Error>,
    ) -> anyhow::Result<()> {
        const NAME: &str = "missing";
        if !self.options.names().any(|name| name == NAME) {
            return Ok(());
        }
        let typed = self.options.options(learner, self.k.unwrap_or(1));
        let missing = setup(&typed)?.spec.missing;
        change(missing).map_err(|error| anyhow!("{}: {error}", printable_path(&self.path)))?;
        options.insert(NAME.to_owned(), json!(missing.name()));
        Ok(())
    }
}

impl Beginning {
    fn new(args: &RunArgs) -> Result<Self, Usage> {
        if let Some(path) = &args.keep.start_from {
            let (path, options) = (path.clone(), args.options.clone());
            return Ok(Self::Model(Given { path, options, k: args.k, standardize: args.table.standardize }));
        }
        // Without a saved model, k is required.
        Ok(Self::Setup(setup(&args.options.options(Kind::Auto, args.k.unwrap_or_default()))?.into()))
    }
}

impl Plan {
    /// Checks the arguments and creates the plan.
    pub fn new(args: &RunArgs) -> Result<Self, Usage> {
        let beginning = Beginning::new(args)?;
        let source = table::source(&args.inputs)?;
        let target = match &args.out {
            None => Target::Nowhere,
            Some(path) if is_dash(path) => Target::Standard,
            Some(path) => Target::File(path.clone()),
        };
        places(args)?;
        let standardize = args.table.standardize.unwrap_or_default();
        let layout = table::with_beside(table::layout(&args.table, &source)?, &args.beside, standardize)?;
        Ok(Self {
            layout: match &beginning {
                Beginning::Setup(setup) => {
                    let layout = Layout { missing: Some(setup.spec.missing), ..layout };
                    table::of_texts(layout, setup.text_items(), standardize)?
                }
                Beginning::Model(_) => layout,
            },
            form: form(args, &target)?,
            reconstruct: reconstruct(args, &beginning)?,
            standardize,
            source,
            beginning,
            target,
            summary: Some(args.summary).filter(|form| !args.quiet || *form == SummaryForm::Json),
            quiet: args.quiet,
            keep: args.keep.clone(),
            safe_cells: args.beside.safe_cells,
            by_group: args.beside.group_by.is_some(),
            max_groups: args.beside.max_groups.map(|most| most as usize),
            live: args.live.clone(),
        })
    }

    /// Returns true if a page or a plot needs recorded data of the run.
    pub fn records(&self) -> bool {
        self.keep.report.is_some() || self.keep.plot.is_some() || self.live.live.is_some()
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

/// Returns an error if the path of an HTML page has the extension of a table.
pub fn is_page(path: &Path) -> Result<(), Usage> {
    const TABLES: [&str; 8] = ["csv", "tsv", "json", "jsonl", "ndjson", "parquet", "npy", "npz"];
    match path.extension().and_then(|end| end.to_str()) {
        Some(end) if TABLES.contains(&end.to_ascii_lowercase().as_str()) => {
            let shown = path.display();
            Err(Usage(format!("--report draws an HTML page, got {shown}; --out writes answers as a table")))
        }
        _ => Ok(()),
    }
}

/// Extensions of workbooks.
const WORKBOOKS: [&str; 4] = ["xlsx", "xls", "xlsm", "ods"];

/// Returns an error if `target` cannot be written in this format. `option` and `what` appear in the message.
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
        Target::File(path)
            if path.extension().is_some_and(|end| WORKBOOKS.iter().any(|known| end.eq_ignore_ascii_case(known))) =>
        {
            Err(Usage(format!(
                "{option} writes no workbooks, got {}; a name that ends in .csv opens in them",
                path.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Returns the destination and format of the reconstructed rows.
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

/// Returns an error if an output has the path of an input or of another output.
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
        if option == "--report" {
            is_page(path)?;
        }
        taken.push((option, path));
    }
    table::judge_plot(plot.as_deref())
}

/// Resolves options to the settings of a learner, validated as far as possible without the data.
pub fn setup(options: &Options) -> Result<Setup, Usage> {
    let setup = options.resolve(typed).map_err(|misuse| Usage(misuse.to_string()))?;
    AnyLearner::try_out(&setup).map_err(|error| match error {
        Error::Kept { kept, dimension } => Usage(format!("-k must be less than --feature-dim {dimension}, got {kept}")),
        error => Usage(spelled(&error, typed)),
    })?;
    Ok(setup)
}
