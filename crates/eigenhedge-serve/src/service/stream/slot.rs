//! Learner of a stream: loaded from the store, changed by commands, saved and unloaded.

use super::{Handle, Shared, Slot, ended};
use crate::lock;
use crate::service::engine::{Engine, Outcome, Saved};
use crate::service::log::event;
use crate::service::memory::{Unloading, measured, trim};
use crate::service::order::Logged;
use crate::service::problem::Problem;
use crate::service::repeats::{Repeats, Reply};
use crate::service::store::{Action, Snapshot};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const TRIMMED: u64 = 1 << 20;
/// Least log size for a snapshot. The log must also exceed the last snapshot.
const LOG_BYTES: u64 = 4 << 20;

impl Slot {
    pub fn forget(&mut self, handle: &Handle) {
        *self = Self::default();
        handle.is_loaded.store(false, Ordering::SeqCst);
        lock(&handle.shared.loaded).remove(&handle.id);
    }

    /// Drops the learner of an idle stream. If its snapshot is not up to date, saves it instead.
    pub fn unload(&mut self, handle: &Arc<Handle>, unloading: Unloading) {
        if self.engine.is_none() || self.is_saving || handle.waiting() > 0 {
            return;
        }
        if self.log_bytes > 0 {
            // If memory is still short after saving, the stream is unloaded then.
            return self.save(handle, move || drop(unloading));
        }
        handle.is_loaded.store(false, Ordering::SeqCst);
        if handle.waiting() > 0 {
            // A request has arrived in the meantime and relies on the learner.
            return handle.is_loaded.store(true, Ordering::SeqCst);
        }
        self.forget(handle);
        *lock(&handle.repeats) = Repeats::default();
        handle.feed.rest();
        handle.seen().unloads += 1;
        if handle.bytes() > TRIMMED {
            trim();
        }
    }

    pub fn engine(&mut self, handle: &Arc<Handle>) -> Result<&mut Engine, Problem> {
        if handle.is_deleted.load(Ordering::Acquire) {
            return Err(Problem::no_stream(&handle.name));
        }
        if self.engine.is_none() {
            let (loaded, bytes) = measured(|| self.load(handle));
            let bytes = bytes - loaded.as_ref().map_or(0, |cached| *cached);
            handle.bytes.store(bytes.max(0).cast_unsigned(), Ordering::Relaxed);
            if loaded.is_ok() {
                lock(&handle.shared.loaded).insert(handle.id, Arc::downgrade(handle));
                handle.is_loaded.store(true, Ordering::SeqCst);
            }
            let mut seen = handle.seen();
            (seen.failed, seen.was_loaded) = (loaded.err(), true);
        }
        handle.check_loaded()?;
        self.engine.as_mut().ok_or_else(ended)
    }

    /// Returns the growth of the store's cache in bytes.
    fn load(&mut self, handle: &Arc<Handle>) -> Result<i64, String> {
        let Shared { store, places, memory, .. } = &*handle.shared;
        *self = Self::default();
        let mut repeats = Repeats::default();
        let options = Arc::clone(&handle.options);
        let (snapshot, mut cached) = measured(|| store.snapshot(handle.id));
        let snapshot = snapshot?;
        cached -= snapshot.as_ref().map_or(0, Snapshot::in_memory).cast_signed() as i64;
        let mut engine = match snapshot {
            None => Engine::new(options, places.clone()),
            Some(snapshot) => {
                let (around, answered): (Vec<u8>, Repeats) = postcard::from_bytes(&snapshot.around)
                    .map_err(|error| format!("its snapshot is damaged: {error}"))?;
                (self.applied, repeats) = (snapshot.upto, answered);
                self.snapshot_bytes = snapshot.learner.as_ref().map_or(0, Saved::length);
                memory.check_stream(self.snapshot_bytes / 2).map_err(|problem| problem.detail)?;
                Engine::load(options, places.clone(), &around, snapshot.learner)?
            }
        };
        let (mut applied, mut bytes, mut replayed) = (self.applied, 0, HashMap::new());
        loop {
            let (orders, grown) = measured(|| store.orders(handle.id, applied));
            let orders = orders?;
            let held: usize = orders.iter().map(|(_, order)| order.capacity()).sum();
            cached += grown - (held + orders.capacity() * size_of::<(u64, Vec<u8>)>()).cast_signed() as i64;
            if orders.is_empty() {
                break;
            }
            for (place, order) in orders {
                if place != applied + 1 {
                    return Err(format!("its log is damaged: order {} is missing before order {place}", applied + 1));
                }
                let logged = Logged::from_bytes(&order)?;
                let reply = match logged.key.as_ref().and_then(|key| repeats.answer(key)) {
                    Some(reply) => reply,
                    None => {
                        let outcome = logged.carry_out(&mut engine);
                        if let Some(reason) = outcome.broken {
                            return Err(reason);
                        }
                        let reply = reply_of(outcome);
                        logged.key.iter().for_each(|key| repeats.end(key, &reply));
                        reply
                    }
                };
                (applied, bytes) = (place, bytes + order.len() as u64);
                if handle.waiting() > 0 {
                    replayed.insert(place, reply);
                }
            }
        }
        (self.applied, self.log_bytes, self.replayed) = (applied, bytes, replayed);
        handle.publish(&engine, 0);
        handle.feed.restore(&engine);
        *lock(&handle.repeats) = repeats;
        self.engine = Some(engine);
        Ok(cached)
    }

