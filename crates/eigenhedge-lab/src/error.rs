//! Errors of the reproductions in this crate.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Reason why a reproduction failed.
#[derive(Debug, Error)]
pub enum LabError {
    /// The library returned an error.
    #[error(transparent)]
    Refused(#[from] eigenhedge::Error),
    /// A data file is missing or invalid.
    #[error("{}: {what}", path.display())]
    Data {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        what: String,
    },
    /// An output file cannot be written.
    #[error("{}: cannot be written", path.display())]
    Unwritable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// An array cannot be read, or a table, a plot or a page cannot be written.
    #[error(transparent)]
    File(#[from] eigenhedge_io::Error),
    /// The claims cannot be printed.
    #[error("the claims cannot be printed")]
    Unprintable(#[source] io::Error),
}
