//! The store: streams, their snapshots and the orders since then, in one transactional file.
//!
//! An order is in the store before it is applied. A snapshot truncates the log at its last order. A restart reads the
//! snapshot and replays the rest of the log, which gives the same state bit for bit.
//!
//! A single thread writes ([`queue`]). redb is a copy-on-write B-tree with checksums: after a crash, a transaction is
//! either complete or absent. It is written in Rust, and readers never wait for the writer, so that a backup can run at
//! the same time. SQLite would also work, but it needs a C compiler and its writer has to parse statements.

mod queue;

pub use queue::{Action, Op, StoreQueue};

use super::engine::Saved;
use super::problem::Problem;
use eigenhedge_io::{printable_path, scratch_file};
use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// Table of streams: name → id and options.
const STREAMS: TableDefinition<'_, &str, (u64, &[u8])> = TableDefinition::new("streams");
/// Table of states: stream id → log position of the snapshot's last order, and the state without the learner.
const STATE: TableDefinition<'_, u64, (u64, &[u8])> = TableDefinition::new("state");
/// Table of saved learners: stream id and position → part of the bytes.
const PARTS: TableDefinition<'_, (u64, u32), &[u8]> = TableDefinition::new("parts");
/// Table of logs: stream id and position → order.
const LOG: TableDefinition<'_, (u64, u64), &[u8]> = TableDefinition::new("log");

/// Maximum size of a part of a saved learner, in bytes.
const PART: usize = 1 << 20;
/// Disk space in bytes that is kept free, so that snapshots can still be written.
const RESERVE: u64 = 1 << 20;
/// Name of the file in the store's folder.
const FILE: &str = "store.redb";

/// Entry of a stream in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    pub name: String,
    pub id: u64,
    /// Options, as JSON.
    pub options: Vec<u8>,
    /// Log position of the next order.
    pub next: u64,
}

/// Snapshot of a stream.
pub struct Snapshot {
    /// Log position of the last order that the snapshot includes.
    pub upto: u64,
    pub around: Vec<u8>,
    pub learner: Option<Saved>,
}

/// File that contains all streams.
pub struct Store {
    folder: PathBuf,
    cache: usize,
    database: RwLock<Option<Database>>,
}

fn unwritable(error: impl Into<redb::Error>) -> Problem {
    Problem::store_full(format!("the store cannot be written: {}", error.into()))
}

fn unreadable(error: impl Into<redb::Error>) -> String {
    format!("the store cannot be read: {}", error.into())
}

/// Returns the range of keys that belong to a stream.
fn all_of(id: u64) -> RangeInclusive<(u64, u64)> {
    (id, 0)..=(id, u64::MAX)
}

impl Store {
    /// Opens the store in a folder, or creates it. Only the owner may access its file.
    pub fn open(folder: &Path, cache: usize) -> Result<Self, String> {
        let name = printable_path(folder);
        fs::create_dir_all(folder).map_err(|error| format!("{name} cannot be made: {error}"))?;
        let store = Self { folder: folder.to_owned(), cache, database: RwLock::new(None) };
        let database = store.open_file().map_err(|error| match error {
            redb::Error::DatabaseAlreadyOpen => format!("{name} is used by another service"),
            error => format!("{name} cannot be opened as a store: {error}"),
        })?;
        *store.write_lock() = Some(database);
        Ok(store)
    }

    /// Returns the folder of the store, which also contains scratch files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the size of the file, in bytes.
    pub fn size(&self) -> u64 {
        fs::metadata(self.folder.join(FILE)).map_or(0, |file| file.len())
    }

    fn write_lock(&self) -> std::sync::RwLockWriteGuard<'_, Option<Database>> {
        self.database.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_file(&self) -> Result<Database, redb::Error> {
        let path = self.folder.join(FILE);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        let database = Database::builder().set_cache_size(self.cache).create_file(file)?;
        let start = database.begin_write()?;
        make_tables(&start)?;
        start.commit()?;
        Ok(database)
    }

    /// Closes the file after an error and opens it again. Without this, the database would accept no further
    /// transactions.
    fn reopen(&self) {
        let mut database = self.write_lock();
        *database = None;
        *database = self.open_file().ok();
    }

    /// Closes the file.
    pub fn close(&self) {
        *self.write_lock() = None;
    }

