//! Sources of the bytes of a table: files, memory or standard input.

use crate::error::{printable, printable_path};
use crate::format::Format;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Source of the rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Standard,
    /// File with this path.
    File(PathBuf),
    /// Several sources, read one after the other as one table.
    Several(Vec<Self>),
    /// Bytes in memory, with the name of their file or a name for messages.
    Bytes(Arc<str>, Arc<[u8]>),
}

impl Source {
    pub(crate) fn parts(&self) -> Vec<Self> {
        match self {
            Self::Several(parts) => parts.clone(),
            other => vec![other.clone()],
        }
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Bytes(name, _) => Some(Path::new(&**name)),
            _ => None,
        }
    }

    /// Returns the format by the file extensions of the parts, or a message if they differ.
    pub fn format(&self) -> Result<Format, String> {
        let of = |part: &Self| part.path().map_or(Format::Csv, Format::of_path);
        let parts = self.parts();
        let format = parts.first().map_or(Format::Csv, of);
        match parts.iter().find(|part| of(part) != format) {
            None => Ok(format),
            Some(part) => {
                let (name, found) = (format.name(), of(part).name());
                let reason = format!("like the first, got {found} in {}; --format says what they are", part.name());
                Err(format!("several inputs must be of one format, {name} {reason}"))
            }
        }
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Standard => "standard input".to_owned(),
            Self::Bytes(name, _) => printable(name),
            Self::File(path) => printable_path(path),
            Self::Several(parts) => parts.first().map_or(String::new(), Self::name),
        }
    }

    /// Returns true if all parts are regular files or bytes in memory.
    pub fn is_regular(&self) -> bool {
        match self {
            Self::Standard => false,
            Self::Bytes(..) => true,
            Self::File(path) => path.is_file(),
            Self::Several(parts) => parts.iter().all(Self::is_regular),
        }
    }
}
