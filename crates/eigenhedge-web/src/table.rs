//! Tables in memory that are read in steps, for monitors, a model or a comparison.

use crate::reply::bytes;
use eigenhedge_io::{Error, Stream};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

pub type Files = [(Arc<str>, Arc<[u8]>)];

pub type Saved = Option<(String, Vec<u8>)>;

pub type Results = BTreeMap<&'static str, Vec<u8>>;

pub trait Table {
    fn description(&self) -> Value;

    fn step(&mut self, most: u64) -> Result<(), String>;

    fn progress(&self) -> String;

    fn stream(&self) -> &Stream;

    /// `None` before the end of the table.
    fn results(&self) -> Option<&Results>;
}

/// Returns the progress as JSON.
pub fn step(table: &mut dyn Table, input: &[u8]) -> Result<Vec<u8>, String> {
    table.step(String::from_utf8_lossy(input).parse().unwrap_or(1))?;
    let share = table.stream().progress().share().unwrap_or(0.0);
    let results: Option<Vec<_>> = table.results().map(|results| results.keys().collect());
    Ok(bytes(&json!({ "done": results.is_some(), "results": results, "share": share, "words": table.progress() })))
}

pub fn result(table: &dyn Table, name: &str) -> Result<Vec<u8>, String> {
    let results = table.results().ok_or("the table has not been read to its end")?;
    results.get(name).cloned().ok_or_else(|| format!("there is no result {name}"))
}

pub fn detected(stream: &Stream) -> Value {
    json!({
        "source": stream.source(),
        "readAs": stream.read_as(),
        "names": stream.names(),
        "columns": stream.columns(),
        "leftOut": stream.left_out(),
        "time": stream.kept_columns().first().filter(|_| stream.has_time()),
    })
}

/// Names options that avoid the error.
pub fn sentence(error: Error) -> String {
    let hint = if error.is_row() && !error.is_advised() { "; --on-bad-row skip passes over bad rows" } else { "" };
    let word = error.word().map(|word| format!("; --na-values {word} reads it as a missing cell"));
    format!("{error:#}{}{hint}", word.unwrap_or_default())
}

#[cfg(target_family = "wasm")]
#[link(wasm_import_module = "env")]
unsafe extern "C" {
    /// Milliseconds since an arbitrary start.
    safe fn now() -> f64;
}

#[cfg(not(target_family = "wasm"))]
fn now() -> f64 {
    0.0
}

/// It is always 0 outside WebAssembly.
pub fn seconds() -> f64 {
    now() / 1000.0
}
