//! A root of the secular equation, and how many steps are made to find one.

/// Most steps of an iteration; a few are usual.
pub(super) const MOST_STEPS: usize = 100;

/// A root `λ = pole + offset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    /// Index of the nearest pole.
    pub origin: usize,
    /// Distance from it; positive when the pole is the lower end of the gap.
    pub offset: f64,
}
