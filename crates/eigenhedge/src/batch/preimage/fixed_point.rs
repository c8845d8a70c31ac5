//! Fixed-point iteration for RBF kernels.
//!
//! Setting: `k(x, z) = exp(-γ|x - z|²)`, so `k(z, z) = 1`, and the task is to maximize `f(z) = Σ_i α_i k(x_i, z)`.
//!
//! Update: `z ← Σ_i w_i x_i / Σ_i w_i` with `w_i = α_i k(x_i, z)`, the point where the gradient would vanish for constant
//! weights. The denominator is f(z).
//!
//! Safeguards: where `f(z) > 0` the step is an ascent direction (the gradient divided by 2γ f(z)), and it is halved until f
//! does not decrease. The iteration therefore never gets worse. Where `f(z) ≤ 0`, or is zero up to rounding because z is far
//! from every atom, the step is meaningless, and the iteration restarts at the atom with the largest f. If that value is not
//! positive either, the best point seen is returned and marked as not converged.
//!
//! Cost: one kernel row and one combination of atoms per step.

use super::{Preimage, Stop};
use crate::batch::Expansion;
use crate::batch::gram::checked_row;
use crate::error::Error;
use crate::kernel::{Dictionary, VectorKernel, Vectors};
use crate::num::dot;
use crate::row::check_row;

/// Maximum number of halvings of a step.
const HALVINGS: usize = 30;

/// Finds a pre-image by fixed-point iteration from `start` and from the `restarts` atoms with the largest f. Returns
/// the best result.
pub fn fixed_point(
    dictionary: &mut Vectors,
    expansion: &Expansion,
    start: &[f64],
    restarts: usize,
    stop: Stop,
) -> Result<Preimage, Error> {
    if !matches!(dictionary.kernel(), VectorKernel::Rbf { .. }) {
        return Err(Error::Unsupported("fixed-point pre-images need an RBF kernel"));
    }
    expansion.check_atoms(dictionary.len())?;
    check_row("start", start, dictionary.length())?;
    let mut search = Search { dictionary, weights: expansion.weights(), row: Vec::new(), target: Vec::new(), stop };
    let (mut best, mut value) = search.run(start.to_vec())?;
    let stuck = !(value > 0.0);
    if restarts > 0 || stuck {
        for atom in search.best_atoms(restarts.max(1))? {
            let (found, at) = search.run(search.dictionary.atom(atom).to_vec())?;
            if at > value {
                (best, value) = (found, at);
            }
        }
    }
    best.squared_distance = (expansion.square() - 2.0 * value + 1.0).max(0.0);
    Ok(best)
}

struct Search<'a> {
    dictionary: &'a mut Vectors,
    weights: &'a [f64],
    row: Vec<f64>,
    target: Vec<f64>,
    stop: Stop,
}

