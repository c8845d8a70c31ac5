//! Representation of a root of the secular equation, and the limit on iterations.

pub(super) const MOST_STEPS: usize = 100;

/// Root `λ = pole + offset` of the secular equation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Root {
    pub origin: usize,
    /// Signed distance from that pole. It is positive if the pole is the lower end of the gap.
    pub offset: f64,
}
