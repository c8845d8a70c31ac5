//! Tables of numbers out, as CSV: complete or absent.

use anyhow::{Context, Result};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes rows of numbers under a header.
pub struct Sheet {
    sink: Sink,
}

enum Sink {
    Standard(BufWriter<io::StdoutLock<'static>>),
    File(BufWriter<NamedTempFile>, PathBuf),
}

impl Sheet {
    /// Begins a table; `-` and nothing stand for standard output.
    pub fn create(path: Option<&Path>, header: &[String]) -> Result<Self> {
        let sink = match path.filter(|path| path.as_os_str() != "-") {
            None => Sink::Standard(BufWriter::new(io::stdout().lock())),
            Some(path) => {
                let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let file = hidden_file(folder).with_context(|| unwritable(path))?;
                Sink::File(BufWriter::new(file), path.to_owned())
            }
        };
        let mut sheet = Self { sink };
        sheet.line(&header.join(","))?;
        Ok(sheet)
    }

    /// One row; numbers read back bit for bit.
    pub fn row(&mut self, numbers: impl IntoIterator<Item = f64>) -> Result<()> {
        let cells: Vec<String> = numbers.into_iter().map(|x| format!("{x:?}")).collect();
        self.line(&cells.join(","))
    }

    /// One line as it is.
    pub fn line(&mut self, line: &str) -> Result<()> {
        match &mut self.sink {
            Sink::Standard(out) => writeln!(out, "{line}").context("standard output cannot be written"),
            Sink::File(out, path) => writeln!(out, "{line}").with_context(|| unwritable(path)),
        }
    }

    /// Makes the table visible.
    pub fn finish(self) -> Result<()> {
        match self.sink {
            Sink::Standard(mut out) => out.flush().context("standard output cannot be written"),
            Sink::File(out, path) => {
                let file =
                    out.into_inner().map_err(io::IntoInnerError::into_error).with_context(|| unwritable(&path))?;
                file.persist(&path).map_err(|refused| refused.error).with_context(|| unwritable(&path))?;
                Ok(())
            }
        }
    }
}

/// A file with the rights of any new file: those of a temporary one are for its owner alone.
fn hidden_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".eigenhedge-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

fn unwritable(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}

/// `z0, z1, …`.
pub fn coordinate_names(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("z{i}")).collect()
}
