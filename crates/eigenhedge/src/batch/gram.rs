//! Kernel matrix of a set of points.

use crate::cancel;
use crate::error::{Error, at_least_one, every, not_negative, require};
use crate::kernel::Dictionary;
use crate::linalg::Matrix;
use crate::num::dot;
use crate::row::check_row;
use crate::state::length;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

pub(super) fn check_fresh<D: Dictionary>(dictionary: &D, points: usize) -> Result<(), Error> {
    at_least_one("the number of points", points)?;
    let atoms = dictionary.len();
    require(atoms == 0, "the number of atoms before fitting", "0", atoms as f64).map(drop)
}

/// Returns `Err` if the sum of all `k(x, x)` underflows although some point is not zero.
pub(super) fn check_trace<D, P>(dictionary: &D, points: &[P], trace: f64) -> Result<(), Error>
where
    D: Dictionary,
    P: Borrow<D::Point>,
{
    if trace >= f64::MIN_POSITIVE {
        return Ok(());
    }
    let largest = points.iter().map(|point| dictionary.largest_entry(point.borrow())).fold(0f64, f64::max);
    if largest > 0.0 { Err(Error::Underflow { largest }) } else { Ok(()) }
}

pub(super) fn checked_row<D: Dictionary>(
    dictionary: &mut D,
    point: &D::Point,
    row: &mut Vec<f64>,
) -> Result<f64, Error> {
    cancel::check()?;
    let own = not_negative("k(x, x)", dictionary.row(point, row)?)?;
    every("kernel row", row, "finite", f64::is_finite)?;
    Ok(own)
}

pub(super) const BLOCK: usize = 128;

/// Calls `take(first, dictionary, rows, own)` for each block of points. Column j of `rows` is the kernel row of point
/// `first + j`, and entry j of `own` its kernel with itself.
pub(super) fn each_block<D, P>(
    dictionary: &mut D,
    points: &[P],
    mut take: impl FnMut(usize, &mut D, &mut Matrix, &[f64]) -> Result<(), Error>,
) -> Result<(), Error>
where
    D: Dictionary,
    P: Borrow<D::Point>,
{
    let (mut rows, mut own) = (Matrix::default(), Vec::new());
    for (first, block) in (0..points.len()).step_by(BLOCK).zip(points.chunks(BLOCK)) {
        cancel::check()?;
        let block: Vec<&D::Point> = block.iter().map(Borrow::borrow).collect();
        let at = |(j, error): (usize, Error)| error.at(first + j);
        dictionary.rows(&block, &mut rows, &mut own).map_err(at)?;
        for (j, own) in own.iter().enumerate() {
            let checked =
                not_negative("k(x, x)", *own).and(every("kernel row", rows.column(j), "finite", f64::is_finite));
            checked.map_err(|error| at((j, error)))?;
        }
        take(first, dictionary, &mut rows, &own)?;
    }
    Ok(())
}

/// Adds every point to the empty dictionary. Calls `take(first, rows, own)` for each block. Column j of `rows` holds
/// the kernel of point `first + j` with all points before it, followed by zeros. Each pair is evaluated once. A block
/// is checked before its points become atoms.
pub(super) fn each_triangle<D, P>(
    dictionary: &mut D,
    points: &[P],
    mut take: impl FnMut(usize, &Matrix, &[f64]),
) -> Result<(), Error>
where
    D: Dictionary,
    P: Borrow<D::Point>,
{
    check_fresh(dictionary, points.len())?;
    let mut trace = 0.0;
    each_block(dictionary, points, |first, dictionary, rows, own| {
        rows.resize(first + own.len(), own.len());
        for j in 0..own.len() {
            let point = points[first + j].borrow();
            for i in 0..j {
                let value = dictionary.value(points[first + i].borrow(), point);
                every("kernel row", &[value], "finite", f64::is_finite).map_err(|error| error.at(first + j))?;
                rows.column_mut(j)[first + i] = value;
            }
        }
        (0..own.len()).for_each(|j| dictionary.push(points[first + j].borrow()));
        trace += own.iter().sum::<f64>();
        take(first, rows, own);
        Ok(())
    })?;
    check_trace(dictionary, points, trace)
}

pub(crate) fn gram<D, P>(dictionary: &mut D, points: &[P]) -> Result<Matrix, Error>
where
    D: Dictionary,
    P: Borrow<D::Point>,
{
    let mut gram = Matrix::zeros(points.len(), points.len());
    each_triangle(dictionary, points, |first, rows, own| {
        for (j, own) in own.iter().enumerate() {
            let column = gram.column_mut(first + j);
            column[..rows.rows()].copy_from_slice(rows.column(j));
            column[first + j] = *own;
        }
        // The block is mirrored while it is in the cache. Its column j ends at the diagonal.
        for i in 0..rows.rows() {
            for j in (i + 1).saturating_sub(first)..own.len() {
                gram.column_mut(i)[first + j] = rows.column(j)[i];
            }
        }
    })?;
    Ok(gram)
}

/// Computes `K ← (I - 11ᵀ/t) K (I - 11ᵀ/t)`. Returns the row means, `<φ(x_i), μ>` for the mean μ of the features.
pub(crate) fn center(gram: &mut Matrix) -> Vec<f64> {
    let t = gram.columns() as f64;
    let means: Vec<f64> = (0..gram.columns()).map(|j| gram.column(j).iter().sum::<f64>() / t).collect();
    let whole = means.iter().sum::<f64>() / t;
    for (j, own) in means.iter().enumerate() {
        gram.column_mut(j).iter_mut().zip(&means).for_each(|(value, mean)| *value = *value - mean - own + whole);
    }
    means
}

/// Vectors of the feature space as combinations of atoms. Setting: `f = Σ_i α_i φ(x_i)` over the atoms of a dictionary,
/// as a function `f(x) = Σ_i α_i k(x_i, x)`, for example the mean of the features. A norm costs t²/2 kernel values of t
/// atoms, a value t. Squared norms and distances that rounding makes negative become zero. Combination of the features
/// of atoms, with its squared norm.
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
    use crate::kernel::{VectorKernel, Vectors};

    #[test]
    fn centered_kernel_matrix_is_the_kernel_matrix_of_centered_rows() {
        let rows = [vec![1.0, 2.0], vec![-3.0, 0.5], vec![4.0, 1.0], vec![0.0, 7.0]];
        let mut kernel = gram(&mut Vectors::new(VectorKernel::Linear, 2).unwrap(), &rows).unwrap();
        center(&mut kernel);
        let mean = [0.5, 2.625];
        for (j, a) in rows.iter().enumerate() {
            for (i, b) in rows.iter().enumerate() {
                let product = (a[0] - mean[0]) * (b[0] - mean[0]) + (a[1] - mean[1]) * (b[1] - mean[1]);
                assert!((kernel.column(j)[i] - product).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn the_bad_point_is_named() {
        let rows = [vec![1.0, 2.0], vec![f64::NAN, 0.5]];
        let error = gram(&mut Vectors::new(VectorKernel::Linear, 2).unwrap(), &rows).unwrap_err();
        assert_eq!(error.to_string(), "point 1: entry 0 of the row must be finite, got NaN");
        let none: [Vec<f64>; 0] = [];
        let error = gram(&mut Vectors::new(VectorKernel::Linear, 2).unwrap(), &none).unwrap_err();
        assert_eq!(error.to_string(), "the number of points must be at least 1, got 0");
    }
}

#[cfg(test)]
mod expansion_tests {
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
