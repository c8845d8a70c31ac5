//! Sources and layouts of tables, as given by command-line arguments.

use crate::args::{BesideArgs, Directions, TableArgs};
pub use crate::inputs::{Usage, is_dash};
use crate::inputs::{inputs, is_workbook, paths_of};
use crate::say::{say, say_short_warm_up};
use eigenhedge::batch::Center;
use eigenhedge::kernel::{TextItems, VectorKernel};
use eigenhedge::{Kind, Missing, Model, Standardize};
use eigenhedge_io::{Error, Format, Layout, ScaledStream, Selector, Source, Stream, printable};
use eigenhedge_pages::check_width;
use eigenhedge_pages::directions::Chosen;
use std::path::{Path, PathBuf};

pub fn source(paths: &[PathBuf]) -> Result<Source, Usage> {
    let paths = &inputs(paths)?;
    match paths.as_slice() {
        [path] if is_dash(path) => Ok(Source::Standard),
        [path] => Ok(Source::File(path.clone())),
        paths if paths.iter().any(|path| is_dash(path)) => {
            Err(Usage("several inputs must be files, got - among them".into()))
        }
        paths => Ok(Source::Several(paths.iter().cloned().map(Source::File).collect())),
    }
}

pub fn open_texts(path: &Path, args: &TableArgs, items: TextItems, keep: &[String]) -> anyhow::Result<ScaledStream> {
    let source = source(&[path.to_owned()])?;
    let keep = keep.iter().map(|text| Selector::from_text(text)).collect();
    let layout = Layout { keep, ..layout(args, &source)? };
    let standardize = args.standardize.unwrap_or_default();
    Ok(ScaledStream::new(Stream::open(&source, &of_texts(layout, Some(items), standardize)?)?, standardize))
}

pub fn open(paths: &[PathBuf], args: &TableArgs, missing: Option<Missing>) -> anyhow::Result<ScaledStream> {
    let source = source(paths)?;
    let stream = Stream::open(&source, &Layout { missing, ..layout(args, &source)? })?;
    say_reading(&stream);
    let mut stream = ScaledStream::new(stream, args.standardize.unwrap_or_default());
    stream.on_short_warm_up = say_short_warm_up;
    Ok(stream)
}

pub fn say_reading(stream: &Stream) {
    stream.read_as().iter().for_each(|line| say(&format!("read as: {}", printable(line))));
}

pub fn say_times(stream: &Stream) {
    stream.times().iter().for_each(|line| say(&format!("times: {line}")));
}

/// Columns are matched by name if both have names.
pub fn open_like(model: &Model, source: &Source, layout: &Layout) -> anyhow::Result<Stream> {
    let (names, spec) = (model.columns().names.clone(), model.spec());
    // Commands without an option for missing cells must not give advice about it.
    let missing = Some(spec.missing).filter(|missing| layout.missing.is_some() || *missing != Missing::Fail);
    let layout = Layout { model_columns: names, missing, ..layout.clone() };
    let items = spec.kernel.as_ref().and_then(VectorKernel::text_items);
    let stream = Stream::open(source, &of_texts(layout, items, Standardize::None)?)?;
    check_width(model.length(), "model", &stream)?;
    Ok(stream)
}

/// Refuses `--standardize`, because the model has its own scale.
pub fn open_for_model(command: &str, path: &Path, args: &TableArgs) -> Result<(Source, Layout), Usage> {
    match args.standardize {
        None => {
            let source = source(&[path.to_owned()])?;
            let layout = layout(args, &source)?;
            Ok((source, layout))
        }
        Some(_) => {
            Err(Usage(format!("--standardize has no effect with {command}: the model holds the scale of its columns")))
        }
    }
}

pub fn allow_learners(stream: &Stream, learners: &[Kind]) -> Result<(), Error> {
    const VECTORS: u128 = 16;
    /// Maximum number of members of `auto`.
    const MEMBERS: u128 = 9;
    let count: u128 = learners.iter().map(|kind| if *kind == Kind::Auto { MEMBERS } else { 1 }).sum();
    let length = stream.columns().len() as u128;
    stream.allow(&format!("learning from rows of {length} numbers"), 8 * VECTORS * count * length)
}