    fn begin_read(&self) -> Result<ReadTransaction, String> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().ok_or("the store is closed after an error of the disk")?;
        database.begin_read().map_err(unreadable)
    }

    /// Returns the entries of all streams.
    pub fn streams(&self) -> Result<Vec<Described>, String> {
        let read = self.begin_read()?;
        let (streams, state) =
            (read.open_table(STREAMS).map_err(unreadable)?, read.open_table(STATE).map_err(unreadable)?);
        let log = read.open_table(LOG).map_err(unreadable)?;
        let mut found = Vec::new();
        for entry in streams.iter().map_err(unreadable)? {
            let (name, description) = entry.map_err(unreadable)?;
            let (id, options) = description.value();
            let cut = state.get(id).map_err(unreadable)?.map_or(0, |state| state.value().0);
            let last = log.range(all_of(id)).map_err(unreadable)?.next_back();
            let last = last.transpose().map_err(unreadable)?.map_or(0, |(place, _)| place.value().1);
            let (name, options) = (name.value().to_owned(), options.to_vec());
            found.push(Described { name, id, options, next: cut.max(last) + 1 });
        }
        Ok(found)
    }

    /// Returns the snapshot of a stream, if there is one. A learner that consists of one part is read into
    /// memory, and a larger one into an unnamed file.
    pub fn snapshot(&self, id: u64) -> Result<Option<Snapshot>, String> {
        let read = self.begin_read()?;
        let state = read.open_table(STATE).map_err(unreadable)?;
        let Some(entry) = state.get(id).map_err(unreadable)? else { return Ok(None) };
        let (upto, around) = entry.value();
        let parts = read.open_table(PARTS).map_err(unreadable)?;
        let mut parts = parts.range((id, 0)..=(id, u32::MAX)).map_err(unreadable)?.peekable();
        let Some(first) = parts.next() else {
            return Ok(Some(Snapshot { upto, around: around.to_vec(), learner: None }));
        };
        let first = first.map_err(unreadable)?.1.value().to_vec();
        let learner = if parts.peek().is_none() {
            Saved::Memory(first)
        } else {
            let spill = |error: io::Error| format!("a snapshot cannot be unpacked: {error}");
            let mut file = scratch_file(&self.folder).map_err(spill)?;
            let mut length = first.len() as u64;
            file.write_all(&first).map_err(spill)?;
            for part in parts {
                let part = part.map_err(unreadable)?;
                file.write_all(part.1.value()).map_err(spill)?;
                length += part.1.value().len() as u64;
            }
            Saved::File(file, length)
        };
        Ok(Some(Snapshot { upto, around: around.to_vec(), learner: Some(learner) }))
    }

    /// Calls `order` with the position and the bytes of each logged order after position `after`, oldest first.
    pub fn replay(
        &self,
        id: u64,
        after: u64,
        mut order: impl FnMut(u64, &[u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        let read = self.begin_read()?;
        let log = read.open_table(LOG).map_err(unreadable)?;
        for entry in log.range((id, after + 1)..=(id, u64::MAX)).map_err(unreadable)? {
            let (place, bytes) = entry.map_err(unreadable)?;
            order(place.value().1, bytes.value())?;
        }
        Ok(())
    }

    /// Copies the store to an unnamed file while it may be written. Returns the file and its length in bytes.
    pub fn backup(&self) -> Result<(File, u64), Problem> {
        let unavailable = |reason: String| Problem::unavailable(reason);
        let read = self.begin_read().map_err(unavailable)?;
        let full = |error: io::Error| Problem::store_full(format!("the backup cannot be written: {error}"));
        let file = scratch_file(&self.folder).map_err(full)?;
        let copy = file.try_clone().map_err(full)?;
        let copy = Database::builder().set_cache_size(self.cache).create_file(copy).map_err(unwritable)?;
        let write = copy.begin_write().map_err(unwritable)?;
        copy_all(&read, &write).map_err(unwritable)?;
        write.commit().map_err(unwritable)?;
        drop(copy);
        let length = file.metadata().map_err(full)?.len();
        Ok((file, length))
    }

    /// Returns `Ok` if the disk has space for a commit of this many bytes.
    fn check_room(&self, bytes: u64) -> Result<(), Problem> {
        #[cfg(unix)]
        if let Ok(disk) = rustix::fs::statvfs(&self.folder) {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let wanted = bytes.saturating_mul(2).saturating_add(RESERVE);
            if free < wanted {
                return Err(Problem::store_full(format!(
                    "the disk of the store is full: {free} bytes are free and {wanted} are wanted; nothing was learned"
                )));
            }
        }
        Ok(())
    }
}

fn make_tables(write: &WriteTransaction) -> Result<(), redb::Error> {
    write.open_table(STREAMS)?;
    write.open_table(STATE)?;
    write.open_table(PARTS)?;
    write.open_table(LOG)?;
    Ok(())
}

fn copy_all(read: &ReadTransaction, write: &WriteTransaction) -> Result<(), redb::Error> {
    macro_rules! copy {
        ($($table:expr),*) => {$({
            let mut to = write.open_table($table)?;
            for entry in read.open_table($table)?.iter()? {
                let (key, value) = entry?;
                to.insert(key.value(), value.value())?;
            }
        })*};
    }
    copy!(STREAMS, STATE, PARTS, LOG);
    Ok(())
}

/// Replaces the snapshot of a stream and truncates its log.
fn write_snapshot(
    write: &WriteTransaction,
    id: u64,
    upto: u64,
    around: &[u8],
    learner: Option<&mut Saved>,
) -> Result<(), redb::Error> {
    write.open_table(STATE)?.insert(id, (upto, around))?;
    let mut parts = write.open_table(PARTS)?;
    parts.retain_in((id, 0)..=(id, u32::MAX), |_, _| false)?;
    if let Some(saved) = learner {
        let mut reader = saved.reader()?;
        let mut part = Vec::with_capacity(PART);
        for place in 0.. {
            part.clear();
            reader.by_ref().take(PART as u64).read_to_end(&mut part)?;
            if part.is_empty() {
                break;
            }
            parts.insert((id, place), part.as_slice())?;
        }
    }
    write.open_table(LOG)?.retain_in((id, 0)..=(id, upto), |_, _| false)?;
    Ok(())
}

/// Removes all data of a stream.
fn remove(write: &WriteTransaction, name: &str, id: u64) -> Result<(), redb::Error> {
    write.open_table(STREAMS)?.remove(name)?;
    write.open_table(STATE)?.remove(id)?;
    write.open_table(PARTS)?.retain_in((id, 0)..=(id, u32::MAX), |_, _| false)?;
    write.open_table(LOG)?.retain_in(all_of(id), |_, _| false)?;
    Ok(())
}
