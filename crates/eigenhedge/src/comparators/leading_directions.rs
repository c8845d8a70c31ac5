//! Lower and upper bounds on the loss of the best fixed subspace in hindsight, at the cost of a few matrix products.
//!
//! Update (subspace iteration with a warm start): let V (field `basis`) be the p = min(n, k + 8) directions of the
//! previous evaluation for an n × n scatter matrix S, and `Y = S V`. The eigenvalues θ of `Vᵀ Y` are Ritz values. The
//! orthonormalized Y is the next V. An evaluation takes at most [`PASSES`] passes of 2n²p operations, and only one if
//! the interval is then narrow.
//! Guarantee: the loss of the k leading Ritz vectors is that of a subspace, so the upper end is valid. In the basis of
//! V and its complement `S = [Θ Rᵀ; R S₂₂]`, and for every ε > 0, `S ⪯ (Θ + RᵀR/ε) ⊕ (S₂₂ + ε I)`. The j largest
//! eigenvalues of `S₂₂` sum to at most `√j ‖S₂₂‖` (Frobenius) and to at most its trace, so the k largest of S sum to at
//! most `max_j (θ₁ + … + θ_{k-j} + min(√j ‖S₂₂‖, tr S₂₂) + j ε) + ‖R‖²/ε`. This gives the lower end, for two ε.
//! Numerics: both ends hold up to rounding of `tr S`. On overflow the loss is computed exactly from eigenvalues.

use super::best::Best;
use super::best_loss;
use crate::error::Error;
use crate::linalg::checks::{orthonormal, shape};
use crate::linalg::{Matrix, multiplied, multiply, symmetric_eigen, symmetric_times};
use crate::num::dot;
use crate::random::Random;
use serde::{Deserialize, Serialize};

/// Approximate leading directions of all rows, reused between evaluations.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LeadingDirections {
    basis: Matrix,
}

const BESIDES: usize = 8;
const PASSES: usize = 2;
const NARROW: f64 = 1e-3;

impl LeadingDirections {
    /// Checks a deserialized state for rows of this length.
    pub fn check_state(&self, length: usize, kept: usize) -> Result<(), Error> {
        if self.basis.columns() == 0 {
            return Ok(());
        }
        shape("the leading directions", &self.basis, length, followed(length, kept))?;
        orthonormal("the leading directions", &self.basis)
    }

    /// Returns an interval from the lower triangle of a scatter matrix, or the exact loss on overflow.
    pub(super) fn best(&mut self, scatter: &Matrix, kept: usize) -> Best {
        let length = scatter.rows();
        if self.basis.columns() == 0 {
            self.basis = at_random(length, followed(length, kept));
        }
        let mut best = Best::between(0.0, f64::INFINITY);
        for _ in 0..PASSES {
            best = match self.pass(scatter, kept) {
                Some((low, high)) => Best::between(low.max(best.low()), high.min(best.high())),
                None => return Best::Exact(best_loss(scatter, kept)),
            };
            if best.high() - best.low() <= NARROW * best.high() {
                break;
            }
        }
        best
    }

    fn pass(&mut self, scatter: &Matrix, kept: usize) -> Option<(f64, f64)> {
        let (mut product, mut turned) = (Matrix::default(), Matrix::default());
        symmetric_times(&mut product, scatter, &self.basis);
        let small = multiplied(self.basis.view().transpose(), product.view());
        let ritz = symmetric_eigen(&small);
        let trace = scatter.trace();
        let squares: f64 = (0..scatter.rows()).map(|j| column_squares(scatter, j)).sum();
        if !(squares.is_finite() && ritz.values.iter().all(|value| value.is_finite())) {
            return None;
        }
        let carried: f64 = ritz.values.iter().map(|value| value * value).sum();
        let rounding = 4.0 * f64::EPSILON * squares;
        let residual = (product.energy() - carried).max(0.0);
        let outside = (squares - carried - 2.0 * residual).max(0.0) + rounding;
        let mut values: Vec<f64> = ritz.values.iter().map(|value| value.max(0.0)).collect();
        values.reverse();
        // In the basis of Ritz vectors the columns of the product are nearly orthogonal.
        multiply(&mut turned, product.view(), ritz.vectors.view());
        turned.reverse_columns();
        self.basis = turned;
        self.basis.orthonormalise_any();
        Some(interval(&values, kept, trace, residual + rounding, outside.sqrt()))
    }
}

