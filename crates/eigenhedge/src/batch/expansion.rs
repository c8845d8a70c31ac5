//! Vectors of the feature space, written as combinations of atoms.
//!
//! Setting: `f = Σ_i α_i φ(x_i)` over the atoms of a dictionary. As a function, `f(x) = Σ_i α_i k(x_i, x)`. The mean of the
//! features, `μ = Σ_i φ(x_i) / t`, is one; the distance of two means is the maximum mean discrepancy, zero exactly when two
//! distributions agree if the kernel is characteristic (RBF is).
//!
//! Cost: t² kernel values for a norm, t for a value.
//!
//! Numerics: squared norms and distances are differences of sums; what rounding pushes below zero is returned as zero,
//! except for the unbiased discrepancy, which is negative for half of all equal samples.
//!
//! References: Gretton, Borgwardt, Rasch, Schölkopf and Smola, *A kernel two-sample test*, 2012.

use super::gram::{check_fresh, checked_row};
use crate::cancel;
use crate::error::{Error, at_least_one};
use crate::kernel::Dictionary;
use crate::num::dot;
use crate::row::check_row;
use crate::state::length;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

/// A combination of the atoms' features, with its squared norm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expansion {
    weights: Vec<f64>,
    square: f64,
}

impl Expansion {
    /// `Σ_i weights[i] φ(x_i)`, one weight for each atom.
    pub fn new<D: Dictionary>(dictionary: &D, weights: Vec<f64>) -> Result<Self, Error> {
        check_row("weights", &weights, dictionary.len())?;
        let mut square = 0.0;
        for (i, weight) in weights.iter().enumerate() {
            cancel::check()?;
            let atom = dictionary.atom(i);
            let before: f64 = (0..i).map(|j| weights[j] * dictionary.value(dictionary.atom(j), atom)).sum();
            square += weight * (2.0 * before + weight * dictionary.value(atom, atom));
        }
        if !square.is_finite() {
            return Err(Error::Parameter { name: "the squared norm of the expansion", rule: "finite", value: square });
        }
        Ok(Self { weights, square: square.max(0.0) })
    }

    /// Mean of the features of all atoms.
    pub fn mean<D: Dictionary>(dictionary: &D) -> Result<Self, Error> {
        let t = dictionary.len();
        at_least_one("the number of atoms", t)?;
        Self::new(dictionary, vec![1.0 / t as f64; t])
    }

    pub(super) fn from_parts(weights: Vec<f64>, square: f64) -> Self {
        Self { weights, square: square.max(0.0) }
    }

    /// One weight for each atom.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Squared norm.
    pub fn square(&self) -> f64 {
        self.square
    }

    /// Value `f(x) = <f, φ(x)>`.
    pub fn value<D: Dictionary>(&self, dictionary: &mut D, point: &D::Point) -> Result<f64, Error> {
        Ok(self.look(dictionary, point)?.0)
    }

    /// `|f - φ(x)|²`.
    pub fn squared_distance<D: Dictionary>(&self, dictionary: &mut D, point: &D::Point) -> Result<f64, Error> {
        let (value, own) = self.look(dictionary, point)?;
        Ok((self.square - 2.0 * value + own).max(0.0))
    }

    /// `f(x)` and `k(x, x)`.
    pub(super) fn look<D: Dictionary>(&self, dictionary: &mut D, point: &D::Point) -> Result<(f64, f64), Error> {
        let mut row = Vec::new();
        let own = checked_row(dictionary, point, &mut row)?;
        self.check_atoms(row.len())?;
        Ok((dot(&self.weights, &row), own))
    }

    /// Rejects a dictionary of another size.
    pub(super) fn check_atoms(&self, atoms: usize) -> Result<(), Error> {
        length("weights", self.weights.len(), atoms)
    }
}

