//! Pre-images: a point whose features are near a given combination of features.
//!
//! Setting: `f = Σ_i α_i φ(x_i)`, an [`Expansion`]. A point z with `φ(z) = f` exists only by chance, and may not be the
//! only one; what is sought is a z that makes `|φ(z) - f|² = k(z, z) - 2 f(z) + |f|²` small.
//!
//! Four ways, for four situations:
//! - [`fixed_point`]: RBF kernels on vectors;
//! - [`descend`]: any kernel on vectors with a gradient;
//! - [`best_candidate`]: any kernel on anything, among given candidates;
//! - [`LearnedInverse`]: learned from points and their coordinates, when many pre-images are wanted fast.
//!
//! Guarantee: the first two find a local minimum that is no worse than where they start; the third, the best of
//! its candidates; the fourth, nothing.
//!
//! References: Mika, Schölkopf, Smola, Müller, Scholz and Rätsch, *Kernel PCA and de-noising in feature spaces*, 1999;
//! Bakır, Weston and Schölkopf, *Learning to find pre-images*, 2004.

mod candidate;
mod descent;
mod fixed_point;
mod learned_inverse;

pub use candidate::{Candidate, Criterion, best_candidate};
pub use descent::descend;
pub use fixed_point::fixed_point;
pub use learned_inverse::LearnedInverse;

#[cfg(doc)]
use super::Expansion;

/// A point found by iteration.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Preimage {
    /// z.
    pub point: Vec<f64>,
    /// `|φ(z) - f|²`.
    pub squared_distance: f64,
    /// Steps taken in the run that found it.
    pub steps: usize,
    /// True if the last step was within the tolerance.
    pub converged: bool,
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Largest number of steps of a model.
    pub steps: usize,
    /// A run ends when a step is shorter than this share of the length of z, plus this.
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
