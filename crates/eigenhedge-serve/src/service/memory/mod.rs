//! Memory of the service, without the program itself and 4 MB per thread for matrix products. The allocator counts bytes.
//! The limit `--max-memory` is divided so that it holds for any behavior of clients:
//!
//! | share | for | beyond it |
//! |---|---|---|
//! | 1/4 | learners, with their pages and stored answers | idle streams are saved and unloaded |
//! | 1/10 | one stream | its rows are refused (507) |
//! | 1/5 | bodies, rows, unsent answers, and growth of learners by waiting rows | 413, 429 |
//! | 1/5 | snapshots that are verified or wait for the store | a snapshot waits |
//! | 1/16 | cache of the store | |
//! | the rest | working space of learners | |

mod allocator;
mod need;

use allocator::working_space;
pub use allocator::{allocated, configure, measured, trim};
pub use need::{check_learner, need_of_rows};

use super::problem::Problem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const CACHE: (u64, u64) = (4 << 20, 64 << 20);
/// Requests of usual size need this much.
pub const LEAST_MEMORY: u64 = 32 << 20;

#[derive(Debug, Clone)]
pub struct Memory {
    limit: u64,
    requests: Arc<Share>,
    copies: Arc<Share>,
    /// Bytes used without learners: those at the start, and the cache of the store.
    program: u64,
    /// Bytes that streams will free when they have been unloaded.
    unloading: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Share {
    most: u64,
    limit: u64,
    taken: AtomicU64,
}

#[derive(Debug)]
pub struct Reserved {
    share: Arc<Share>,
    pub bytes: u64,
}

impl Memory {
    pub fn new(limit: u64) -> Self {
        let share = |most: u64| Arc::new(Share { most, limit, taken: AtomicU64::new(0) });
        let program = allocated() + cache(limit);
        Self { limit, requests: share(limit / 5), copies: share(limit / 5), program, unloading: Arc::default() }
    }

    pub fn cache(&self) -> u64 {
        cache(self.limit)
    }

    pub fn of_stream(&self) -> u64 {
        self.limit / 10
    }

    pub fn check_stream(&self, bytes: u64) -> Result<(), Problem> {
        if bytes <= self.of_stream() {
            return Ok(());
        }
        let (bytes, most, limit) = (megabytes(bytes), megabytes(self.of_stream()), megabytes(self.limit));
        Err(Problem::store_full(format!(
            "the stream takes {bytes} MB of memory, and one stream may take {most} MB, a tenth of --max-memory {limit} MB"
        )))
    }

    pub fn request(&self) -> Reserved {
        Reserved { share: Arc::clone(&self.requests), bytes: 0 }
    }

    /// Reserves memory for a snapshot, at most the whole share. Returns `None` if other snapshots occupy it.
    pub fn copy(&self, bytes: u64) -> Option<Reserved> {
        let bytes = bytes.min(self.copies.most);
        self.copies.take(bytes).then(|| Reserved { share: Arc::clone(&self.copies), bytes })
    }

    /// Returns the number of bytes by which the learners and `more` bytes exceed their share.
    pub fn excess(&self, more: u64) -> u64 {
        let others = self.requests.taken.load(Ordering::Relaxed) + self.copies.taken.load(Ordering::Relaxed);
        let unloading = self.unloading.load(Ordering::Relaxed);
        let learners = (allocated() + more).saturating_sub(self.program + working_space() + others + unloading);
        learners.saturating_sub(self.limit / 4)
    }

    /// Returns an error if the learners and `more` bytes exceed their share by more than half.
    pub fn check_learners(&self, more: u64) -> Result<(), Problem> {
        if self.excess(more) <= self.limit / 8 {
            return Ok(());
        }
        let limit = megabytes(self.limit);
        Err(Problem::busy(format!("the learners in use take all the memory that --max-memory {limit} MB allows")))
    }

    pub fn trim(&self, resident: Option<u64>) {
        if resident.is_some_and(|resident| resident > allocated() + self.limit / 8) {
            trim();
        }
    }

    pub fn unloading(&self, bytes: u64) -> Unloading {
        self.unloading.fetch_add(bytes, Ordering::Relaxed);
        Unloading(Arc::clone(&self.unloading), bytes)
    }
}

fn cache(limit: u64) -> u64 {
    (limit / 16).clamp(CACHE.0, CACHE.1)
}

#[derive(Debug)]
pub struct Unloading(Arc<AtomicU64>, u64);

impl Drop for Unloading {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

impl Share {
    fn take(&self, bytes: u64) -> bool {
        let fits = |taken: u64| taken.checked_add(bytes).filter(|sum| *sum <= self.most);
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }
}

impl Reserved {
    pub fn add(&mut self, bytes: u64) -> Result<(), Problem> {
        let (most, limit) = (self.share.most, megabytes(self.share.limit));
        let wanted = self.bytes.saturating_add(bytes);
        if wanted > most {
            let (wanted, most) = (megabytes(wanted), megabytes(most));
            return Err(Problem::too_large(format!(
                "the request needs about {wanted} MB of memory, and --max-memory {limit} MB leaves {most} MB for requests; \
                 send less at once, or give the service more memory"
            )));
        }
        if !self.share.take(bytes) {
            return Err(Problem::busy(format!(
                "the requests that wait take all the memory that --max-memory {limit} MB leaves for them; send less at once"
            )));
        }
        self.bytes = wanted;
        Ok(())
    }

    pub fn keep(&mut self, bytes: u64) {
        let less = self.bytes.saturating_sub(bytes);
        self.bytes -= less;
        self.share.taken.fetch_sub(less, Ordering::Relaxed);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.keep(0);
    }
}

fn megabytes(bytes: u64) -> f64 {
    (bytes as f64 / 1e5).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_never_exceed_their_share_and_are_released() {
        let memory = Memory::new(1000);
        let (mut one, mut two) = (memory.request(), memory.request());
        one.add(150).unwrap();
        assert_eq!(one.add(51).unwrap_err().status().as_u16(), 413);
        assert_eq!(two.add(51).unwrap_err().status().as_u16(), 429);
        two.add(50).unwrap();
        one.keep(10);
        two.add(140).unwrap();
        drop((one, two));
        assert_eq!(memory.requests.taken.load(Ordering::Relaxed), 0);
        let copy = memory.copy(1 << 40).unwrap();
        assert!(memory.copy(1).is_none(), "one snapshot at a time may be larger than the share");
        drop(copy);
        assert!(memory.copy(60).is_some());
    }

    #[test]
    fn measured_bytes_are_those_that_remain() {
        let (kept, bytes) = measured(|| {
            drop(vec![0u8; 1 << 20]);
            vec![0u8; 1000]
        });
        assert_eq!((kept.len(), bytes), (1000, 1000));
        // Every thread of a test has working space of its own.
        let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
        assert!(allocated() > 1000 && working_space() < threads * (16 << 20), "{}", working_space());
        assert_eq!(measured(|| drop(kept)).1, -1000);
    }
}
