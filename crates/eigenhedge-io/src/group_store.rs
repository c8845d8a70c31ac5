//! Files of fleets (one learner per key): saved fleets, which are read in place, and a scratch file for evicted
//! members. The scratch file is unnamed, so that it disappears when the program ends for any reason. The sizes of its
//! blocks are powers of two, and freed blocks are reused.

use crate::error::{Error, Fault, printable_path};
use crate::staging::{Out, folder_of};
use eigenhedge::{Fleet, FleetMember, Store};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Saves a fleet and the resume state of the calling program. On an error, the file is unchanged.
pub fn save_fleet<T: FleetMember>(path: &Path, fleet: &mut Fleet<T>, resume_state: &[u8]) -> Result<(), Error> {
    let mut file = Out::private(path)?;
    let written = fleet.write(resume_state, &mut file);
    written.map_err(|error| Error::at(printable_path(path), Fault::Table(error.to_string())))?;
    file.finish()
}

/// Opens a saved fleet and its resume state. At most `most` members are in memory at a time.
pub fn open_fleet<T: FleetMember>(path: &Path, most: usize) -> Result<(Fleet<T>, Vec<u8>), Error> {
    let unreadable = |error| Error::at(printable_path(path), Fault::Unreadable(error));
    let refused = |reason: String| Error::at(printable_path(path), Fault::Table(reason));
    let file = File::open(path).map_err(unreadable)?;
    fleet_of(file, folder_of(path), most).map_err(refused)
}

/// Opens a saved fleet from its bytes. Members that have been used stay in memory.
pub fn fleet_of_bytes<T: FleetMember>(bytes: Vec<u8>) -> Result<Fleet<T>, String> {
    fleet_of(io::Cursor::new(bytes), Path::new(""), usize::MAX).map(|(fleet, _)| fleet)
}

fn fleet_of<T: FleetMember>(
    mut saved: impl SavedBytes + 'static,
    folder: &Path,
    most: usize,
) -> Result<(Fleet<T>, Vec<u8>), String> {
    let index = Fleet::index(&mut saved).map_err(|refusal| refusal.to_string())?;
    let places = index.parts.iter().map(|(_, position, length)| (*position, *length)).collect();
    let store = GroupStore::over(folder, saved, places);
    index.open(most, Box::new(store), GroupStore::part).map_err(|error| error.to_string())
}

#[doc(hidden)]
pub trait SavedBytes: Read + Seek + Send + Sync + std::fmt::Debug {}
impl<T: Read + Seek + Send + Sync + std::fmt::Debug> SavedBytes for T {}

/// Store of fleet members that are not in memory.
#[derive(Debug)]
pub struct GroupStore {
    folder: PathBuf,
    scratch: Option<File>,
    end: u64,
    free: Vec<Vec<u64>>,
    saved: Option<Box<dyn SavedBytes>>,
    parts: Vec<(u64, u64)>,
}

/// Handle of the first part of a saved fleet. Smaller handles are offsets in the scratch file.
const SAVED: u64 = 1 << 62;
/// Size of a block header in bytes. It holds the logarithm of the block size and the length.
const HEAD: u64 = 16;
const SMALLEST: u32 = 10;

impl GroupStore {
    /// Creates a store without a saved fleet. The scratch file will be created in this folder.
    pub fn new(folder: &Path) -> Self {
        let (folder, free) = (folder.to_owned(), vec![Vec::new(); 64]);
        Self { folder, scratch: None, end: 0, free, saved: None, parts: Vec::new() }
    }

    /// Creates a store for the parts of a saved fleet, given as offsets and lengths in bytes.
    pub fn over(folder: &Path, saved: impl SavedBytes + 'static, parts: Vec<(u64, u64)>) -> Self {
        Self { saved: Some(Box::new(saved)), parts, ..Self::new(folder) }
    }

    /// Returns the handle in [`Store::get`] of the part at this position of the saved fleet.
    pub fn part(position: usize) -> u64 {
        SAVED + position as u64
    }
}

