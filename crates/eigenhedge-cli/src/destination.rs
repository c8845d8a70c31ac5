//! Destinations of output tables and pages, checked before any work starts.

use crate::files::is_same_file;
use crate::stdout;
use crate::table::{Usage, is_dash};
use anyhow::{Context, Result};
use eigenhedge_io::{Answers, Cell, CellKind, Column, Dialect, Form, Position, Target};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    pub target: Target,
    pub form: Form,
}

impl Destination {
    /// Without `form`, the extension determines the format.
    pub fn new(option: &str, path: Option<&Path>, form: Option<Form>) -> Result<Self, Usage> {
        let target = match path {
            None => Target::Nowhere,
            Some(path) if is_dash(path) => Target::Standard,
            Some(path) => Target::File(path.to_owned()),
        };
        let form = match &target {
            Target::File(path) => match Form::of_path(path) {
                None => return Err(Usage(format!("{option} writes {}, got {}", forms(), path.display()))),
                by_name => form.or(by_name).unwrap_or(Form::Csv),
            },
            _ => form.unwrap_or(Form::Csv),
        };
        let is_file = matches!(&target, Target::File(path) if !path.exists() || path.is_file());
        if form.needs_file() && !is_file && target != Target::Nowhere {
            return Err(Usage(format!("{option} must be a file when it is written as {}", form.name())));
        }
        Ok(Self { target, form })
    }

    pub fn is_wanted(&self) -> bool {
        self.target != Target::Nowhere
    }

    pub fn open(&self, columns: Vec<Column>) -> Result<Answers> {
        self.judge_standard()?;
        Ok(Answers::open(&self.target, self.form, columns, false, None)?)
    }

    /// Opens or resumes the results for the rows of a stream.
    pub fn of_stream(
        &self,
        columns: Vec<Column>,
        position: Option<&Position>,
        at_once: bool,
        (dialect, safe_cells): (Dialect, bool),
    ) -> Result<Answers, eigenhedge_io::Error> {
        let answers = Answers::open(&self.target, self.form, columns, at_once, position)?;
        Ok(answers.styled(dialect, safe_cells))
    }

    pub fn judge_standard(&self) -> Result<()> {
        if self.target == Target::Standard { stdout::output().map(drop) } else { Ok(()) }
    }

    pub fn print(&self, text: &str) -> Result<()> {
        match self.target {
            Target::Standard => io::stderr().write_all(text.as_bytes()).context("standard error cannot be written"),
            _ => stdout::print(text),
        }
    }
}

fn forms() -> String {
    let [others @ .., last] = Form::ALL.map(Form::name);
    format!("{} or {last}, by the end of the name", others.join(", "))
}

pub fn row_columns(numbers: impl IntoIterator<Item = String>) -> Vec<Column> {
    let numbers = numbers.into_iter().map(|name| (name, CellKind::Number));
    std::iter::once(("row".to_owned(), CellKind::Whole)).chain(numbers).collect()
}

pub fn row_cells(row: u64, numbers: impl IntoIterator<Item = f64>) -> Vec<Cell<'static>> {
    std::iter::once(Cell::Whole(Some(row))).chain(numbers.into_iter().map(Cell::Number)).collect()
}

pub fn coordinate_names(k: usize) -> Vec<String> {
    (0..k).map(|i| format!("z{i}")).collect()
}

/// Refuses two outputs, or an input and an output, in the same file. Only `--out` and `--events` may be `-`.
pub fn judge_outputs<'a>(
    inputs: impl IntoIterator<Item = (&'a str, &'a PathBuf)>,
    outputs: &[(&'a str, &'a Option<PathBuf>)],
) -> Result<(), Usage> {
    let mut taken: Vec<(&str, &PathBuf)> = inputs.into_iter().filter(|(_, path)| !is_dash(path)).collect();
    for (option, path) in outputs {
        let Some(path) = path else { continue };
        let may_be_dash = ["--out", "--events"].contains(option);
        match taken.iter().find(|(_, other)| is_dash(path) && is_dash(other) || is_same_file(path, other)) {
            _ if is_dash(path) && !may_be_dash => return Err(Usage(format!("{option} must be a file, got -"))),
            Some((other, _)) if is_dash(path) => return Err(Usage(format!("{other} and {option} must not both be -"))),
            Some((other, _)) => {
                return Err(Usage(format!("{option} must not be {other}, got {}", path.display())));
            }
            None => taken.push((option, path)),
        }
    }
    Ok(())
}

pub fn judge_page(path: Option<&Path>) -> Result<(), Usage> {
    judge_end("--report", path, "an HTML page", &["html", "htm"])
}

pub fn judge_plot(path: Option<&Path>) -> Result<(), Usage> {
    judge_end("--plot", path, "SVG", &["svg"])
}

fn judge_end(option: &str, path: Option<&Path>, what: &str, ends: &[&str]) -> Result<(), Usage> {
    let is_other =
        |path: &&Path| path.extension().is_some_and(|found| !ends.iter().any(|end| found.eq_ignore_ascii_case(end)));
    match path.filter(is_other) {
        None => Ok(()),
        Some(path) => {
            let (end, shown) = (ends[0], path.display());
            Err(Usage(format!("{option} writes {what}, so that its name must end in .{end}, got {shown}")))
        }
    }
}
