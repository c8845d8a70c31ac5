//! Pre-images by a learned inverse map: kernel ridge regression from coordinates, usually the scores of kernel PCA, to
//! points, at the cost of one kernel row per point. [`KernelRidge::leave_one_out`] of [`LearnedInverse::ridge`]
//! measures the quality of kernel and ρ.

use crate::batch::KernelRidge;
use crate::error::Error;
use crate::kernel::{VectorKernel, Vectors};
use crate::linalg::Matrix;
use crate::row::check_row;
use crate::state;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

/// Map from coordinates to points.
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
