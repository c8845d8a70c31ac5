//! State of a run that is saved in a snapshot: positions in the input and in the results, and the options that affect
//! the results.
//!
//! The state is a JSON object. Readers ignore unknown keys. A snapshot without this object, such as one that another
//! program has written with the library, contains a usable model but cannot be resumed.

use crate::args::{KeepArgs, typed};
use crate::plan::{Given, Plan, setup};
use anyhow::{Result, anyhow};
use eigenhedge::kernel::{TextItems, VectorKernel};
use eigenhedge::options::{OPTIONS, Setup};
use eigenhedge::{Model, Standardize};
use eigenhedge_io::{Layout, OnBadRow, Position, Reading, Selector, Stream, StreamState, Target, TimeFormat};
use eigenhedge_pages::number::exact;
use eigenhedge_pages::run::Recorder;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::time::Duration;

/// State of a run that is saved with its model.
#[derive(Debug, Serialize, Deserialize)]
pub struct ResumeState {
    /// Position in the input.
    pub stream: StreamState,
    /// Position up to which the results are on disk.
    pub answers: Position,
    /// Position up to which the reconstructions are on disk.
    #[serde(default)]
    pub reconstructions: Position,
    /// Time spent on the run, in seconds.
    seconds: f64,
    /// Recorded data of the page. `None` if no page or plot was requested.
    report: Option<String>,
    /// Options of the table by name, and a hash of its first row.
    plan: Map<String, Value>,
    /// Options of the learner by name.
    pub options: Map<String, Value>,
    /// Number of rows that the model had learned before this table.
    #[serde(default)]
    pub rows_before: u64,
    /// True if the table has ended.
    #[serde(default)]
    pub ended: bool,
}

/// Maximum plausible duration of a run in seconds, about thirty thousand years.
const LONGEST: f64 = 1e12;

impl ResumeState {
    /// Creates the state for a snapshot.
    pub fn new(
        (plan, options): (Map<String, Value>, Map<String, Value>),
        stream: StreamState,
        answers: Position,
        elapsed: Duration,
        recorder: Option<&Recorder>,
    ) -> Self {
        Self {
            stream,
            answers,
            reconstructions: Position::default(),
            seconds: elapsed.as_secs_f64(),
            report: recorder.map(Recorder::to_text),
            plan,
            options,
            rows_before: 0,
            ended: false,
        }
    }

    /// Returns the state as JSON bytes for a snapshot.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }

    /// Reads the state from the bytes of a snapshot.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        serde_json::from_slice(bytes).map_err(|_| {
            let path = path.display();
            anyhow!(
                "{path}: must have been saved by `eigenhedge run` to be resumed; `transform` and `inspect` can use it"
            )
        })
    }

    /// Returns the time spent on the run before the snapshot.
    pub fn elapsed(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds.min(LONGEST)).unwrap_or_default()
    }

    /// Restores the recorded data of the page. Returns `Ok(None)` if none was saved.
    pub fn recorder(&self, run: &Model, path: &Path) -> Result<Option<Recorder>> {
        let restore = |text: &String| {
            let damaged = || anyhow!("{}: is damaged: its report makes no sense", path.display());
            Recorder::from_text(text, run).ok_or_else(damaged)
        };
        self.report.as_ref().map(restore).transpose()
    }

    /// Returns an error if an option that affects the results differs from the saved value, or if a page is requested
    /// but was not recorded.
    pub fn agree(&self, path: &Path, plan: &Plan, options: &Map<String, Value>) -> Result<()> {
        for (option, now) in options {
            // Options that an earlier version did not save cannot be compared.
            if let Some(then) = self.plan.get(option).filter(|then| *then != now && option != FIRST_ROW) {
                return Err(differs(path, option, then, now));
            }
        }
        if self.report.is_none() && plan.records() {
            let option = match &plan.keep {
                KeepArgs { report: Some(_), .. } => "--report",
                KeepArgs { plot: Some(_), .. } => "--plot",
                _ => "--live",
            };
            let path = path.display();
            return Err(anyhow!(
                "{option} needs what a run with --report, --plot or --live records, and {path} holds none of it"
            ));
        }
        Ok(())
    }
}

impl ResumeState {
    /// Returns an error if an option of the learner differs from the saved value.
    pub fn agree_on_learner(&self, path: &Path, options: &Map<String, Value>) -> Result<()> {
        let names = std::iter::once("k").chain(OPTIONS.iter().map(|option| option.name));
        let differing = names.into_iter().find(|name| self.options.get(*name) != options.get(*name));
        match differing {
            None => Ok(()),
            Some(name) => {
                let value = |options: &Map<String, Value>| options.get(name).cloned().unwrap_or_default();
                Err(differs(path, &typed(name), &value(&self.options), &value(options)))
            }
        }
    }

    /// Returns an error if the first row of the table differs from the saved one. Call [`Self::agree`] first.
    pub fn agree_on_table(&self, path: &Path, options: &Map<String, Value>) -> Result<()> {
        match (self.plan.get(FIRST_ROW), options.get(FIRST_ROW)) {
            (Some(then), Some(now)) if then != now => {
                Err(anyhow!("the table must be that of {}, but its first row is another one", path.display()))
            }
            _ => Ok(()),
        }
    }
}

