//! Tables as built: where they are and how they are laid out.

use crate::args::{BadRow, TableArgs};
use anyhow::anyhow;
use eigenhedge::{Kind, Snapshot};
use eigenhedge_io::{Error, Format, Layout, OnBadRow, Selector, Source, Stream};
use std::path::Path;

/// A command line that cannot mean anything, as one sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// `-` is standard input or output.
pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Where a table is.
pub fn source(path: &Path) -> Source {
    if is_dash(path) { Source::Standard } else { Source::File(path.to_owned()) }
}

/// Where a table is, and how it is laid out.
fn plan(path: &Path, args: &TableArgs) -> Result<(Source, Layout), Usage> {
    let source = source(path);
    let layout = layout(args, &source)?;
    Ok((source, layout))
}

/// Opens a table at its first row.
pub fn open(path: &Path, args: &TableArgs) -> anyhow::Result<Stream> {
    let (source, layout) = plan(path, args)?;
    Ok(Stream::open(&source, &layout)?)
}

/// Opens a table with the columns of a model: by name if both have names, else as many as the model has.
pub fn open_like(model: &Snapshot, source: &Source, layout: &Layout) -> anyhow::Result<Stream> {
    let stream = Stream::open(source, &Layout { model_columns: model.columns.names.clone(), ..layout.clone() })?;
    let (length, found) = (model.run.length(), stream.columns().len());
    if found != length {
        return Err(anyhow!("{}: must have {length} selected columns like the model, got {found}", stream.source()));
    }
    Ok(stream)
}

/// Opens a table for a command that uses a model, which has a scale of its own.
pub fn open_for_model(command: &str, path: &Path, args: &TableArgs) -> Result<(Source, Layout), Usage> {
    match args.standardize {
        None => plan(path, args),
        Some(_) => {
            Err(Usage(format!("--standardize is not read by {command}: the model holds the scale of its columns")))
        }
    }
}

/// Refuses rows that are too long for the learners to begin with. What they need later depends on the rows.
pub fn allow_learners(stream: &Stream, learners: &[Kind]) -> Result<(), Error> {
    /// Numbers that a learner holds for each column at least: a mean, a row, some directions.
    const VECTORS: u128 = 16;
    /// Members of `auto`.
    const MEMBERS: u128 = 8;
    let count: u128 = learners.iter().map(|kind| if *kind == Kind::Auto { MEMBERS } else { 1 }).sum();
    let length = stream.columns().len() as u128;
    stream.allow(&format!("learning from rows of {length} numbers"), 8 * VECTORS * count * length)
}

/// How a table is laid out.
pub fn layout(args: &TableArgs, source: &Source) -> Result<Layout, Usage> {
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
        standardize: args.standardize.unwrap_or_default(),
        max_memory: args.max_memory.unwrap_or_default(),
        ..plain
    };
    // What a learner begins with is bounded by the same number.
    eigenhedge::set_max_memory(layout.max_memory.bytes());
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
