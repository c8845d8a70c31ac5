//! Files that are complete or absent: snapshots, pages, pictures.

use anyhow::{Context, Result, anyhow};
use eigenhedge::snapshot::Snapshot;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Reads a snapshot.
pub fn read_snapshot(path: &Path) -> Result<Snapshot> {
    let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Snapshot::from_bytes(&bytes).map_err(|refusal| anyhow!("{}: {refusal}", path.display()))
}

/// Writes a file that is there as a whole, after a power failure too, or is what it was before. What is no regular file,
/// such as a device, is written in place.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    replace(path, bytes).with_context(|| unwritable(path))
}

/// Finds out before the work that a file could not be written after it.
pub fn judge_place(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    let kind = match (fs::metadata(path), fs::metadata(folder)) {
        (Ok(there), _) if there.is_dir() => Some(io::ErrorKind::IsADirectory.into()),
        (_, Err(error)) => Some(error),
        (_, Ok(folder)) if !folder.is_dir() => Some(io::Error::from(io::ErrorKind::NotADirectory)),
        _ => None,
    };
    kind.map_or(Ok(()), |error| Err(error).with_context(|| unwritable(path)))
}

fn replace(typed: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link is followed: what it points to is replaced, not the link.
    let path = fs::canonicalize(typed).unwrap_or_else(|_| typed.to_owned());
    if fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
        return File::options().write(true).open(&path)?.write_all(bytes);
    }
    // One name for all attempts, so that those that were killed do not leave a heap of files.
    let next = beside(&path);
    let write = || {
        let mut file = File::create(&next)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&next, &path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&next)))?;
    // A new name is durable when its folder is; where that cannot be asked for, it comes in time.
    if let Ok(folder) = File::open(folder_of(&path)) {
        drop(folder.sync_all());
    }
    Ok(())
}

/// `.NAME.eigenhedge-next`.
fn beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".eigenhedge-next");
    folder_of(path).join(name)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn unwritable(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}
