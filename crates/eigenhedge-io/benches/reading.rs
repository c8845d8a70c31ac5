//! Cost of reading a row of 64 numbers, compared with learning from it with 10 directions.
//!
//! Run with `cargo bench -p eigenhedge-io --bench reading`. Both costs are measured in one process,
//! so their ratio is meaningful on a busy machine.
#![allow(clippy::unwrap_used, missing_docs)]

use eigenhedge::{Kind, Mixing, Model, Spec, streams};
use eigenhedge_io::{Format, Layout, Source, Stream};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

const WIDTH: usize = 64;
const KEPT: usize = 10;
const ROUNDS: usize = 5;

fn main() {
    let rows = streams::switching(WIDTH, KEPT, 2, 4000, 1);
    let directory = tempfile::tempdir().unwrap();
    let learning = best(|| {
        let spec = Spec { mixing: Mixing::FixedShare { alpha: 1e-3 }, ..Spec::bare(Kind::Tracking, KEPT) };
        let mut run = Model::new(spec, WIDTH, 0).unwrap();
        for row in &rows {
            run.step(row).unwrap();
        }
    });
    let per_row = |time: Duration| 1e6 * time.as_secs_f64() / rows.len() as f64;
    println!("learning         {:8.3} µs a row", per_row(learning));
    for (name, text) in [("csv", table(&rows)), ("jsonl", lines(&rows))] {
        let path = directory.path().join(format!("rows.{name}"));
        std::fs::write(&path, text).unwrap();
        let layout = Layout::new(Format::of_path(&path));
        let source = Source::File(path);
        let reading = best(|| {
            let mut stream = Stream::open(&source, &layout).unwrap();
            while stream.next_row().unwrap().is_some() {}
            assert_eq!(stream.rows(), rows.len() as u64);
        });
        let cell = 1e3 * per_row(reading) / WIDTH as f64;
        println!("reading {name:<8} {:8.3} µs a row, {cell:.1} ns a cell", per_row(reading));
        println!("         ratio   {:8.3} of learning", reading.as_secs_f64() / learning.as_secs_f64());
    }
}

fn best(mut work: impl FnMut()) -> Duration {
    let times = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn table(rows: &[Vec<f64>]) -> String {
    let mut text = String::new();
    for row in rows {
        row.iter().enumerate().for_each(|(i, x)| write!(text, "{}{x:?}", if i == 0 { "" } else { "," }).unwrap());
        text.push('\n');
    }
    text
}

fn lines(rows: &[Vec<f64>]) -> String {
    table(rows).lines().map(|line| format!("[{line}]\n")).collect()
}
