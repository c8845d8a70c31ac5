//! `merge`: merges models that were learned from parts of a table.

use crate::args::{MergeArgs, SummaryForm};
use crate::files::{judge_place, kind_of, read_model};
use crate::stdout;
use anyhow::{Context, Result, anyhow};
use eigenhedge::{Error, FleetMember, Model, Monitor, SavedKind, Standardize};
use eigenhedge_io::{open_fleet, printable_path, save_fleet, write_private};
use eigenhedge_pages::counted;
use eigenhedge_pages::run::text;
use serde_json::{Map, Value, json};
use std::path::Path;

const MOST: usize = 1024;
/// Keys of the first model's resume state that also apply to the merged model.
const SHARED: [&str; 2] = ["options", "python"];

pub fn merge(args: &MergeArgs) -> Result<()> {
    judge_place(&args.out)?;
    let [first, others @ ..] = &args.models[..] else { return Err(anyhow!("two models are needed to be merged")) };
    let shown = match kind_of(first)? {
        SavedKind::Models => fleets(first, others, args, |model: Model| model.totals().rows, "model")?,
        SavedKind::Monitors => fleets(first, others, args, |monitor: Monitor| monitor.totals().rows, "monitor")?,
        _ => models(first, others, args)?,
    };
    match args.summary {
        SummaryForm::Text if args.quiet => Ok(()),
        _ => stdout::print(&shown),
    }
}

fn models(first: &Path, others: &[impl AsRef<Path>], args: &MergeArgs) -> Result<String> {
    let first = read_model(first)?;
    let resume_state = shared(&first.resume_state)?;
    let mut merged = others.iter().try_fold(first, |merged, path| {
        let other = read_model(path.as_ref())?;
        merged.merge(other).map_err(|error| refused(path.as_ref(), &error))
    })?;
    merged.resume_state = resume_state;
    write_private(&args.out, &eigenhedge::checked_bytes(&merged)?)?;
    let summary = merged.summary();
    Ok(match args.summary {
        SummaryForm::Text => text(&summary, merged.spec(), merged.columns().standardizer.how() != Standardize::None),
        SummaryForm::Json => serde_json::to_string(&summary)? + "\n",
    })
}

fn fleets<T: FleetMember>(
    first: &Path,
    others: &[impl AsRef<Path>],
    args: &MergeArgs,
    rows_of: impl Fn(T) -> u64,
    noun: &str,
) -> Result<String> {
    let (mut merged, saved) = open_fleet::<T>(first, MOST)?;
    for path in others {
        let (mut other, _) = open_fleet(path.as_ref(), MOST)?;
        merged.merge(&mut other).map_err(|error| refused(path.as_ref(), &error))?;
    }
    save_fleet(&args.out, &mut merged, &shared(&saved)?)?;
    let keys: Vec<String> = merged.keys().map(str::to_owned).collect();
    let mut rows = 0;
    for key in &keys {
        rows += rows_of(merged.get(key)?.context("each key has a member")?);
    }
    Ok(match args.summary {
        SummaryForm::Text => format!("{}, {}\n", counted(keys.len() as u64, noun), counted(rows, "row")),
        SummaryForm::Json => json!({ "groups": keys.len(), "rows": rows }).to_string() + "\n",
    })
}

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
