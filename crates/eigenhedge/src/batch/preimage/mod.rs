//! Pre-images: a point whose features are near a given combination of features.
//!
//! Setting: `f = Σ_i α_i φ(x_i)`, an [`Expansion`]. A point z with `φ(z) = f` rarely exists and need not be unique. The task is
//! to find a z that makes `|φ(z) - f|² = k(z, z) - 2 f(z) + |f|²` small.
//!
//! Four methods:
//! - [`fixed_point`], or [`fixed_points`] for many expansions at once: RBF kernels on vectors;
//! - [`descend`]: any differentiable kernel on vectors;
//! - [`best_candidate`]: any kernel, among given candidates;
//! - [`LearnedInverse`]: learned from points and their coordinates, for many fast pre-images.
//!
//! Guarantee: the first two find a local minimum no worse than the starting point; the third finds the best of its
//! candidates; the fourth has no guarantee.
//!
//! References: Mika, Schölkopf, Smola, Müller, Scholz and Rätsch, *Kernel PCA and de-noising in feature spaces*, 1999;
//! Bakır, Weston and Schölkopf, *Learning to find pre-images*, 2004.

mod candidate;
mod descent;
mod fixed_point;
mod learned_inverse;

pub use candidate::{Candidate, Criterion, best_candidate};
pub use descent::descend;
pub use fixed_point::{fixed_point, fixed_points};
pub use learned_inverse::LearnedInverse;

#[cfg(doc)]
use super::Expansion;

/// Pre-image found by iteration.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Preimage {
    /// Point z.
    pub point: Vec<f64>,
    /// Squared distance `|φ(z) - f|²` in the feature space.
    pub squared_distance: f64,
    /// Number of steps of the iteration that found the point.
    pub steps: usize,
    /// True if the last step was within the tolerance.
    pub converged: bool,
}

/// Stopping rule of an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Maximum number of steps.
    pub steps: usize,
    /// Tolerance: the iteration stops when a step is shorter than `tolerance · (1 + |z|)`.
    pub tolerance: f64,
}

impl Default for Stop {
    fn default() -> Self {
        Self { steps: 1000, tolerance: 1e-10 }
    }
}

impl Stop {
    fn reached(&self, from: &[f64], to: &[f64]) -> bool {
        let (mut step, mut length) = (0.0, 0.0);
        for (a, b) in from.iter().zip(to) {
            step += (a - b) * (a - b);
            length += b * b;
        }
        step.sqrt() <= self.tolerance * (1.0 + length.sqrt())
    }
}