impl Search<'_> {
    /// Returns f(z) and stores the kernel row.
    fn value(&mut self, point: &[f64]) -> Result<f64, Error> {
        checked_row(self.dictionary, point, &mut self.row)?;
        Ok(dot(self.weights, &self.row))
    }

    /// Computes the target of the step from the most recent kernel row. `sum` is the sum of the weights w.
    fn lead(&mut self, sum: f64) {
        self.target.clear();
        self.target.resize(self.dictionary.length(), 0.0);
        for (i, (weight, kernel)) in self.weights.iter().zip(&self.row).enumerate() {
            let share = weight * kernel / sum;
            self.target.iter_mut().zip(self.dictionary.atom(i)).for_each(|(t, x)| *t += share * x);
        }
    }

    /// Returns true if `sum`, the sum of the weights w for the most recent kernel row, is larger than its rounding
    /// error.
    fn means_something(&self, sum: f64) -> bool {
        let sizes: f64 = self.weights.iter().zip(&self.row).map(|(weight, kernel)| (weight * kernel).abs()).sum();
        sum > 16.0 * f64::EPSILON * sizes && sum >= f64::MIN_POSITIVE
    }

    /// Iterates from one starting point. Returns the point found and the value of f there. The caller sets the squared
    /// distance.
    fn run(&mut self, mut point: Vec<f64>) -> Result<(Preimage, f64), Error> {
        let mut value = self.value(&point)?;
        let mut next = vec![0.0; point.len()];
        let (mut steps, mut converged) = (0, false);
        while steps < self.stop.steps && !converged && self.means_something(value) {
            self.lead(value);
            let mut size = 1.0;
            let mut reached = f64::NEG_INFINITY;
            for _ in 0..HALVINGS {
                for ((n, z), t) in next.iter_mut().zip(&point).zip(&self.target) {
                    *n = z + size * (t - z);
                }
                // A distant target can be arbitrarily wrong; only finite ones are evaluated.
                if next.iter().all(|n| n.is_finite()) {
                    reached = self.value(&next)?;
                }
                if reached >= value || self.stop.reached(&point, &next) {
                    break;
                }
                size *= 0.5;
            }
            steps += 1;
            converged = self.stop.reached(&point, &next);
            if !(reached >= value) {
                // Rounding level: no step of any length increases f.
                converged = true;
                break;
            }
            std::mem::swap(&mut point, &mut next);
            value = reached;
        }
        Ok((Preimage { point, squared_distance: 0.0, steps, converged }, value))
    }

    /// Returns the atoms with the largest f, best first.
    fn best_atoms(&mut self, count: usize) -> Result<Vec<usize>, Error> {
        let atoms = self.dictionary.len();
        let mut values = Vec::with_capacity(atoms);
        for i in 0..atoms {
            let atom = self.dictionary.atom(i).to_vec();
            values.push(self.value(&atom)?);
        }
        let mut order: Vec<usize> = (0..atoms).collect();
        order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
        order.truncate(count);
        Ok(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::batch::Differentiable;

    fn dictionary(gamma: f64, atoms: &[Vec<f64>]) -> Vectors {
        let mut dictionary = Vectors::new(VectorKernel::Rbf { gamma }, atoms[0].len()).unwrap();
        atoms.iter().for_each(|atom| dictionary.push(atom));
        dictionary
    }

    fn gap(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn pre_image_of_the_features_of_a_point_is_the_point() {
        let atoms = [vec![0.3, -1.0, 2.0], vec![1.0, 0.0, 0.0], vec![-1.0, 2.0, 0.5]];
        let mut dictionary = dictionary(0.4, &atoms);
        for i in 0..3 {
            let weights = (0..3).map(|j| f64::from(u8::from(i == j))).collect();
            let f = Expansion::new(&dictionary, weights).unwrap();
            // The second start is so far away that every kernel value underflows; the safeguard finds the atom.
            for start in [vec![0.0; 3], vec![1e3; 3]] {
                let found = fixed_point(&mut dictionary, &f, &start, 0, Stop::default()).unwrap();
                assert!(found.converged && gap(&found.point, &atoms[i]) < 1e-9, "{found:?}");
                assert!(found.squared_distance < 1e-14);
            }
        }
    }

    #[test]
    fn result_is_stationary_and_never_worse_than_the_start() {
        let mut random = Random::seeded(5);
        for _ in 0..50 {
            let atoms: Vec<Vec<f64>> = (0..8).map(|_| (0..2).map(|_| 2.0 * random.normal()).collect()).collect();
            let mut dictionary = dictionary(0.5, &atoms);
            let f = Expansion::new(&dictionary, (0..8).map(|_| random.normal()).collect()).unwrap();
            let start: Vec<f64> = (0..2).map(|_| random.normal()).collect();
            let before = f.squared_distance(&mut dictionary, &start).unwrap();
            let found = fixed_point(&mut dictionary, &f, &start, 0, Stop::default()).unwrap();
            assert!(found.squared_distance <= before + 1e-14);
            let many = fixed_point(&mut dictionary, &f, &start, 8, Stop::default()).unwrap();
            assert!(many.squared_distance <= found.squared_distance);
            let again = f.squared_distance(&mut dictionary, &many.point).unwrap();
            assert!((again - many.squared_distance).abs() < 1e-13);
            if many.converged {
                let mut gradient = [0.0; 2];
                for (atom, weight) in atoms.iter().zip(f.weights()) {
                    dictionary.kernel().add_gradient(atom, &many.point, *weight, &mut gradient).unwrap();
                }
                assert!(dot(&gradient, &gradient).sqrt() < 1e-6, "{gradient:?} where {many:?}");
            }
        }
    }

    #[test]
    fn nothing_uphill_is_reported_as_not_converged() {
        let mut dictionary = dictionary(0.5, &[vec![1.0]]);
        let f = Expansion::new(&dictionary, vec![-1.0]).unwrap();
        let found = fixed_point(&mut dictionary, &f, &[0.0], 3, Stop::default()).unwrap();
        assert!(!found.converged && found.steps == 0);
    }

    #[test]
    fn other_kernels_are_refused() {
        let mut dictionary = Vectors::new(VectorKernel::Linear, 1).unwrap();
        dictionary.push(&[1.0]);
        let f = Expansion::new(&dictionary, vec![1.0]).unwrap();
        assert!(matches!(fixed_point(&mut dictionary, &f, &[0.0], 0, Stop::default()), Err(Error::Unsupported(_))));
    }
}
