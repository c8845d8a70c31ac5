//! Atomic file output: files are either complete or absent, even after a power failure.
//!
//! Each output file is first written to a staging file in the folder of the target, and synced. The staging file is
//! then renamed to the target, and the folder is synced. On Unix, the new file has the permissions of the previous one.
//!
//! The names are fixed, so that the next run can resume or remove the file that a killed run left:
//! `.NAME.eigenhedge-part` for files written in pieces, `-next` for files written at once, `-last` for files converted
//! or copied from another, and `-lock` for a [`Reservation`]. A staging file is locked while it is written. It is
//! created anew unless a run is resumed. Links are not followed, so that no other file can be overwritten.

use crate::error::{Error, Fault, printable_path};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub(crate) struct Place {
    typed: PathBuf,
    target: PathBuf,
    /// True if a new target is readable only by its owner, whatever the umask of the process.
    #[cfg_attr(not(unix), allow(dead_code))]
    is_private: bool,
}

pub(crate) enum Kind {
    /// Regular file, which can be replaced, or a path at which no file exists yet.
    File(Place),
    Device(File),
}

impl Place {
    /// Inspects the path. Links are followed, so that the linked file is replaced and not the link.
    pub fn look(typed: &Path) -> Result<Kind, Error> {
        let target = fs::canonicalize(typed).unwrap_or_else(|_| typed.to_owned());
        let place = Self { typed: typed.to_owned(), target, is_private: false };
        match fs::metadata(&place.target) {
            Ok(there) if there.is_dir() => Err(place.refuse(io::ErrorKind::IsADirectory.into())),
            Ok(there) if !there.is_file() => {
                let device = File::options().write(true).open(&place.target);
                device.map(Kind::Device).map_err(|error| place.refuse(error))
            }
            _ => Ok(Kind::File(place)),
        }
    }

    /// Creates the error for this file. The kind `WouldBlock` comes from a lock of another run.
    pub fn refuse(&self, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::WouldBlock => Error::at(printable_path(&self.typed), Fault::Busy),
            _ => unwritable(&self.typed, error),
        }
    }

    fn beside(&self, what: &str) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(self.target.file_name().unwrap_or_default());
        name.push(format!(".eigenhedge-{what}"));
        folder_of(&self.target).join(name)
    }

    fn replace(&self, staging: &Path) -> io::Result<()> {
        fs::rename(staging, &self.target)?;
        self.sync_folder()
    }

    fn sync_folder(&self) -> io::Result<()> {
        let Ok(folder) = File::open(folder_of(&self.target)) else { return Ok(()) };
        match folder.sync_all() {
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
            outcome => outcome,
        }
    }

    fn create(&self, what: &str, wait: bool) -> Result<(PathBuf, File), Error> {
        let path = self.beside(what);
        create_locked(&path, self, wait).map(|file| (path, file)).map_err(|error| self.refuse(error))
    }
}

pub(crate) struct Staging {
    out: BufWriter<File>,
    place: Place,
    part: PathBuf,
    /// True once `sync` has returned a size. The file must then survive a failed run.
    synced: bool,
}

impl Staging {
    pub fn create(place: Place) -> Result<Self, Error> {
        let (part, file) = place.create("part", false)?;
        Ok(Self { out: BufWriter::with_capacity(1 << 16, file), place, part, synced: false })
    }

    /// Opens the staging file of an earlier run, and truncates it to `wanted` bytes. A shorter file is an error.
    pub fn resume(place: Place, wanted: u64) -> Result<Self, Error> {
        let part = place.beside("part");
        let shrunk = |found| {
            let rule = format!("must still hold the {wanted} bytes written before the run was stopped, got {found}");
            Error::at(printable_path(&part), Fault::Table(rule))
        };
        let mut file = open_locked(&part, false).map_err(|error| match error {
            error if error.kind() == io::ErrorKind::NotFound => shrunk(0),
            error => place.refuse(error),
        })?;
        let found = file.metadata().map_err(|error| place.refuse(error))?.len();
        if found < wanted {
            return Err(shrunk(found));
        }
        file.set_len(wanted).and_then(|()| file.seek(SeekFrom::End(0))).map_err(|error| place.refuse(error))?;
        Ok(Self { out: BufWriter::with_capacity(1 << 16, file), place, part, synced: true })
    }

