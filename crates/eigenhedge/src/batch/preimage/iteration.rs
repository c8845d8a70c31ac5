//! Result and stopping rule of the iterations.

/// Pre-image found by iteration.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Preimage {
    /// Point z whose features φ(z) are near the expansion f.
    pub point: Vec<f64>,
    /// Squared distance `|φ(z) - f|²` in the feature space.
    pub squared_distance: f64,
    /// Number of steps of the iteration that found the point.
    pub steps: usize,
    /// True if the last step was within the tolerance, or if no step improved the result beyond rounding.
    pub converged: bool,
}

/// Stopping rule of an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Maximum number of steps.
    pub steps: usize,
    /// Tolerance: a step to z of length at most `tolerance · (1 + |z|)` is the last one.
    pub tolerance: f64,
}

impl Default for Stop {
    fn default() -> Self {
        Self { steps: 1000, tolerance: 1e-10 }
    }
}

impl Stop {
    pub(super) fn reached(&self, from: &[f64], to: &[f64]) -> bool {
        let (mut step, mut length) = (0.0, 0.0);
        for (a, b) in from.iter().zip(to) {
            step += (a - b) * (a - b);
            length += b * b;
        }
        step.sqrt() <= self.tolerance * (1.0 + length.sqrt())
    }
}
