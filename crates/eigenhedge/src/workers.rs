//! Threads that wait for work, for pieces that take some microseconds.
//!
//! Starting a thread takes longer than a row of many learners. These are started once, look for a task without sleeping for
//! [`PATIENCE`], and sleep until there is one after that. They own what they work on: a task hands out its pieces by moving them.

use crate::threads::threads;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Work in pieces.
pub(crate) trait Task: Send + Sync {
    /// Does pieces until none is left to begin with. Any number of threads may call it.
    fn help(&self);
}

/// Time for which a thread looks for a task before it sleeps.
const PATIENCE: Duration = Duration::from_micros(100);
/// Looks between two looks at the clock.
const LOOKS: usize = 64;

#[derive(Default)]
struct Pool {
    /// Tasks so far.
    number: AtomicU64,
    task: Mutex<Option<Arc<dyn Task>>>,
    has_task: Condvar,
    /// Threads that sleep, and all of them.
    asleep: AtomicUsize,
    started: Mutex<usize>,
}

/// Has the other threads of this process help with a task. Returns at once: the caller helps too, and waits for the pieces that
/// others have begun.
pub(crate) fn share(task: Arc<dyn Task>) {
    static POOL: OnceLock<Arc<Pool>> = OnceLock::new();
    let pool = POOL.get_or_init(Arc::default);
    pool.start(threads() - 1);
    let mut present = pool.task.lock().unwrap_or_else(PoisonError::into_inner);
    *present = Some(task);
    pool.number.fetch_add(1, Ordering::Release);
    let has_sleepers = pool.asleep.load(Ordering::Relaxed) > 0;
    drop(present);
    if has_sleepers {
        pool.has_task.notify_all();
    }
}

/// Waits, without sleeping for long, until a condition holds.
pub(crate) fn wait_until(holds: impl Fn() -> bool) {
    for look in 0_usize.. {
        if holds() {
            return;
        }
        if look % LOOKS == LOOKS - 1 { thread::yield_now() } else { spin_loop() }
    }
}

impl Pool {
    /// Starts threads until there are so many; fewer do if the system has no more.
    fn start(self: &Arc<Self>, wanted: usize) {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        while *started < wanted {
            let pool = Arc::clone(self);
            if thread::Builder::new().name("worker".to_owned()).spawn(move || pool.work()).is_err() {
                return;
            }
            *started += 1;
        }
    }

    fn work(&self) {
        let mut seen = 0;
        loop {
            self.wait_for_task(seen);
            let present = self.task.lock().unwrap_or_else(PoisonError::into_inner);
            seen = self.number.load(Ordering::Acquire);
            let task = present.clone();
            drop(present);
            task.iter().for_each(|task| task.help());
        }
    }

    /// Returns when there is another task than the one seen last.
    fn wait_for_task(&self, seen: u64) {
        let is_new = || self.number.load(Ordering::Acquire) != seen;
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            for _ in 0..LOOKS {
                if is_new() {
                    return;
                }
                spin_loop();
            }
        }
        let mut present = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        self.asleep.fetch_add(1, Ordering::Relaxed);
        while !is_new() {
            present = self.has_task.wait(present).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::Relaxed);
    }
}
