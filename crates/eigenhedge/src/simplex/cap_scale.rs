//! Arithmetic shared by the capping algorithms: the boundary of the cap and the scale.

use crate::num;

/// Entries below the cap: the largest log-weight, their number, and the mass kept if it is exactly at the cap.
pub(super) struct Uncapped {
    pub(super) top: f64,
    pub(super) count: f64,
    pub(super) kept: f64,
}

impl Uncapped {
    pub(super) const NONE: Self = Self { top: f64::NEG_INFINITY, count: 0.0, kept: 0.0 };

    /// Returns the mass kept if a log-weight of `level ≥ top` is at the cap: positive terms keep the precision.
    pub(super) fn kept_at(&self, level: f64) -> f64 {
        self.kept + (self.count - self.kept) * num::kept(gap(self.top, level))
    }

    /// Returns true if the mass `kept_below` of these entries reaches `kept`, so that all larger entries must be
    /// capped. Never true for `kept` or fewer entries, even after rounding.
    pub(super) fn fills(&self, kept: usize, kept_below: f64) -> bool {
        self.count > kept as f64 && kept_below >= kept as f64
    }
}

/// Returns the number of uncapped entries and their largest log-weight. `order` is ascending.
pub(super) fn scan(order: &[usize], weight: impl Fn(usize) -> (f64, f64), kept: usize) -> (usize, f64) {
    let mut below = Uncapped::NONE;
    for (rank, &entry) in order.iter().enumerate() {
        let (level, multiplicity) = weight(entry);
        if multiplicity == 0.0 {
            continue;
        }
        let kept_below = below.kept_at(level);
        if below.fills(kept, kept_below) || multiplicity == f64::INFINITY {
            return (rank, below.top);
        }
        below = Uncapped { top: level, count: below.count + multiplicity, kept: kept_below };
    }
    (order.len(), below.top)
}

/// Returns `log c` relative to the largest uncapped log-weight `top`. `uncapped` yields log-weights and multiplicities.
pub(super) fn log_scale(uncapped: impl Iterator<Item = (f64, f64)> + Clone, top: f64, kept: usize) -> f64 {
    let kept = kept as f64;
    let uncapped = uncapped.filter(|&(_, multiplicity)| multiplicity > 0.0);
    let count: f64 = uncapped.clone().map(|(_, multiplicity)| multiplicity).sum();
    // The rounding error of one form is proportional to k, of the other to M - k. Use the smaller.
    if count - kept > kept {
        let kept_at_top: f64 = uncapped.map(|(weight, multiplicity)| multiplicity * num::kept(gap(weight, top))).sum();
        return ((kept_at_top - kept) / (count - kept_at_top)).ln_1p();
    }
    let total: f64 = uncapped.map(|(weight, multiplicity)| multiplicity * gap(weight, top).exp()).sum();
    ((count - kept) / total).ln()
}

/// Returns `weight - top`, or 0 for equal weights, even if both are `-∞`.
pub(super) fn gap(weight: f64, top: f64) -> f64 {
    if weight == top { 0.0 } else { weight - top }
}

/// Limits a log-weight to positive zero, so that all capped entries are bit-identical.
pub(super) fn at_most_zero(log_weight: f64) -> f64 {
    if log_weight < 0.0 { log_weight } else { 0.0 }
}
