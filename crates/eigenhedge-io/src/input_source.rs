//! The bytes of a table: a file, standard input or bytes at hand, opened from the start or further on.
//!
//! Compressed files and texts in UTF-16 are turned into what readers expect on the way; these can be opened again from the
//! start, but not further on.

use crate::error::{Error, Fault, printable_path};
use crate::format::signature;
use crate::layout::Layout;
use crate::memory::MaxMemory;
use crate::stop::Stop;
use crate::unpack::{Counted, Packing, Utf8, is_utf16};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The source of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Standard,
    /// A file.
    File(PathBuf),
    /// Several files, one after the other, as if they were one table.
    Files(Vec<PathBuf>),
    /// Bytes at hand, under a name for messages.
    Bytes(&'static str, Arc<[u8]>),
}

impl Source {
    /// The sources of which this one is made, in order.
    pub(crate) fn parts(&self) -> Vec<Self> {
        match self {
            Self::Files(paths) => paths.iter().cloned().map(Self::File).collect(),
            other => vec![other.clone()],
        }
    }

    /// True if it is made of regular files or of bytes at hand only.
    pub fn is_regular(&self) -> bool {
        match self {
            Self::Standard => false,
            Self::Bytes(..) => true,
            Self::File(path) => path.is_file(),
            Self::Files(paths) => paths.iter().all(|path| path.is_file()),
        }
    }
}

/// How far a stream has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// In rows, of so many.
    Rows(u64, u64),
    /// In bytes, of so many.
    Bytes(u64, u64),
    /// In rows; nobody knows of how many.
    Unknown(u64),
}

/// A source that can be opened, from the start or further on.
#[derive(Debug, Clone)]
pub(crate) struct InputSource {
    source: Source,
    /// Bytes of a regular file: only then can it be opened twice.
    file_size: Option<u64>,
    packing: Packing,
    /// True if its bytes must be turned into UTF-8, or may have to be.
    recoded: bool,
    /// Bytes read from the file since it was opened last.
    read: Arc<AtomicU64>,
    stop: Option<Stop>,
    /// Memory that reading may take.
    pub memory: MaxMemory,
}

impl InputSource {
    /// Looks at the source; refuses a file that is plainly of another format.
    pub fn new(source: &Source, layout: &Layout) -> Result<Self, Error> {
        let mut input = Self {
            source: source.clone(),
            file_size: None,
            packing: Packing::Plain,
            recoded: layout.format.is_text(),
            read: Arc::default(),
            stop: layout.stop.clone(),
            memory: layout.max_memory,
        };
        let format = layout.format;
        if let Source::File(path) = source {
            let there = std::fs::metadata(path).map_err(|error| input.unreadable(error))?;
            if there.is_dir() {
                return Err(input.unreadable(io::ErrorKind::IsADirectory.into()));
            }
            input.file_size = there.is_file().then_some(there.len());
            input.packing = Packing::of_path(path);
        }
        if let Source::Bytes(_, bytes) = source {
            input.file_size = Some(bytes.len() as u64);
        }
        if format.is_text() && input.file_size.is_some() {
            let mut start = Vec::new();
            input.raw()?.take(8).read_to_end(&mut start).map_err(|error| input.unreadable(error))?;
            input.recoded = is_utf16(&start);
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
            Source::Bytes(name, _) => (*name).to_owned(),
            Source::File(path) => printable_path(path),
            Source::Files(paths) => paths.first().map_or(String::new(), |path| printable_path(path)),
        }
    }

    /// An error if `what` would take more memory than reading may.
    pub fn allow(&self, what: impl std::fmt::Display, wanted: u128) -> Result<(), Error> {
        self.memory.allow(what, wanted).map_err(|fault| self.fault(fault))
    }

    /// Bytes in it, when it is a regular file that is read as it stands.
    pub fn size(&self) -> Option<u64> {
        self.file_size.filter(|_| self.packing == Packing::Plain && !self.recoded)
    }

    /// Bytes of a regular file, however they are read.
    pub fn file_size(&self) -> Option<u64> {
        self.file_size
    }

    /// True if rows may arrive late, so that nothing may be read ahead.
    pub fn is_pipe(&self) -> bool {
        self.file_size.is_none()
    }

    /// True if standard input has bytes that can be read at once, or within an instant.
    pub fn has_more(&self) -> bool {
        #[cfg(unix)]
        if self.source == Source::Standard {
            return crate::stop::is_readable(io::stdin());
        }
        false
    }

    /// How far a reader has come that has read so many bytes and rows.
    pub fn progress(&self, bytes: u64, rows: u64) -> Progress {
        match (self.size(), self.file_size) {
            (Some(size), _) => Progress::Bytes(bytes.min(size), size),
            (None, Some(size)) => Progress::Bytes(self.read.load(Ordering::Relaxed).min(size), size),
            (None, None) => Progress::Unknown(rows),
        }
    }

    /// Reads from the start; a pipe, from where it is.
    pub fn open(&self) -> Result<Box<dyn Read>, Error> {
        let raw = self.raw()?;
        Ok(if self.recoded { Box::new(Utf8::new(raw)) } else { raw })
    }

    /// Reads from the start, as bytes.
    fn raw(&self) -> Result<Box<dyn Read>, Error> {
        let open = || -> io::Result<Box<dyn Read>> {
            match (&self.source, &self.stop) {
                #[cfg(unix)]
                (Source::Standard, Some(stop)) => stop.guard(io::stdin()),
                #[cfg(unix)]
                (Source::File(path), Some(stop)) if self.is_pipe() => stop.guard(File::open(path)?),
                (Source::Standard, _) => Ok(Box::new(io::stdin().lock())),
                (Source::File(path), _) => Ok(Box::new(File::open(path)?)),
                (Source::Bytes(_, bytes), _) => Ok(Box::new(io::Cursor::new(Arc::clone(bytes)))),
                (Source::Files(_), _) => Err(io::ErrorKind::Unsupported.into()),
            }
        };
        let bytes = open().map_err(|error| self.unreadable(error))?;
        if self.size().is_some() {
            return Ok(bytes);
        }
        self.read.store(0, Ordering::Relaxed);
        let counted = Box::new(Counted { inner: bytes, count: Arc::clone(&self.read) });
        self.packing.unpack(counted, self.memory).map_err(|fault| self.fault(fault))
    }

    /// Reads from some byte on; none when that is impossible.
    pub fn open_at(&self, bytes: u64) -> Result<Option<Box<dyn Read>>, Error> {
        if self.size().is_none() {
            return Ok(None);
        }
        if let Source::Bytes(_, all) = &self.source {
            let mut rest = io::Cursor::new(Arc::clone(all));
            rest.set_position(bytes);
            return Ok(Some(Box::new(rest)));
        }
        let mut file = self.file("")?;
        file.seek(SeekFrom::Start(bytes)).map_err(|error| self.unreadable(error))?;
        Ok(Some(Box::new(file)))
    }

    /// A file that can be read in any order.
    pub fn file(&self, format: &'static str) -> Result<File, Error> {
        match &self.source {
            Source::File(_) if self.packing != Packing::Plain => Err(self.fault(Fault::NeedsPlain(format))),
            Source::File(path) if self.file_size.is_some() => File::open(path).map_err(|error| self.unreadable(error)),
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
