//! Number of threads for passes over long rows, members of a portfolio and models of a fleet. Results are bit-identical
//! for every number of threads.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

static THREADS: AtomicUsize = AtomicUsize::new(1);

const WORTHWHILE: usize = 1 << 20;

const MOST: usize = 256;

/// Sets the number of threads of this process: 1 by default, at most 256.
pub fn set_threads(count: NonZeroUsize) {
    THREADS.store(count.get().min(MOST), Ordering::Relaxed);
}

/// Returns the number of threads set by [`set_threads`].
pub fn threads() -> usize {
    THREADS.load(Ordering::Relaxed)
}

pub(crate) fn worthwhile(pieces: usize, numbers: usize) -> usize {
    if numbers < WORTHWHILE { 1 } else { threads().min(pieces) }
}

/// Splits `pieces` across threads if the pass reads enough values (`numbers`). `deal` returns the work on a range.
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
