//! Representation of a root of the secular equation, and the limit on iterations.

/// Maximum number of iterations; a few are usual.
pub(super) const MOST_STEPS: usize = 100;

/// A root `λ = pole + offset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    /// Index of the nearest pole.
    pub origin: usize,
    /// Distance from that pole; positive if the pole is the lower end of the gap.
    pub offset: f64,
}
