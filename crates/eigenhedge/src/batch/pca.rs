//! Batch principal component analysis.
//!
//! Setting: t rows x in `R^n`, centered or not; m is their mean or zero.
//! Result: orthonormal B (`components`) that minimizes `Σ |x - m - B Bᵀ(x - m)|²`. Its columns are the k eigenvectors
//! with the largest eigenvalues of the scatter matrix `Σ (x - m)(x - m)ᵀ` (not divided by t).
//! Guarantee: the least total loss of any k-dimensional (affine) subspace.
//! Cost: with `s = min(n, t)`, n t s operations for the smaller of the scatter and the Gram matrix, and its
//! eigenvalues, from [`LARGE`] rows on only the k largest if that is faster.
//! Numerics: eigenvalues have an absolute error of a few rounding errors of the largest, so singular values below
//! `1e-8` of the largest are lost. The first row is subtracted from all rows, so that an offset costs no precision.
//! Rows are divided by a power of two if their squares would overflow or underflow. If fewer than k directions have
//! energy, the rest are arbitrary, with eigenvalue zero.

use super::{Center, check_kept, fix_sign};
use crate::error::{Error, at_least_one};
use crate::linalg::{Matrix, largest_pairs, lower_square, multiplied, orthonormal_to, symmetric_eigen, top};
use crate::num::{largest as largest_entry, unit};
use crate::row::check_row;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

/// PCA model: the best subspace for a set of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pca {
    mean: Option<Vec<f64>>,
    /// Orthonormal columns in descending order of variance, each with a positive entry of largest absolute value.
    pub components: Matrix,
    /// Largest eigenvalues of the scatter matrix (a sum, not a mean), in descending order.
    pub eigenvalues: Vec<f64>,
    total: f64,
    rows: usize,
}

const NO_ENERGY: f64 = 1e-14;

impl Pca {
    /// Fits `kept` components, at least 1 and at most the number of rows and their length.
    pub fn fit<R: Borrow<[f64]>>(rows: &[R], kept: usize, center: Center) -> Result<Self, Error> {
        at_least_one("the number of rows", rows.len())?;
        let n = rows[0].borrow().len();
        check_kept(kept, n.min(rows.len()), "at least 1 and at most the length and the number of rows")?;
        let mut columns = Matrix::zeros(n, rows.len());
        for (i, row) in rows.iter().enumerate() {
            check_row("row", row.borrow(), n).map_err(|error| error.at(i))?;
            columns.column_mut(i).copy_from_slice(row.borrow());
        }
        let mean = (center == Center::Mean).then(|| subtract_mean(&mut columns, rows[0].borrow()));
        let deviation = (0..rows.len()).map(|i| largest_entry(columns.column(i))).fold(0f64, f64::max);
        let unit = unit(deviation);
        columns.for_each_column(|_, row| row.iter_mut().for_each(|x| *x /= unit));
        let total = columns.energy() * unit * unit;
        if !total.is_finite() {
            return Err(Error::Overflow { largest: deviation });
        }
        let rounding = 4.0 * f64::EPSILON * rows.iter().map(|row| largest_entry(row.borrow())).fold(0f64, f64::max);
        if total < f64::MIN_POSITIVE && deviation > rounding {
            return Err(Error::Underflow { largest: deviation });
        }
        let is_narrow = n <= rows.len();
        let (mut eigenvalues, components) =
            if is_narrow { of_scatter(&lower_square(columns.view()), kept) } else { of_factor(&columns, kept) };
        eigenvalues.iter_mut().for_each(|value| *value *= unit * unit);
        Ok(Self { mean, components, eigenvalues, total, rows: rows.len() })
    }

    /// Returns the mean, or `None` without centering.
    pub fn mean(&self) -> Option<&[f64]> {
        self.mean.as_deref()
    }

    /// Returns the eigenvalues divided by the number of rows, or by that number minus 1 for several centered rows.
    pub fn explained_variance(&self) -> Vec<f64> {
        let divisor = self.rows - usize::from(self.mean.is_some() && self.rows > 1);
        self.eigenvalues.iter().map(|value| value / divisor as f64).collect()
    }

    /// Returns the explained variance ratio of each component, or zero if the total is zero.
    pub fn explained_ratio(&self) -> Vec<f64> {
        super::shares(&self.eigenvalues, self.total)
    }