    /// Syncs the file and its folder, and returns its size. The file is then kept even on failure.
    pub fn sync(&mut self) -> Result<u64, Error> {
        let mut sync = || {
            self.out.flush()?;
            let file = self.out.get_mut();
            file.sync_data()?;
            if !self.synced {
                self.place.sync_folder()?;
            }
            file.stream_position()
        };
        let bytes = sync().map_err(|error| self.place.refuse(error))?;
        self.synced = true;
        Ok(bytes)
    }

    pub fn finish(mut self) -> Result<(), Error> {
        let mut finish = || {
            self.out.flush()?;
            keep_rights(self.out.get_ref(), &self.place.target)?;
            self.out.get_ref().sync_all()?;
            self.synced = true;
            self.place.replace(&self.part)
        };
        finish().map_err(|error| self.place.refuse(error))
    }

    pub fn finish_through(
        mut self,
        convert: impl FnOnce(BufReader<&File>, File) -> io::Result<File>,
    ) -> Result<(), Error> {
        self.sync()?;
        // No other program creates this file while the staging file is locked.
        let (last, file) = self.place.create("last", false)?;
        let make = || {
            self.out.get_mut().rewind()?;
            let made = convert(BufReader::with_capacity(1 << 16, self.out.get_ref()), file)?;
            made.sync_all()?;
            self.place.replace(&last)
        };
        make().map_err(|error| self.place.refuse(error)).inspect_err(|_| drop(fs::remove_file(&last)))?;
        // The staging file is removed on drop.
        self.synced = false;
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.synced {
            drop(fs::remove_file(&self.part));
        }
    }
}

