//! Errors of reproductions.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum LabError {
    #[error(transparent)]
    Refused(#[from] eigenhedge::Error),
    #[error("{}: {what}", path.display())]
    Data { path: PathBuf, what: String },
    #[error("{}: cannot be written", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error(transparent)]
    File(#[from] eigenhedge_io::Error),
    #[error("the claims cannot be printed")]
    Unprintable(#[source] io::Error),
}