    /// Returns the sum of the losses of the fitted rows.
    pub fn total_loss(&self) -> f64 {
        (self.total - self.eigenvalues.iter().sum::<f64>()).max(0.0)
    }

    /// Returns the coordinates of a row along the components.
    pub fn transform(&self, row: &[f64]) -> Result<Vec<f64>, Error> {
        let mut coordinates = Vec::new();
        self.components.transpose_times(&self.deviation(row)?, &mut coordinates);
        Ok(coordinates)
    }

    /// Returns the point of the subspace with these coordinates.
    pub fn inverse_transform(&self, coordinates: &[f64]) -> Result<Vec<f64>, Error> {
        check_row("coordinates", coordinates, self.components.columns())?;
        let mut row = self.mean.clone().unwrap_or_else(|| vec![0.0; self.components.rows()]);
        self.components.add_times(coordinates, &mut row);
        Ok(row)
    }

    /// Returns the loss of a row: its squared distance from the subspace.
    pub fn loss(&self, row: &[f64]) -> Result<f64, Error> {
        let mut deviation = self.deviation(row)?;
        let mut coordinates = Vec::new();
        self.components.transpose_times(&deviation, &mut coordinates);
        Ok(self.components.subtract_times(&coordinates, &mut deviation))
    }

    fn deviation(&self, row: &[f64]) -> Result<Vec<f64>, Error> {
        check_row("row", row, self.components.rows())?;
        Ok(match &self.mean {
            None => row.to_vec(),
            Some(mean) => row.iter().zip(mean).map(|(x, m)| x - m).collect(),
        })
    }
}

/// Subtracts the mean from the columns and returns it. `base`, one of the columns, is subtracted first for precision.
fn subtract_mean(columns: &mut Matrix, base: &[f64]) -> Vec<f64> {
    let t = columns.columns();
    let mut mean = vec![0.0; columns.rows()];
    for i in 0..t {
        columns.column_mut(i).iter_mut().zip(base).for_each(|(x, base)| *x -= base);
        // Dividing before adding prevents overflow of sums of large rows.
        mean.iter_mut().zip(columns.column(i)).for_each(|(m, x)| *m += x / t as f64);
    }
    columns.for_each_column(|_, row| row.iter_mut().zip(&mean).for_each(|(x, m)| *x -= m));
    mean.iter_mut().zip(base).for_each(|(m, base)| *m += base);
    mean
}

const LARGE: usize = 256;

fn largest(matrix: &Matrix, kept: usize) -> (Vec<f64>, Matrix) {
    let found = if matrix.rows() >= LARGE { largest_pairs(matrix, kept) } else { None };
    found.unwrap_or_else(|| {
        let eigen = symmetric_eigen(matrix);
        top(&eigen.values, &eigen.vectors, kept)
    })
}

pub(crate) fn of_scatter(scatter: &Matrix, kept: usize) -> (Vec<f64>, Matrix) {
    let (mut values, mut components) = largest(scatter, kept);
    values.iter_mut().for_each(|value| *value = value.max(0.0));
    for j in 0..kept {
        fix_sign(components.column_mut(j));
    }
    (values, components)
}

/// Returns the `kept` largest eigenpairs of `X Xᵀ`, with the vectors `X u / √λ` for eigenvectors u of the Gram matrix.
/// Pairs without energy get the eigenvalue zero and an arbitrary orthogonal direction.
pub(crate) fn of_factor(columns: &Matrix, kept: usize) -> (Vec<f64>, Matrix) {
    let (mut values, weights) = largest(&lower_square(columns.view().transpose()), kept);
    let mut directions = multiplied(columns.view(), weights.view());
    let mut components = Matrix::zeros(columns.rows(), 0);
    for j in 0..kept {
        let direction = directions.column_mut(j);
        let carries = values[j] > NO_ENERGY * values[0];
        if !(carries && orthonormal_to(&components, direction)) {
            values[j] = 0.0;
            direction.copy_from_slice(&arbitrary_direction(&components));
        }
        fix_sign(direction);
        components.push_column(direction);
    }
    (values, components)
}

