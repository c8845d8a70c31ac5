//! Memory checks before large allocations. They return an error, whereas a failed allocation would end the process.

use crate::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};

static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

const MOST_UNCHECKED: u128 = 1 << 20;

/// Sets the maximum size of a single object in bytes, for the whole process. There is no maximum by default.
pub fn set_max_memory(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// Returns `Err` if `numbers` values of 8 bytes exceed 1 MiB, and the limit or the memory that the system can allocate.
///
/// ```
/// use eigenhedge::internals::check_numbers;
/// assert!(check_numbers("the table", 1000).is_ok());
/// let error = check_numbers("the table", 1 << 60).unwrap_err().to_string();
/// assert_eq!(error, "the table would take 9223372036.855 GB of memory, more than there is");
/// ```
pub fn check_numbers(what: &'static str, numbers: u128) -> Result<(), Error> {
    let bytes = numbers.saturating_mul(size_of::<f64>() as u128);
    if bytes <= MOST_UNCHECKED {
        return Ok(());
    }
    // Reserving memory is cheap, and shows whether the system would allow the allocation.
    let is_given = |bytes: usize| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
    if bytes <= LIMIT.load(Ordering::Relaxed).into() && usize::try_from(bytes).is_ok_and(is_given) {
        return Ok(());
    }
    Err(Error::Memory { what, gigabytes: bytes as f64 / 1e9 })
}

/// Returns the product of the sizes, without overflow.
pub fn product(sizes: &[usize]) -> u128 {
    sizes.iter().fold(1, |product: u128, size| product.saturating_mul(*size as u128))
}
