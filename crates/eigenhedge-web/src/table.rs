//! Tables in memory that are read in steps, for monitors, a model or a comparison.

use crate::Object;
use crate::reply::{Answer, bytes};
use eigenhedge_io::{Error, Stream};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

pub type Files = [(Arc<str>, Arc<[u8]>)];

pub type Saved = Option<(String, Vec<u8>)>;

pub type Results = BTreeMap<&'static str, Vec<u8>>;

/// Work that reads a table.
pub trait Task {
    fn description(&self) -> Value;

    /// Reads about `most` rows. Returns the results after the last row.
    fn step(&mut self, most: u64) -> Result<Option<Results>, String>;

    fn progress(&self) -> String;

    fn stream(&self) -> &Stream;
}

pub struct Reading {
    pub task: Box<dyn Task>,
    /// `None` before the end of the table.
    pub results: Option<Results>,
}

impl Reading {
    pub fn step(&mut self, most: u64) -> Result<(), String> {
        if self.results.is_none() {
            self.results = self.task.step(most)?;
        }
        Ok(())
    }
}

impl Object for Reading {
    fn kind(&self) -> &'static str {
        "table"
    }

    fn call(&mut self, name: &str, input: &[u8]) -> Result<Answer, String> {
        let input = String::from_utf8_lossy(input);
        if name == "step" {
            self.step(input.parse().unwrap_or(1))?;
            let (share, words) = (self.task.stream().progress().share().unwrap_or(0.0), self.task.progress());
            let results: Option<Vec<_>> = self.results.as_ref().map(|results| results.keys().collect());
            let progress = json!({ "done": results.is_some(), "results": results, "share": share, "words": words });
            return Ok(Answer::Bytes(bytes(&progress)));
        }
        let results = self.results.as_ref().ok_or("the table has not been read to its end")?;
        let result = results.get(&*input).ok_or_else(|| format!("there is no result {input}"))?;
        Ok(Answer::Bytes(result.clone()))
    }
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
