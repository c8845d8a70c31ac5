//! The only writer of the store. While a commit waits for the disk, new changes queue up, and the next commit takes all
//! of them: it costs about as much for one change as for a thousand.

use super::commits::CommitFile;
use super::{COMMITS, Described, LOG, SENT, STREAMS, Store, closed, guarded, remove, write_snapshot};
use crate::lock;
use crate::service::engine::Saved;
use crate::service::problem::Problem;
use axum::http::StatusCode;
use redb::{ReadableTable, ReadableTableMetadata, WriteTransaction};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

/// Maximum number of changes in the queue, and in a commit.
const WAITING: usize = 4096;
const COMMIT_BYTES: u64 = 16 << 20;

pub enum Action {
    /// Adds a stream, unless `most` exist. The result is its id, or that of an existing stream of this name.
    Create {
        name: String,
        options: Vec<u8>,
        most: usize,
    },
    Delete {
        name: String,
        id: u64,
    },
    /// The result is the log position.
    Append {
        id: u64,
        bytes: Vec<u8>,
    },
    /// Replaces logged commands up to `upto` by the state after them.
    Snapshot {
        id: u64,
        upto: u64,
        around: Vec<u8>,
        learner: Option<Saved>,
    },
    /// Replaces the state of the queue of notices.
    Sent {
        id: u64,
        bytes: Vec<u8>,
    },
}

impl Action {
    fn bytes(&self) -> u64 {
        match self {
            Self::Create { options, .. } => options.len() as u64,
            Self::Delete { .. } => 0,
            Self::Append { bytes, .. } | Self::Sent { bytes, .. } => bytes.len() as u64,
            Self::Snapshot { around, learner, .. } => around.len() as u64 + learner.as_ref().map_or(0, Saved::length),
        }
    }
}

type Applied = Result<u64, Problem>;

struct Op {
    action: Action,
    done: Box<dyn FnOnce(Applied) + Send>,
}

#[derive(Debug, Default)]
pub struct StoreCounts {
    pub commits: u64,
    pub orders: u64,
    pub bytes: u64,
    pub failures: u64,
    pub seconds: f64,
}

/// Changes for the writer thread. The callback of [`Self::send`] must make the change in memory, because the request that
/// waits for it is dropped when its client disconnects.
#[derive(Clone)]
pub struct StoreQueue {
    /// `None` stops the writer.
    sender: Sender<Option<Op>>,
    pub counts: Arc<Mutex<StoreCounts>>,
}

impl StoreQueue {
    pub fn start(store: Arc<Store>, streams: &[Described]) -> Result<(Self, JoinHandle<()>), String> {
        let (sender, receiver) = channel(WAITING);
        let counts = Arc::new(Mutex::new(StoreCounts::default()));
        let mut writer = Writer {
            commits: store.commits()?,
            commit_file: CommitFile::open(&store.folder),
            has_failed: false,
            next: streams.iter().map(|one| (one.id, one.next)).collect(),
            next_id: streams.iter().map(|one| one.id + 1).max().unwrap_or(1),
            counts: Arc::clone(&counts),
            store,
        };
        let thread = thread::spawn(move || writer.run(receiver));
        Ok((Self { sender, counts }, thread))
    }

    /// Calls `done` once the change is durable or was not made, in the order of the changes, unless the queue is full.
    pub fn send(&self, action: Action, done: impl FnOnce(Applied) + Send + 'static) -> Result<(), Problem> {
        let op = Op { action, done: Box::new(done) };
        let busy = |_| Problem::busy("too many requests wait for the store already");
        self.sender.try_send(Some(op)).map_err(busy)
    }

    /// Submits a change and waits for it. `then` makes it in memory.
    pub async fn change<T: Send + 'static>(
        &self,
        action: Action,
        then: impl FnOnce(u64) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let (sender, done) = oneshot::channel();
        self.send(action, move |applied| _ = sender.send(applied.and_then(then)))?;
        done.await.unwrap_or_else(|_| Err(Problem::unavailable("the service is stopping")))
    }

    pub async fn close(&self) {
        // An error means that the writer has stopped.
        let _ = self.sender.send(None).await;
    }
}

struct Writer {
    store: Arc<Store>,
    commits: u64,
    commit_file: CommitFile,
    /// True after a disk error that left the outcome of a transaction unknown.
    has_failed: bool,
    next: HashMap<u64, u64>,
    next_id: u64,
    counts: Arc<Mutex<StoreCounts>>,
}

