//! Errors of usage, and `-` for standard input and output.

use std::path::Path;

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

pub fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}
