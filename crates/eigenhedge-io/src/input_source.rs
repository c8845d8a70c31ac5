//! The bytes of a table: a file or standard input, opened from the start or further on.

use crate::error::{Error, Fault, printable_path};
use crate::format::signature;
use crate::layout::Layout;
use crate::memory::MaxMemory;
use crate::stop::Stop;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// The source of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Standard,
    /// A file.
    File(PathBuf),
}

/// A source that can be opened, from the start or further on.
#[derive(Debug, Clone)]
pub(crate) struct InputSource {
    source: Source,
    /// Bytes in it, when it is a regular file: only then can it be opened twice.
    size: Option<u64>,
    stop: Option<Stop>,
    /// Memory that reading may take.
    pub memory: MaxMemory,
}

impl InputSource {
    /// Looks at the source; refuses a file that is plainly of another format.
    pub fn new(source: &Source, layout: &Layout) -> Result<Self, Error> {
        let mut input =
            Self { source: source.clone(), size: None, stop: layout.stop.clone(), memory: layout.max_memory };
        let format = layout.format;
        if let Source::File(path) = source {
            let there = std::fs::metadata(path).map_err(|error| input.unreadable(error))?;
            if there.is_dir() {
                return Err(input.unreadable(io::ErrorKind::IsADirectory.into()));
            }
            input.size = there.is_file().then_some(there.len());
        }
        if format.is_text() && input.size.is_some() {
            let mut start = Vec::new();
            input.open()?.take(8).read_to_end(&mut start).map_err(|error| input.unreadable(error))?;
            if let Some(found) = signature(&start) {
                return Err(input.fault(Fault::OtherFormat { wanted: format.name(), found }));
            }
        }
        Ok(input)
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        match &self.source {
            Source::Standard => "standard input".to_owned(),
            Source::File(path) => printable_path(path),
        }
    }

    /// An error if `what` would take more memory than reading may.
    pub fn allow(&self, what: impl std::fmt::Display, wanted: u128) -> Result<(), Error> {
        self.memory.allow(what, wanted).map_err(|fault| self.fault(fault))
    }

    /// Bytes in it, when it is a regular file.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// True if rows may arrive late, so that nothing may be read ahead.
    pub fn is_pipe(&self) -> bool {
        self.size.is_none()
    }

    /// Reads from the start; a pipe, from where it is.
    pub fn open(&self) -> Result<Box<dyn Read>, Error> {
        let open = || -> io::Result<Box<dyn Read>> {
            match (&self.source, &self.stop) {
                #[cfg(unix)]
                (Source::Standard, Some(stop)) => stop.guard(io::stdin()),
                #[cfg(unix)]
                (Source::File(path), Some(stop)) if self.is_pipe() => stop.guard(File::open(path)?),
                (Source::Standard, _) => Ok(Box::new(io::stdin().lock())),
                (Source::File(path), _) => Ok(Box::new(File::open(path)?)),
            }
        };
        open().map_err(|error| self.unreadable(error))
    }

    /// Reads from some byte on; none when that is impossible.
    pub fn open_at(&self, bytes: u64) -> Result<Option<Box<dyn Read>>, Error> {
        if self.size.is_none() {
            return Ok(None);
        }
        let mut file = self.file("")?;
        file.seek(SeekFrom::Start(bytes)).map_err(|error| self.unreadable(error))?;
        Ok(Some(Box::new(file)))
    }

    /// A file that can be read in any order.
    pub fn file(&self, format: &'static str) -> Result<File, Error> {
        match &self.source {
            Source::File(path) if self.size.is_some() => File::open(path).map_err(|error| self.unreadable(error)),
            _ => Err(self.fault(Fault::NeedsFile(format))),
        }
    }

    pub fn fault(&self, fault: Fault) -> Error {
        Error::at(self.name(), fault)
    }

    pub fn unreadable(&self, error: io::Error) -> Error {
        self.fault(Fault::Unreadable(error))
    }
}
