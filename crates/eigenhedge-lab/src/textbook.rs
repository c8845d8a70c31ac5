//! Learners of JMLR Algorithms 5 and 6 as printed, with a density matrix in double precision.
//!
//! Update: tracking `W ← cap(exp(log W - η z zᵀ))`, anchored `W ← cap(exp(-η C))`, where z is the new row and C the
//! scatter matrix of all rows. `exp(…)` and W are each multiplied out and decomposed again.
//!
//! Numerics: a multiplied-out matrix loses eigenvalues below about 1e-17. Rounding replaces them by arbitrary values of
//! that size, which are raised to [`FLOOR`], as if a share of the uniform distribution were mixed in.

use crate::LabError;
use crate::curves::Inspected;
use eigenhedge::internals::{DrawScratch, dot, draw, symmetric_eigen};
use eigenhedge::simplex::Select;
use eigenhedge::{Error, Instance, Learner, Loss, Matrix, Random};

/// Smallest eigenvalue of W, so that logarithms exist.
const FLOOR: f64 = 1e-17;

/// Exponent of an update, before `η z zᵀ` is subtracted.
#[derive(Debug, Clone)]
enum Exponent {
    Logarithm,
    /// `-η C` for the earlier rows.
    Scatter(Matrix),
}

/// Tracking or anchored learner with a dense density matrix W.
#[derive(Debug, Clone)]
pub struct Textbook {
    exponent: Exponent,
    eta: f64,
    kept: usize,
    weights: Vec<f64>,
    vectors: Matrix,
    members: Vec<usize>,
}

impl Textbook {
    pub fn tracking(length: usize, kept: usize, eta: f64) -> Self {
        let weights = vec![1.0 / length as f64; length];
        let vectors = Matrix::identity(length);
        Self { exponent: Exponent::Logarithm, eta, kept, weights, vectors, members: Vec::new() }
    }

    pub fn anchored(length: usize, kept: usize, eta: f64) -> Self {
        let exponent = Exponent::Scatter(Matrix::zeros(length, length));
        Self { exponent, ..Self::tracking(length, kept, eta) }
    }

    fn probabilities(&self) -> Vec<f64> {
        let dropped = (self.weights.len() - self.kept) as f64;
        self.weights.iter().map(|weight| (1.0 - dropped * weight).clamp(0.0, 1.0)).collect()
    }

    fn kept_of(&self, direction: &[f64]) -> f64 {
        let square = |j: usize| dot(self.vectors.column(j), direction).powi(2);
        self.probabilities().iter().enumerate().map(|(j, p)| p * square(j)).sum()
    }
}

impl Inspected for Textbook {
    fn columns(&self) -> usize {
        0
    }

    fn kept_of(&self, direction: &[f64]) -> Result<f64, LabError> {
        Ok(self.kept_of(direction))
    }

    fn most_surely_kept(&mut self, kept: usize) -> Matrix {
        let mut order: Vec<usize> = (0..self.weights.len()).collect();
        order.sort_by(|a, b| self.weights[*a].total_cmp(&self.weights[*b]));
        let mut columns = Matrix::zeros(self.weights.len(), kept);
        (0..kept).for_each(|j| columns.column_mut(j).copy_from_slice(self.vectors.column(order[j])));
        columns
    }
}

impl<'a> Learner<Instance<'a, [f64]>> for Textbook {
    fn check(&mut self, _: &Instance<'a, [f64]>) -> Result<(), Error> {
        Ok(())
    }

    fn choose(&mut self, random: &mut Random) {
        let probabilities = self.probabilities();
        draw(Select::Systematic, &probabilities, random, &mut self.members, &mut DrawScratch::default());
    }

    fn incur(&mut self, instance: &Instance<'a, [f64]>) -> Loss {
        let Instance::Point(row) = instance else { return Loss::default() };
        let all = dot(row, row);
        let square = |j: &usize| dot(self.vectors.column(*j), row).powi(2);
        Loss { expected: all - self.kept_of(row), realised: all - self.members.iter().map(square).sum::<f64>() }
    }

