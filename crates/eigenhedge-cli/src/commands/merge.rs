//! `merge`: one model out of models of the parts of a table.

use crate::args::{MergeArgs, SummaryForm};
use crate::files::{Saved, judge_place, kind_of, read_snapshot};
use crate::stdout;
use crate::summary::{counted, text};
use anyhow::{Context, Result, anyhow};
use eigenhedge::{Error, Fleet, Snapshot, Standardize};
use eigenhedge_io::{open_fleet, printable_path, save_fleet, write_whole};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Learners of a fleet in memory, at most.
const MOST: usize = 1024;
/// The part of the first model's memory that is true of all of them.
const SHARED: [&str; 2] = ["options", "python"];

/// Merges and says what came of it.
pub fn merge(args: &MergeArgs) -> Result<()> {
    judge_place(&args.out)?;
    let [first, others @ ..] = &args.models[..] else { return Err(anyhow!("two models are needed to be merged")) };
    let shown = match kind_of(first)? {
        Saved::Fleet => fleets(first, others, args)?,
        Saved::Model | Saved::Monitors => models(first, others, args)?,
    };
    match args.summary {
        SummaryForm::Text if args.quiet => Ok(()),
        _ => stdout::print(&shown),
    }
}

fn models(first: &Path, others: &[impl AsRef<Path>], args: &MergeArgs) -> Result<String> {
    let first = read_snapshot(first)?;
    let resume_state = shared(&first.resume_state)?;
    let merged = others.iter().try_fold(first, |merged, path| {
        let other = read_snapshot(path.as_ref())?;
        merged.merge(other).map_err(|error| refused(path.as_ref(), &error))
    })?;
    let merged = Snapshot { resume_state, ..merged };
    write_whole(&args.out, &merged.to_bytes()?)?;
    let summary = merged.run.summary();
    Ok(match args.summary {
        SummaryForm::Text => text(&summary, merged.run.spec(), merged.columns.standardizer.how() != Standardize::None),
        SummaryForm::Json => serde_json::to_string(&summary)? + "\n",
    })
}

fn fleets(first: &Path, others: &[impl AsRef<Path>], args: &MergeArgs) -> Result<String> {
    let open = |path: &Path| -> Result<Fleet> { Ok(open_fleet(path, MOST)?.0) };
    let (mut merged, saved) = open_fleet(first, MOST)?;
    for path in others {
        merged.merge(&mut open(path.as_ref())?).map_err(|error| refused(path.as_ref(), &error))?;
    }
    save_fleet(&args.out, &mut merged, &shared(&saved)?)?;
    let keys: Vec<String> = merged.keys().map(str::to_owned).collect();
    let mut rows = 0;
    for key in &keys {
        rows += merged.get(key)?.context("each key has a learner")?.run.totals().rows;
    }
    Ok(match args.summary {
        SummaryForm::Text => {
            format!("{}, {}\n", counted(keys.len() as u64, "learner"), counted(rows, "row"))
        }
        SummaryForm::Json => json!({ "groups": keys.len(), "rows": rows }).to_string() + "\n",
    })
}

/// The parts of a resume state that are true of all models: there is no table to go on with.
fn shared(resume_state: &[u8]) -> Result<Vec<u8>> {
    let mut around: Map<String, Value> = serde_json::from_slice(resume_state).unwrap_or_default();
    around.retain(|key, _| SHARED.contains(&key.as_str()));
    Ok(if around.is_empty() { Vec::new() } else { serde_json::to_vec(&around)? })
}

fn refused(path: &Path, error: &Error) -> anyhow::Error {
    match error {
        Error::Merge(_) => anyhow!("{} {error}", printable_path(path)),
        _ => anyhow!("{} cannot be merged: {error}", printable_path(path)),
    }
}