    pub fn carry_out(&mut self, handle: &Arc<Handle>, place: u64, bytes: u64, logged: &Logged) -> Reply {
        self.engine(handle)?;
        if self.applied >= place {
            // The learner was loaded again, and the replay has already applied this command.
            return self.replayed.remove(&place).unwrap_or_else(|| Err(ended()));
        }
        self.replayed.clear();
        if let Some(reply) = logged.key.as_ref().and_then(|key| lock(&handle.repeats).answer(key)) {
            // Two requests with this key ran at the same time, and both were logged.
            (self.applied, self.log_bytes) = (place, self.log_bytes + bytes);
            return reply;
        }
        let Some(engine) = &mut self.engine else { return Err(ended()) };
        let before = engine.notices.count;
        let (outcome, grown) = measured(|| logged.carry_out(engine));
        let grown = grown - outcome.answers.capacity().cast_signed() as i64;
        handle.bytes.store(handle.bytes().saturating_add_signed(grown), Ordering::Relaxed);
        if let Some(reason) = outcome.broken {
            self.forget(handle);
            // The command is durable, so loading the learner again applies it.
            return match self.engine(handle) {
                Ok(_) => self.replayed.remove(&place).unwrap_or_else(|| Err(ended())),
                Err(_) => Err(Problem::unavailable(format!(
                    "the rows are stored, but the learner cannot be used now: {reason}; repeat the request with the same \
                     Idempotency-Key for its answers"
                ))),
            };
        }
        handle.publish(engine, before);
        handle.feed.publish(engine, before, &logged.order, &outcome);
        let reply = reply_of(outcome);
        if let Some(key) = &logged.key {
            lock(&handle.repeats).end(key, &reply);
        }
        (self.applied, self.log_bytes) = (place, self.log_bytes + bytes);
        if self.log_bytes > LOG_BYTES.max(self.snapshot_bytes) && !self.is_saving {
            self.save(handle, || ());
        }
        reply
    }

    /// Sends a snapshot to the store, if there is memory. Calls or drops `saved` after the write.
    pub fn save(&mut self, handle: &Arc<Handle>, saved: impl FnOnce() + Send + 'static) {
        // The second copy is the learner that is read back for verification.
        let size = handle.bytes();
        let Some(mut reserved) = handle.shared.memory.copy(2 * size) else { return };
        let Some(engine) = &mut self.engine else { return };
        let Ok((around, learner)) = engine.save() else { return };
        let (options, places) = (Arc::clone(&handle.options), handle.shared.places.clone());
        let copy = learner.as_ref().map(Saved::copy).transpose().map_err(|error| error.to_string());
        if let Err(reason) = copy.and_then(|copy| Engine::load(options, places, &around, copy)) {
            // The snapshot must be readable. The log alone restores the same state.
            event("snapshot_refused", json!({ "stream": handle.name, "reason": reason }));
            self.snapshot_bytes = 2 * self.log_bytes;
            return;
        }
        reserved.keep(size);
        let Ok(around) = postcard::to_stdvec(&(around, &*lock(&handle.repeats))) else { return };
        let (bytes, size) = (std::mem::take(&mut self.log_bytes), learner.as_ref().map_or(0, Saved::length));
        self.is_saving = true;
        let owner = Arc::clone(handle);
        let done = move |outcome: Result<u64, Problem>| {
            drop(reserved);
            saved();
            owner.push(Box::new(move |handle, slot| {
                slot.is_saving = false;
                match outcome {
                    Ok(_) => {
                        slot.snapshot_bytes = size;
                        handle.seen().snapshots += 1;
                    }
                    Err(_) => slot.log_bytes += bytes,
                }
                handle.shared.make_room(0);
            }));
        };
        let action = Action::Snapshot { id: handle.id, upto: self.applied, around, learner };
        if handle.shared.queue.send(action, done).is_err() {
            (self.is_saving, self.log_bytes) = (false, bytes);
        }
    }
}

fn reply_of(outcome: Outcome) -> Reply {
    match outcome.refused {
        Some(problem) if outcome.learned == 0 => Err(problem),
        _ => Ok(outcome.answers),
    }
}
