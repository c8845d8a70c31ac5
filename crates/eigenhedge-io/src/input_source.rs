//! Bytes of a table: from a file, from memory or from standard input. Compressed files, workbooks, and texts that must
//! be converted (to UTF-8, or from JSON to JSON lines) can be opened only at their start.

use crate::error::{Error, Fault, RowPlace, hint, quoted};
use crate::format::{Format, Source, signature};
use crate::json_values::{is_spread, json_values};
use crate::layout::Layout;
use crate::memory::MaxMemory;
use crate::stop::Stop;
use crate::unpack::{Counted, Packing, is_utf16, unpacked_pipe, utf8};
use crate::workbook;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Progress of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Number of rows read, and total number of rows.
    Rows(u64, u64),
    /// Number of bytes read, and total number of bytes.
    Bytes(u64, u64),
    /// Number of rows read, if the total is unknown.
    Unknown(u64),
}

impl Progress {
    /// Returns the share of rows or bytes read, from 0 to 1, or `None` if the total is unknown.
    pub fn share(self) -> Option<f64> {
        match self {
            Self::Rows(done, all) | Self::Bytes(done, all) if all > 0 => Some(done as f64 / all as f64),
            _ => None,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct InputSource {
    source: Source,
    name: Arc<str>,
    /// Size in bytes of a regular file or of bytes in memory, or `None` for a source that can be read only once.
    pub file_size: Option<u64>,
    packing: Packing,
    pub sheet: Option<(String, usize)>,
    /// True if the bytes may have to be converted to UTF-8 or to JSON lines.
    recoded: bool,
    is_json: bool,
    read: Arc<AtomicU64>,
    stop: Option<Stop>,
    pub memory: MaxMemory,
}

impl InputSource {
    pub fn new(source: &Source, layout: &Layout) -> Result<Self, Error> {
        let mut input = Self {
            source: source.clone(),
            name: source.name().into(),
            file_size: None,
            packing: Packing::Plain,
            sheet: None,
            recoded: layout.format.is_text(),
            is_json: layout.format == Format::Jsonl,
            read: Arc::default(),
            stop: layout.stop.clone(),
            memory: layout.max_memory,
        };
        let format = layout.format;
        input.file_size = match source {
            Source::File(path) => {
                let there = std::fs::metadata(path).map_err(|error| match error.kind() {
                    io::ErrorKind::NotFound => {
                        input.fault(Fault::Table(format!("there is no such file{}", near_file(path))))
                    }
                    _ => input.unreadable(error),
                })?;
                if there.is_dir() {
                    return Err(input.fault(Fault::Table("is a folder: name a file in it".to_owned())));
                }
                there.is_file().then_some(there.len())
            }
            Source::Bytes(_, bytes) => Some(bytes.len() as u64),
            _ => None,
        };
        // A file of 0 bytes is an empty table, whatever its extension.
        let is_filled = input.file_size != Some(0);
        input.packing = source.path().filter(|_| is_filled).map_or(Packing::Plain, Packing::of_path);
        if input.packing == Packing::Workbook {
            let sheet = workbook::sheet_of(source, layout.sheet.as_deref(), layout.max_memory);
            input.sheet = Some(sheet.map_err(|fault| input.fault(fault))?);
            input.recoded = false;
            return Ok(input);
        }
        if format.is_text() && input.file_size.is_some() {
            let start_of = |input: &Self| {
                let mut start = Vec::new();
                let read = input.raw()?.take(8).read_to_end(&mut start);
                read.map(|_| start).map_err(|error| input.unreadable(error))
            };
            let mut start = start_of(&input)?;
            if input.packing == Packing::Plain {
                input.packing = Packing::of_start(&start).map_err(|fault| input.fault(fault))?;
                if input.packing != Packing::Plain {
                    start = start_of(&input)?;
                }
            }
            input.recoded = is_utf16(&start) || input.is_json && is_spread(&start);
            if let Some(found) = signature(&start) {
                if let (true, Some(path)) = (start.starts_with(b"PK\x03\x04"), source.path()) {
                    return Err(input.fault(Fault::Table(archive_advice(path).to_owned())));
                }
                return Err(input.fault(Fault::OtherFormat { wanted: format.name(), found }));
            }
        }
        Ok(input)
    }

    pub fn name(&self) -> String {
        self.name.to_string()
    }

    pub fn line(&self, number: u64) -> RowPlace {
        RowPlace { source: Arc::clone(&self.name), unit: "line", number }
    }

    pub fn row(&self, number: u64) -> RowPlace {
        RowPlace { source: Arc::clone(&self.name), unit: "row", number }
    }

    pub fn allow(&self, what: impl std::fmt::Display, wanted: u128) -> Result<(), Error> {
        self.memory.allow(what, wanted).map_err(|fault| self.fault(fault))
    }

    /// Returns the size of a regular file, or of bytes in memory, that is read without conversion.
    pub fn size(&self) -> Option<u64> {
        self.file_size.filter(|_| self.packing == Packing::Plain && !self.recoded)
    }

    pub fn is_pipe(&self) -> bool {
        self.file_size.is_none()
    }

    /// Returns true if the source is standard input and has bytes within 10 ms. Always false except on Unix.
    pub fn has_more(&self) -> bool {
        #[cfg(unix)]
        if self.source == Source::Standard {
            return crate::stop::is_readable(io::stdin());
        }
        false
    }

    pub fn progress(&self, bytes: u64, rows: u64) -> Progress {
        match (self.size(), self.file_size) {
            (Some(size), _) => Progress::Bytes(bytes.min(size), size),
            (None, Some(size)) => Progress::Bytes(self.read.load(Ordering::Relaxed).min(size), size),
            (None, None) => Progress::Unknown(rows),
        }
    }

    pub fn open(&self) -> Result<Box<dyn Read>, Error> {
        let raw = self.raw()?;
        Ok(match (self.recoded, self.is_json) {
            (true, true) => json_values(utf8(raw)),
            (true, false) => utf8(raw),
            (false, _) => raw,
        })
    }

    /// Opens the decompressed bytes at their start, before conversion to UTF-8.
    fn raw(&self) -> Result<Box<dyn Read>, Error> {
        if let Some((sheet, _)) = &self.sheet {
            return workbook::open(&self.source, sheet).map_err(|fault| self.fault(fault));
        }
        let open = || -> io::Result<Box<dyn Read>> {
            match (&self.source, &self.stop) {
                #[cfg(unix)]
                (Source::Standard, Some(stop)) => stop.guard(io::stdin()),
                #[cfg(unix)]
                (Source::File(path), Some(stop)) if self.is_pipe() => stop.guard(File::open(path)?),
                (Source::Standard, _) => Ok(Box::new(io::stdin().lock())),
                (Source::File(path), _) => Ok(Box::new(File::open(path)?)),
                (Source::Bytes(_, bytes), _) => Ok(Box::new(io::Cursor::new(Arc::clone(bytes)))),
                (Source::Several(_), _) => Err(io::ErrorKind::Unsupported.into()),
            }
        };
        let bytes = open().map_err(|error| self.unreadable(error))?;
        if self.size().is_some() {
            return Ok(bytes);
        }
        self.read.store(0, Ordering::Relaxed);
        let counted = Box::new(Counted { inner: bytes, count: Arc::clone(&self.read) });
        if self.is_pipe() && self.packing == Packing::Plain {
            return Ok(unpacked_pipe(counted, self.memory));
        }
        self.packing.unpack(counted, self.memory).map_err(|fault| self.fault(fault))
    }

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

    pub fn file(&self, format: &'static str) -> Result<File, Error> {
        match &self.source {
            Source::File(_) if self.packing != Packing::Plain => {
                let reason = format!("must not be compressed as a whole to be read as {format}: unpack it");
                Err(self.fault(Fault::Table(reason)))
            }
            Source::File(path) if self.file_size.is_some() => File::open(path).map_err(|error| self.unreadable(error)),
            _ => Err(self.fault(Fault::Table(format!("a pipe cannot be read as {format}: give a file")))),
        }
    }

    pub fn fault(&self, fault: Fault) -> Error {
        Error::at(self.name(), fault)
    }

    pub fn unreadable(&self, error: io::Error) -> Error {
        self.fault(Fault::Unreadable(error))
    }
}

fn archive_advice(path: &Path) -> &'static str {
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
    match extension.as_deref().and_then(|extension| extension.to_str()) {
        Some("npz") => "is an npz archive: --format npz reads it",
        _ => "is a zip archive: unpack it, or give --format npz if it holds arrays",
    }
}

fn near_file(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Some(wanted), Ok(entries)) = (path.file_name().and_then(|name| name.to_str()), std::fs::read_dir(folder))
    else {
        return format!("; the folder {} does not exist", quoted(&folder.to_string_lossy()));
    };
    const MOST: usize = 10_000;
    let names: Vec<String> =
        entries.take(MOST).filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    hint(wanted, &names)
}
