//! Snapshots in, and files out: complete or absent.

use anyhow::{Context, Result, anyhow};
use eigenhedge::snapshot::Snapshot;
use eigenhedge_io::{MaxMemory, printable_path};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Reads a snapshot.
pub fn read_snapshot(path: &Path) -> Result<Snapshot> {
    let most = MaxMemory::of_machine();
    let mut bytes = Vec::new();
    // Not all that can be opened has an end.
    File::open(path)
        .and_then(|file| file.take(most.bytes()).read_to_end(&mut bytes))
        .with_context(|| format!("{} cannot be read", printable_path(path)))?;
    if bytes.len() as u64 == most.bytes() {
        return Err(anyhow!("{}: must be less than half of the machine's memory, {most}", printable_path(path)));
    }
    Snapshot::from_bytes(&bytes).map_err(|refusal| anyhow!("{}: {refusal}", printable_path(path)))
}

/// Writes a file that is there as a whole, after a power failure too, or is what it was before.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    Ok(eigenhedge_io::write_whole(path, bytes)?)
}

/// Finds out before the work that a file could not be written after it.
pub fn judge_place(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let kind = match (fs::metadata(path), fs::metadata(folder)) {
        (Ok(there), _) if there.is_dir() => Some(io::ErrorKind::IsADirectory.into()),
        (_, Err(error)) => Some(error),
        (_, Ok(folder)) if !folder.is_dir() => Some(io::Error::from(io::ErrorKind::NotADirectory)),
        _ => None,
    };
    kind.map_or(Ok(()), |error| Err(error).with_context(|| format!("{} cannot be written", printable_path(path))))
}
