//! Input formats, by name and by file extension.

use crate::unpack::Packing;
use std::path::Path;

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
