//! Instances of a subspace learner: a point, or a symmetric matrix as a sum of weighted dyads.

use crate::error::Error;
use crate::linalg::{Matrix, symmetric_eigen};
use crate::state::length;

/// Instance of a trial, with borrowed points.
#[derive(Debug)]
pub enum Instance<'a, P: ?Sized> {
    /// Single point z, which represents the matrix `z zᵀ`.
    Point(&'a P),
    /// Sum of dyads `Σ w z zᵀ` with nonnegative weights w.
    Dyads(&'a [(f64, &'a P)]),
}

impl<'a, P: ?Sized> From<&'a P> for Instance<'a, P> {
    fn from(point: &'a P) -> Self {
        Self::Point(point)
    }
}

/// Symmetric positive semidefinite matrix, decomposed into dyads.
#[derive(Debug, Clone)]
pub struct Symmetric {
    weights: Vec<f64>,
    vectors: Matrix,
}

impl Symmetric {
    /// Decomposes the matrix into dyads. Returns `Err` unless it is square, finite and, up to rounding, symmetric and
    /// positive semidefinite.
    pub fn new(matrix: &Matrix) -> Result<Self, Error> {
        let n = matrix.rows();
        length("a row of the symmetric matrix", matrix.columns(), n)?;
        for j in 0..n {
            for i in 0..n {
                let (value, mirrored) = (matrix.column(j)[i], matrix.column(i)[j]);
                let index = j * n + i;
                if !value.is_finite() {
                    return Err(Error::Entry { what: "symmetric matrix", index, rule: "finite", value });
                }
                if (value - mirrored).abs() > 1e-12 * (value.abs() + mirrored.abs()) {
                    return Err(Error::Entry { what: "symmetric matrix", index, rule: "equal to its mirror", value });
                }
            }
        }
        let eigen = symmetric_eigen(matrix);
        let largest = eigen.values.iter().fold(0f64, |a, v| a.max(v.abs()));
        for (index, &value) in eigen.values.iter().enumerate() {
            if value < -1e-12 * largest {
                return Err(Error::Entry { what: "spectrum of the instance", index, rule: "not negative", value });
            }
        }
        Ok(Self { weights: eigen.values.iter().map(|v| v.max(0.0)).collect(), vectors: eigen.vectors })
    }

    /// Returns the dyads, for [`Instance::Dyads`].
    pub fn dyads(&self) -> Vec<(f64, &[f64])> {
        self.weights.iter().enumerate().map(|(j, w)| (*w, self.vectors.column(j))).collect()
    }
}
