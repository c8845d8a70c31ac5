//! Snapshots in, and files out: complete or absent.

use anyhow::{Context, Result, anyhow};
use eigenhedge::{Refusal, SavedMonitors, Snapshot, is_fleet, is_monitor};
use eigenhedge_io::{MaxMemory, printable_path};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// True if both paths name one regular file, or would once it is written. Devices, such as /dev/null, are never the same file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    // A file that does not exist yet is identified by its folder and name.
    let place = |path: &Path| {
        path.canonicalize().ok().or_else(|| {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(folder.canonicalize().ok()?.join(path.file_name()?))
        })
    };
    match (place(one), place(other)) {
        (Some(one), Some(other)) => one == other && (one.is_file() || !one.exists()),
        _ => one == other,
    }
}

/// Reads a snapshot.
pub fn read_snapshot(path: &Path) -> Result<Snapshot> {
    let name = printable_path(path);
    let bytes = bytes_of(path, Snapshot::from_bytes).with_context(|| format!("{name} cannot be read"))?;
    if is_fleet(&bytes) {
        return Err(anyhow!("{name}: holds a learner for each key, as `run --group-by` saves them, and not one model"));
    }
    if is_monitor(&bytes) {
        return Err(anyhow!("{name}: holds a monitor, as `monitor --snapshot` saves it, and not a model"));
    }
    Snapshot::from_bytes(&bytes).map_err(|refusal| anyhow!("{name}: {refusal}"))
}

/// Reads saved monitors.
pub fn read_monitors(path: &Path) -> Result<SavedMonitors> {
    let name = printable_path(path);
    let bytes = bytes_of(path, SavedMonitors::from_bytes).with_context(|| format!("{name} cannot be read"))?;
    SavedMonitors::from_bytes(&bytes).map_err(|refusal| match refusal {
        Refusal::Foreign => anyhow!("{name}: is no monitor that `eigenhedge monitor --snapshot` has saved"),
        refusal => anyhow!("{name}: {refusal}"),
    })
}

/// A kind of saved file, as its first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saved {
    /// A model; or no file of this program, which reading it says.
    Model,
    /// A learner for each key.
    Fleet,
    /// A monitor, or one for each key.
    Monitors,
}

/// The kind of a saved file.
pub fn kind_of(path: &Path) -> Result<Saved> {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(8).read_to_end(&mut head));
    read.with_context(|| format!("{} cannot be read", printable_path(path)))?;
    Ok(match () {
        () if is_fleet(&head) => Saved::Fleet,
        () if is_monitor(&head) => Saved::Monitors,
        () => Saved::Model,
    })
}

/// The head of a snapshot and as many bytes as it states, and one more if there is one: not all that can be opened has
/// an end.
fn bytes_of<T>(path: &Path, read: impl Fn(&[u8]) -> Result<T, Refusal>) -> io::Result<Vec<u8>> {
    const HEAD: u64 = 24;
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(HEAD).read_to_end(&mut bytes)?;
    if let Err(Refusal::Length { expected, .. }) = read(&bytes) {
        let most = MaxMemory::of_machine();
        if expected > most.bytes() {
            return Err(io::Error::other(format!("it says that it has {expected} bytes, and {most} are allowed")));
        }
        file.take(expected + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The name of a source without the folders of this machine, for the title of a page.
pub fn file_name(source: &str) -> &str {
    source.rsplit(['/', '\\']).next().unwrap_or(source)
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