/// Returns k and the options that are in effect, by name.
pub fn in_effect(setup: &Setup) -> Result<Map<String, Value>> {
    let mut options = Map::from_iter([("k".to_owned(), json!(setup.spec.kept))]);
    for (option, value) in setup.values() {
        options.insert(option.name.to_owned(), serde_json::to_value(value)?);
    }
    Ok(options)
}

/// Returns the options of a saved model by name: those that `run` has saved, or otherwise those of the learner.
pub fn saved_options(model: &Model) -> Result<Map<String, Value>> {
    let saved = serde_json::from_slice(&model.resume_state).ok();
    match saved.and_then(|mut saved: Value| saved.get_mut("options").map(Value::take)) {
        Some(Value::Object(options)) => Ok(options),
        _ => in_effect(&model.setup()),
    }
}

/// Returns an error if an option on the command line differs from that of the saved model. `path` appears in the
/// message.
pub fn agree_with_model(given: &Given, path: &Path, run: &Model, saved: &Map<String, Value>) -> Result<()> {
    let typed_options = given.options.options(run.spec().learner, given.k.unwrap_or(run.spec().kept));
    let now = in_effect(&setup(&typed_options)?.for_rows(run.length())?)?;
    let names = given.k.map(|_| "k").into_iter().chain(given.options.names());
    match names.into_iter().find(|name| saved.get(*name) != now.get(*name)) {
        None => Ok(()),
        Some(name) => match (saved.get(name), now.get(name).cloned().unwrap_or_default()) {
            (Some(then), now) => Err(differs(path, &typed(name), then, &now)),
            (None, now) => {
                let (name, path) = (typed(name), path.display());
                Err(anyhow!("{name} must be that of {path}, which does not tell it, got {}", spoken(&now)))
            }
        },
    }
}

/// Returns the layout with the columns and the scaling of the saved model. `path` appears in error messages.
pub fn layout_of_model(given: &Given, path: &Path, model: &Model, layout: &Layout) -> Result<Layout> {
    let standardize = model.columns().standardizer.how();
    if let Some(typed) = given.standardize.filter(|typed| *typed != standardize) {
        return Err(differs(path, "--standardize", &json!(standardize.to_string()), &json!(typed.to_string())));
    }
    let spec = model.spec();
    let items = spec.kernel.as_ref().and_then(VectorKernel::text_items);
    let (missing, model_columns) = (Some(spec.missing), model.columns().names.clone());
    Ok(Layout { standardize, missing, model_columns, items, ..layout.clone() })
}

fn differs(path: &Path, option: &str, then: &Value, now: &Value) -> anyhow::Error {
    let path = path.display();
    anyhow!("{option} must be as in {path}, {}, got {}", spoken(then), spoken(now))
}

fn spoken(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => exact(number.as_f64().unwrap_or(f64::NAN)),
        other => other.to_string(),
    }
}

const FIRST_ROW: &str = "first row";

/// Returns the options that affect the results, by name. Options of the learner and column names are saved elsewhere.
/// The handling of bad rows may change, so that a run that failed at a bad row can be resumed and skip that row.
///
/// `reading` describes how the table is read, or was read when the snapshot was saved.
pub fn options(plan: &Plan, layout: &Layout, reading: Option<Reading>) -> Map<String, Value> {
    let Layout { format, may_have_header, delimiter, decimal, na_values, array, dim, standardize, .. } = layout;
    let Layout { keep, time, time_format, .. } = layout;
    let sign = |sign: &Option<u8>| sign.map(|sign| char::from(sign).to_string());
    let spelled: Vec<String> = keep.iter().map(Selector::to_string).collect();
    let place = |target: &Target| match target {
        Target::Nowhere => Value::Null,
        Target::Standard => json!("-"),
        // The folder may have moved, so only the file name is compared.
        Target::File(path) => json!(path.file_name().map(|name| name.to_string_lossy())),
    };
    let value = json!({
        "--format": format.name(),
        "--no-header": !may_have_header,
        "--delimiter": sign(delimiter),
        "--decimal": sign(decimal),
        "--na-values": na_values,
        "--array": array,
        "--dim": dim,
        "--standardize": standardize.to_string(),
        "--copy-columns": (!keep.is_empty()).then(|| spelled.join(",")),
        "--time": time.as_ref().map(Selector::to_string),
        "--time-format": time_format.as_ref().map(TimeFormat::to_string),
        "--safe-cells": plan.safe_cells,
        "--out": place(&plan.target),
        "--reconstruct": place(&plan.reconstruct.0),
        "--out-format": if plan.target == Target::Nowhere { Value::Null } else { json!(plan.form.name()) },
        FIRST_ROW: first_row(plan, &Layout { found: reading, ..layout.clone() }),
    });
    match value {
        Value::Object(options) => options,
        _ => Map::new(),
    }
}

/// Returns a hash of the first row, which identifies the table. `None` for a pipe or an empty table.
fn first_row(plan: &Plan, layout: &Layout) -> Option<String> {
    if !plan.source.is_regular() {
        return None;
    }
    // The first row is the same text for all kinds of items.
    let items = layout.items.map(|_| TextItems::Chars);
    let layout = Layout { standardize: Standardize::None, on_bad_row: OnBadRow::Skip, items, ..layout.clone() };
    let mut stream = Stream::open(&plan.source, &layout).ok()?;
    let row = stream.next_row().ok()??;
    // This is the FNV-1a hash of the bits.
    let mix = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let sum = row.iter().flat_map(|x| x.to_bits().to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, mix);
    Some(format!("{sum:016x}"))
}
