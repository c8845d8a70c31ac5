//! Vectors of the feature space as combinations of atoms.
//!
//! Setting: `f = Σ_i α_i φ(x_i)` over the atoms of a dictionary, as a function `f(x) = Σ_i α_i k(x_i, x)`, for example
//! the mean of the features. A norm costs t²/2 kernel values of t atoms, a value t. Squared norms and distances that
//! rounding makes negative become zero.

use super::gram::checked_row;
use crate::cancel;
use crate::error::{Error, at_least_one, require};
use crate::kernel::Dictionary;
use crate::num::dot;
use crate::row::check_row;
use crate::state::length;
use serde::{Deserialize, Serialize};

/// Combination of the features of atoms, with its squared norm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expansion {
    /// Weights, one per atom.
    pub weights: Vec<f64>,
    /// Squared norm of the combination.
    pub square: f64,
}

impl Expansion {
    /// Creates `Σ_i weights[i] φ(x_i)` over the features φ(x_i) of the atoms.
    pub fn new<D: Dictionary>(dictionary: &D, weights: Vec<f64>) -> Result<Self, Error> {
        check_row("weights", &weights, dictionary.len())?;
        let mut square = 0.0;
        for (i, weight) in weights.iter().enumerate() {
            cancel::check()?;
            let atom = dictionary.atom(i);
            let before: f64 = (0..i).map(|j| weights[j] * dictionary.value(dictionary.atom(j), atom)).sum();
            square += weight * (2.0 * before + weight * dictionary.value(atom, atom));
        }
        require(square.is_finite(), "the squared norm of the expansion", "finite", square)?;
        Ok(Self { weights, square: square.max(0.0) })
    }

    /// Creates the mean of the features of all atoms.
    pub fn mean<D: Dictionary>(dictionary: &D) -> Result<Self, Error> {
        let t = dictionary.len();
        at_least_one("the number of atoms", t)?;
        Self::new(dictionary, vec![1.0 / t as f64; t])
    }

    pub(crate) fn from_parts(weights: Vec<f64>, square: f64) -> Self {
        Self { weights, square: square.max(0.0) }
    }

    /// Returns the inner product of this combination with the features of a point.
    pub fn value<D: Dictionary>(&self, dictionary: &mut D, point: &D::Point) -> Result<f64, Error> {
        Ok(self.look(dictionary, point)?.0)
    }

    /// Returns the squared distance of this combination from the features of a point.
    pub fn squared_distance<D: Dictionary>(&self, dictionary: &mut D, point: &D::Point) -> Result<f64, Error> {
        let (value, own) = self.look(dictionary, point)?;
        Ok((self.square - 2.0 * value + own).max(0.0))
    }

    pub(super) fn look<D: Dictionary>(&self, dictionary: &mut D, point: &D::Point) -> Result<(f64, f64), Error> {
        let mut row = Vec::new();
        let own = checked_row(dictionary, point, &mut row)?;
        self.check_atoms(row.len())?;
        Ok((dot(&self.weights, &row), own))
    }

    pub(super) fn check_atoms(&self, atoms: usize) -> Result<(), Error> {
        length("weights", self.weights.len(), atoms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::kernel::{VectorKernel, Vectors};

    fn sample(random: &mut Random, t: usize, shift: f64) -> Vec<Vec<f64>> {
        (0..t).map(|_| (0..3).map(|_| random.normal() + shift).collect()).collect()
    }

    #[test]
    fn with_the_linear_kernel_means_are_means() {
        let mut random = Random::seeded(1);
        let (a, b) = (sample(&mut random, 20, 0.3), sample(&mut random, 31, -0.2));
        let mut dictionary = Vectors::new(VectorKernel::Linear, 3).unwrap();
        a.iter().for_each(|row| dictionary.push(row));
        let mean_of = |rows: &[Vec<f64>]| -> Vec<f64> {
            (0..3).map(|i| rows.iter().map(|r| r[i]).sum::<f64>() / rows.len() as f64).collect()
        };
        let p = mean_of(&a);
        let mean = Expansion::mean(&dictionary).unwrap();
        assert!((mean.square - dot(&p, &p)).abs() < 1e-14);
        assert!((mean.value(&mut dictionary, &b[0]).unwrap() - dot(&p, &b[0])).abs() < 1e-14);
        let gap: f64 = p.iter().zip(&b[0]).map(|(m, x)| (m - x).powi(2)).sum();
        assert!((mean.squared_distance(&mut dictionary, &b[0]).unwrap() - gap).abs() < 1e-13);
    }

    #[test]
    fn bad_expansions_are_refused() {
        let mut dictionary = Vectors::new(VectorKernel::Linear, 1).unwrap();
        assert!(Expansion::mean(&dictionary).is_err());
        dictionary.push(&[1.0]);
        assert_eq!(
            Expansion::new(&dictionary, vec![1.0, 2.0]).unwrap_err().to_string(),
            "weights must have 1 entries, got 2"
        );
        assert!(Expansion::new(&dictionary, vec![f64::NAN]).is_err());
    }
}
