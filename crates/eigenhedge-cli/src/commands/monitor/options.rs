//! Options of the monitor: from the command line, in messages, and in a snapshot.

use crate::args::{MonitorArgs, typed};
use crate::commands::session::Options;
use crate::table::{Usage, is_dash};
use eigenhedge::options::spelled;
use eigenhedge::{Error, MONITOR_OPTIONS, Mode, MonitorOption, MonitorOptions, Standardize};
use eigenhedge_io::Layout;
use serde_json::json;

/// Returns true if a table that ends during the warm-up can be read again.
pub fn can_read_again(args: &MonitorArgs) -> bool {
    args.snapshot.is_none() && args.resume.is_none() && !args.inputs.iter().any(|path| is_dash(path))
}

pub fn options(args: &MonitorArgs) -> Result<MonitorOptions, Usage> {
    let mut options = args.options.options().map_err(|error| Usage(misfit(&error)))?;
    match (args.table.standardize, options.warm_up) {
        (Some(Standardize::None), _) => options.standardize = false,
        (Some(Standardize::Warmup(rows)), Some(typed)) if rows != typed => {
            return Err(Usage(format!("--standardize warmup:{rows} must be as long as --warm-up {typed}")));
        }
        (Some(Standardize::Warmup(rows)), _) => options.warm_up = Some(rows),
        (Some(_), _) => return Err(Usage("--standardize must be none or warmup:ROWS for a monitor".into())),
        (None, _) => {}
    }
    if let (Mode::Freeze(rows), Some(typed)) = (options.mode, options.warm_up)
        && rows != typed
    {
        return Err(Usage(format!("--mode freeze:{rows} must be as long as --warm-up {typed}")));
    }
    Ok(options)
}

/// Returns the message of an error, with option names as on the command line.
pub fn misfit(error: &Error) -> String {
    match error {
        Error::Kept { kept, dimension } => {
            format!("-k must be less than the number of selected columns times lags, {dimension}, got {kept}")
        }
        Error::Parameter { name, .. } | Error::Name { what: name, .. } if MonitorOption::find(name).is_some() => {
            spelled(error, typed)
        }
        other => other.to_string(),
    }
}

/// Returns the options that affect the results, by name.
pub fn plan(args: &MonitorArgs, options: &MonitorOptions, layout: &Layout) -> Options {
    let file = |path: &Option<std::path::PathBuf>| {
        json!(path.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned()))
    };
    let defaults = MonitorOptions::default();
    let value = |option: &MonitorOption| option.get(options).or_else(|| option.get(&defaults));
    let own = MONITOR_OPTIONS.iter().map(|option| (typed(option.name), json!(value(option))));
    let others = json!({
        "--train": file(&args.train),
        "--accept": args.accept,
        "--format": layout.format.name(),
        "--copy-columns": args.copy_columns,
        "--time": args.time,
        "--time-format": args.time_format.as_ref().map(ToString::to_string),
        "--safe-cells": args.safe_cells,
        "--delimiter": args.table.delimiter.map(char::from),
        "--decimal": args.table.decimal.map(char::from),
        "--na-values": args.table.na_values,
        "--group-by": args.group_by,
        "--out": file(&args.out.out),
        "--events": file(&args.events),
    });
    own.chain(others.as_object().cloned().unwrap_or_default()).collect()
}
