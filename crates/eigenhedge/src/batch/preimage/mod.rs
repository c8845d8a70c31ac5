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

mod candidate;
mod descent;
mod fixed_point;
mod iteration;
mod learned_inverse;

pub use candidate::{Candidate, Criterion, best_candidate};
pub use descent::descend;
pub use fixed_point::fixed_point;
pub use iteration::{Preimage, Stop};
pub use learned_inverse::LearnedInverse;

use super::Expansion;
use super::gram::each_block;
use crate::error::{Error, at_least_one};
use crate::kernel::{Dictionary, VectorKernel, Vectors};
use crate::linalg::{Matrix, multiply};
use crate::state::length;

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
    match dictionary.kernel().clone() {
        VectorKernel::Rbf { .. } => fixed_point::fixed_points(dictionary, expansions, &starts, stop),
        kernel => {
            let pairs = expansions.iter().zip(&starts);
            pairs.map(|(f, start)| descend(&kernel, dictionary, f, start, stop)).collect()
        }
    }
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
