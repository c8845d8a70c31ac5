//! Sum of weighted dyads of rows, in coordinates of the columns of the span.

use crate::error::Error;
use crate::linalg::checks::{energies, shape};
use crate::linalg::{Eigen, Matrix, add_product, multiplied, multiply};
use crate::scratch::zero;
use crate::state::{LARGEST, ensure, entries, within};
use serde::{Deserialize, Serialize};

pub(super) const ROUNDING: f64 = f64::EPSILON;

/// Sum of weighted dyads of rows. The most recent ones are stored and later added by one matrix product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RowSum {
    matrix: Matrix,
    /// Product of the forgetting factors that have not been applied to `matrix` yet.
    matrix_scale: f64,
    /// Rows that are not in the matrix yet, one per column.
    recent: Matrix,
    recent_weights: Vec<f64>,
}

impl Default for RowSum {
    fn default() -> Self {
        let (matrix, recent) = (Matrix::default(), Matrix::default());
        Self { matrix, matrix_scale: 1.0, recent, recent_weights: Vec::new() }
    }
}

impl From<Matrix> for RowSum {
    fn from(matrix: Matrix) -> Self {
        let recent = Matrix::zeros(matrix.columns(), 0);
        Self { matrix, recent, ..Self::default() }
    }
}

impl RowSum {
    pub fn check_state(&self, columns: usize) -> Result<(), Error> {
        ensure(self.matrix.columns() <= columns, "a decomposition must be of columns that are there")?;
        shape("the scatter matrix", &self.matrix, self.matrix.columns(), self.matrix.columns())?;
        within("the share of the scatter matrix", self.matrix_scale, 0.0..=1.0)?;
        shape("the recent rows", &self.recent, columns, self.recent_weights.len())?;
        entries("weights of the recent rows", &self.recent_weights, 0.0..=LARGEST)?;
        energies("the energy of the recent rows", &self.recent)
    }

    pub fn recent(&self) -> usize {
        self.recent_weights.len()
    }

    pub fn columns(&self) -> usize {
        self.recent.rows()
    }

    pub fn grow(&mut self, columns: usize) {
        self.recent.resize(columns, self.recent.columns());
    }

    pub fn fade(&mut self, forget: f64) {
        self.recent_weights.iter_mut().for_each(|w| *w *= forget);
        self.matrix_scale *= forget;
    }

    pub fn push(&mut self, point: &[f64], weight: f64) {
        self.recent.push_column(point);
        self.recent_weights.push(weight);
    }

    pub fn times(&self, x: &[f64], out: &mut Vec<f64>, products: &mut Vec<f64>) {
        let size = self.matrix.columns();
        zero(out, x.len());
        self.matrix.add_symmetric_product(&x[..size], &mut out[..size]);
        if self.matrix_scale != 1.0 {
            out.iter_mut().for_each(|y| *y *= self.matrix_scale);
        }
        self.recent.transpose_times(x, products);
        products.iter_mut().zip(&self.recent_weights).for_each(|(product, weight)| *product *= -weight);
        self.recent.subtract_times(products, out);
    }

    pub fn times_all(&self, x: &Matrix, out: &mut Matrix) {
        out.resize(x.rows(), x.columns());
        if self.matrix.columns() < x.rows() || x.columns() == 0 {
            let (mut image, mut products) = (Vec::new(), Vec::new());
            for j in 0..x.columns() {
                self.times(x.column(j), &mut image, &mut products);
                out.column_mut(j).copy_from_slice(&image);
            }
            return;
        }
        multiply(out, self.matrix.view(), x.view());
        let mut products = multiplied(self.recent.view().transpose(), x.view());
        for j in 0..x.columns() {
            out.column_mut(j).iter_mut().for_each(|y| *y *= self.matrix_scale);
            let of_rows = products.column_mut(j).iter_mut().zip(&self.recent_weights);
            of_rows.for_each(|(product, weight)| *product *= -weight);
            self.recent.subtract_times(products.column(j), out.column_mut(j));
        }
    }

    pub fn collect(&mut self) -> &Matrix {
        let size = self.columns();
        if self.matrix_scale != 1.0 {
            self.fade_matrix();
        }
        self.matrix_scale = 1.0;
        self.matrix.resize(size, size);
        self.recent.scale_columns(|j| self.recent_weights[j].sqrt());
        self.recent_weights.clear();
        add_product(&mut self.matrix, self.recent.view(), self.recent.view().transpose());
        self.recent.resize(size, 0);
        &self.matrix
    }

    /// Entries too small to affect any eigenvalue become zero.
    fn fade_matrix(&mut self) {
        let largest = (0..self.matrix.columns()).fold(0f64, |a, j| a.max(self.matrix.column(j)[j]));
        let gone = ROUNDING * ROUNDING * largest;
        for j in 0..self.matrix.columns() {
            for x in self.matrix.column_mut(j) {
                *x = if x.abs() > gone { *x * self.matrix_scale } else { 0.0 };
            }
        }
    }

    pub fn reduce(&mut self, rotation: &Matrix) -> &Matrix {
        self.collect();
        if rotation.columns() < rotation.rows() {
            restrict(&mut self.matrix, rotation, &mut Eigen::default());
        } else {
            let half = multiplied(rotation.view().transpose(), self.matrix.view());
            multiply(&mut self.matrix, half.view(), rotation.view());
        }
        self.recent.resize(rotation.columns(), 0);
        &self.matrix
    }
}

const LOST: f64 = 64.0 * f64::EPSILON;

/// Computes `C ← Rᵀ C R` after the span has lost columns. If a lost direction had most of the energy, the rest may be
/// rounding. Eigenvalues at that level, and negative ones, become zero.
pub(in super::super) fn restrict(matrix: &mut Matrix, rotation: &Matrix, eigen: &mut Eigen) {
    let trace = matrix.trace();
    let half = multiplied(rotation.view().transpose(), matrix.view());
    multiply(matrix, half.view(), rotation.view());
    eigen.compute(matrix.view());
    let Eigen { values, vectors: roots, .. } = eigen;
    roots.scale_columns(|j| if values[j] > LOST * trace { values[j].sqrt() } else { 0.0 });
    multiply(matrix, roots.view(), roots.view().transpose());
}
