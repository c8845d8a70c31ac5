//! Comparators: losses of the best choices in hindsight.
//!
//! - [`BestSubspace`]: exact loss of the best fixed subspace.
//! - [`Sketch`]: lower and upper bound on this loss, for long rows.
//! - [`Hindsight`]: one of these, chosen by the length of rows, or one for kernel features.
//! - [`Best`]: result of a comparator, an exact loss or a lower and an upper bound.
//! - [`LeadingDirections`]: directions from which lower and upper bounds are computed during a run.
//! - [`Partitions`]: best partitions of plain rows or features, with cuts between any rows that are stored.
//! - [`BestPair`]: gain of the best directions for pairs of rows.
//!
//! ```
//! use eigenhedge::comparators::BestSubspace;
//!
//! let mut best = BestSubspace::new(3, false).unwrap(); // rows of three numbers, measured from zero
//! for row in [[1.0, 0.0, 0.1], [0.0, 2.0, 0.0], [3.0, 0.0, 0.0]] {
//!     best.add(&row);
//! }
//! assert!(best.loss(2) < 0.01 && best.loss(1) > 3.9); // two directions hold nearly everything, one does not
//! ```

mod best;
mod feature_rows;
mod hindsight;
mod leading_directions;
mod partition;
mod partitions;
mod pending_rows;
mod running_scatter;
mod sketch;
mod sparse_sketch;

use crate::linalg::{Eigen, Matrix, largest_sum, symmetric_eigenvalues};
pub use best::{Best, BestMethod, BestPair, BestSubspace};
pub use hindsight::Hindsight;
pub(crate) use hindsight::retained;
pub use leading_directions::LeadingDirections;
pub use partition::Partition;
pub use partitions::Partitions;
pub(crate) use running_scatter::{Mean, RunningScatter};
pub use sketch::Sketch;
pub(crate) use sketch::bracket;

const LARGE: usize = 128;
/// Share of the energy up to which the best loss is the sum of the small eigenvalues ([`Eigen::compute_graded`]): a
/// difference would be mostly rounding.
const GRADED: f64 = 1e-8;

/// Returns the sum of all but the k largest eigenvalues of a scatter or kernel matrix, from its lower triangle.
pub(crate) fn best_loss(scatter: &Matrix, kept: usize) -> f64 {
    let largest = if scatter.rows() >= LARGE { largest_sum(scatter, kept) } else { None };
    let trace = scatter.trace();
    match largest.map(|sum| trace - sum).filter(|loss| *loss > GRADED * trace && loss.is_finite()) {
        Some(loss) => loss,
        None => best_losses(scatter, kept)[kept],
    }
}

/// Returns the losses of the best subspaces of dimensions 0 to `most`.
pub(crate) fn best_losses(scatter: &Matrix, most: usize) -> Vec<f64> {
    let mut values = symmetric_eigenvalues(scatter.view());
    let rest = |values: &[f64], kept: usize| values.iter().rev().skip(kept).rev().map(|v| v.max(0.0)).sum::<f64>();
    if rest(&values, most) <= GRADED * scatter.trace() {
        let mut eigen = Eigen::default();
        eigen.compute_graded(scatter);
        values = eigen.values;
    }
    (0..=most).map(|kept| rest(&values, kept)).collect()
}

#[cfg(test)]
mod tests;
