//! Options of the monitor: from the command line, in messages, and in a snapshot.

use crate::args::{MonitorArgs, typed};
use crate::commands::session::{Options, table_options};
use crate::table::{self, Usage, is_dash, source, with_beside};
use anyhow::Result;
use eigenhedge::options::spelled;
use eigenhedge::{Error, MONITOR_OPTIONS, Mode, MonitorOption, MonitorOptions, Standardize};
use eigenhedge_io::{Layout, OnBadRow, Source, Stream};
use eigenhedge_pages::monitor::{Lasting, usual_step};
use serde_json::json;

/// Without scaling, because the monitor scales its columns itself.
pub(super) fn layout(args: &MonitorArgs, options: &MonitorOptions, source: &Source) -> Result<Layout, Usage> {
    let layout = with_beside(table::layout(&args.table, source)?, &args.beside, Standardize::None)?;
    Ok(Layout { missing: Some(options.missing), ..layout })
}

pub fn can_read_again(args: &MonitorArgs) -> bool {
    args.snapshot.is_none() && args.resume.is_none() && !args.inputs.iter().any(|path| is_dash(path))
}

/// Returns the usual seconds between two rows, because `option` was given as a duration.
fn step_of(args: &MonitorArgs, option: &str) -> Result<f64> {
    let source = source(&args.inputs)?;
    if !source.is_regular() {
        return Err(Usage(format!("--{option} must be a number of rows when they come through a pipe")).into());
    }
    let layout = layout(args, &MonitorOptions::default(), &source)?;
    Ok(usual_step(Stream::open(&source, &Layout { on_bad_row: OnBadRow::Skip, ..layout })?, option)?)
}

pub fn options(args: &MonitorArgs) -> Result<MonitorOptions> {
    let step = match args.options.duration() {
        None => 1.0,
        Some(option) => step_of(args, option)?,
    };
    let mut options = args.options.options(step).map_err(|error| Usage(misfit(&error)))?;
    match (args.table.standardize, options.warm_up) {
        (Some(Standardize::None), _) => options.standardize = false,
        (Some(Standardize::Warmup(rows)), Some(typed)) if rows != typed => {
            return Err(Usage(format!("--standardize warmup:{rows} must be as long as --warm-up {typed}")).into());
        }
        (Some(Standardize::Warmup(rows)), _) => options.warm_up = Some(rows),
        (Some(_), _) => return Err(Usage("--standardize must be none or warmup:ROWS for a monitor".into()).into()),
        (None, _) => {}
    }
    if let (Mode::Freeze(rows), Some(typed)) = (options.mode, options.warm_up)
        && rows != typed
    {
        return Err(Usage(format!("--mode freeze:{rows} must be as long as --warm-up {typed}")).into());
    }
    Ok(options)
}

pub fn misfit(error: &Error) -> String {
    match error {
        Error::Kept { kept, dimension } => {
            format!("-k must be less than the number of selected columns times (lags + 1), {dimension}, got {kept}")
        }
        Error::Parameter { name, .. } | Error::Name { what: name, .. } if MonitorOption::find(name).is_some() => {
            spelled(error, typed)
        }
        other => other.to_string(),
    }
}

pub fn plan(args: &MonitorArgs, options: &MonitorOptions, layout: &Layout) -> Options {
    let file = |path: &Option<std::path::PathBuf>| {
        json!(path.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned()))
    };
    let defaults = MonitorOptions::default();
    let value = |option: &MonitorOption| (option.get)(options).or_else(|| (option.get)(&defaults));
    let own = MONITOR_OPTIONS.iter().map(|option| (typed(option.name), json!(value(option))));
    let others = json!({
        "--train": file(&args.train),
        "--accept": args.accept,
        "--min-severity": args.min_severity.0,
        "--min-duration": match args.min_duration {
            Lasting::Rows(rows) => rows.to_string(),
            Lasting::Seconds(seconds) => format!("{seconds}s"),
        },
        "--copy-columns": args.beside.copy_columns,
        "--safe-cells": args.beside.safe_cells,
        "--answers-as": args.answers_as.name(),
        "--group-by": args.beside.group_by,
        "--settle": args.settle,
        "--out": file(&args.out.out),
        "--events": file(&args.events),
    });
    table_options(layout).into_iter().chain(own).chain(others.as_object().cloned().unwrap_or_default()).collect()
}
