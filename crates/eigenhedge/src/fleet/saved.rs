//! File format of fleets.
//!
//! | bytes | contents |
//! |---|---|
//! | 16 | header of a saved file ([`SavedKind`]) |
//! | 4 | number of parts without a key, little-endian: 1 or 2 |
//! | parts without a key | the template member with the columns and the resume state; the common member |
//! | one part per key, in the order of their first rows | its member |
//! | 4 + 8 | `FF FF FF FF`, and the number of parts with a key |
//!
//! A part consists of the length of the key (4 bytes), the length of a saved file (8 bytes), the
//! CRC-32 of both lengths and the key (4 bytes), the key, and the saved file.

use super::member::LONGEST_KEY;
use super::{Fleet, FleetMember, Place, Store, cannot_store};
use crate::error::Error;
use crate::saved::{Refusal, SavedKind};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Value in place of a key length that marks the end of the file.
const END: u32 = u32::MAX;

/// Serializes a model or a monitor and reads it again, so that a file that cannot be read never replaces an older one.
///
/// ```
/// use eigenhedge::{Kind, Model, Spec, checked_bytes};
///
/// let model = Model::new(Spec::new(Kind::Auto, 2), 20, 0)?;
/// assert_eq!(checked_bytes(&model)?, model.to_bytes()?);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
pub fn checked_bytes<T: FleetMember>(member: &T) -> Result<Vec<u8>, Error> {
    let bytes = member.to_bytes()?;
    T::from_bytes(&bytes).map_err(|refusal| Error::Unreadable(refusal.to_string()))?;
    Ok(bytes)
}

impl<T: FleetMember> Fleet<T> {
    /// Writes the fleet and the resume state of the calling program. After an error the output is incomplete.
    pub fn write(&mut self, resume_state: &[u8], out: &mut dyn Write) -> Result<(), Error> {
        let mut fresh = self.fresh.clone();
        *fresh.resume_state_mut() = resume_state.to_vec();
        let heads: Vec<Vec<u8>> =
            [Some(&fresh), self.common.as_ref()].into_iter().flatten().map(checked_bytes).collect::<Result<_, _>>()?;
        let count = heads.len() as u32;
        let begun = out.write_all(&T::KIND.head()).and_then(|()| out.write_all(&count.to_le_bytes()));
        let written = begun.and_then(|()| heads.iter().try_for_each(|head| write_part(out, "", head)));
        written.map_err(cannot_store)?;
        for position in 0..self.keys.len() {
            let bytes = match self.places[position] {
                Place::Memory(slot) => checked_bytes(&self.slots[slot].member)?,
                Place::Stored(place) => self.stored_bytes(place)?,
            };
            write_part(out, &self.keys[position], &bytes).map_err(cannot_store)?;
        }
        let end = out.write_all(&END.to_le_bytes());
        end.and_then(|()| out.write_all(&(self.keys.len() as u64).to_le_bytes())).map_err(cannot_store)
    }

    /// Reads the index of a file written by [`Self::write`].
    pub fn index(from: &mut (impl Read + Seek)) -> Result<FleetIndex<T>, Refusal> {
        let cut_short = |_| Refusal::Content;
        let mut head = Vec::new();
        from.by_ref().take(SavedKind::HEAD as u64).read_to_end(&mut head).map_err(|_| Refusal::Foreign)?;
        T::KIND.expect(&head).map_err(|refusal| match refusal {
            Refusal::Length { .. } => Refusal::Content,
            refusal => refusal,
        })?;
        let heads = read_u32(from).map_err(cut_short)?;
        if !(1..=2).contains(&heads) {
            return Err(Refusal::Content);
        }
        let size = from
            .seek(SeekFrom::End(0))
            .and_then(|size| from.seek(SeekFrom::Start(SavedKind::HEAD as u64 + 4)).map(|_| size));
        let size = size.map_err(cut_short)?;
        let (mut members, mut parts) = (Vec::new(), Vec::new());
        loop {
            let key_length = read_u32(from).map_err(cut_short)?;
            let length = read_u64(from).map_err(cut_short)?;
            if key_length == END {
                let whole = length == parts.len() as u64 && from.stream_position().is_ok_and(|at| at == size);
                let mut members = members.into_iter();
                return match members.next() {
                    Some(fresh) if whole => Ok(FleetIndex { fresh, common: members.next(), parts }),
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
            if members.len() < heads as usize {
                let mut bytes = Vec::new();
                from.take(length).read_to_end(&mut bytes).map_err(cut_short)?;
                members.push(T::from_bytes(&bytes)?);
                continue;
            }
            let key = String::from_utf8(key).map_err(|_| Refusal::Content)?;
            parts.push((key, position, length));
            from.seek(SeekFrom::Start(position + length)).map_err(cut_short)?;
        }
    }
}

/// Contents of a saved fleet, without the members of its keys.
#[derive(Debug)]
#[non_exhaustive]
pub struct FleetIndex<T> {
    /// Template member, with the columns and the resume state.
    pub fresh: T,
    /// Member that all keys share.
    pub common: Option<T>,
    /// Each key, with the offset and the length of its member in the file, in bytes.
    pub parts: Vec<(String, u64, u64)>,
}

impl<T: FleetMember> FleetIndex<T> {
    /// Returns the fleet with at most `most` members in memory, and the resume state of the calling program. The store
    /// must already contain the bytes of each part i, under the number `place(i)`.
    pub fn open(
        mut self,
        most: usize,
        store: Box<dyn Store>,
        place: impl Fn(usize) -> u64,
    ) -> Result<(Fleet<T>, Vec<u8>), Error> {
        let resume_state = std::mem::take(self.fresh.resume_state_mut());
        if let Some(common) = &self.common {
            common.check_alike(&self.fresh)?;
        }
        let mut fleet = Fleet { common: self.common, ..Fleet::new(self.fresh)? }.with_store(most, store);
        for (i, (key, ..)) in self.parts.iter().enumerate() {
            fleet.insert_stored(key, place(i))?;
        }
        Ok((fleet, resume_state))
    }
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