pub fn layout(args: &TableArgs, source: &Source) -> Result<Layout, Usage> {
    /// Options that only text tables have.
    const OF_TEXT: [&str; 8] =
        ["header", "no-header", "delimiter", "decimal", "thousands", "skip-lines", "na-values", "na-values-only"];
    let format = args.format.map_or_else(|| source.format(), Ok).map_err(Usage)?;
    let no_effect = |name: &str| Err(Usage(format!("--{name} has no effect with the format {}", format.name())));
    let flag = |is_given: bool| if is_given { vec!["true".to_owned()] } else { Vec::new() };
    let only_numeric = args.columns == ["numeric"];
    let options: [(&str, &[String]); 13] = [
        ("header", &flag(args.header)),
        ("no-header", &flag(args.no_header)),
        ("delimiter", args.delimiter.as_slice()),
        ("decimal", args.decimal.as_slice()),
        ("thousands", args.thousands.as_slice()),
        ("skip-lines", args.skip_lines.as_slice()),
        ("na-values", args.na_values.as_deref().unwrap_or_default()),
        ("na-values-only", args.na_values_only.as_deref().unwrap_or_default()),
        ("sheet", args.sheet.as_slice()),
        ("pivot", &args.pivot),
        ("every", args.every.as_slice()),
        ("columns", if only_numeric { &[] } else { &args.columns }),
        ("exclude", &args.exclude),
    ];
    let mut layout = Layout {
        array: args.array.clone(),
        dim: args.dim,
        on_bad_row: args.on_bad_row,
        max_memory: args.max_memory.unwrap_or_default(),
        only_numeric,
        ..Layout::new(format)
    };
    for (name, texts) in options.into_iter().filter(|(_, texts)| !texts.is_empty()) {
        if OF_TEXT.contains(&name) && !matches!(format, Format::Csv | Format::Tsv) {
            return no_effect(name);
        }
        set(&mut layout, name, texts)?;
    }
    if args.array.is_some() && format != Format::Npz {
        return no_effect("array");
    }
    if args.dim.is_some() && format != Format::Libsvm {
        return no_effect("dim");
    }
    if args.thousands.is_some() && args.thousands == args.decimal {
        return Err(Usage("--thousands and --decimal must be two signs".into()));
    }
    if let (Some(_), Some(path)) = (&args.sheet, paths_of(source).iter().find(|path| !is_workbook(path))) {
        return Err(Usage(format!("--sheet has no effect with {}, which is no workbook", path.display())));
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
    if only_numeric {
        needs_text(format, "--columns numeric")?;
    }
    // The same limit applies to the initial state of a learner.
    eigenhedge::set_max_memory(layout.max_memory.bytes());
    judge_names(&layout, "--columns", &layout.columns)?;
    judge_names(&layout, "--exclude", &layout.exclude)?;
    Ok(layout)
}

fn set(layout: &mut Layout, name: &str, texts: &[String]) -> Result<(), Usage> {
    layout.set(name, texts).map_err(|rule| {
        let given = texts.join(",");
        let given = if rule == "one column" { format!("the pattern {given:?}") } else { given };
        Usage(format!("--{name} must be {rule}, got {given}"))
    })
}

pub fn with_beside(mut layout: Layout, args: &BesideArgs, standardize: Standardize) -> Result<Layout, Usage> {
    let options: [(&str, &[String]); 5] = [
        ("group-by", args.group_by.as_slice()),
        ("copy-columns", &args.copy_columns),
        ("time", &args.time),
        ("time-format", args.time_format.as_slice()),
        ("timezone", args.timezone.as_slice()),
    ];
    for (name, texts) in options.into_iter().filter(|(_, texts)| !texts.is_empty()) {
        set(&mut layout, name, texts)?;
        if layout.pivot.is_some() && ["group-by", "copy-columns", "time"].contains(&name) {
            return Err(Usage(format!("--{name} has no effect with --pivot, which names the columns")));
        }
        needs_text(layout.format, &format!("--{name}"))?;
    }
    if let (true, Standardize::Warmup(_)) = (layout.has_key, standardize) {
        return Err(Usage(
            "--standardize warmup:ROWS has no effect with --group-by: rows of a key would have to wait".into(),
        ));
    }
    judge_names(&layout, "--copy-columns", &layout.keep)?;
    judge_names(&layout, "--time", layout.time.as_slice())?;
    Ok(Layout { find_time: true, ..layout })
}

pub fn of_texts(layout: Layout, items: Option<TextItems>, standardize: Standardize) -> Result<Layout, Usage> {
    if items.is_some() {
        needs_text(layout.format, "a kernel of texts or sets")?;
        if standardize != Standardize::None {
            return Err(Usage(
                "--standardize has no effect with a kernel of texts or sets, which have no scale".into(),
            ));
        }
    }
    Ok(Layout { items, ..layout })
}

fn needs_text(format: Format, option: &str) -> Result<(), Usage> {
    match format {
        Format::Npy | Format::Npz | Format::Libsvm => {
            Err(Usage(format!("{option} has no effect with the format {}, which has only numbers", format.name())))
        }
        _ => Ok(()),
    }
}

fn judge_names(layout: &Layout, option: &str, selectors: &[Selector]) -> Result<(), Usage> {
    let name = selectors.iter().find_map(|selector| match selector {
        Selector::Position(_) => None,
        Selector::Name(name) | Selector::Pattern(name) => Some(name),
    });
    let format = layout.format;
    let reason =
        if layout.header != Some(false) { format!("in {}", format.name()) } else { "when there is --no-header".into() };
    match name {
        Some(name) if layout.header == Some(false) || !format.has_names() => {
            Err(Usage(format!("{option} must hold positions {reason}, got {name:?}")))
        }
        _ => Ok(()),
    }
}

/// If the table cannot be read, the choice is 1, because the command reports that error later.
pub fn choose_k(
    asked: Option<Directions>,
    source: &Source,
    layout: &Layout,
    scale: (Standardize, Center),
    quiet: bool,
) -> Result<usize, Usage> {
    let is_pipe =
        || *source == Source::Standard || paths_of(source).iter().any(|path| path.exists() && !path.is_file());
    if !matches!(asked, Some(Directions::Number(_))) && is_pipe() {
        return Err(Usage(
            "-k must be given when rows come through a pipe: their first rows cannot be read twice".into(),
        ));
    }
    Ok(reported(Directions::of_table(asked, source, layout, scale).map_err(Usage)?, quiet))
}

pub fn reported((k, sentence): Chosen, quiet: bool) -> usize {
    sentence.filter(|_| !quiet).iter().for_each(|sentence| say(sentence));
    k
}