/// Squared maximum mean discrepancy of two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Discrepancy {
    /// `|μ - ν|²` of the two means: not negative, and on average too large by terms of order 1/t.
    pub biased: f64,
    /// The same without the pairs of a point with itself: right on average, and sometimes negative. None for a
    /// sample of one point.
    pub unbiased: Option<f64>,
}

/// How far apart two samples are; the empty dictionary names the kernel.
pub fn discrepancy<D, P>(mut dictionary: D, first: &[P], second: &[P]) -> Result<Discrepancy, Error>
where
    D: Dictionary,
    P: Borrow<D::Point>,
{
    check_fresh(&dictionary, first.len().min(second.len()))?;
    // Sums over pairs: own (diagonal), within each sample (each pair once), and across.
    let (mut own, mut within, mut across) = ([0.0; 2], [0.0; 2], 0.0);
    let mut row = Vec::new();
    for (i, point) in first.iter().chain(second).enumerate() {
        let sample = usize::from(i >= first.len());
        own[sample] += checked_row(&mut dictionary, point.borrow(), &mut row).map_err(|error| error.at(i))?;
        let (head, tail) = row.split_at(first.len().min(i));
        if sample == 0 {
            within[0] += head.iter().sum::<f64>();
        } else {
            across += head.iter().sum::<f64>();
            within[1] += tail.iter().sum::<f64>();
        }
        dictionary.push(point.borrow());
    }
    let (m, n) = (first.len() as f64, second.len() as f64);
    let between = 2.0 * across / (m * n);
    let biased = (own[0] + 2.0 * within[0]) / (m * m) + (own[1] + 2.0 * within[1]) / (n * n) - between;
    let unbiased = 2.0 * within[0] / (m * (m - 1.0)) + 2.0 * within[1] / (n * (n - 1.0)) - between;
    Ok(Discrepancy { biased: biased.max(0.0), unbiased: (m > 1.0 && n > 1.0).then_some(unbiased) })
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
        let (p, q) = (mean_of(&a), mean_of(&b));
        let mean = Expansion::mean(&dictionary).unwrap();
        assert!((mean.square() - dot(&p, &p)).abs() < 1e-14);
        assert!((mean.value(&mut dictionary, &b[0]).unwrap() - dot(&p, &b[0])).abs() < 1e-14);
        let gap: f64 = p.iter().zip(&b[0]).map(|(m, x)| (m - x).powi(2)).sum();
        assert!((mean.squared_distance(&mut dictionary, &b[0]).unwrap() - gap).abs() < 1e-13);
        let gap: f64 = p.iter().zip(&q).map(|(x, y)| (x - y).powi(2)).sum();
        let found = discrepancy(Vectors::new(VectorKernel::Linear, 3).unwrap(), &a, &b).unwrap();
        assert!((found.biased - gap).abs() < 1e-14, "{} against {gap}", found.biased);
    }

    #[test]
    fn unbiased_discrepancy_of_equal_distributions_is_zero_on_average() {
        let mut random = Random::seeded(2);
        let repeats = 200;
        let draw = |random: &mut Random, shift| {
            let (a, b) = (sample(random, 15, 0.0), sample(random, 12, shift));
            discrepancy(Vectors::new(VectorKernel::Rbf { gamma: 0.3 }, 3).unwrap(), &a, &b).unwrap().unbiased.unwrap()
        };
        let values: Vec<f64> = (0..repeats).map(|_| draw(&mut random, 0.0)).collect();
        let mean = values.iter().sum::<f64>() / repeats as f64;
        let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (repeats - 1) as f64;
        let standard_error = (spread / repeats as f64).sqrt();
        assert!(mean.abs() < 4.0 * standard_error, "{mean} with standard error {standard_error}");
        assert!(draw(&mut random, 1.5) > 20.0 * standard_error);
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
        let none: [Vec<f64>; 0] = [];
        let empty = Vectors::new(VectorKernel::Linear, 1).unwrap();
        assert!(discrepancy(empty, &none, &[vec![1.0]]).is_err());
    }
}
