//! Helpers that run the built program in a temporary directory.
#![allow(dead_code)]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

pub struct Place(TempDir);

#[derive(Debug, PartialEq)]
pub struct Outcome {
    pub status: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory for the test"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("a writable directory");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file the program wrote")
    }

    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("the test's directory");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eigenhedge"));
        command.args(arguments.split_whitespace()).current_dir(self.0.path());
        command
    }

    pub fn run(&self, arguments: &str) -> Outcome {
        self.feed(arguments, "")
    }

    pub fn feed(&self, arguments: &str, input: impl AsRef<[u8]>) -> Outcome {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        // The program may end without reading its input.
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_ref());
        let output = child.wait_with_output().expect("the program ends");
        Outcome {
            status: output.status.code().expect("no signal"),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

/// Advice that follows a message about a bad row.
pub const HINT: &str = "; --on-bad-row skip passes over bad rows";

/// Returns the error output without [`HINT`] and without the advice on a word that may mark a missing cell.
pub fn unhinted(err: &str) -> String {
    let err = err.replace(HINT, "");
    match (err.find("; --na-values "), err.find(" reads it as a missing cell")) {
        (Some(start), Some(end)) => err[..start].to_owned() + &err[end + " reads it as a missing cell".len()..],
        _ => err,
    }
}

pub fn table(rows: &[Vec<f64>]) -> String {
    let names: Vec<String> = (0..rows[0].len()).map(|i| format!("x{i}")).collect();
    let lines = rows.iter().map(|row| row.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(","));
    std::iter::once(names.join(",")).chain(lines).map(|line| line + "\n").collect()
}
