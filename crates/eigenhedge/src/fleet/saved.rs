//! A fleet as bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `89 45 48 46 0D 0A 1A 0A` |
//! | 4 | version, little-endian |
//! | a part without a key | a [`Snapshot`] of a learner before its first row, with the columns and the resume state |
//! | a part for each key, in the order of their first rows | a [`Snapshot`] |
//! | 4 + 8 | `FF FF FF FF`, and the number of parts with a key |
//!
//! A part: length of the key (4), length of the bytes (8), CRC-32 of the lengths and the key (4), the key, the bytes.

use super::{Fleet, Place, cannot_store};
use crate::error::Error;
use crate::snapshot::{Refusal, Snapshot};
use std::io::{self, Read, Seek, SeekFrom, Write};

const MAGIC: [u8; 8] = *b"\x89EHF\r\n\x1a\n";
const VERSION: u32 = 1;
/// Length of a key that stands for the end.
const END: u32 = u32::MAX;
/// Longest key.
const LONGEST_KEY: u32 = 1 << 20;

impl Fleet {
    /// Writes the fleet and what the program around it has to remember.
    pub fn write(&mut self, resume_state: &[u8], out: &mut dyn Write) -> Result<(), Error> {
        let head = Snapshot { resume_state: resume_state.to_vec(), ..self.fresh.clone() }.to_bytes()?;
        let begun = out.write_all(&MAGIC).and_then(|()| out.write_all(&VERSION.to_le_bytes()));
        begun.and_then(|()| write_part(out, "", &head)).map_err(cannot_store)?;
        for position in 0..self.keys.len() {
            let bytes = match self.places[position] {
                Place::Memory(slot) => self.members[slot].snapshot.to_bytes()?,
                Place::Stored(place) => self.stored_bytes(place)?,
            };
            write_part(out, &self.keys[position], &bytes).map_err(cannot_store)?;
        }
        let end = out.write_all(&END.to_le_bytes());
        end.and_then(|()| out.write_all(&(self.keys.len() as u64).to_le_bytes())).map_err(cannot_store)
    }

    /// Reads where everything is in what [`Self::write`] has written: the fresh learner with the resume state, and the
    /// position and length of the bytes of each key.
    pub fn index(from: &mut (impl Read + Seek)) -> Result<FleetIndex, Refusal> {
        let cut_short = |_| Refusal::Content;
        let mut magic = [0; 8];
        from.read_exact(&mut magic).map_err(|_| Refusal::Foreign)?;
        if magic != MAGIC {
            return Err(Refusal::Foreign);
        }
        let version = read_u32(from).map_err(cut_short)?;
        if version != VERSION {
            return Err(Refusal::Version(version));
        }
        let size = from.seek(SeekFrom::End(0)).and_then(|size| from.seek(SeekFrom::Start(12)).map(|_| size));
        let size = size.map_err(cut_short)?;
        let (mut fresh, mut parts) = (None, Vec::new());
        loop {
            let key_length = read_u32(from).map_err(cut_short)?;
            let length = read_u64(from).map_err(cut_short)?;
            if key_length == END {
                let whole = length == parts.len() as u64 && from.stream_position().is_ok_and(|at| at == size);
                return match fresh {
                    Some(fresh) if whole => Ok(FleetIndex { fresh, parts }),
                    _ => Err(Refusal::Content),
                };
            }
            let sum = read_u32(from).map_err(cut_short)?;
            let position = from.stream_position().map_err(cut_short)?.saturating_add(u64::from(key_length));
            if key_length > LONGEST_KEY || position.checked_add(length).is_none_or(|end| end > size) {
                return Err(Refusal::Content);
            }
            let mut key = vec![0; key_length as usize];
            from.read_exact(&mut key).map_err(cut_short)?;
            if sum != checksum(length, &key) {
                return Err(Refusal::Checksum);
            }
            if fresh.is_none() {
                let mut bytes = Vec::new();
                from.take(length).read_to_end(&mut bytes).map_err(cut_short)?;
                fresh = Some(Snapshot::from_bytes(&bytes)?);
                continue;
            }
            let key = String::from_utf8(key).map_err(|_| Refusal::Content)?;
            parts.push((key, position, length));
            from.seek(SeekFrom::Start(position + length)).map_err(cut_short)?;
        }
    }
}

/// The parts of a saved fleet, by their places.
#[derive(Debug)]
#[non_exhaustive]
pub struct FleetIndex {
    /// The learner before its first row, with the columns and the resume state.
    pub fresh: Snapshot,
    /// Each key, and the position and the length of its bytes.
    pub parts: Vec<(String, u64, u64)>,
}

/// True if bytes begin like a fleet's.
pub fn is_fleet(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

fn checksum(length: u64, key: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&(key.len() as u32).to_le_bytes());
    hasher.update(&length.to_le_bytes());
    hasher.update(key);
    hasher.finalize()
}

fn write_part(out: &mut dyn Write, key: &str, bytes: &[u8]) -> io::Result<()> {
    if key.len() > LONGEST_KEY as usize {
        return Err(io::Error::other("a key must be at most 1 MiB long"));
    }
    let length = bytes.len() as u64;
    out.write_all(&(key.len() as u32).to_le_bytes())?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&checksum(length, key.as_bytes()).to_le_bytes())?;
    out.write_all(key.as_bytes())?;
    out.write_all(bytes)
}

fn read_u32(from: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes).map(|()| u32::from_le_bytes(bytes))
}

fn read_u64(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes).map(|()| u64::from_le_bytes(bytes))
}
