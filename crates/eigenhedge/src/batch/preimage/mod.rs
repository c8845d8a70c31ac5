//! Pre-images: points whose features are near a given combination of features.
//!
//! Setting: `f = Σ_i α_i φ(x_i)`, an [`Expansion`]. A point z with `φ(z) = f` rarely exists and need not be unique. The
//! task is to find a z that makes `|φ(z) - f|² = k(z, z) - 2 f(z) + |f|²` small.
//!
//! Four methods:
//! - [`fixed_point`]: RBF kernels on vectors;
//! - [`descend`]: any differentiable kernel on vectors; [`preimages`] selects one of these two, for many f at once;
//! - [`best_candidate`]: any kernel, among given candidates;
//! - [`LearnedInverse`]: learned from points and their coordinates, for many fast pre-images.
//!
//! Guarantee: [`descend`] and [`fixed_point`] return a point no worse than the start, up to rounding.
//! [`best_candidate`] returns the best of its candidates. [`LearnedInverse`] has no guarantee.
//!
//! References: Mika, Schölkopf, Smola, Müller, Scholz and Rätsch, *Kernel PCA and de-noising in feature spaces*, 1999;
//! Bakır, Weston and Schölkopf, *Learning to find pre-images*, 2004.

use super::Expansion;
use super::gram::each_block;
use crate::batch::KernelRidge;
use crate::error::{Error, at_least_one};
use crate::kernel::{Dictionary, VectorKernel, Vectors};
use crate::linalg::{Matrix, multiply};
use crate::row::check_row;
use crate::state;
use crate::state::length;
pub use descent::descend;
pub use fixed_point::fixed_point;
pub use iteration::{Preimage, Stop};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

mod descent;
mod fixed_point;
mod iteration;

/// Finds a pre-image of each expansion, with [`fixed_point`] for an RBF kernel and [`descend`] otherwise, from the
/// starts or the nearest atoms.
pub fn preimages<R: AsRef<[f64]>>(
    dictionary: &mut Vectors,
    expansions: &[Expansion],
    starts: Option<&[R]>,
    stop: Stop,
) -> Result<Vec<Preimage>, Error> {
    expansions.iter().try_for_each(|expansion| expansion.check_atoms(dictionary.len()))?;
    let starts: Vec<Vec<f64>> = match starts {
        Some(starts) => starts.iter().map(|start| start.as_ref().to_vec()).collect(),
        None => nearest_atoms(dictionary, expansions)?,
    };
    length("starts", starts.len(), expansions.len())?;
    if let VectorKernel::Rbf { .. } = dictionary.kernel() {
        return fixed_point::fixed_points(dictionary, expansions, &starts, stop);
    }
    expansions.iter().zip(&starts).map(|(f, start)| descend(dictionary, f, start, stop)).collect()
}

fn nearest_atoms(dictionary: &mut Vectors, expansions: &[Expansion]) -> Result<Vec<Vec<f64>>, Error> {
    at_least_one("the number of atoms", dictionary.len())?;
    let atoms: Vec<Vec<f64>> = (0..dictionary.len()).map(|i| dictionary.atom(i).to_vec()).collect();
    let (mut weights, mut products) = (Matrix::zeros(atoms.len(), 0), Matrix::default());
    expansions.iter().for_each(|expansion| weights.push_column(&expansion.weights));
    let mut nearest = vec![(f64::INFINITY, 0); expansions.len()];
    each_block(dictionary, &atoms, |first, _, rows, own| {
        multiply(&mut products, rows.view().transpose(), weights.view());
        for (j, best) in nearest.iter_mut().enumerate() {
            for (i, (product, own)) in products.column(j).iter().zip(own).enumerate() {
                let distance = own - 2.0 * product;
                if distance < best.0 {
                    *best = (distance, first + i);
                }
            }
        }
        Ok(())
    })?;
    Ok(nearest.into_iter().map(|(_, atom)| atoms[atom].clone()).collect())
}

/// Pre-images by a learned inverse map: kernel ridge regression from coordinates, usually the scores of kernel PCA, to
/// points, at the cost of one kernel row per point. [`KernelRidge::leave_one_out`] of [`LearnedInverse::ridge`]
/// measures the quality of kernel and ρ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearnedInverse {
    /// Underlying regression.
    pub ridge: KernelRidge<Vectors>,
}

