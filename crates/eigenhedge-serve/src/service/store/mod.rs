//! Store of streams, their snapshots and the commands logged since then, in one transactional file. A command is stored
//! before it is applied. A restart reads the last snapshot and replays the log, which gives the same state bit for bit.
//!
//! A single thread writes ([`queue`]). redb is a copy-on-write B-tree with checksums: a transaction is complete or absent,
//! and readers never wait for the writer. Damage is found at the start, by the checksums and the number of commits.

mod commits;
mod queue;

pub use queue::{Action, StoreQueue};

use super::engine::Saved;
use super::problem::Problem;
use commits::{CommitFile, private_file, private_folder};
use eigenhedge_io::{printable_path, scratch_file};
use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// Name → id and options.
const STREAMS: TableDefinition<'_, &str, (u64, &[u8])> = TableDefinition::new("streams");
/// Stream id → last log position in the snapshot, and state without the learner.
const STATE: TableDefinition<'_, u64, (u64, &[u8])> = TableDefinition::new("state");
/// Stream id and index of the part → bytes of the saved learner.
const PARTS: TableDefinition<'_, (u64, u32), &[u8]> = TableDefinition::new("parts");
/// Stream id and log position → command.
const LOG: TableDefinition<'_, (u64, u64), &[u8]> = TableDefinition::new("log");
/// Number of commits so far.
const COMMITS: TableDefinition<'_, (), u64> = TableDefinition::new("commits");

/// Stream id → state of the queue of notices.
const SENT: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("sent");

const TABLES: usize = 6;
const PART: usize = 1 << 20;
/// Disk space that must be free, in addition to twice the size of a change.
const RESERVE: u64 = 1 << 20;
const FILE: &str = "store.redb";

const RESTORE: &str = "to restore a backup, put it into an empty folder as store.redb and pass that folder to --store";

#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    pub name: String,
    pub id: u64,
    pub options: Vec<u8>,
    pub next: u64,
    pub sent: Vec<u8>,
}

pub struct Snapshot {
    pub upto: u64,
    pub around: Vec<u8>,
    pub learner: Option<Saved>,
}

impl Snapshot {
    pub fn in_memory(&self) -> usize {
        let learner = if let Some(Saved::Memory(bytes)) = &self.learner { bytes.capacity() } else { 0 };
        self.around.capacity() + learner
    }
}

pub struct Store {
    pub folder: PathBuf,
    cache: usize,
    /// `None` after [`Store::close`] and after a permanent disk error.
    database: RwLock<Option<Database>>,
}

fn closed() -> redb::Error {
    redb::Error::Io(io::Error::other("it is closed after an error of the disk; restart the service"))
}

fn is_damage(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
}