    fn update(&mut self, instance: &Instance<'a, [f64]>) {
        let Instance::Point(row) = instance else { return };
        let mut exponent = match &self.exponent {
            Exponent::Scatter(scatter) => scatter.clone(),
            Exponent::Logarithm => {
                spectral(&self.vectors, &self.weights.iter().map(|weight| weight.ln()).collect::<Vec<_>>())
            }
        };
        for (j, x) in row.iter().enumerate() {
            exponent.column_mut(j).iter_mut().zip(*row).for_each(|(m, y)| *m -= self.eta * x * y);
        }
        let eigen = symmetric_eigen(&exponent);
        if let Exponent::Scatter(scatter) = &mut self.exponent {
            *scatter = exponent;
        }
        let largest = eigen.values.last().copied().unwrap_or(0.0);
        let weights: Vec<f64> = eigen.values.iter().map(|value| (value - largest).exp()).collect();
        let (mut weights, vectors) = multiplied_out(&eigen.vectors, &weights);
        cap(&mut weights, self.weights.len() - self.kept);
        (self.weights, self.vectors) = multiplied_out(&vectors, &weights);
    }
}

fn multiplied_out(vectors: &Matrix, weights: &[f64]) -> (Vec<f64>, Matrix) {
    let fresh = symmetric_eigen(&spectral(vectors, weights));
    (fresh.values.iter().map(|weight| weight.max(FLOOR)).collect(), fresh.vectors)
}

fn spectral(vectors: &Matrix, values: &[f64]) -> Matrix {
    let n = values.len();
    let mut matrix = Matrix::zeros(n, n);
    for (i, value) in values.iter().enumerate() {
        let direction = vectors.column(i);
        for (j, x) in direction.iter().enumerate() {
            matrix.column_mut(j).iter_mut().zip(direction).for_each(|(m, y)| *m += value * x * y);
        }
    }
    matrix
}

/// Applies JMLR Algorithm 4 to ascending weights: scales them so that they sum to 1 and none exceeds `1/dropped`.
fn cap(weights: &mut [f64], dropped: usize) {
    let n = weights.len();
    let cap = 1.0 / dropped as f64;
    for capped in 0..=dropped {
        let rest: f64 = weights[..n - capped].iter().sum();
        let scale = (1.0 - capped as f64 * cap) / rest;
        if capped == dropped || scale * weights[n - capped - 1] <= cap {
            weights[..n - capped].iter_mut().for_each(|weight| *weight *= scale.max(0.0));
            weights[n - capped..].iter_mut().for_each(|weight| *weight = cap);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenhedge::{Kind, NormBound, Spec, streams, trial};

    #[test]
    fn capping_the_worked_example() {
        let mut weights = [1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0];
        cap(&mut weights, 2);
        let exact = [1.0 / 6.0, 1.0 / 3.0, 0.5];
        assert!(weights.iter().zip(exact).all(|(weight, exact)| (weight - exact).abs() <= 1e-15), "{weights:?}");
    }

    #[test]
    fn while_no_weight_is_small_the_textbook_way_agrees_with_the_exact_one() {
        for (kind, mut textbook) in
            [(Kind::Tracking, Textbook::tracking(6, 2, 1.0)), (Kind::Anchored, Textbook::anchored(6, 2, 1.0))]
        {
            let spec = Spec { norm_bound: NormBound::Given(1.0), ..Spec::bare(kind, 2) };
            let mut exact = spec.plain(6).unwrap();
            let mut random = Random::seeded(1);
            for row in streams::switching(6, 2, 1, 30, 3) {
                let instance = Instance::from(&row[..]);
                let losses = [
                    trial(&mut exact, &instance, &mut random).unwrap().expected,
                    trial(&mut textbook, &instance, &mut random).unwrap().expected,
                ];
                assert!((losses[0] - losses[1]).abs() <= 1e-8, "{kind:?} {losses:?}");
            }
        }
    }
}
