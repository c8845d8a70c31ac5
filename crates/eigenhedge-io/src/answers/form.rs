//! The forms an answer can take.

use super::Answer;
use crate::error::Fault;
use crate::format::Format;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

/// How answers are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// Cells between commas, under a header.
    Csv,
    /// Cells between tabs, under a header.
    Tsv,
    /// One JSON object on each line.
    Jsonl,
    /// Apache Parquet; until the end, plain records in the staging file.
    Parquet,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 4] = [Self::Csv, Self::Tsv, Self::Jsonl, Self::Parquet];

    /// The name that users type.
    pub fn name(self) -> &'static str {
        let format = match self {
            Self::Csv => Format::Csv,
            Self::Tsv => Format::Tsv,
            Self::Jsonl => Format::Jsonl,
            Self::Parquet => Format::Parquet,
        };
        format.name()
    }

    /// The form of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }

    /// The one that the end of the file's name says; an unknown end says CSV.
    pub fn of_path(path: &Path) -> Self {
        Self::from_name(Format::of_path(path).name()).unwrap_or(Self::Csv)
    }

    /// True if this build can write it.
    pub(crate) fn judge(self) -> Result<(), Fault> {
        match self {
            Self::Parquet if !cfg!(feature = "parquet") => Err(Fault::NotBuilt(self.name())),
            _ => Ok(()),
        }
    }

    /// Writes the header, if there is one.
    pub(crate) fn header(self, names: &[String], kept: usize, out: &mut dyn Write) -> io::Result<()> {
        let Some(comma) = self.comma() else { return Ok(()) };
        write!(out, "row")?;
        names.iter().try_for_each(|name| write!(out, "{comma}{}", quoted_cell(name, comma)))?;
        write!(out, "{comma}expected_loss{comma}loss")?;
        (0..kept).try_for_each(|i| write!(out, "{comma}z{i}"))?;
        writeln!(out)
    }

    /// One answer. The shortest text that reads back as the same number is used for each.
    pub(crate) fn write(self, answer: &Answer<'_>, names: &[String], out: &mut dyn Write) -> io::Result<()> {
        let Answer { row, expected_loss, loss, coordinates, texts } = *answer;
        match self {
            Self::Csv | Self::Tsv => {
                let comma = self.comma().unwrap_or(',');
                write!(out, "{row}")?;
                texts.iter().try_for_each(|text| write!(out, "{comma}{}", quoted_cell(text, comma)))?;
                write!(out, "{comma}{expected_loss:?}{comma}{loss:?}")?;
                coordinates.iter().try_for_each(|z| write!(out, "{comma}{z:?}"))?;
                writeln!(out)
            }
            Self::Jsonl => {
                write!(out, "{{\"row\":{row}")?;
                for (name, text) in names.iter().zip(texts) {
                    write!(out, ",{}:{}", serde_json::to_string(name)?, serde_json::to_string(text)?)?;
                }
                write!(out, ",\"expected_loss\":{expected_loss:?},\"loss\":{loss:?}")?;
                (0..).zip(coordinates).try_for_each(|(i, z): (usize, _)| write!(out, ",\"z{i}\":{z:?}"))?;
                writeln!(out, "}}")
            }
            Self::Parquet => {
                out.write_all(&row.to_le_bytes())?;
                for text in texts {
                    let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
                    out.write_all(&length.to_le_bytes())?;
                    out.write_all(text.as_bytes())?;
                }
                let numbers = [expected_loss, loss].into_iter().chain(coordinates.iter().copied());
                numbers.into_iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))
            }
        }
    }

    /// Writes the header of a table with these columns, if there is one.
    pub(crate) fn names(self, names: &[String], out: &mut dyn Write) -> io::Result<()> {
        let Some(comma) = self.comma() else { return Ok(()) };
        let cells: Vec<Cow<'_, str>> = names.iter().map(|name| quoted_cell(name, comma)).collect();
        writeln!(out, "{}", cells.join(&comma.to_string()))
    }

    /// One row of a table with these columns, in numbers that read back the same.
    pub(crate) fn row(self, names: &[String], row: &[f64], out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Csv | Self::Tsv => {
                let comma = self.comma().unwrap_or(',').to_string();
                let cells: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
                writeln!(out, "{}", cells.join(&comma))
            }
            Self::Jsonl => {
                let cell = |(name, x): (&String, &f64)| Ok(format!("{}:{x:?}", serde_json::to_string(name)?));
                let cells: io::Result<Vec<String>> = names.iter().zip(row).map(cell).collect();
                writeln!(out, "{{{}}}", cells?.join(","))
            }
            Self::Parquet => row.iter().try_for_each(|x| out.write_all(&x.to_le_bytes())),
        }
    }

    /// Lines of a file with so many answers; none when it has no lines.
    pub(crate) fn lines(self, answers: u64) -> Option<u64> {
        match self {
            Self::Csv | Self::Tsv => Some(answers + 1),
            Self::Jsonl => Some(answers),
            Self::Parquet => None,
        }
    }

    fn comma(self) -> Option<char> {
        match self {
            Self::Csv => Some(','),
            Self::Tsv => Some('\t'),
            Self::Jsonl | Self::Parquet => None,
        }
    }
}

/// A cell as it stands between separators: in quotes if it must be.
fn quoted_cell(text: &str, comma: char) -> Cow<'_, str> {
    let is_plain = !text.contains([comma, '"', '\n', '\r']) && text.trim() == text;
    if is_plain { Cow::Borrowed(text) } else { Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))) }
}