fn arbitrary_direction(columns: &Matrix) -> Vec<f64> {
    let inside = |i: usize| (0..columns.columns()).map(|j| columns.column(j)[i].powi(2)).sum::<f64>();
    let outermost = (0..columns.rows()).min_by(|a, b| inside(*a).total_cmp(&inside(*b))).unwrap_or(0);
    let mut direction = vec![0.0; columns.rows()];
    direction[outermost] = 1.0;
    let found = orthonormal_to(columns, &mut direction);
    assert!(found, "fewer columns than rows leave a direction");
    direction
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Random, streams};

    fn projector_gap(a: &Matrix, b: &Matrix) -> f64 {
        let mut gap = 0f64;
        for i in 0..a.rows() {
            for l in 0..a.rows() {
                let entry = |m: &Matrix| (0..m.columns()).map(|j| m.column(j)[i] * m.column(j)[l]).sum::<f64>();
                gap = gap.max((entry(a) - entry(b)).abs());
            }
        }
        gap
    }

    #[test]
    fn scatter_route_equals_gram_route() {
        let mut columns = Matrix::zeros(12, 20);
        for (i, row) in streams::signal_and_noise(12, 3, 0.3, 5).take(20).enumerate() {
            columns.column_mut(i).copy_from_slice(&row);
        }
        let (one, other) = (of_scatter(&lower_square(columns.view()), 4), of_factor(&columns, 4));
        assert!(projector_gap(&one.1, &other.1) < 1e-12);
        for (a, b) in one.0.iter().zip(&other.0) {
            assert!((a - b).abs() < 1e-12 * one.0[0]);
        }
    }

    #[test]
    fn losses_of_the_rows_sum_to_the_dropped_eigenvalues() {
        for center in [Center::None, Center::Mean] {
            for (n, t) in [(6, 40), (40, 6)] {
                let rows: Vec<Vec<f64>> = streams::signal_and_noise(n, 2, 0.4, 7).take(t).collect();
                let pca = Pca::fit(&rows, 3, center).unwrap();
                let losses: f64 = rows.iter().map(|row| pca.loss(row).unwrap()).sum();
                assert!((losses - pca.total_loss()).abs() <= 1e-12 * pca.total, "{losses} {}", pca.total_loss());
                let whole = pca.explained_ratio().iter().sum::<f64>() + losses / pca.total;
                assert!((whole - 1.0).abs() < 1e-12);
                for row in &rows {
                    let back = pca.inverse_transform(&pca.transform(row).unwrap()).unwrap();
                    let gap: f64 = back.iter().zip(row).map(|(a, b)| (a - b).powi(2)).sum();
                    assert!((gap - pca.loss(row).unwrap()).abs() < 1e-12 * pca.total);
                }
            }
        }
    }

    #[test]
    fn components_are_orthonormal_even_without_energy() {
        let mut random = Random::seeded(2);
        let one: Vec<f64> = (0..9).map(|_| random.normal()).collect();
        for rows in [vec![one.clone(); 4], vec![vec![0.0; 9]; 4], vec![one; 12]] {
            for center in [Center::None, Center::Mean] {
                let pca = Pca::fit(&rows, 4, center).unwrap();
                assert!(pca.components.drift() < 1e-13);
                assert!(pca.total_loss() < 1e-12);
            }
        }
    }

    #[test]
    fn bad_input_is_named() {
        let refused = |rows: &[Vec<f64>], kept, message: &str| {
            assert_eq!(Pca::fit(rows, kept, Center::Mean).unwrap_err().to_string(), message);
        };
        refused(&[], 1, "the number of rows must be at least 1, got 0");
        let rows = vec![vec![1.0, 2.0, 3.0], vec![0.0, 1.0, 2.0]];
        for kept in [0, 3] {
            let message = format!("k must be at least 1 and at most the length and the number of rows, got {kept}");
            refused(&rows, kept, &message);
        }
        refused(&[vec![1.0], vec![f64::NAN]], 1, "point 1: entry 0 of the row must be finite, got NaN");
        refused(&[vec![1.0], vec![1.0, 2.0]], 1, "point 1: row must have 1 entries, got 2");
        assert!(matches!(Pca::fit(&[[1e200], [0.0]], 1, Center::None), Err(Error::Overflow { largest: 1e200 })));
    }
}
