//! Columns that are combinations of stored vectors, dense and sparse.
//! Setting: the columns are `B = V C` for a list V of stored vectors and coefficients C. The caller owns the dense
//! vectors as columns of a matrix. The sparse ones and the inner products `H = Vᵀ B` are stored here.
//! The coordinates `Bᵀ z = Cᵀ (Vᵀ z)` of a vector z, the products `Vᵀ (z - B c) = Vᵀ z - H c` of its residual, and the
//! Gram matrix `Bᵀ B = Cᵀ H` need no pass over the stored vectors.
//! Cost with v stored vectors and w columns: O(v w) per new vector, plus its products with V. For a sparse vector these
//! take one step per pair of nonzero cell and dense vector, and one per cell shared with a sparse vector.
//! [`Combinations::write_out`] costs O(n u w) for u dense vectors of n numbers.

use super::{Cells, SparseRows};
use crate::error::Error;
use crate::linalg::checks::{DRIFT, shape};
use crate::linalg::{Matrix, multiplied, multiply};
use crate::num::dot;
use crate::scratch::{Scratch, refill, zero};
use crate::state::{ensure, length};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Combinations {
    coefficients: Matrix,
    products: Matrix,
    pub squares: Vec<f64>,
    dense_at: Vec<usize>,
    sparse_at: Vec<usize>,
    pub sparse: SparseRows,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    /// Row-major copy of the dense vectors, in which a sparse cell touches few cache lines.
    by_row: Vec<f64>,
    by_row_columns: usize,
    some: Vec<f64>,
    rotation: Matrix,
    working: Vec<f64>,
}

const NEGLIGIBLE: f64 = 4e-15;

pub(crate) fn add_multiple(to: &mut [f64], factor: f64, vector: &[f64]) {
    to.iter_mut().zip(vector).for_each(|(to, x)| *to += factor * x);
}

fn copy_by_row(matrix: &Matrix, by_row: &mut Vec<f64>) {
    const ROWS: usize = 64;
    let columns = matrix.columns();
    zero(by_row, matrix.rows() * columns);
    for (block, rows) in by_row.chunks_mut(ROWS * columns).enumerate() {
        for j in 0..columns {
            let column = &matrix.column(j)[block * ROWS..];
            rows[j..].iter_mut().step_by(columns).zip(column).for_each(|(to, x)| *to = *x);
        }
    }
}

impl Combinations {
    /// Starts with dense vectors only, of which the first `columns` are the columns. The upper triangle of `defect` is
    /// their Gram matrix, minus 1 on the diagonal entries of the columns.
    pub fn begin(&mut self, defect: &Matrix, columns: usize) {
        let vectors = defect.columns();
        self.scratch.0.by_row_columns = 0;
        self.sparse.clear();
        self.sparse_at.clear();
        refill(&mut self.dense_at, 0..vectors);
        refill(&mut self.squares, (0..vectors).map(|j| defect.column(j)[j] + if j < columns { 1.0 } else { 0.0 }));
        for matrix in [&mut self.coefficients, &mut self.products] {
            matrix.reset(vectors, columns);
        }
        for j in 0..columns {
            self.coefficients.column_mut(j)[j] = 1.0;
            let products = self.products.column_mut(j);
            products[..j].copy_from_slice(&defect.column(j)[..j]);
            products[j] = self.squares[j];
            (j + 1..vectors).for_each(|i| products[i] = defect.column(i)[j]);
        }
    }

    pub fn columns(&self) -> usize {
        self.coefficients.columns()
    }

    pub fn vectors(&self) -> usize {
        self.squares.len()
    }

    pub fn dense(&self) -> usize {
        self.dense_at.len()
    }

    pub fn times_cells(&mut self, dense: &Matrix, cells: &Cells, out: &mut Vec<f64>) {
        zero(out, self.vectors());
        let Working { by_row, by_row_columns, some, .. } = &mut self.scratch.0;
        if *by_row_columns == 0 && dense.columns() > 0 {
            *by_row_columns = dense.columns();
            copy_by_row(dense, by_row);
        }
        let columns = *by_row_columns;
        zero(some, columns);
        if columns > 0 {
            cells.iter().for_each(|(i, x)| add_multiple(some, x, &by_row[i * columns..][..columns]));
        }
        self.dense_at.iter().zip(&*some).for_each(|(at, x)| out[*at] = *x);
        for (j, at) in self.dense_at.iter().enumerate().skip(columns) {
            out[*at] = cells.times(dense.column(j));
        }
        self.sparse.products(cells, dense.rows(), some);
        self.sparse_at.iter().zip(some).for_each(|(at, x)| out[*at] = *x);
    }

