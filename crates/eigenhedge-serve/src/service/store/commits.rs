//! Number of commits, in a separate file.
//!
//! redb cannot distinguish damaged pages from an interrupted commit, and returns to the previous
//! commit. The number in this file is written after each commit, so a store with fewer commits has
//! lost some. The file is not synced: after a power failure it may be older than the store or
//! empty. It is absent after a backup was restored into an empty folder.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// File that contains the number of commits, as text of fixed length.
pub struct CommitFile(Option<File>);

impl CommitFile {
    pub fn path(folder: &Path) -> PathBuf {
        folder.join("commits")
    }

    /// Returns the number of commits, or `None` if the file is absent or does not contain a number.
    pub fn read(folder: &Path) -> Option<u64> {
        fs::read_to_string(Self::path(folder)).ok()?.trim_end().parse().ok()
    }

    pub fn open(folder: &Path) -> Self {
        Self(private_file(&Self::path(folder)).ok())
    }

    /// Writes the number of commits. Errors are ignored, because the commit is durable without it.
    pub fn write(&mut self, commits: u64) {
        let write = |file: &mut File| -> io::Result<()> {
            file.seek(SeekFrom::Start(0))?;
            writeln!(file, "{commits:020}")
        };
        self.0.iter_mut().for_each(|file| _ = write(file));
    }
}

pub fn private_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates a folder and its missing parents. On Unix, only the owner may access them. Does not change an existing folder.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}
