//! The command line as built: every value that can be judged without the data has been.

use crate::args::{BadRow, Center, Eta, MixingRule, RunArgs, SummaryForm};
use eigenhedge::Watch;
use eigenhedge::kernel::KernelParameters;
use eigenhedge::options::{self, Checked, Options, Rate};
use eigenhedge_io::{Form, Format, Layout, OnBadRow, Selector, Source, Target};
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
    /// What form they take there.
    pub form: Form,
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
        let source = if is_dash(&args.input) { Source::Standard } else { Source::File(args.input.clone()) };
        let target = match &args.out {
            None => Target::Nowhere,
            Some(path) if is_dash(path) => Target::Standard,
            Some(path) => Target::File(path.clone()),
        };
        Ok(Self {
            layout: layout(args, &source)?,
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

fn layout(args: &RunArgs, source: &Source) -> Result<Layout, Usage> {
    let selectors =
        |texts: &[String]| -> Vec<Selector> { texts.iter().map(|text| Selector::from_text(text)).collect() };
    let format = args.format.unwrap_or(match source {
        Source::Standard => Format::Csv,
        Source::File(path) => Format::of_path(path),
    });
    let is_csv = matches!(format, Format::Csv | Format::Tsv);
    let unread = [
        ("--no-header", args.no_header && !is_csv),
        ("--delimiter", args.delimiter.is_some() && !is_csv),
        ("--array", args.array.is_some() && format != Format::Npz),
        ("--dim", args.dim.is_some() && format != Format::Libsvm),
    ];
    if let Some((option, _)) = unread.iter().find(|(_, is_given)| *is_given) {
        return Err(Usage(format!("{option} is not read by the format {}", format.name())));
    }
    if args.dim == Some(0) {
        return Err(Usage("--dim must be at least 1, got 0".into()));
    }
    match (source, format) {
        (Source::Standard, Format::Parquet | Format::Npz) => {
            return Err(Usage(format!("standard input cannot be read as {}: give a file", format.name())));
        }
        (Source::Standard, Format::Libsvm) if args.dim.is_none() => {
            return Err(Usage("libsvm rows from standard input need --dim".into()));
        }
        _ => {}
    }
    let plain = Layout::new(format);
    let layout = Layout {
        may_have_header: !args.no_header,
        delimiter: args.delimiter.unwrap_or(plain.delimiter),
        columns: selectors(&args.columns),
        exclude: selectors(&args.exclude),
        array: args.array.clone(),
        dim: args.dim,
        on_bad_row: match args.on_bad_row {
            BadRow::Fail => OnBadRow::Fail,
            BadRow::Skip => OnBadRow::Skip,
        },
        standardize: args.standardize,
        ..plain
    };
    for (option, selectors) in [("--columns", &layout.columns), ("--exclude", &layout.exclude)] {
        let name = selectors.iter().find_map(|selector| match selector {
            Selector::Position(_) => None,
            Selector::Name(name) | Selector::Pattern(name) => Some(name),
        });
        let reason =
            if layout.may_have_header { format!("in {}", format.name()) } else { "when there is --no-header".into() };
        if let Some(name) = name
            && !(layout.may_have_header && format.has_names())
        {
            return Err(Usage(format!("{option} must hold positions {reason}, got {name:?}")));
        }
    }
    Ok(layout)
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