/// Recreates the staging file from a complete target, if its first `bytes` bytes are exactly `lines` lines. With
/// `with_quotes`, line ends between quotation marks do not count.
pub(crate) fn cut_from_target(place: &Place, bytes: u64, lines: u64, with_quotes: bool) -> Result<(), Error> {
    let part = place.beside("part");
    if fs::symlink_metadata(&part).is_ok() || !place.target.is_file() {
        return Ok(());
    }
    // The copy is made under another name, so that an existing staging file is always complete.
    let (last, file) = place.create("last", false)?;
    let cut = || {
        let mut from = BufReader::new(File::open(&place.target)?.take(bytes));
        let mut to = BufWriter::new(file);
        let (mut copied, mut ends, mut at_end, mut is_quoted) = (0, 0, true, false);
        loop {
            let piece = from.fill_buf()?;
            let Some(last_byte) = piece.last() else { break };
            at_end = *last_byte == b'\n';
            for byte in piece {
                is_quoted ^= with_quotes && *byte == b'"';
                ends += u64::from(*byte == b'\n' && !is_quoted);
            }
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
    };
    cut().map_err(|error| place.refuse(error))
}

/// File that is written in pieces and replaces its target at the end, or a device, which is written in place.
pub(crate) enum Out {
    Staged(Staging),
    Device(BufWriter<File>, PathBuf),
}

impl Out {
    pub fn open(path: &Path, staged: impl FnOnce(Place) -> Result<Staging, Error>) -> Result<Self, Error> {
        match Place::look(path)? {
            Kind::File(place) => staged(place).map(Self::Staged),
            Kind::Device(device) => Ok(Self::Device(BufWriter::new(device), path.to_owned())),
        }
    }

    pub fn private(path: &Path) -> Result<Self, Error> {
        Self::open(path, |place| Staging::create(Place { is_private: true, ..place }))
    }

    pub fn hand_over(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        match self {
            Self::Staged(staging) => write(&mut staging.out).map_err(|error| staging.place.refuse(error)),
            Self::Device(out, path) => write(out).map_err(|error| unwritable(path, error)),
        }
    }

    pub fn finish(mut self) -> Result<(), Error> {
        match self {
            Self::Staged(staging) => staging.finish(),
            Self::Device(..) => self.hand_over(|out| out.flush()),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hand_over(|out| out.write_all(bytes)).map(|()| bytes.len()).map_err(io::Error::other)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a file atomically: after a power failure it is complete or unchanged. A device is written in place.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_at_once(path, bytes, false)
}

/// Writes a file like [`write_whole`]. Only its owner may read a new file, as saved models contain rows of data.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_at_once(path, bytes, true)
}

fn write_at_once(path: &Path, bytes: &[u8], is_private: bool) -> Result<(), Error> {
    let place = match Place::look(path)? {
        Kind::File(place) => Place { is_private, ..place },
        Kind::Device(mut device) => return device.write_all(bytes).map_err(|error| unwritable(path, error)),
    };
    let (next, mut file) = place.create("next", true)?;
    let mut write = || {
        file.write_all(bytes)?;
        file.sync_all()?;
        place.replace(&next)
    };
    write().inspect_err(|_| drop(fs::remove_file(&next))).map_err(|error| place.refuse(error))
}

/// Lock on a file that a run writes more than once. It excludes other runs until it is dropped.
pub struct Reservation {
    lock: PathBuf,
    _file: File,
}

impl Reservation {
    /// Reserves a file. Returns `None` for a device, and an error if another run has reserved the file.
    pub fn of(path: &Path) -> Result<Option<Self>, Error> {
        match Place::look(path)? {
            Kind::Device(_) => Ok(None),
            Kind::File(place) => {
                let lock = place.beside("lock");
                let file = open_locked(&lock, true).map_err(|error| place.refuse(error))?;
                Ok(Some(Self { lock, _file: file }))
            }
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.lock));
    }
}

pub(crate) fn unwritable(path: &Path, error: io::Error) -> Error {
    Error::at(printable_path(path), Fault::Unwritable(error))
}

pub(crate) fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn create_locked(path: &Path, place: &Place, wait: bool) -> io::Result<File> {
    loop {
        // The old file stays locked until the new file exists, so that two runs do not remove each other's file.
        let left = match fs::symlink_metadata(path) {
            Ok(there) if there.is_file() => match open_existing(path) {
                Ok(file) => {
                    lock(&file, wait)?;
                    if !is_at(&file, path) {
                        continue;
                    }
                    Some(file)
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // The file may belong to another user. The folder may still permit its removal.
                Err(_) => None,
            },
            _ => None,
        };
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        restrict(&mut options, place);
        let file = match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            outcome => outcome?,
        };
        lock(&file, wait)?;
        drop(left);
        if is_at(&file, path) {
            keep_rights(&file, &place.target)?;
            return Ok(file);
        }
    }
}

/// Opens and locks a file of an earlier run, or creates it. Tries again if another run renames it in the meantime.
fn open_locked(path: &Path, create: bool) -> io::Result<File> {
    loop {
        let file = match open_existing(path) {
            Err(error) if create && error.kind() == io::ErrorKind::NotFound => {
                match File::options().read(true).write(true).create_new(true).open(path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    outcome => outcome?,
                }
            }
            outcome => outcome?,
        };
        lock(&file, false)?;
        if is_at(&file, path) {
            return Ok(file);
        }
    }
}

fn lock(file: &File, wait: bool) -> io::Result<()> {
    if wait { file.lock() } else { Ok(file.try_lock()?) }
}

/// Opens a regular file without other hard links. Symbolic links are not followed.
fn open_existing(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags((rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits().cast_signed());
    }
    let file = options.open(path)?;
    let there = file.metadata()?;
    if there.is_file() && has_one_name(&there) {
        return Ok(file);
    }
    Err(io::Error::other(format!("{} is no plain file of an earlier run", printable_path(path))))
}

#[cfg(unix)]
fn has_one_name(there: &fs::Metadata) -> bool {
    // The number of links is zero if the file was removed in the meantime.
    std::os::unix::fs::MetadataExt::nlink(there) <= 1
}

#[cfg(not(unix))]
fn has_one_name(_: &fs::Metadata) -> bool {
    true
}

/// Gives a new file the permissions of the file that it will replace, or restricts a private one to its owner.
#[cfg(unix)]
fn restrict(options: &mut OpenOptions, place: &Place) {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    match fs::metadata(&place.target) {
        Ok(there) => options.mode(there.permissions().mode() & 0o777),
        Err(_) => options.mode(if place.is_private { 0o600 } else { 0o666 }),
    };
}

#[cfg(not(unix))]
fn restrict(_: &mut OpenOptions, _: &Place) {}

#[cfg(unix)]
fn keep_rights(file: &File, target: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let Ok(there) = fs::metadata(target) else { return Ok(()) };
    let wanted = there.permissions().mode() & 0o777;
    // Some file systems do not store permissions and refuse to change them.
    if file.metadata()?.permissions().mode() & 0o777 == wanted {
        return Ok(());
    }
    file.set_permissions(fs::Permissions::from_mode(wanted))
}

#[cfg(not(unix))]
fn keep_rights(_: &File, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(file), Ok(there)) => (file.dev(), file.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}
