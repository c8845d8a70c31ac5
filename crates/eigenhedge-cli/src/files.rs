//! Reading of saved models and monitors, and checks of output paths.

use anyhow::{Context, Result, anyhow};
use eigenhedge::{Model, Monitor, Refusal, SavedKind};
use eigenhedge_io::{MaxMemory, printable_path};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Devices always differ.
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

pub fn read_model(path: &Path) -> Result<Model> {
    read(path, Model::from_bytes)
}

pub fn read_monitor(path: &Path) -> Result<Monitor> {
    read(path, Monitor::from_bytes)
}

fn read<T>(path: &Path, from_bytes: impl Fn(&[u8]) -> Result<T, Refusal>) -> Result<T> {
    let name = printable_path(path);
    let bytes = bytes_of(path, &from_bytes).with_context(|| format!("{name} cannot be read"))?;
    from_bytes(&bytes).map_err(|refusal| anyhow!("{name}: {refusal}{}", advice(&refusal)))
}

fn advice(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Kind { found: SavedKind::Model, .. } => ": eigenhedge run takes it",
        Refusal::Kind { found: SavedKind::Models, .. } => ": eigenhedge run --group-by takes it",
        Refusal::Kind { found: SavedKind::Monitor, .. } => ": eigenhedge monitor takes it",
        Refusal::Kind { found: SavedKind::Monitors, .. } => ": eigenhedge monitor --group-by takes it",
        Refusal::Foreign => ": --snapshot writes such files",
        _ => "",
    }
}

pub fn kind_of(path: &Path) -> Result<SavedKind> {
    let name = printable_path(path);
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SavedKind::HEAD as u64).read_to_end(&mut head));
    read.with_context(|| format!("{name} cannot be read"))?;
    SavedKind::of(&head).map_err(|refusal| anyhow!("{name}: {refusal}{}", advice(&refusal)))
}

/// Reads at most one byte more than the header states, because the path may be a device.
fn bytes_of<T>(path: &Path, read: impl Fn(&[u8]) -> Result<T, Refusal>) -> io::Result<Vec<u8>> {
    const HEAD: u64 = 28;
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

pub fn judge_place(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (name, folder_name) = (printable_path(path), printable_path(folder));
    match (fs::metadata(path), fs::metadata(folder)) {
        (Ok(there), _) if there.is_dir() => Err(anyhow!("{name} cannot be written: it is a folder; name a file in it")),
        (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => {
            Err(anyhow!("{name} cannot be written: there is no folder {folder_name}; create it first"))
        }
        (_, Err(error)) => Err(error).with_context(|| format!("{name} cannot be written")),
        (_, Ok(folder)) if !folder.is_dir() => {
            Err(anyhow!("{name} cannot be written: {folder_name} is a file, not a folder"))
        }
        _ => Ok(()),
    }
}

pub const MOST_IN_MEMORY: usize = 4096;

pub fn scratch_folder(snapshot: Option<&Path>) -> PathBuf {
    let folder = snapshot.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or_else(std::env::temp_dir, Path::to_owned)
}
