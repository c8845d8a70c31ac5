//! Errors of reproductions.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Reason why a reproduction failed.
#[derive(Debug, Error)]
pub enum LabError {
    /// An error of the library.
    #[error(transparent)]
    Refused(#[from] eigenhedge::Error),
    /// A data file is missing or invalid.
    #[error("{}: {what}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// Description of the problem.
        what: String,
    },
    /// An output file cannot be written.
    #[error("{}: cannot be written", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
    /// An array cannot be read, or a table, a plot or a page cannot be written.
    #[error(transparent)]
    File(#[from] eigenhedge_io::Error),
    /// The results of the claims cannot be printed.
    #[error("the claims cannot be printed")]
    Unprintable(#[source] io::Error),
}
