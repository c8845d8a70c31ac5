//! The file beside the target that holds what is not complete.

use super::unwritable;
use crate::error::{Error, Fault};
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A staging file that is locked.
pub struct Staging {
    out: BufWriter<File>,
    /// The target as it was typed, for messages, and where it really is.
    typed: PathBuf,
    target: PathBuf,
    part: PathBuf,
    /// Somebody may know a position in it.
    synced: bool,
}

impl Staging {
    /// Starts anew, or goes on after so many bytes.
    pub fn open(typed: &Path, target: PathBuf, bytes: Option<u64>) -> Result<Self, Error> {
        let part = beside(&target, "part");
        let refuse = |error| unwritable(typed, error);
        let mut file = locked(&part, bytes.is_none()).map_err(|error| match error {
            TryLockError::WouldBlock => Error::at(typed.display().to_string(), Fault::Busy),
            TryLockError::Error(error) if bytes.is_some() && error.kind() == io::ErrorKind::NotFound => {
                Error::at(part.display().to_string(), Fault::PartShrunk { wanted: bytes.unwrap_or(0), found: 0 })
            }
            TryLockError::Error(error) => refuse(error),
        })?;
        let wanted = bytes.unwrap_or(0);
        let found = file.metadata().map_err(refuse)?.len();
        if found < wanted {
            return Err(Error::at(part.display().to_string(), Fault::PartShrunk { wanted, found }));
        }
        file.set_len(wanted).and_then(|()| file.seek(SeekFrom::End(0))).map_err(refuse)?;
        let (typed, synced) = (typed.to_owned(), bytes.is_some());
        Ok(Self { out: BufWriter::with_capacity(1 << 16, file), typed, target, part, synced })
    }

    /// Writes something.
    pub fn hand_over(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        write(&mut self.out).map_err(|error| unwritable(&self.typed, error))
    }

    /// Makes durable what was written; from now on the file stays if the run fails.
    pub fn sync(&mut self) -> Result<u64, Error> {
        let mut sync = || {
            self.out.flush()?;
            let file = self.out.get_mut();
            file.sync_data()?;
            file.stream_position()
        };
        let bytes = sync().map_err(|error| unwritable(&self.typed, error))?;
        self.synced = true;
        Ok(bytes)
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<(), Error> {
        let done = self
            .sync()
            .and_then(|_| fs::rename(&self.part, &self.target).map_err(|error| unwritable(&self.typed, error)));
        self.settle_directory();
        // Should the name have been refused, what was written is still there.
        self.synced = true;
        done
    }

    /// Gives the name to another file, which is made out of this one.
    pub fn finish_through(
        mut self,
        convert: impl FnOnce(BufReader<&File>, File) -> io::Result<File>,
    ) -> Result<(), Error> {
        self.sync()?;
        let last = beside(&self.target, "last");
        let make = || {
            self.out.get_mut().rewind()?;
            let made = convert(BufReader::with_capacity(1 << 16, self.out.get_ref()), File::create(&last)?)?;
            made.sync_all()?;
            fs::rename(&last, &self.target)
        };
        let done = make().map_err(|error| unwritable(&self.typed, error));
        match &done {
            // Dropping it removes it.
            Ok(()) => self.synced = false,
            Err(_) => drop(fs::remove_file(&last)),
        }
        self.settle_directory();
        done
    }

    /// A new name is durable when its directory is; where that cannot be asked for, it comes in time.
    fn settle_directory(&self) {
        if let Ok(directory) = File::open(directory_of(&self.target)) {
            drop(directory.sync_all());
        }
    }
}

/// Makes the staging file anew out of the first bytes of a target that is complete, if these are so many whole lines.
pub fn cut_from_target(target: &Path, bytes: u64, lines: u64) -> io::Result<()> {
    let part = beside(target, "part");
    if part.exists() || !target.is_file() {
        return Ok(());
    }
    // Under another name first: a staging file that is there is whole.
    let last = beside(target, "last");
    let mut from = BufReader::new(File::open(target)?.take(bytes));
    let mut to = BufWriter::new(File::create(&last)?);
    let (mut copied, mut ends, mut at_end) = (0, 0, false);
    loop {
        let piece = from.fill_buf()?;
        let Some(last_byte) = piece.last() else { break };
        at_end = *last_byte == b'\n';
        ends += piece.iter().filter(|byte| **byte == b'\n').count() as u64;
        to.write_all(piece)?;
        let length = piece.len();
        copied += length as u64;
        from.consume(length);
    }
    let file = to.into_inner().map_err(io::IntoInnerError::into_error)?;
    if (copied, ends, at_end) != (bytes, lines, true) {
        return fs::remove_file(&last);
    }
    file.sync_all()?;
    fs::rename(&last, &part)
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.synced {
            drop(fs::remove_file(&self.part));
        }
    }
}

/// `.NAME.eigenhedge-part`: hidden, and found again by whoever resumes.
fn beside(target: &Path, what: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".eigenhedge-{what}"));
    directory_of(target).join(name)
}

fn directory_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Opens and locks a file. Whoever had it before may have renamed it in between: then this is another file by now, and
/// the name is tried again.
fn locked(part: &Path, create: bool) -> Result<File, TryLockError> {
    loop {
        let opened = File::options().read(true).write(true).create(create).truncate(false).open(part);
        let file = opened.map_err(TryLockError::Error)?;
        file.try_lock()?;
        if is_at(&file, part) {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(file), Ok(there)) => (file.dev(), file.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}
