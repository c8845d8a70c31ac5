//! State of a stream, shared with the thread that builds pages.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Value of a stream that another thread may read between two blocks of rows. A stream that never waits for rows would
/// take the lock again before the reader could, so whoever waits for the value holds the `turn`, which the stream needs.
#[derive(Debug, Default)]
pub struct Shared<T> {
    value: Mutex<T>,
    turn: Mutex<()>,
    version: AtomicU64,
}

impl<T> Shared<T> {
    pub fn new(value: T) -> Self {
        Self { value: Mutex::new(value), turn: Mutex::default(), version: AtomicU64::new(0) }
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn touch(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    pub fn into_inner(self) -> T {
        self.value.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};

    #[test]
    fn a_stream_that_never_waits_gives_turns() {
        let shared = Arc::new(Shared::new(0_u64));
        let (other, is_over) = (Arc::clone(&shared), Arc::new(AtomicBool::new(false)));
        let ending = Arc::clone(&is_over);
        let stream = std::thread::spawn(move || {
            while !ending.load(Ordering::Relaxed) {
                *other.lock() += 1;
                other.touch();
            }
        });
        let began = Instant::now();
        let mut seen = Vec::new();
        while seen.len() < 1000 {
            seen.push(*shared.lock());
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
        assert!(seen.is_sorted(), "{seen:?}");
        is_over.store(true, Ordering::Relaxed);
        stream.join().unwrap();
        assert_eq!(shared.version(), *shared.lock());
    }

    #[test]
    fn a_look_that_panics_does_not_stop_the_stream() {
        let shared = Arc::new(Shared::new(1));
        let other = Arc::clone(&shared);
        assert!(
            std::thread::spawn(move || {
                let _value = other.lock();
                panic!("no page")
            })
            .join()
            .is_err()
        );
        *shared.lock() += 1;
        assert_eq!(*shared.lock(), 2);
    }
}
