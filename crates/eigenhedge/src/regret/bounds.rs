//! The theorems, one pure function each.

use crate::simplex::Multiplicity;

/// JMLR Theorem 6 (ICML Theorem 1): total expected loss of tracking without mixing, and of uncentered anchored,
/// is at most `(η L* + Q² d log(N/d)) / (1 - e^{-η})`, for rows of norm at most Q. None for infinite N.
///
/// ```
/// use eigenhedge::{regret::uncentered, simplex::Multiplicity};
/// let bound = uncentered(1.0, 10.0, 2, Multiplicity::Finite(20), 1.0).unwrap();
/// assert!((bound - (10.0 + 18.0 * (20f64 / 18.0).ln()) / (1.0 - (-1f64).exp())).abs() < 1e-12);
/// ```
pub fn uncentered(eta: f64, best: f64, kept: usize, dimension: Multiplicity, norm_square: f64) -> Option<f64> {
    let Multiplicity::Finite(n) = dimension else { return None };
    let (n, kept) = (n as f64, kept as f64);
    let start = (n - kept) * -(-kept / n).ln_1p();
    Some((eta * best + norm_square * start) / -(-eta).exp_m1())
}