impl LearnedInverse {
    /// Fits the map from scores (one row per point) to points. The kernel compares scores.
    pub fn fit<R: Borrow<[f64]>>(
        kernel: VectorKernel,
        scores: &Matrix,
        points: &[R],
        alpha: f64,
    ) -> Result<Self, Error> {
        state::length("points", points.len(), scores.rows())?;
        let length = points.first().map_or(0, |point| point.borrow().len());
        let mut targets = Matrix::zeros(points.len(), length);
        for (i, point) in points.iter().enumerate() {
            check_row("row", point.borrow(), length).map_err(|error| error.at(i))?;
            point.borrow().iter().enumerate().for_each(|(j, x)| targets.column_mut(j)[i] = *x);
        }
        let coordinates: Vec<Vec<f64>> =
            (0..scores.rows()).map(|i| (0..scores.columns()).map(|j| scores.column(j)[i]).collect()).collect();
        let dictionary = Vectors::new(kernel, scores.columns())?;
        Ok(Self { ridge: KernelRidge::fit_many(dictionary, &coordinates, &targets, alpha)? })
    }

    /// Returns the predicted point with these coordinates.
    pub fn point(&mut self, coordinates: &[f64]) -> Result<Vec<f64>, Error> {
        let point = self.ridge.predict(&[coordinates])?;
        Ok((0..point.columns()).map(|j| point.column(j)[0]).collect())
    }
}

/// Criterion by which the best candidate is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Criterion {
    /// Least distance `|φ(z) - f|²` between the candidate z and the expansion f.
    Distance,
    /// Least angle between φ(z) and f, whatever their norms. A candidate with φ(z) = 0 has cosine 0.
    Angle,
}

/// Best candidate and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// Index of the best candidate (from 0), or of the first one in a tie.
    pub index: usize,
    /// Squared distance or cosine, depending on the criterion.
    pub score: f64,
}

/// Returns the best candidate for a pre-image of `expansion`. Returns `Err` without candidates.
pub fn best_candidate<D: Dictionary, P: Borrow<D::Point>>(
    dictionary: &mut D,
    expansion: &Expansion,
    candidates: &[P],
    criterion: Criterion,
) -> Result<Candidate, Error> {
    let mut best: Option<Candidate> = None;
    for (index, candidate) in candidates.iter().enumerate() {
        let (value, own) = expansion.look(dictionary, candidate.borrow()).map_err(|error| error.at(index))?;
        let (score, better) = match criterion {
            Criterion::Distance => {
                let score = (expansion.square - 2.0 * value + own).max(0.0);
                (score, best.is_none_or(|best| score < best.score))
            }
            Criterion::Angle => {
                let lengths = (own * expansion.square).sqrt();
                let score = if lengths > 0.0 { value / lengths } else { 0.0 };
                (score, best.is_none_or(|best| score > best.score))
            }
        };
        if better {
            best = Some(Candidate { index, score });
        }
    }
    best.ok_or(Error::Parameter { name: "the number of candidates", rule: "at least 1", value: 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Items, Kernel};

    struct Letters;
    impl Kernel<str> for Letters {
        fn value(&self, a: &str, b: &str) -> f64 {
            let count = |text: &str, letter: u8| text.bytes().filter(|c| *c == letter).count() as f64;
            (b'a'..=b'z').map(|letter| count(a, letter) * count(b, letter)).sum()
        }
    }

    fn atoms(words: &[&str]) -> Items<Letters, str> {
        let mut dictionary = Items::new(Letters);
        words.iter().for_each(|word| dictionary.push(word));
        dictionary
    }

    #[test]
    fn candidate_of_a_single_atom_is_that_atom() {
        let mut dictionary = atoms(&["regret"]);
        let f = Expansion::new(&dictionary, vec![1.0]).unwrap();
        let words = ["bound".to_string(), "regret".into(), "tiger".into()];
        for criterion in [Criterion::Distance, Criterion::Angle] {
            assert_eq!(best_candidate(&mut dictionary, &f, &words, criterion).unwrap().index, 1);
        }
        let distance = best_candidate(&mut dictionary, &f, &words, Criterion::Distance).unwrap().score;
        assert_eq!(distance, 0.0);
    }

    #[test]
    fn angle_prefers_the_right_mixture_and_distance_the_right_size() {
        let mut dictionary = atoms(&["ab", "ab", "ac"]);
        let mean = Expansion::mean(&dictionary).unwrap();
        let words = ["aaabbc".to_string(), "ab".into(), "zz".into()];
        assert_eq!(best_candidate(&mut dictionary, &mean, &words, Criterion::Angle).unwrap().index, 0);
        assert_eq!(best_candidate(&mut dictionary, &mean, &words, Criterion::Distance).unwrap().index, 1);
        let none: [String; 0] = [];
        let error = best_candidate(&mut dictionary, &mean, &none, Criterion::Angle).unwrap_err().to_string();
        assert_eq!(error, "the number of candidates must be at least 1, got 0");
    }
}
