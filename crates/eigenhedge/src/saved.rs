//! File format of saved objects.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | magic number `89 45 48 47 0D 0A 1A 0A` |
//! | 4 | version, little-endian |
//! | 4 | kind, little-endian ([`SavedKind`]) |
//! | 8 | length of the body, little-endian |
//! | 4 | CRC-32 (IEEE) of version, kind, length and body, little-endian |
//! | rest | the body in postcard's wire format |
//!
//! The file of a fleet starts with the same magic number, version and kind. Its parts contain files of this format.
//! Reading also checks the state, because a checksum does not prove where a file comes from, and allocates at most a
//! small multiple of the file size.

use crate::error::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;

/// Kind of object in a saved file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SavedKind {
    /// [`Model`](crate::Model).
    Model,
    /// [`Monitor`](crate::Monitor).
    Monitor,
    /// [`Moments`](crate::Moments) of rows.
    Moments,
    /// [`Fleet`](crate::Fleet) of models.
    Models,
    /// [`Fleet`](crate::Fleet) of monitors.
    Monitors,
}

/// All kinds, in the order of their numbers in files, which begin with 1.
const KINDS: [SavedKind; 5] =
    [SavedKind::Model, SavedKind::Monitor, SavedKind::Moments, SavedKind::Models, SavedKind::Monitors];

impl SavedKind {
    /// Returns the kind of a file from at least its first [`Self::HEAD`] bytes.
    pub fn of(bytes: &[u8]) -> Result<Self, Refusal> {
        let head = bytes.get(..8).ok_or(Refusal::Foreign)?;
        if head != MAGIC {
            return Err(Refusal::Foreign);
        }
        let short = || Refusal::Length { expected: HEAD as u64, found: bytes.len() as u64 };
        let number = |at: usize| -> Option<u32> { Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)) };
        let version = number(8).ok_or_else(short)?;
        if version != VERSION {
            return Err(Refusal::Version(version));
        }
        let kind = number(12).ok_or_else(short)?;
        KINDS.get((kind as usize).wrapping_sub(1)).copied().ok_or(Refusal::Content)
    }

    /// Number of bytes at the start of a file that identify its kind.
    pub const HEAD: usize = 16;

    pub(crate) fn head(self) -> [u8; Self::HEAD] {
        let number = KINDS.iter().position(|kind| *kind == self).map_or(0, |place| place as u32 + 1);
        let mut head = [0; Self::HEAD];
        head[..8].copy_from_slice(&MAGIC);
        head[8..12].copy_from_slice(&VERSION.to_le_bytes());
        head[12..].copy_from_slice(&number.to_le_bytes());
        head
    }

    pub(crate) fn expect(self, bytes: &[u8]) -> Result<(), Refusal> {
        match Self::of(bytes)? {
            found if found == self => Ok(()),
            found => Err(Refusal::Kind { found, wanted: self }),
        }
    }
}

impl fmt::Display for SavedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "one model",
            Self::Monitor => "one monitor",
            Self::Moments => "moments of rows",
            Self::Models => "a model for each key",
            Self::Monitors => "a monitor for each key",
        })
    }
}

/// Reason why a saved file cannot be read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages explain the variants")]
pub enum Refusal {
    #[error("is not a file saved by eigenhedge")]
    Foreign,
    #[error("holds {found}, not {wanted}")]
    Kind { found: SavedKind, wanted: SavedKind },
    #[error("is a file of version {0}, and this program reads version {VERSION}")]
    Version(u32),
    /// The numbers are lengths of the body, or of the header if the header is truncated.
    #[error("must have {expected} bytes after its head, got {found}: it is damaged or incomplete")]
    Length { expected: u64, found: u64 },
    #[error("is damaged: its checksum does not match")]
    Checksum,
    /// The body cannot be decoded, the kind is unknown, or the parts of a fleet are inconsistent.
    #[error("is damaged: its content makes no sense")]
    Content,
    #[error("is damaged: {0}")]
    State(Error),
}

const VERSION: u32 = 1;
const MAGIC: [u8; 8] = *b"\x89EHG\r\n\x1a\n";
const HEAD: usize = 28;

fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[8..24]);
    hasher.update(&bytes[HEAD..]);
    hasher.finalize()
}

