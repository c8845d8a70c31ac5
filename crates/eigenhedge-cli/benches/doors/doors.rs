//! The measured paths ("doors") from a table to a learner, and the test tables.

use crate::measure::{child_seconds, thread_seconds};
use crate::tables;
use eigenhedge::options::Options;
use eigenhedge::{Kind, Model, streams};
use eigenhedge_io::{Format, Layout, Source, Stream};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Path by which rows reach a learner.
pub struct Door {
    pub name: &'static str,
    way: Way,
}

enum Way {
    /// The library, with or without the summary. Coordinates of this kind are computed, or none.
    Library { account: bool, coordinates: Option<&'static str> },
    /// The reader of the table with this extension, without a learner.
    Reader { table: &'static str },
    /// `eigenhedge run` with these arguments. If `table` is empty, standard input is the CSV file.
    Program { table: &'static str, arguments: &'static [&'static str] },
    /// `eigenhedge monitor` on the NPY file.
    Monitor,
}

const fn library(name: &'static str, account: bool, coordinates: Option<&'static str>) -> Door {
    Door { name, way: Way::Library { account, coordinates } }
}

const fn program(name: &'static str, table: &'static str, arguments: &'static [&'static str]) -> Door {
    Door { name, way: Way::Program { table, arguments } }
}

const fn reader(name: &'static str, table: &'static str) -> Door {
    Door { name, way: Way::Reader { table } }
}

/// All doors. The bare learner comes first, because the others are compared with it.
pub const DOORS: &[Door] = &[
    library("bare", false, None),
    library("account", true, None),
    library("drawn", true, Some("drawn")),
    library("aligned", true, Some("aligned")),
    reader("read npy", "npy"),
    reader("read csv", "csv"),
    #[cfg(feature = "parquet")]
    reader("read parquet", "parquet"),
    program("npy", "npy", &[]),
    program("csv", "csv", &[]),
    #[cfg(feature = "parquet")]
    program("parquet", "parquet", &[]),
    program("pipe", "", &[]),
    program("npy --out", "npy", &["--out", "answers.csv"]),
    program("npy --report", "npy", &["--report", "page.html"]),
    program("npy --best none", "npy", &["--best", "none"]),
    Door { name: "monitor", way: Way::Monitor },
];

/// Learner and test rows of a measurement.
pub struct Case {
    kind: Kind,
    length: usize,
    kept: usize,
    rows: usize,
    stream: Vec<Vec<f64>>,
    folder: PathBuf,
}

impl Case {
    /// Returns all cases. Their rows are not generated yet.
    pub fn all() -> Vec<Self> {
        let sizes = [(16, 4, 96_000), (64, 10, 36_000), (256, 10, 18_000), (1024, 10, 6_000)];
        let case = |(length, kept, rows): (usize, usize, usize), kind| Self {
            kind,
            length,
            kept,
            rows: if kind == Kind::Auto && length < 1024 { rows / 3 } else { rows },
            stream: Vec::new(),
            folder: PathBuf::new(),
        };
        sizes.into_iter().flat_map(|size| [Kind::Tracking, Kind::Auto].map(|kind| case(size, kind))).collect()
    }

    /// Generates the rows and writes them to files. A quick case has a quarter of the rows.
    pub fn prepare(mut self, folder: &Path, is_quick: bool) -> Self {
        self.rows /= if is_quick { 4 } else { 1 };
        self.stream = streams::signal_and_noise(self.length, self.kept, 0.14, 3).take(self.rows).collect();
        self.folder = folder.to_owned();
        tables::write_npy(&self.file("npy"), &self.stream);
        tables::write_csv(&self.file("csv"), &self.stream);
        #[cfg(feature = "parquet")]
        tables::write_parquet(&self.file("parquet"), &self.stream);
        self
    }

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn kept(&self) -> usize {
        self.kept
    }

    pub fn learner(&self) -> &'static str {
        self.kind.entry().name
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("rows.{extension}"))
    }

    /// Returns the processor time per row on this path, in microseconds.
    pub fn time(&self, door: &Door) -> f64 {
        let seconds = match &door.way {
            Way::Library { account, coordinates } => self.learn(*account, *coordinates),
            Way::Reader { table } => self.read(table),
            Way::Program { table, arguments } => self.run(table, arguments),
            Way::Monitor => self.monitor(),
        };
        1e6 * seconds / self.rows as f64
    }

    fn learn(&self, account: bool, coordinates: Option<&str>) -> f64 {
        let best = if account { "auto" } else { "none" };
        let mut options = Options::new(self.kind, self.kept).with("best", best);
        if let Some(coordinates) = coordinates {
            options = options.with("coordinates", coordinates);
        }
        let setup = options.resolve(str::to_owned).expect("the options make sense");
        let mut model = Model::of(&setup, self.length).expect("the learner fits");
        model.ask_for_coordinates(coordinates.is_some());
        let rows: Vec<&[f64]> = self.stream.iter().map(|row| &row[..]).collect();
        let start = thread_seconds();
        for block in rows.chunks(256) {
            model.step_each(block, |_, _| ()).expect("rows are learned");
        }
        if account {
            std::hint::black_box(model.summary());
        }
        thread_seconds() - start
    }

    fn read(&self, table: &str) -> f64 {
        let path = self.file(table);
        let layout = Layout::new(Format::of_path(&path));
        let start = thread_seconds();
        let mut stream = Stream::open(&Source::File(path), &layout).expect("the table can be read");
        let (mut rows, mut sum) = (0, 0.0);
        while let Some(row) = stream.next_row().expect("rows are good") {
            rows += 1;
            sum += row[0];
        }
        std::hint::black_box(sum);
        assert_eq!(rows, self.rows, "every row is read");
        thread_seconds() - start
    }

    fn run(&self, table: &str, arguments: &[&str]) -> f64 {
        seconds(&mut self.run_command(table, "1", arguments))
    }

    /// Returns the wall time of the program with this number of threads, in seconds.
    pub fn wall_of_program(&self, table: &str, threads: &str) -> f64 {
        let mut command = self.run_command(table, threads, &[]);
        let start = Instant::now();
        seconds(&mut command);
        start.elapsed().as_secs_f64()
    }

    /// Returns the wall time of the reader alone, in seconds.
    pub fn wall_of_reader(&self, table: &str) -> f64 {
        let start = Instant::now();
        self.read(table);
        start.elapsed().as_secs_f64()
    }

    fn run_command(&self, table: &str, threads: &str, arguments: &[&str]) -> Command {
        let kept = self.kept.to_string();
        let mut command =
            self.command(&["run", "--quiet", "--threads", threads, "--learner", self.learner(), "-k", &kept]);
        command.args(arguments);
        match table {
            "" => {
                let input = File::open(self.file("csv")).expect("the table is there");
                command.arg("-").stdin(input)
            }
            extension => command.arg(self.file(extension)),
        };
        command
    }

    fn monitor(&self) -> f64 {
        let kept = self.kept.to_string();
        seconds(self.command(&["monitor", "--quiet", "-k", &kept, "--out", "alarms.csv"]).arg(self.file("npy")))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eigenhedge"));
        command.current_dir(&self.folder).args(arguments).stdout(Stdio::null());
        command
    }
}

/// Runs a program and returns its processor time in seconds.
fn seconds(command: &mut Command) -> f64 {
    let before = child_seconds();
    let status = command.status().expect("the program runs");
    assert!(status.success(), "the program ends well: {command:?}");
    child_seconds() - before
}