    pub fn times_dense(&self, dense: &Matrix, vector: &[f64], out: &mut Vec<f64>) {
        let mut some = Vec::new();
        zero(out, self.vectors());
        dense.transpose_times(vector, &mut some);
        self.dense_at.iter().zip(&some).for_each(|(at, x)| out[*at] = *x);
        self.sparse.dense_products(vector, &mut some);
        self.sparse_at.iter().zip(&some).for_each(|(at, x)| out[*at] = *x);
    }

    pub fn coordinates(&self, products: &[f64], out: &mut Vec<f64>) {
        self.coefficients.transpose_times(products, out);
    }

    pub fn subtract_products(&self, coordinates: &[f64], products: &mut [f64]) {
        self.products.subtract_times(coordinates, products);
    }

    pub fn subtract_coefficients(&self, coordinates: &[f64], coefficients: &mut [f64]) {
        self.coefficients.subtract_times(coordinates, coefficients);
    }

    /// Stores a sparse vector, given its squared norm and its inner products with the columns.
    pub fn push_sparse(&mut self, cells: &Cells, square: f64, with_columns: &[f64]) {
        self.sparse.push(cells);
        self.sparse_at.push(self.vectors());
        self.push_row(square, with_columns);
    }

    /// Stores a dense vector, which the caller appends to the matrix of dense vectors.
    pub fn push_dense(&mut self, square: f64, with_columns: &[f64]) {
        self.dense_at.push(self.vectors());
        self.push_row(square, with_columns);
    }

    fn push_row(&mut self, square: f64, with_columns: &[f64]) {
        let (at, columns) = (self.vectors(), self.columns());
        self.squares.push(square);
        self.coefficients.resize(at + 1, columns);
        self.products.resize(at + 1, columns);
        for (j, product) in with_columns.iter().enumerate() {
            self.products.column_mut(j)[at] = *product;
        }
    }

    pub fn push_column(&mut self, coefficients: &[f64], products: &[f64]) {
        let (vectors, columns) = (self.vectors(), self.columns());
        self.coefficients.resize(vectors, columns + 1);
        self.products.resize(vectors, columns + 1);
        self.coefficients.column_mut(columns).copy_from_slice(coefficients);
        self.products.column_mut(columns).copy_from_slice(products);
    }

    pub fn combine(&mut self, rotation: &Matrix) {
        let working = &mut self.scratch.0.working;
        self.coefficients.combine(rotation, working);
        self.products.combine(rotation, working);
    }

    pub fn gram(&self, out: &mut Matrix) {
        multiply(out, self.coefficients.view().transpose(), self.products.view());
    }

    /// Makes nearly orthonormal columns orthonormal, to first order in their Gram matrix minus the identity.
    pub fn orthonormalise(&mut self) {
        let mut defect = std::mem::take(&mut self.scratch.0.rotation);
        self.gram(&mut defect);
        let mut largest = 0f64;
        for j in 0..defect.columns() {
            let column = defect.column_mut(j);
            column[j] -= 1.0;
            largest = column[..=j].iter().fold(largest, |a, x| a.max(x.abs()));
            column[..j].iter_mut().for_each(|x| *x = -*x);
            column[j] = 1.0 - 0.5 * column[j];
            column[j + 1..].fill(0.0);
        }
        if largest > NEGLIGIBLE {
            self.combine(&defect);
        }
        self.scratch.0.rotation = defect;
    }

    pub fn add_to(&self, dense: &Matrix, coefficients: &[f64], vector: &mut [f64]) {
        for (j, at) in self.dense_at.iter().enumerate().filter(|(_, at)| coefficients[**at] != 0.0) {
            add_multiple(vector, coefficients[*at], dense.column(j));
        }
        for (j, at) in self.sparse_at.iter().enumerate().filter(|(_, at)| coefficients[**at] != 0.0) {
            self.sparse.cells(j).for_each(|(i, x)| vector[i] += coefficients[*at] * x);
        }
    }