impl Writer {
    fn run(&mut self, mut waiting: Receiver<Option<Op>>) {
        let mut is_open = true;
        while is_open && let Some(Some(first)) = waiting.blocking_recv() {
            let mut bytes = first.action.bytes();
            let mut group = vec![first];
            while group.len() < WAITING && bytes < COMMIT_BYTES {
                let Ok(op) = waiting.try_recv() else { break };
                is_open = op.is_some();
                let Some(op) = op else { break };
                bytes += op.action.bytes();
                group.push(op);
            }
            self.commit(group, bytes);
        }
        self.store.close();
    }

    fn commit(&mut self, mut group: Vec<Op>, bytes: u64) {
        let start = Instant::now();
        let outcome = self.store.check_room(bytes).and_then(|()| self.write(&mut group));
        let mut counts = lock(&self.counts);
        match outcome {
            Ok(applied) => {
                counts.commits += 1;
                counts.orders += group.len() as u64;
                counts.bytes += bytes;
                counts.seconds += start.elapsed().as_secs_f64();
                drop(counts);
                group.into_iter().zip(applied).for_each(|(op, applied)| (op.done)(applied));
            }
            Err(problem) => {
                counts.failures += 1;
                drop(counts);
                group.into_iter().for_each(|op| (op.done)(Err(problem.clone())));
            }
        }
    }

    /// Runs one transaction. If an error leaves open whether it is durable, all later transactions fail.
    fn write(&mut self, group: &mut [Op]) -> Result<Vec<Applied>, Problem> {
        if self.has_failed {
            return Err(Problem::unavailable("the store failed; restart the service"));
        }
        let mut change = Change { next: self.next.clone(), next_id: self.next_id, applied: Vec::new() };
        if let Err(error) = guarded(|| self.transact(group, &mut change)) {
            self.store.reopen();
            match self.store.commits().map(|commits| commits.checked_sub(self.commits)) {
                Ok(Some(0)) => return Err(Problem::store_full(format!("the store cannot be written: {error}"))),
                // The disk reported an error after the transaction was complete.
                Ok(Some(1)) => {}
                _ => {
                    self.has_failed = true;
                    self.store.close();
                    return Err(Problem::unavailable(format!(
                        "the store failed: {error}; a restart of the service shows whether the request was carried out"
                    )));
                }
            }
        }
        self.commits += 1;
        self.commit_file.write(self.commits);
        (self.next, self.next_id) = (change.next, change.next_id);
        Ok(change.applied)
    }

    fn transact(&self, group: &mut [Op], change: &mut Change) -> Result<(), redb::Error> {
        let database = self.store.database.read().unwrap_or_else(PoisonError::into_inner);
        let write = database.as_ref().ok_or_else(closed)?.begin_write()?;
        for op in group {
            let applied = change.apply(&write, &mut op.action)?;
            change.applied.push(applied);
        }
        write.open_table(COMMITS)?.insert((), self.commits + 1)?;
        Ok(write.commit()?)
    }
}

struct Change {
    next: HashMap<u64, u64>,
    next_id: u64,
    applied: Vec<Applied>,
}

impl Change {
    fn apply(&mut self, write: &WriteTransaction, action: &mut Action) -> Result<Applied, redb::Error> {
        let gone = || Err(Problem::new(StatusCode::NOT_FOUND, "the stream was deleted"));
        match action {
            Action::Create { name, options, most } => {
                let mut streams = write.open_table(STREAMS)?;
                if let Some(found) = streams.get(name.as_str())? {
                    return Ok(Ok(found.value().0));
                }
                if streams.len()? >= *most as u64 {
                    let sentence = format!("there are {most} streams already, the most that --max-streams allows");
                    return Ok(Err(Problem::busy(sentence)));
                }
                let id = self.next_id;
                streams.insert(name.as_str(), (id, options.as_slice()))?;
                self.next_id += 1;
                self.next.insert(id, 1);
                Ok(Ok(id))
            }
            Action::Delete { name, id } => {
                if self.next.remove(id).is_none() {
                    return Ok(gone());
                }
                remove(write, name, *id)?;
                Ok(Ok(*id))
            }
            Action::Append { id, bytes } => {
                let Some(next) = self.next.get_mut(id) else { return Ok(gone()) };
                write.open_table(LOG)?.insert((*id, *next), bytes.as_slice())?;
                *next += 1;
                Ok(Ok(*next - 1))
            }
            Action::Snapshot { id, upto, around, learner } => {
                if !self.next.contains_key(id) {
                    return Ok(gone());
                }
                write_snapshot(write, *id, *upto, around, learner.as_mut())?;
                Ok(Ok(*upto))
            }
            Action::Sent { id, bytes } => {
                if !self.next.contains_key(id) {
                    return Ok(gone());
                }
                write.open_table(SENT)?.insert(*id, bytes.as_slice())?;
                Ok(Ok(*id))
            }
        }
    }
}
