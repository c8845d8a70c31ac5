//! Errors that keep a figure from being made.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why there is no outcome.
#[derive(Debug, Error)]
pub enum LabError {
    /// The library refused something.
    #[error(transparent)]
    Refused(#[from] eigenhedge::Error),
    /// A data file is not there, or is not what it should be.
    #[error("{}: {what}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// The fault.
        what: String,
    },
    /// A file of the outcome cannot be written.
    #[error("{}: cannot be written", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An array cannot be read, or a table, a picture or a page cannot be written.
    #[error(transparent)]
    File(#[from] eigenhedge_io::Error),
    /// The lines about claims cannot be written.
    #[error("the claims cannot be printed")]
    Unprintable(#[source] io::Error),
}
