//! The measured paths ("doors") from a table to a learner, and the test tables.

use crate::measure::{child_seconds, thread_seconds};
use eigenhedge::options::Options;
use eigenhedge::{Kind, Model, streams};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A path by which rows reach a learner.
pub struct Door {
    pub name: &'static str,
    way: Way,
}

enum Way {
    /// The library, with or without the summary, and with this kind of coordinates.
    Library { account: bool, coordinates: Option<&'static str> },
    /// The program with these arguments. Reads standard input if `table` is empty.
    Program { table: &'static str, arguments: &'static [&'static str] },
}

const fn library(name: &'static str, account: bool, coordinates: Option<&'static str>) -> Door {
    Door { name, way: Way::Library { account, coordinates } }
}

const fn program(name: &'static str, table: &'static str, arguments: &'static [&'static str]) -> Door {
    Door { name, way: Way::Program { table, arguments } }
}

/// All doors. The first is the bare learner.
pub const DOORS: &[Door] = &[
    library("bare", false, None),
    library("account", true, None),
    library("drawn", true, Some("drawn")),
    library("aligned", true, Some("aligned")),
    program("npy", "npy", &[]),
    program("csv", "csv", &[]),
    program("pipe", "", &[]),
    program("npy --out", "npy", &["--out", "answers.csv"]),
    program("npy --report", "npy", &["--report", "page.html"]),
    program("npy --best none", "npy", &["--best", "none"]),
];

/// A learner and the size of its rows.
pub struct Case {
    kind: Kind,
    length: usize,
    kept: usize,
    rows: usize,
    stream: Vec<Vec<f64>>,
    folder: PathBuf,
}

impl Case {
    /// Returns all cases, without rows.
    pub fn all() -> Vec<Self> {
        let sizes = [(16, 4, 24_000), (64, 10, 12_000), (256, 10, 6_000), (1024, 10, 3_000)];
        let case = |(length, kept, rows): (usize, usize, usize), kind| Self {
            kind,
            length,
            kept,
            rows: if kind == Kind::Auto { rows / 3 } else { rows },
            stream: Vec::new(),
            folder: PathBuf::new(),
        };
        sizes.into_iter().flat_map(|size| [Kind::Tracking, Kind::Auto].map(|kind| case(size, kind))).collect()
    }

    /// Generates the rows and writes them to files in a folder.
    pub fn prepare(mut self, folder: &Path, is_quick: bool) -> Self {
        self.rows /= if is_quick { 4 } else { 1 };
        self.stream = streams::signal_and_noise(self.length, self.kept, 0.14, 3).take(self.rows).collect();
        self.folder = folder.to_owned();
        self.write_npy();
        self.write_csv();
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

    fn write_npy(&self) {
        let shape = format!("({}, {})", self.rows, self.length);
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        let header = format!("{header:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        self.stream.iter().flatten().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        fs::write(self.file("npy"), bytes).expect("the folder can be written");
    }

    fn write_csv(&self) {
        let mut text = (0..self.length).map(|i| format!("c{i}")).collect::<Vec<_>>().join(",") + "\n";
        for row in &self.stream {
            for (i, x) in row.iter().enumerate() {
                let comma = if i == 0 { "" } else { "," };
                let _ = write!(text, "{comma}{x:?}");
            }
            text.push('\n');
        }
        fs::write(self.file("csv"), text).expect("the folder can be written");
    }

    /// Returns the processor time per row through a door, in microseconds.
    pub fn time(&self, door: &Door) -> f64 {
        let seconds = match &door.way {
            Way::Library { account, coordinates } => self.learn(*account, *coordinates),
            Way::Program { table, arguments } => self.run(table, arguments),
        };
        1e6 * seconds / self.rows as f64
    }

    fn learn(&self, account: bool, coordinates: Option<&str>) -> f64 {
        let mut options = Options::new(self.kind, self.kept);
        if let Some(coordinates) = coordinates {
            options = options.with("coordinates", coordinates);
        }
        let setup = options.resolve(str::to_owned).expect("the options make sense");
        let mut model = Model::of(&setup, self.length, account).expect("the learner fits");
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

    fn run(&self, table: &str, arguments: &[&str]) -> f64 {
        let before = child_seconds();
        let mut command = Command::new(env!("CARGO_BIN_EXE_eigenhedge"));
        command.current_dir(&self.folder).args(["run", "--quiet", "--threads", "1", "--learner", self.learner()]);
        command.args(["-k", &self.kept.to_string()]).args(arguments).stdout(Stdio::null());
        match table {
            "" => {
                let input = File::open(self.file("csv")).expect("the table is there");
                command.arg("-").stdin(input)
            }
            extension => command.arg(self.file(extension)),
        };
        let status = command.status().expect("the program runs");
        assert!(status.success(), "the program ends well: {command:?}");
        child_seconds() - before
    }
}
