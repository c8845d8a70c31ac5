//! HTML pages of runs and monitors.

use crate::arrays::{Object, numbers};
use crate::errors::file_refused;
use eigenhedge::{Model, Monitor};
use eigenhedge_io::{iso_time, write_whole};
use eigenhedge_pages::Page;
use eigenhedge_pages::monitor::{Facts, Inside, Journal, RowAt, page};
use eigenhedge_pages::run::Recorder;
use pyo3::prelude::*;
use std::path::Path;

#[derive(Default)]
pub struct RowTimes {
    seconds: Vec<f64>,
    text: String,
}

impl RowTimes {
    /// Reads times in seconds since 1970. A NaN is a missing time.
    pub fn of(times: Option<&Object<'_>>) -> PyResult<Self> {
        let seconds = times.map(numbers).transpose()?.map(|seconds| seconds.to_vec()).unwrap_or_default();
        Ok(Self { seconds, text: String::new() })
    }

    /// Returns a row with its time. `number` is its index in the stream.
    pub fn row<'a>(&'a mut self, i: usize, number: u64, cells: &'a [f64]) -> RowAt<'a> {
        let seconds = self.seconds.get(i).copied().filter(|seconds| !seconds.is_nan());
        self.text.clear();
        seconds.iter().for_each(|seconds| self.text.push_str(&iso_time(*seconds)));
        RowAt { number, cells, time: &self.text, seconds }
    }
}

pub fn write_page(
    path: &Path,
    journal: &Journal,
    monitor: &Monitor,
    (title, by): (String, Option<String>),
    in_memory: usize,
) -> PyResult<()> {
    let time = journal.knows_times().then(|| "time".to_owned());
    let facts = Facts { time, in_memory, ..Facts::of_stream(title, by, monitor) };
    write(path, &page(journal, &facts, &Inside::All))
}

pub fn write_run(path: &Path, recorder: &mut Recorder, run: &Model) -> PyResult<()> {
    let names = run.columns().names.clone().unwrap_or_else(|| (0..run.length()).map(|i| i.to_string()).collect());
    let title = path.file_stem().unwrap_or_default().to_string_lossy();
    let summary = run.summary();
    recorder.close(summary.rows.saturating_sub(1), run, &summary);
    write(path, &eigenhedge_pages::run::page(&title, &names, recorder, run, &summary))
}

fn write(path: &Path, page: &Page) -> PyResult<()> {
    write_whole(path, page.html().as_bytes()).map_err(file_refused)
}