/// From descending Ritz values, ‖R‖² and ‖S₂₂‖.
fn interval(values: &[f64], kept: usize, trace: f64, residual: f64, outside: f64) -> (f64, f64) {
    let kept = kept.min(values.len());
    let sums: Vec<f64> = std::iter::once(0.0)
        .chain(values[..kept].iter().scan(0.0, |sum, value| {
            *sum += value;
            Some(*sum)
        }))
        .collect();
    let rest = (trace - values.iter().sum::<f64>()).max(0.0);
    let most_outside = |j: usize| ((j as f64).sqrt() * outside).min(rest);
    let top = |epsilon: f64| {
        let with = |j: usize| sums[kept - j] + most_outside(j) + j as f64 * epsilon;
        (0..=kept).map(with).fold(0.0, f64::max) + residual / epsilon
    };
    let gap = |j: usize| (sums[kept] - sums[kept - j] - most_outside(j)) / j as f64;
    let widest = (1..=kept).map(gap).fold(f64::INFINITY, f64::min);
    let even = (residual / kept.max(1) as f64).sqrt();
    let most = [widest, even].into_iter().filter(|e| *e > 0.0).map(top).fold(f64::INFINITY, f64::min);
    let high = (trace - sums[kept]).max(0.0);
    ((trace - most).clamp(0.0, high), high)
}

fn column_squares(scatter: &Matrix, j: usize) -> f64 {
    let below = &scatter.column(j)[j + 1..];
    scatter.column(j)[j].powi(2) + 2.0 * dot(below, below)
}

fn followed(length: usize, kept: usize) -> usize {
    length.min(kept.saturating_add(BESIDES))
}

fn at_random(rows: usize, columns: usize) -> Matrix {
    let mut random = Random::seeded(0);
    let mut basis = Matrix::zeros(rows, columns);
    (0..columns).for_each(|j| basis.column_mut(j).iter_mut().for_each(|x| *x = random.normal()));
    basis.orthonormalise_any();
    basis
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::add_lower_square;

    fn add(scatter: &mut Matrix, deviations: &[f64], rows: usize, random: &mut Random) {
        let mut block = Matrix::zeros(deviations.len(), rows);
        for j in 0..rows {
            block.column_mut(j).iter_mut().zip(deviations).for_each(|(x, d)| *x = d * random.normal());
        }
        add_lower_square(scatter, block.view());
    }

    #[test]
    fn the_interval_holds_the_best_loss_and_is_narrow_where_directions_stand_out() {
        let steep: Vec<f64> = (0..90).map(|i| if i < 6 { 9.0 - i as f64 } else { 0.1 }).collect();
        let cases = [
            ("steep", steep.clone(), 2e-3),
            ("flat", vec![1.0; 90], 0.2),
            ("rank two", (0..90).map(|i| f64::from(u8::from(i < 2))).collect(), 0.0),
            ("nothing", vec![0.0; 90], 0.0),
            ("huge", steep.iter().map(|d| 1e140 * d).collect(), 0.0),
            ("short", vec![3.0, 2.0, 1.0], 1e-6),
        ];
        for (name, deviations, width) in cases {
            let (mut scatter, mut random) = (Matrix::zeros(deviations.len(), deviations.len()), Random::seeded(1));
            let mut leading = LeadingDirections::default();
            for look in 0..5 {
                add(&mut scatter, &deviations, 200, &mut random);
                let (best, exact) = (leading.best(&scatter, 2), best_loss(&scatter, 2));
                let trace: f64 = (0..deviations.len()).map(|j| scatter.column(j)[j]).sum();
                let slack = 1e-12 * trace;
                assert!(best.low() <= exact + slack && exact <= best.high() + slack, "{name}: {best:?}, {exact}");
                let found = best.high() - best.low();
                assert!(look == 0 || found <= width * exact + 1e-6 * trace, "{name} {look}: {best:?}, {exact}");
                leading.check_state(deviations.len(), 2).unwrap();
            }
        }
    }
}