/// Runs `work`. A panic becomes an error, because redb panics on some damaged pages.
fn guarded<T>(work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, redb::Error> {
    eigenhedge_io::guarded(work).unwrap_or_else(|reason| {
        let line = reason.lines().next().unwrap_or("the database stopped");
        Err(redb::Error::Corrupted(format!("a page has wrong content: {line}")))
    })
}

fn drop_guarded(database: Option<Database>) {
    let _ = guarded(|| {
        drop(database);
        Ok(())
    });
}

fn all_of(id: u64) -> RangeInclusive<(u64, u64)> {
    (id, 0)..=(id, u64::MAX)
}

impl Store {
    pub fn open(folder: &Path, cache: usize) -> Result<Self, String> {
        let name = printable_path(folder);
        private_folder(folder).map_err(|error| format!("{name} cannot be made: {error}"))?;
        let store = Self { folder: folder.to_owned(), cache, database: RwLock::new(None) };
        let database = guarded(|| {
            let mut database = store.database(private_file(&folder.join(FILE))?)?;
            // The result is false after a repair. The number of commits reveals a lost commit.
            database.check_integrity()?;
            if database.begin_read()?.list_tables()?.count() < TABLES {
                let write = database.begin_write()?;
                make_tables(&write)?;
                write.commit()?;
            }
            Ok(database)
        });
        *store.write_lock() = Some(database.map_err(|error| match error {
            redb::Error::DatabaseAlreadyOpen => format!("{name} is used by another service"),
            redb::Error::Io(error) if !is_damage(&error) => format!("{name}/{FILE} cannot be opened: {error}"),
            error => format!("{name}/{FILE} is damaged and none of its streams can be read: {error}; {RESTORE}"),
        })?);
        let found = store.commits()?;
        match CommitFile::read(folder).unwrap_or(0).saturating_sub(found) {
            0 => Ok(store),
            lost => Err(format!(
                "{name}/{FILE} is damaged or replaced: its most recent {lost} of {} commits are lost; {RESTORE}, or \
                 delete {} to go on without them",
                found + lost,
                printable_path(&CommitFile::path(folder))
            )),
        }
    }

    pub fn size(&self) -> u64 {
        fs::metadata(self.folder.join(FILE)).map_or(0, |file| file.len())
    }

    fn write_lock(&self) -> std::sync::RwLockWriteGuard<'_, Option<Database>> {
        self.database.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn database(&self, file: File) -> Result<Database, redb::Error> {
        Ok(Database::builder().set_cache_size(self.cache).create_file(file)?)
    }

    fn reopen(&self) {
        let mut database = self.write_lock();
        drop_guarded(database.take());
        *database = guarded(|| self.database(private_file(&self.folder.join(FILE))?)).ok();
    }

    pub fn close(&self) {
        drop_guarded(self.write_lock().take());
    }

    fn read<T>(&self, work: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>) -> Result<T, String> {
        let outcome = guarded(|| {
            let begun = {
                let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
                database.as_ref().ok_or_else(closed)?.begin_read()?
            };
            work(&begun)
        });
        outcome.map_err(|error| format!("the store cannot be read: {error}"))
    }

    fn commits(&self) -> Result<u64, String> {
        self.read(|read| Ok(read.open_table(COMMITS)?.get(())?.map_or(0, |commits| commits.value())))
    }

    pub fn streams(&self) -> Result<Vec<Described>, String> {
        self.read(|read| {
            let (streams, state, log) = (read.open_table(STREAMS)?, read.open_table(STATE)?, read.open_table(LOG)?);
            let sent = read.open_table(SENT)?;
            let mut found = Vec::new();
            for entry in streams.iter()? {
                let (name, description) = entry?;
                let (id, options) = description.value();
                let cut = state.get(id)?.map_or(0, |state| state.value().0);
                let last = log.range(all_of(id))?.next_back().transpose()?.map_or(0, |(place, _)| place.value().1);
                let (name, options) = (name.value().to_owned(), options.to_vec());
                let sent = sent.get(id)?.map_or_else(Vec::new, |sent| sent.value().to_vec());
                found.push(Described { name, id, options, next: cut.max(last) + 1, sent });
            }
            Ok(found)
        })
    }

    /// A learner of more than one part is read into an unnamed file.
    pub fn snapshot(&self, id: u64) -> Result<Option<Snapshot>, String> {
        self.read(|read| {
            let state = read.open_table(STATE)?;
            let Some(entry) = state.get(id)? else { return Ok(None) };
            let (upto, around) = entry.value();
            let parts = read.open_table(PARTS)?;
            let mut parts = parts.range((id, 0)..=(id, u32::MAX))?.peekable();
            let Some(first) = parts.next() else {
                return Ok(Some(Snapshot { upto, around: around.to_vec(), learner: None }));
            };
            let first = first?.1.value().to_vec();
            let learner = if parts.peek().is_none() {
                Saved::Memory(first)
            } else {
                let mut file = scratch_file(&self.folder)?;
                let mut length = first.len() as u64;
                file.write_all(&first)?;
                for part in parts {
                    let part = part?;
                    file.write_all(part.1.value())?;
                    length += part.1.value().len() as u64;
                }
                Saved::File(file, length)
            };
            Ok(Some(Snapshot { upto, around: around.to_vec(), learner: Some(learner) }))
        })
    }

    /// Returns about [`PART`] bytes of logged commands after position `after`, with their positions.
    pub fn orders(&self, id: u64, after: u64) -> Result<Vec<(u64, Vec<u8>)>, String> {
        self.read(|read| {
            let (mut orders, mut bytes) = (Vec::new(), 0);
            for entry in read.open_table(LOG)?.range((id, after + 1)..=(id, u64::MAX))? {
                let (place, order) = entry?;
                orders.push((place.value().1, order.value().to_vec()));
                bytes += order.value().len();
                if bytes >= PART {
                    break;
                }
            }
            Ok(orders)
        })
    }

    pub fn backup(&self) -> Result<(File, u64), Problem> {
        let full = |error: redb::Error| Problem::store_full(format!("the backup cannot be written: {error}"));
        let copied = self.read(|read| {
            // A failed copy is not an error of the store.
            Ok(guarded(|| {
                let file = scratch_file(&self.folder)?;
                let copy = self.database(file.try_clone()?)?;
                let write = copy.begin_write()?;
                copy_all(read, &write)?;
                write.commit()?;
                drop(copy);
                let length = file.metadata()?.len();
                Ok((file, length))
            }))
        });
        copied.map_err(Problem::unavailable)?.map_err(full)
    }

    fn check_room(&self, bytes: u64) -> Result<(), Problem> {
        let wanted = bytes.saturating_mul(2).saturating_add(RESERVE);
        match free_space(&self.folder) {
            Some(free) if free < wanted => Err(Problem::store_full(format!(
                "the disk of the store is full: {free} bytes are free and {wanted} are wanted; nothing was learned"
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(unix)]
fn free_space(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_space(_: &Path) -> Option<u64> {
    None
}

fn make_tables(write: &WriteTransaction) -> Result<(), redb::Error> {
    write.open_table(STREAMS)?;
    write.open_table(STATE)?;
    write.open_table(PARTS)?;
    write.open_table(LOG)?;
    write.open_table(COMMITS)?;
    write.open_table(SENT)?;
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
    copy!(STREAMS, STATE, PARTS, LOG, COMMITS, SENT);
    Ok(())
}

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

fn remove(write: &WriteTransaction, name: &str, id: u64) -> Result<(), redb::Error> {
    write.open_table(STREAMS)?.remove(name)?;
    write.open_table(STATE)?.remove(id)?;
    write.open_table(SENT)?.remove(id)?;
    write.open_table(PARTS)?.retain_in((id, 0)..=(id, u32::MAX), |_, _| false)?;
    write.open_table(LOG)?.retain_in(all_of(id), |_, _| false)?;
    Ok(())
}
