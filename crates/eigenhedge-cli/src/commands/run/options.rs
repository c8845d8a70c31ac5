//! Options of a run that a snapshot saves.

use crate::args::{KeepArgs, typed};
use crate::commands::session::{FIRST_ROW, Options, ResumeState, differs, first_row, spoken, table_options};
use crate::plan::{Beginning, Plan, setup};
use anyhow::{Result, anyhow};
use eigenhedge::Model;
use eigenhedge::kernel::VectorKernel;
use eigenhedge::options::{OPTIONS, Setup};
use eigenhedge_io::{Layout, Position, Reading, Selector, Target, printable_path};
use eigenhedge_pages::from_text;
use eigenhedge_pages::run::Recorder;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct RunState {
    pub reconstructions: Position,
    pub filled: Position,
    pub report: Option<String>,
    pub options: Options,
    pub rows_before: u64,
}

impl RunState {
    pub fn recorder(&self, model: &Model, path: &Path) -> Result<Option<Recorder>> {
        let restore = |text: &String| {
            let damaged = || anyhow!("{}: is damaged: its report makes no sense", printable_path(path));
            from_text(text).filter(|recorder: &Recorder| recorder.fits(model)).ok_or_else(damaged)
        };
        self.report.as_ref().map(restore).transpose()
    }
}

pub type SavedRun = ResumeState<RunState>;

/// Reads the state of a run, with the current options. An option that affects the results must not differ.
pub fn saved_run(
    bytes: &[u8],
    path: &Path,
    plan: &Plan,
    layout: &Layout,
    model: &Model,
) -> Result<(SavedRun, Options)> {
    let saved = SavedRun::from_bytes(bytes, path, "run")?;
    let options = options(plan, layout, model, saved.stream.reading().cloned());
    saved.agree(path, &options)?;
    if saved.engine.report.is_none() && plan.records() {
        let option = match &plan.args.keep {
            KeepArgs { report: Some(_), .. } => "--report",
            KeepArgs { plot: Some(_), .. } => "--plot",
            _ => "--live",
        };
        let path = printable_path(path);
        return Err(anyhow!(
            "{option} needs what a run with --report, --plot or --live records, and {path} holds none of it"
        ));
    }
    Ok((saved, options))
}

pub fn agree_on_learner(path: &Path, saved: &Options, now: &Options) -> Result<()> {
    let names = std::iter::once("k").chain(OPTIONS.iter().map(|option| option.name));
    match names.into_iter().find(|name| saved.get(*name) != now.get(*name)) {
        None => Ok(()),
        Some(name) => {
            let value = |options: &Options| options.get(name).cloned().unwrap_or_default();
            Err(differs(path, &typed(name), &value(saved), &value(now)))
        }
    }
}

pub fn in_effect(setup: &Setup) -> Result<Options> {
    let mut options = Map::from_iter([("k".to_owned(), json!(setup.spec.kept))]);
    for (option, value) in setup.values() {
        options.insert(option.name.to_owned(), serde_json::to_value(value)?);
    }
    Ok(options)
}

pub fn saved_options(model: &Model, resume_state: &[u8]) -> Result<Options> {
    let saved = serde_json::from_slice(resume_state).ok();
    match saved.and_then(|mut saved: Value| saved.get_mut("options").map(Value::take)) {
        Some(Value::Object(options)) => Ok(options),
        _ => in_effect(&model.setup()),
    }
}

pub fn agree_with_model(plan: &Plan, path: &Path, model: &Model, saved: &Options) -> Result<()> {
    let given = plan.args.options.options(model.spec().learner, plan.k().unwrap_or(model.spec().kept));
    let now = in_effect(&setup(&given)?.for_rows(model.length())?)?;
    let names = plan.k().map(|_| "k").into_iter().chain(plan.args.options.names());
    match names.into_iter().find(|name| saved.get(*name) != now.get(*name)) {
        None => Ok(()),
        Some(name) => match (saved.get(name), now.get(name).cloned().unwrap_or_default()) {
            (Some(then), now) => Err(differs(path, &typed(name), then, &now)),
            (None, now) => {
                let (name, path) = (typed(name), printable_path(path));
                Err(anyhow!("{name} must be that of {path}, which does not tell it, got {}", spoken(&now)))
            }
        },
    }
}

pub fn layout_of_model(plan: &Plan, path: &Path, model: &Model, layout: &Layout) -> Result<Layout> {
    let standardize = model.columns().standardizer.how();
    if let Some(typed) = plan.args.table.standardize.filter(|typed| *typed != standardize) {
        return Err(differs(path, "--standardize", &json!(standardize.to_string()), &json!(typed.to_string())));
    }
    let spec = model.spec();
    let items = spec.kernel.as_ref().and_then(VectorKernel::text_items);
    let (missing, model_columns) = (Some(spec.missing), model.columns().names.clone());
    Ok(Layout { missing, model_columns, items, ..layout.clone() })
}

/// Returns the options that must not change when a run is resumed. Those of the learner and the columns are saved
/// elsewhere. The handling of bad rows may change, so that a run stopped by a bad row can skip it.
pub fn options(plan: &Plan, layout: &Layout, model: &Model, reading: Option<Reading>) -> Options {
    let Layout { keep, dim, .. } = layout;
    let standardize = match &plan.beginning {
        Beginning::Setup(_) => plan.standardize,
        Beginning::Model(_) => model.columns().standardizer.how(),
    };
    let spelled: Vec<String> = keep.iter().map(Selector::to_string).collect();
    let place = |target: &Target| match target {
        Target::Nowhere | Target::Memory => Value::Null,
        Target::Standard => json!("-"),
        // The folder may have moved, so only the file name is compared.
        Target::File(path) => json!(path.file_name().map(|name| name.to_string_lossy())),
    };
    let results = json!({
        "--dim": dim,
        "--standardize": standardize.to_string(),
        "--copy-columns": (!keep.is_empty()).then(|| spelled.join(",")),
        "--safe-cells": plan.args.beside.safe_cells,
        "--answers-as": plan.args.answers_as.name(),
        "--out": place(&plan.out.target),
        "--reconstruct": place(&plan.reconstruct.target),
        "--filled": place(&plan.filled.target),
        "--out-format": plan.out.is_wanted().then(|| plan.out.form.name()),
        FIRST_ROW: first_row(&plan.source, layout, reading),
    });
    let mut options = table_options(layout);
    options.extend(results.as_object().cloned().unwrap_or_default());
    options
}
