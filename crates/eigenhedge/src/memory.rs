//! Sizes that memory cannot hold: an error before the allocator is asked, because a failed allocation ends the process.

use crate::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};

static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Bytes that are not worth a question.
const LITTLE: u128 = 1 << 20;

/// Refuses sizes that would take more than this many bytes, in this process from now on. A process starts without a limit
/// other than what the system would refuse.
pub fn set_max_memory(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// An error if this many float64 numbers would take more memory than allowed, or than the system would give.
///
/// ```
/// use eigenhedge::internals::check_numbers;
/// assert!(check_numbers("the table", 1000).is_ok());
/// let error = check_numbers("the table", 1 << 60).unwrap_err().to_string();
/// assert_eq!(error, "the table would take 9223372036.855 GB of memory, more than there is");
/// ```
pub fn check_numbers(what: &'static str, numbers: u128) -> Result<(), Error> {
    let bytes = numbers.saturating_mul(size_of::<f64>() as u128);
    if bytes <= LITTLE {
        return Ok(());
    }
    // What is asked for and given back at once costs nothing, and tells what the system would say.
    let is_given = |bytes: usize| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    if bytes <= LIMIT.load(Ordering::Relaxed).into() && usize::try_from(bytes).is_ok_and(is_given) {
        return Ok(());
    }
    Err(Error::Memory { what, gigabytes: bytes as f64 / 1e9 })
}

/// The product of sizes; as large as it may be, it does not overflow.
pub fn product(sizes: &[usize]) -> u128 {
    sizes.iter().fold(1, |product: u128, size| product.saturating_mul(*size as u128))
}
