//! Number of commits, in a separate file. redb returns to the previous commit after damage as after an interruption, so a
//! store with fewer commits has lost some. The file is not synced: it may be older than the store, empty or absent.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub struct CommitFile(Option<File>);

impl CommitFile {
    pub fn path(folder: &Path) -> PathBuf {
        folder.join("commits")
    }

    pub fn read(folder: &Path) -> Option<u64> {
        fs::read_to_string(Self::path(folder)).ok()?.trim_end().parse().ok()
    }

    pub fn open(folder: &Path) -> Self {
        Self(private_file(&Self::path(folder)).ok())
    }

    /// Errors are ignored, because the commit is durable without the number.
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

pub fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}
