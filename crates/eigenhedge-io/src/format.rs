//! Sources of tables, and their formats by name and by file extension.

use crate::error::{printable, printable_path};
use crate::unpack::Packing;
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

    /// Returns the name for messages, which is that of the first part.
    pub fn name(&self) -> String {
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

/// Format of an input table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Cells separated by commas, or by another delimiter that is given or detected.
    #[default]
    Csv,
    /// Tab-separated cells.
    Tsv,
    /// One JSON array or object per line.
    Jsonl,
    /// NumPy array.
    Npy,
    /// Archive of NumPy arrays.
    Npz,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, as a file or as a stream.
    Arrow,
    /// Feather version 2, which is an Arrow IPC file.
    Feather,
    /// Lines with a label and `INDEX:VALUE` pairs.
    Libsvm,
    /// One text per line.
    Lines,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 10] = {
        use Format::*;
        [Csv, Tsv, Jsonl, Npy, Npz, Parquet, Arrow, Feather, Libsvm, Lines]
    };

    /// Returns the name of the format on the command line.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 10] =
            ["csv", "tsv", "jsonl", "npy", "npz", "parquet", "arrow", "feather", "libsvm", "lines"];
        NAMES[self as usize]
    }

    /// Returns the format with this name, or `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the format by extension, before `.gz`, `.zst` or that of a workbook. An unknown extension means CSV.
    pub fn of_path(path: &Path) -> Self {
        let stem = path.file_stem().map(Path::new).filter(|_| Packing::of_path(path) != Packing::Plain);
        let path = stem.unwrap_or(path);
        let end = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        match end.as_str() {
            "tab" => Self::Tsv,
            "ndjson" | "json" => Self::Jsonl,
            "pq" => Self::Parquet,
            "arrows" | "ipc" => Self::Arrow,
            "ftr" => Self::Feather,
            "svmlight" | "svm" => Self::Libsvm,
            "log" => Self::Lines,
            name => Self::from_name(name).unwrap_or_default(),
        }
    }

    /// Returns true for CSV, TSV, JSON lines, LIBSVM and lines of text.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Jsonl | Self::Libsvm | Self::Lines)
    }

    /// Returns true if columns of this format can have names.
    pub fn has_names(self) -> bool {
        !matches!(self, Self::Npy | Self::Npz | Self::Libsvm)
    }
}

pub(crate) fn signature(start: &[u8]) -> Option<&'static str> {
    const SIGNATURES: [(&[u8], &str); 5] = [
        (b"PAR1", "parquet"),
        (b"\x93NUMPY", "npy"),
        (b"PK\x03\x04", "a zip archive or npz"),
        (b"ARROW1", "arrow"),
        (b"FEA1", "feather version 1"),
    ];
    SIGNATURES.into_iter().find(|(bytes, _)| start.starts_with(bytes)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_an_extension_and_reads_back() {
        for format in Format::ALL {
            assert_eq!(Format::from_name(format.name()), Some(format));
            assert_eq!(Format::of_path(Path::new(&format!("a.b/DATA.{}", format.name().to_uppercase()))), format);
        }
        assert_eq!(Format::of_path(Path::new("npy")), Format::Csv);
        assert_eq!(Format::of_path(Path::new("a.jsonl.GZ")), Format::Jsonl);
        assert_eq!(Format::of_path(Path::new("a.npy.zst")), Format::Npy);
        assert_eq!(Format::of_path(Path::new(".gz")), Format::Csv);
    }
}