pub(crate) fn framed(kind: SavedKind, content: &impl Serialize) -> Result<Vec<u8>, postcard::Error> {
    let mut bytes = postcard::to_extend(content, vec![0; HEAD])?;
    let length = (bytes.len() - HEAD) as u64;
    bytes[..16].copy_from_slice(&kind.head());
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    let checksum = checksum(&bytes);
    bytes[24..HEAD].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// Reads a file written by [`framed`], without a check of its state. Returns the content and the length of the body.
pub(crate) fn unframed<T: DeserializeOwned>(kind: SavedKind, bytes: &[u8]) -> Result<(T, usize), Refusal> {
    kind.expect(bytes)?;
    let short = || Refusal::Length { expected: HEAD as u64, found: bytes.len() as u64 };
    let (length, rest) = bytes[SavedKind::HEAD..].split_first_chunk::<8>().ok_or_else(short)?;
    let (checksum, body) = rest.split_first_chunk::<4>().ok_or_else(short)?;
    let expected = u64::from_le_bytes(*length);
    if body.len() as u64 != expected {
        return Err(Refusal::Length { expected, found: body.len() as u64 });
    }
    if self::checksum(bytes) != u32::from_le_bytes(*checksum) {
        return Err(Refusal::Checksum);
    }
    let (content, rest) = postcard::take_from_bytes::<T>(body).map_err(|_| Refusal::Content)?;
    if rest.is_empty() { Ok((content, body.len())) } else { Err(Refusal::Content) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Columns, Kind, Model, Spec, Standardize, Standardizer, checked_bytes, streams};

    fn model() -> Model {
        let names = (0..20).map(|i| format!("x{i}")).collect();
        let columns = Columns::new(Some(names), Standardizer::new(Standardize::Running, 20));
        let mut model = Model::new(Spec::new(Kind::Auto, 2), 20, 3).unwrap().with_columns(columns);
        streams::three_subspaces(1).iter().take(40).for_each(|row| _ = model.step(row).unwrap());
        model.resume_state = b"around".to_vec();
        model
    }

    #[test]
    fn bytes_read_back_equal() {
        let model = model();
        assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()), Ok(model));
    }

    #[test]
    fn columns_of_another_model_are_refused() {
        let good = model();
        let names = |count: usize| (0..count).map(|i| format!("x{i}")).collect::<Vec<_>>();
        let none = || Standardizer::new(Standardize::None, 20);
        let repeated = vec!["x".to_owned(); 20];
        let cases = [
            (Some(names(19)), none(), "the names of columns must have 20 entries, got 19"),
            (Some(repeated), none(), "each column must have a name of its own"),
            (
                None,
                Standardizer::new(Standardize::Running, 19),
                "the statistics of columns must have 20 entries, got 19",
            ),
            (
                None,
                Standardizer::new(Standardize::Warmup(9), 20),
                "the scale of columns must be known before a row is learned from",
            ),
        ];
        for (names, standardizer, sentence) in cases {
            let mut columns = Columns::new(None, standardizer);
            columns.names = names;
            let bad = good.clone().with_columns(columns);
            let refusal = Model::from_bytes(&bad.to_bytes().unwrap()).unwrap_err();
            assert_eq!(refusal.to_string(), format!("is damaged: {sentence}"));
            assert_eq!(checked_bytes(&bad), Err(Error::Unreadable(refusal.to_string())));
        }
    }

    #[test]
    fn every_kind_of_damage_is_named() {
        let bytes = model().to_bytes().unwrap();
        assert_eq!(Model::from_bytes(b"row,expected_loss,loss\n"), Err(Refusal::Foreign));
        assert_eq!(Model::from_bytes(&bytes[..5]), Err(Refusal::Foreign));
        for cut in [8, 13, 17, 27, 28, 100, bytes.len() - 1] {
            assert!(matches!(Model::from_bytes(&bytes[..cut]), Err(Refusal::Length { .. })), "{cut}");
        }
        for version in [9, 3] {
            let mut other = bytes.clone();
            other[8] = version;
            assert_eq!(Model::from_bytes(&other), Err(Refusal::Version(version.into())));
        }
        let mut other = bytes.clone();
        other[12] = 2;
        let refusal = Model::from_bytes(&other).unwrap_err();
        assert_eq!(refusal.to_string(), "holds one monitor, not one model");
        other[12] = 77;
        assert_eq!(Model::from_bytes(&other), Err(Refusal::Content));
        let mut changed = bytes.clone();
        changed[2000] ^= 1;
        assert_eq!(Model::from_bytes(&changed), Err(Refusal::Checksum));
    }
}
