//! Sparse rows: columns and origin as combinations of sparse rows, at a cost that depends on the filled cells.
//! Setting: the columns are `B = V C` ([`Combinations`]). The stored vectors V are dense vectors and the sparse rows
//! that arrived after these were written. The displacement of the origin is the combination `V a` (field `origin`).
//! Update: the coordinates of a row and the norm of its residual follow from its inner products with V, and the row
//! becomes the next stored vector. About every √n + 2w rows, with w columns, the columns are written out as dense
//! vectors. This representation starts after [`STREAK`](crate::linalg::STREAK) consecutive sparse rows, and ends after
//! [`DENSE_STREAK`] consecutive rows that are not sparse. In between, such a row is stored as a dense vector.
//! Cost: O(f u + v w) per row with f filled cells, u dense vectors, v stored vectors and w columns. Writing out the
//! columns costs O(n u²).
//! Numerics: the second pass of Gram–Schmidt uses only inner products. Dense vectors are used instead if the residual
//! is small relative to its coefficients, or if the row nearly equals the origin.

use crate::linalg::{Cells, Combinations, Matrix};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sparse {
    pub(super) columns: Combinations,
    pub(super) origin: Vec<f64>,
    pub(super) origin_products: Vec<f64>,
    pub(super) written: usize,
    pub(super) dense_streak: usize,
}

#[derive(Debug, Clone, Default)]
pub(super) struct SparseWorking {
    pub(super) filled: Vec<u32>,
    pub(super) is_sparse: bool,
    pub(super) is_announced: bool,
    pub(super) shortest: Shortest,
    /// Sparse part of the origin (`Ambient::shift`). `None` means that it must be computed.
    pub(super) shift: Option<Cells>,
    /// Loaded point minus the shift, of squared norm `square`.
    pub(super) cells: Cells,
    pub(super) square: f64,
    /// Inner products of the loaded point with the stored vectors, minus those of the displacement for a dense point.
    pub(super) products: Vec<f64>,
    /// Inner products of the loaded point minus the shift with the displacement of the origin and with the columns.
    pub(super) along_origin: f64,
    pub(super) with_columns: Vec<f64>,
    pub(super) left: Vec<f64>,
    /// Coefficients of the residual in terms of the stored vectors, without the loaded point itself.
    pub(super) coefficients: Vec<f64>,
    pub(super) correction: Vec<f64>,
    pub(super) coordinates: Vec<f64>,
    pub(super) residual: Vec<f64>,
    pub(super) is_stored: bool,
    pub(super) defect: Matrix,
    pub(super) working: Vec<f64>,
}

pub(super) const DENSE_STREAK: usize = 16;
const DENSE_VECTORS: usize = 4;
/// Minimum length of a sparse row.
#[cfg(not(test))]
const SHORTEST: usize = 4096;
/// Row length divided by the largest number of filled cells of a sparse row.
pub(super) const SPARSITY: usize = 32;
/// Maximum norm of the coefficients of a residual, as a multiple of the norm of the residual.
pub(super) const LARGEST_COEFFICIENTS: f64 = 16.0;
/// Squared residual, as a share of the squared norm of its coefficients, that counts as a rounding error.
pub(super) const NOTHING: f64 = 1e-14;

#[cfg(test)]
thread_local! {
    pub(crate) static SHORTEST: std::cell::Cell<usize> = const { std::cell::Cell::new(4096) };
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Shortest(pub(super) usize);

impl Default for Shortest {
    fn default() -> Self {
        #[cfg(not(test))]
        let shortest = SHORTEST;
        #[cfg(test)]
        let shortest = SHORTEST.get();
        Self(shortest)
    }
}

impl Sparse {
    pub(super) fn limit(&self, length: usize) -> usize {
        length.isqrt().clamp(16, 1024) + 2 * self.columns.columns()
    }

    pub(super) fn is_due(&self, length: usize) -> bool {
        let dense = self.columns.dense() - self.written;
        dense >= DENSE_VECTORS || self.columns.sparse.count() >= self.limit(length)
    }

    pub(super) fn add_displacement(&self, dense: &Matrix, factor: f64, vector: &mut [f64]) {
        let scaled: Vec<f64> = self.origin.iter().map(|a| factor * a).collect();
        self.columns.add_to(dense, &scaled, vector);
    }
}
