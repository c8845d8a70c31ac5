//! A run as bytes: parameters, state, generator and account, so that it goes on bit for bit; and the columns of its rows, so
//! that it can be used on other tables.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `89 45 48 47 0D 0A 1A 0A` |
//! | 4 | version, little-endian |
//! | 8 | length of the body, little-endian |
//! | 4 | CRC-32 (IEEE) of version, length and body, little-endian |
//! | the rest | the body: a [`Snapshot`] in postcard's wire format |
//!
//! Reading refuses what is damaged, cut short, foreign or of another version with a sentence, and a state that no run can
//! have come to: a checksum is no proof of origin. It allocates no more than a small multiple of the bytes given.

use crate::error::Error;
use crate::model::Columns;
use crate::run::Run;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The run.
    pub run: Run,
    /// The columns of its rows.
    pub columns: Columns,
    /// What the program around the run has to remember, in a form of its own; empty for none.
    pub resume_state: Vec<u8>,
}

/// Why bytes are no snapshot.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Something else.
    #[error("is not an eigenhedge snapshot")]
    Foreign,
    /// Of another version.
    #[error("is a snapshot of version {0}, and this program reads version {VERSION}")]
    Version(u32),
    /// Cut short, or with something appended.
    #[error("must have {expected} bytes after its head, got {found}: it is damaged or incomplete")]
    Length {
        /// Bytes that the head promises.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// Changed.
    #[error("is damaged: its checksum does not match")]
    Checksum,
    /// Not what a program of this version writes.
    #[error("is damaged: its content makes no sense")]
    Content,
    /// A state that no run can have come to.
    #[error("is damaged: {0}")]
    State(Error),
}

/// The version that is written.
pub const VERSION: u32 = 1;
const MAGIC: [u8; 8] = *b"\x89EHG\r\n\x1a\n";
const HEAD: usize = 24;

/// Of version, length and body; the bytes of a whole head are there.
fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[8..20]);
    hasher.update(&bytes[HEAD..]);
    hasher.finalize()
}

impl Snapshot {
    /// A run over columns without names that are taken as they are.
    pub fn of(run: Run) -> Self {
        Self { run, columns: Columns::default(), resume_state: Vec::new() }
    }

    /// The model of the rows of both ([`Run::merge`]): learners that do not depend on the order of rows, over the same columns. It
    /// is no interrupted run of a table: there is no resume state.
    pub fn merge(mut self, other: Self) -> Result<Self, Error> {
        self.columns.merge(&other.columns)?;
        Ok(Self { run: self.run.merge(other.run)?, columns: self.columns, resume_state: Vec::new() })
    }

    /// The bytes of a file; an error if the kernel is a function, of which bytes cannot tell.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        framed(&MAGIC, self).map_err(|_| Error::Unsupported("a learner whose kernel is a function cannot be saved"))
    }

    /// Reads what [`Self::to_bytes`] has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let (snapshot, length) = unframed::<Self>(&MAGIC, bytes)?;
        snapshot.run.check_state(length).map_err(Refusal::State)?;
        snapshot.columns.check_state(&snapshot.run).map_err(Refusal::State)?;
        Ok(snapshot)
    }
}

/// The bytes of a file that begins with this magic number; an error if the content has no form as bytes.
pub(crate) fn framed(magic: &[u8; 8], content: &impl Serialize) -> Result<Vec<u8>, postcard::Error> {
    let mut bytes = postcard::to_extend(content, vec![0; HEAD])?;
    let length = (bytes.len() - HEAD) as u64;
    bytes[..8].copy_from_slice(magic);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..20].copy_from_slice(&length.to_le_bytes());
    let checksum = checksum(&bytes);
    bytes[20..HEAD].copy_from_slice(&checksum.to_le_bytes());
    Ok(bytes)
}

/// Reads what [`framed`] has written; the state is not checked yet. Also the length of the body.
pub(crate) fn unframed<T: DeserializeOwned>(magic: &[u8; 8], bytes: &[u8]) -> Result<(T, usize), Refusal> {
    let (found, rest) = bytes.split_first_chunk::<8>().ok_or(Refusal::Foreign)?;
    if found != magic {
        return Err(Refusal::Foreign);
    }
    let short = || Refusal::Length { expected: HEAD as u64, found: bytes.len() as u64 };
    let (version, rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(Refusal::Version(version));
    }
    let (length, rest) = rest.split_first_chunk::<8>().ok_or_else(short)?;
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
    use crate::{Kind, Spec, Standardize, Standardizer, streams};

    fn snapshot() -> Snapshot {
        let mut run =
            Run::new(Spec { center: Some(crate::RunningCenter::MEAN), ..Spec::bare(Kind::Auto, 2) }, 20, 3).unwrap();
        streams::three_subspaces(1).iter().take(40).for_each(|row| _ = run.step(row).unwrap());
        let names = (0..20).map(|i| format!("x{i}")).collect();
        let columns = Columns::new(Some(names), Standardizer::new(Standardize::Running, 20));
        Snapshot { columns, resume_state: b"around".to_vec(), ..Snapshot::of(run) }
    }

    #[test]
    fn bytes_read_back_equal() {
        let snapshot = snapshot();
        assert_eq!(Snapshot::from_bytes(&snapshot.to_bytes().unwrap()), Ok(snapshot));
    }

    #[test]
    fn columns_of_another_run_are_refused() {
        let good = snapshot();
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
            let bytes = Snapshot { columns, ..good.clone() }.to_bytes().unwrap();
            let refusal = Snapshot::from_bytes(&bytes).unwrap_err();
            assert_eq!(refusal.to_string(), format!("is damaged: {sentence}"));
        }
    }

    #[test]
    fn every_kind_of_damage_is_named() {
        let bytes = snapshot().to_bytes().unwrap();
        assert_eq!(Snapshot::from_bytes(b"row,expected_loss,loss\n"), Err(Refusal::Foreign));
        assert_eq!(Snapshot::from_bytes(&bytes[..5]), Err(Refusal::Foreign));
        for cut in [8, 13, 23, 24, 100, bytes.len() - 1] {
            assert!(matches!(Snapshot::from_bytes(&bytes[..cut]), Err(Refusal::Length { .. })), "{cut}");
        }
        let mut newer = bytes.clone();
        newer[8] = 9;
        assert_eq!(Snapshot::from_bytes(&newer), Err(Refusal::Version(9)));
        let mut older = bytes.clone();
        older[8] = 3;
        assert_eq!(Snapshot::from_bytes(&older), Err(Refusal::Version(3)));
        let mut changed = bytes.clone();
        changed[2000] ^= 1;
        assert_eq!(Snapshot::from_bytes(&changed), Err(Refusal::Checksum));
    }
}
