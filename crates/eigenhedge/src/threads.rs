//! How many threads the passes over long rows may use. No result depends on it, not by a bit.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

static THREADS: AtomicUsize = AtomicUsize::new(1);

/// Numbers in a pass that are worth a second thread: starting one takes as long as reading so many.
const WORTHWHILE: usize = 1 << 20;

/// Most threads of a pass: systems refuse to start any number of them.
const MOST: usize = 256;

/// Lets passes over long rows use so many threads, at most 256, in this process from now on. One is what a process starts
/// with.
pub fn set_threads(count: NonZeroUsize) {
    THREADS.store(count.get().min(MOST), Ordering::Relaxed);
}

/// How many threads passes over long rows may use.
pub fn threads() -> usize {
    THREADS.load(Ordering::Relaxed)
}

/// Threads worth having for so many pieces of a pass over so many numbers.
pub(crate) fn worthwhile(pieces: usize, numbers: usize) -> usize {
    if numbers < WORTHWHILE { 1 } else { threads().min(pieces) }
}

/// Deals so many pieces of a pass over so many numbers out to as many threads as are worth it. What `deal` makes of a share
/// is done by one of them.
pub(crate) fn share_out<W: FnOnce() + Send>(pieces: usize, numbers: usize, mut deal: impl FnMut(Range<usize>) -> W) {
    let count = worthwhile(pieces, numbers);
    if count < 2 {
        return deal(0..pieces)();
    }
    let share = |i: usize| pieces * i / count..pieces * (i + 1) / count;
    std::thread::scope(|scope| {
        for i in 1..count {
            scope.spawn(deal(share(i - 1)));
        }
        deal(share(count - 1))();
    });
}