impl Store for GroupStore {
    fn put(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let size = (bytes.len() as u64 + HEAD).next_power_of_two().trailing_zeros().max(SMALLEST);
        let end = self.end + (1 << size);
        let place = self.free[size as usize].pop().unwrap_or_else(|| std::mem::replace(&mut self.end, end));
        let scratch = self.scratch()?;
        scratch.seek(SeekFrom::Start(place))?;
        scratch.write_all([u64::from(size), bytes.len() as u64].map(u64::to_le_bytes).as_flattened())?;
        scratch.write_all(bytes)?;
        Ok(place)
    }

    fn get(&mut self, place: u64) -> io::Result<Vec<u8>> {
        if place >= SAVED {
            let part = self.parts.get((place - SAVED) as usize).zip(self.saved.as_mut());
            let ((at, length), file) = part.ok_or_else(|| io::Error::other("there is no such part"))?;
            file.seek(SeekFrom::Start(*at))?;
            return read_exactly(file, *length);
        }
        let (_, length) = self.head(place)?;
        read_exactly(self.scratch()?, length)
    }

    fn free(&mut self, place: u64) {
        if place >= SAVED {
            return;
        }
        if let Ok((size @ 0..64, _)) = self.head(place) {
            self.free[size as usize].push(place);
        }
    }
}

impl GroupStore {
    fn scratch(&mut self) -> io::Result<&mut File> {
        match &mut self.scratch {
            Some(file) => Ok(file),
            none => Ok(none.insert(scratch_file(&self.folder)?)),
        }
    }

    fn head(&mut self, place: u64) -> io::Result<(u64, u64)> {
        let scratch = self.scratch()?;
        scratch.seek(SeekFrom::Start(place))?;
        let mut head = [[0; 8]; 2];
        scratch.read_exact(head.as_flattened_mut())?;
        Ok(head.map(u64::from_le_bytes).into())
    }
}

fn read_exactly(file: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Creates a scratch file without a name, so that it disappears when the program ends.
pub fn scratch_file(folder: &Path) -> io::Result<File> {
    const MOST_TRIES: u32 = 1000;
    let mut number = 0;
    loop {
        let path = folder.join(format!(".eigenhedge-groups-{}-{number}", std::process::id()));
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        // Only the owner may read the learned state.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            // Another store has just created this file, or a killed program has left it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MOST_TRIES => number += 1,
            Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", printable_path(folder)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_scratch_file_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let file = scratch_file(&std::env::temp_dir()).unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn bytes_come_back_and_freed_blocks_are_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = GroupStore::new(folder.path());
        let blob = |seed: usize, length: usize| -> Vec<u8> { (0..length).map(|i| (i * 31 + seed) as u8).collect() };
        let lengths = [0, 1, 1000, 1008, 1009, 5000, 70_000];
        let places: Vec<u64> = lengths.iter().enumerate().map(|(i, n)| store.put(&blob(i, *n)).unwrap()).collect();
        for (i, place) in places.iter().enumerate().rev() {
            assert_eq!(store.get(*place).unwrap(), blob(i, lengths[i]));
        }
        let end = store.end;
        places.iter().for_each(|place| store.free(*place));
        for (i, length) in lengths.iter().enumerate().rev() {
            let place = store.put(&blob(i + 7, *length)).unwrap();
            assert_eq!(store.get(place).unwrap(), blob(i + 7, *length));
        }
        assert_eq!(store.end, end, "no block was added");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file has no name");
    }

    #[test]
    fn parts_of_a_saved_fleet_are_read_where_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("saved");
        std::fs::write(&path, b"..first.second").unwrap();
        let parts = vec![(2, 5), (8, 6), (12, 99)];
        let mut store = GroupStore::over(folder.path(), File::open(&path).unwrap(), parts);
        assert_eq!(store.get(GroupStore::part(0)).unwrap(), b"first");
        store.free(GroupStore::part(0));
        let place = store.put(b"scratch").unwrap();
        assert_eq!(store.get(GroupStore::part(1)).unwrap(), b"second");
        assert_eq!(store.get(place).unwrap(), b"scratch");
        assert!(store.get(GroupStore::part(2)).is_err() && store.get(GroupStore::part(3)).is_err());
    }
}
