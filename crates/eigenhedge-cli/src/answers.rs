//! The answers to rows: complete, or absent.
//!
//! A file is written under another name in its own directory and renamed when everything has been said.

use anyhow::{Context, Result};
use eigenhedge::Loss;
use std::fs::{self, File};
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Where answers go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// They are not wanted.
    Nowhere,
    /// Standard output.
    Standard,
    /// A file.
    File(PathBuf),
}

/// Writes answers as a table.
pub struct Answers {
    sink: Sink,
    /// Whether each answer must be out before the next row is read.
    at_once: bool,
    rows: u64,
}

enum Sink {
    Nowhere,
    Standard(BufWriter<StdoutLock<'static>>),
    /// Something that is not a regular file, such as a device, and must not be replaced by one.
    Device(BufWriter<File>, PathBuf),
    File(BufWriter<NamedTempFile>, PathBuf),
}

impl Answers {
    /// Makes sure that the target can be written; nothing is visible there yet.
    pub fn open(target: &Target, at_once: bool) -> Result<Self> {
        let sink = match target {
            Target::Nowhere => Sink::Nowhere,
            Target::Standard => Sink::Standard(BufWriter::new(io::stdout().lock())),
            Target::File(path) => open_file(path).with_context(|| unwritable(path))?,
        };
        Ok(Self { sink, at_once, rows: 0 })
    }

    /// One row's answer. Numbers read back bit for bit.
    pub fn write(&mut self, loss: Loss, coordinates: &[f64]) -> Result<()> {
        let row = self.rows;
        self.rows += 1;
        let at_once = self.at_once;
        self.hand_over(|out| {
            if row == 0 {
                write!(out, "row,expected_loss,loss")?;
                (0..coordinates.len()).try_for_each(|i| write!(out, ",z{i}"))?;
                writeln!(out)?;
            }
            write!(out, "{row},{:?},{:?}", loss.expected, loss.realised)?;
            coordinates.iter().try_for_each(|z| write!(out, ",{z:?}"))?;
            writeln!(out)?;
            if at_once { out.flush() } else { Ok(()) }
        })
    }

    /// Makes the answers visible.
    pub fn finish(mut self) -> Result<()> {
        self.hand_over(|out| out.flush())?;
        if let Sink::File(out, path) = self.sink {
            let file = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(|| unwritable(&path))?;
            file.persist(&path).map_err(|refused| refused.error).with_context(|| unwritable(&path))?;
        }
        Ok(())
    }

    fn hand_over(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        match &mut self.sink {
            Sink::Nowhere => Ok(()),
            Sink::Standard(out) => write(out).context("standard output cannot be written"),
            Sink::Device(out, path) => write(out).with_context(|| unwritable(path)),
            Sink::File(out, path) => write(out).with_context(|| unwritable(path)),
        }
    }
}

fn unwritable(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}

fn open_file(path: &Path) -> io::Result<Sink> {
    // A link is followed: what it points to is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&path) {
        Ok(there) if there.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if !there.is_file() => {
            let device = File::options().write(true).open(&path)?;
            return Ok(Sink::Device(BufWriter::new(device), path));
        }
        _ => {}
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".eigenhedge-");
    #[cfg(unix)]
    {
        // What a plain new file gets, less the user's mask.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(directory)?;
    Ok(Sink::File(BufWriter::new(file), path))
}
