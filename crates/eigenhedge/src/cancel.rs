//! Cancellation of long batch computations from another thread. Each computing thread has its own flag, which the loops
//! of kernel methods check at every iteration and every block of kernel rows. A single dense decomposition does not
//! check it.

use crate::error::Error;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Runs `work` on this thread and returns its result. Once the flag is set, kernel methods of
/// [`batch`](crate::batch) and [`Model::learn_set`](crate::Model::learn_set) inside `work` return
/// [`Error::Cancelled`].
///
/// ```
/// use eigenhedge::batch::{Center, KernelPca, Solver};
/// use eigenhedge::kernel::{VectorKernel, Vectors};
/// use eigenhedge::{Error, cancellable};
/// use std::sync::Arc;
/// use std::sync::atomic::AtomicBool;
///
/// let fit = || {
///     let atoms = Vectors::new(VectorKernel::Linear, 2)?;
///     KernelPca::fit(atoms, &[[1.0, 2.0], [3.0, 5.0]], 1, Center::Mean, Solver::Dense)
/// };
/// assert!(cancellable(Arc::new(AtomicBool::new(false)), fit).is_ok());
/// assert_eq!(cancellable(Arc::new(AtomicBool::new(true)), fit), Err(Error::Cancelled));
/// ```
pub fn cancellable<T>(flag: Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let before = FLAG.replace(Some(flag));
    let done = work();
    FLAG.set(before);
    done
}

pub(crate) fn check() -> Result<(), Error> {
    let is_set = FLAG.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)));
    if is_set { Err(Error::Cancelled) } else { Ok(()) }
}