    pub fn write(&self, dense: &Matrix, combinations: &Matrix, out: &mut Matrix) {
        let mut rotation = Matrix::default();
        let expanded = multiplied(self.coefficients.view(), combinations.view());
        self.dense_rows(&expanded, &mut rotation);
        multiply(out, dense.view(), rotation.view());
        self.add_sparse(&expanded, out);
    }

    /// Adds combinations of columns to `out`, but only the contributions of the sparse vectors.
    pub fn add_sparse_to(&self, combinations: &Matrix, out: &mut Matrix) {
        let expanded = multiplied(self.coefficients.view(), combinations.view());
        self.add_sparse(&expanded, out);
    }

    /// Replaces the dense vectors in `dense` by the columns `B = V C`. [`begin`](Self::begin) must be called next.
    pub fn write_out(&mut self, dense: &mut Matrix) {
        let Working { rotation, working, .. } = &mut self.scratch.0;
        let (mut rotation, mut working) = (std::mem::take(rotation), std::mem::take(working));
        self.dense_rows(&self.coefficients, &mut rotation);
        if self.columns() > dense.columns() {
            dense.resize(dense.rows(), self.columns());
            rotation.resize(self.columns(), self.columns());
        }
        dense.combine(&rotation, &mut working);
        self.add_sparse(&self.coefficients, dense);
        (self.scratch.0.rotation, self.scratch.0.working) = (rotation, working);
    }

    fn dense_rows(&self, coefficients: &Matrix, out: &mut Matrix) {
        out.reset(self.dense_at.len(), coefficients.columns());
        for j in 0..coefficients.columns() {
            let from = coefficients.column(j);
            out.column_mut(j).iter_mut().zip(&self.dense_at).for_each(|(out, at)| *out = from[*at]);
        }
    }

    fn add_sparse(&self, coefficients: &Matrix, out: &mut Matrix) {
        for j in 0..coefficients.columns() {
            let (from, to) = (coefficients.column(j), out.column_mut(j));
            for (row, at) in self.sparse_at.iter().enumerate() {
                let factor = from[*at];
                self.sparse.cells(row).for_each(|(i, x)| to[i] += factor * x);
            }
        }
    }

    /// Checks a deserialized state. `largest` bounds each coefficient times the norm of its vector.
    pub fn check_state(&self, dense: &Matrix, largest: f64) -> Result<(), Error> {
        let (vectors, columns) = (self.vectors(), self.columns());
        self.sparse.check_state(dense.rows())?;
        length("the dense vectors", self.dense_at.len(), dense.columns())?;
        length("the sparse vectors", self.sparse_at.len(), self.sparse.count())?;
        let mut places: Vec<usize> = self.dense_at.iter().chain(&self.sparse_at).copied().collect();
        places.sort_unstable();
        ensure(places.iter().copied().eq(0..vectors), "every stored vector must have its place")?;
        shape("the coefficients of columns", &self.coefficients, vectors, columns)?;
        shape("the products of columns", &self.products, vectors, columns)?;
        let (mut written, mut products) = (Matrix::default(), Vec::new());
        self.write(dense, &Matrix::identity(columns), &mut written);
        for j in 0..columns {
            self.times_dense(dense, written.column(j), &mut products);
            let own = dot(written.column(j), written.column(j));
            for (i, product) in products.iter().enumerate() {
                let bound = self.squares[i].sqrt();
                let near = (product - self.products.column(j)[i]).abs() <= DRIFT * bound * own.max(1.0).sqrt();
                ensure(near, "the products of stored vectors must be those of the vectors")?;
                let fits = (self.coefficients.column(j)[i] * bound).abs() <= largest;
                ensure(fits, "the coefficients of columns must be moderate")?;
            }
        }
        self.check_squares(dense)
    }

    fn check_squares(&self, dense: &Matrix) -> Result<(), Error> {
        let of_dense = (0..dense.columns()).map(|j| dot(dense.column(j), dense.column(j)));
        let of_sparse = (0..self.sparse.count()).map(|j| self.sparse.cells(j).map(|(_, x)| x * x).sum::<f64>());
        let places = self.dense_at.iter().chain(&self.sparse_at);
        let near = |(at, square): (&usize, f64)| (self.squares[*at] - square).abs() <= DRIFT * square;
        ensure(places.zip(of_dense.chain(of_sparse)).all(near), "squared norms must be those of the vectors")
    }
}
