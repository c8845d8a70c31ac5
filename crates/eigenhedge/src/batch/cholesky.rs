//! Pivoted Cholesky factor of a kernel matrix that is never formed.
//!
//! Setting: t points whose kernel matrix K is too large to store, or has low rank at the required accuracy.
//! Update: the point p with the largest remaining diagonal becomes a pivot. With its kernel row κ,
//!
//! ```text
//! L[:, r] = (κ - L[:, ..r] L[p, ..r]ᵀ) / √d_p,    d_i ← d_i - L[i, r]²
//! ```
//!
//! so `K - L Lᵀ` is positive semidefinite with diagonal d. Row i of L contains the coordinates of φ(x_i) in the
//! Gram–Schmidt basis of the features of the pivots.
//! Guarantee: the trace of the remainder, `trace(K - L Lᵀ) = Σ d`, is known at every step and bounds its largest
//! eigenvalue. If the eigenvalues of K decay fast, the rank needed exceeds the best possible one by a modest factor.
//! Cost for rank r: r kernel rows, t·r² operations, and memory for t·r numbers.
//! Numerics: diagonal entries decrease by subtraction, so those below the rounding error of the largest initial entry
//! count as zero. A clearly negative one proves that the kernel is not positive semidefinite: an error.
//! References: Harbrecht, Peters and Schneider, *Low-rank approximation by the pivoted Cholesky decomposition*, 2012.

use super::gram::{check_fresh, check_trace, checked_row};
use crate::error::{Error, at_least_one, every, fraction};
use crate::kernel::Dictionary;
use crate::linalg::Matrix;
use std::borrow::Borrow;

/// Low-rank factorization `K ≈ L Lᵀ` of a kernel matrix K.
#[derive(Debug, Clone, PartialEq)]
pub struct PivotedCholesky {
    /// Indices of the pivots among the points, in order of selection.
    pub pivots: Vec<usize>,
    /// Factor L, with one row per point and one column per pivot.
    pub factor: Matrix,
    /// For each point, the squared distance of its features from the span of the pivots' features.
    pub remaining: Vec<f64>,
    /// Trace of K.
    pub trace: f64,
}

/// A diagonal entry below this multiple of the largest initial one counts as a rounding error.
const ROUNDING: f64 = 32.0 * f64::EPSILON;
/// Largest negative diagonal entry that rounding can cause, relative to the largest one.
const INDEFINITE: f64 = 1e-8;

impl PivotedCholesky {
    /// Adds every point to `dictionary`, which must be empty. Computes columns of L until the trace of `K - L Lᵀ` is at
    /// most `tolerance`, in [0, 1), times the trace of K, the rank is `max_rank ≥ 1`, or only rounding errors remain.
    pub fn new<D: Dictionary, P: Borrow<D::Point>>(
        dictionary: &mut D,
        points: &[P],
        tolerance: f64,
        max_rank: usize,
    ) -> Result<Self, Error> {
        check_fresh(dictionary, points.len())?;
        fraction("tolerance", tolerance)?;
        at_least_one("max-rank", max_rank)?;
        let mut row = Vec::new();
        // Without atoms, a kernel row only computes k(x, x) and checks the point.
        let own = |(i, point): (usize, &P)| checked_row(dictionary, point.borrow(), &mut row).map_err(|e| e.at(i));
        let remaining: Vec<f64> = points.iter().enumerate().map(own).collect::<Result<_, _>>()?;
        let trace = remaining.iter().sum();
        check_trace(dictionary, points, trace)?;
        points.iter().for_each(|point| dictionary.push(point.borrow()));
        let factor = Matrix::zeros(points.len(), 0);
        let mut cholesky = Self { pivots: Vec::new(), factor, remaining, trace };
        let largest = cholesky.remaining.iter().fold(0f64, |a, d| a.max(*d));
        while cholesky.rank() < max_rank.min(points.len()) && cholesky.trace_error() > tolerance * trace {
            let pivot = cholesky.next_pivot();
            if !(cholesky.remaining[pivot] > ROUNDING * largest) {
                break;
            }
            checked_row(dictionary, points[pivot].borrow(), &mut row).map_err(|e| e.at(pivot))?;
            cholesky.step(pivot, &row);
            let what = "diagonal that a pivot of the kernel matrix leaves";
            every(what, &cholesky.remaining, "not negative", |d| d >= -INDEFINITE * largest)?;
        }
        Ok(cholesky)
    }

    /// Returns the number of columns of L.
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// Returns `trace(K - L Lᵀ)`.
    pub fn trace_error(&self) -> f64 {
        self.remaining.iter().map(|d| d.max(0.0)).sum()
    }

    pub(super) fn pivot_block(&self) -> Matrix {
        let mut block = Matrix::zeros(self.rank(), self.rank());
        for j in 0..self.rank() {
            for (entry, pivot) in block.column_mut(j).iter_mut().zip(&self.pivots).skip(j) {
                *entry = self.factor.column(j)[*pivot];
            }
        }
        block
    }

    fn next_pivot(&self) -> usize {
        (0..self.remaining.len()).max_by(|a, b| self.remaining[*a].total_cmp(&self.remaining[*b])).unwrap_or(0)
    }

    fn step(&mut self, pivot: usize, row: &[f64]) {
        let rank = self.rank();
        let root = self.remaining[pivot].sqrt();
        let mut column = row.to_vec();
        let earlier: Vec<f64> = (0..rank).map(|j| self.factor.column(j)[pivot]).collect();
        self.factor.subtract_times(&earlier, &mut column);
        for (entry, left) in column.iter_mut().zip(&mut self.remaining) {
            *entry /= root;
            *left -= *entry * *entry;
        }
        // Entries known exactly are assigned, not computed.
        for old in &self.pivots {
            column[*old] = 0.0;
            self.remaining[*old] = 0.0;
        }
        column[pivot] = root;
        self.remaining[pivot] = 0.0;
        self.factor.push_column(&column);
        self.pivots.push(pivot);
    }
}

#[cfg(test)]
mod tests {
    use super::super::gram::gram;
    use super::*;
    use crate::kernel::{Items, Kernel, VectorKernel, Vectors};
    use crate::streams;

    fn rows(t: usize) -> Vec<Vec<f64>> {
        streams::signal_and_noise(5, 2, 0.3, 11).take(t).collect()
    }

    fn gap(gram: &Matrix, cholesky: &PivotedCholesky) -> (f64, f64) {
        let (mut largest, mut trace) = (0f64, 0.0);
        for j in 0..gram.columns() {
            for i in 0..gram.columns() {
                let product: f64 =
                    (0..cholesky.rank()).map(|r| cholesky.factor.column(r)[i] * cholesky.factor.column(r)[j]).sum();
                largest = largest.max((gram.column(j)[i] - product).abs());
                trace += if i == j { gram.column(j)[i] - product } else { 0.0 };
            }
        }
        (largest, trace)
    }

    #[test]
    fn without_tolerance_the_factor_gives_back_the_kernel_matrix() {
        for kernel in [VectorKernel::Linear, VectorKernel::Rbf { gamma: 0.7 }] {
            let new = || Vectors::new(kernel.clone(), 5).unwrap();
            let whole = gram(&mut new(), &rows(40)).unwrap();
            let cholesky = PivotedCholesky::new(&mut new(), &rows(40), 0.0, 100).unwrap();
            assert!(gap(&whole, &cholesky).0 < 1e-13, "{:?}", gap(&whole, &cholesky));
            if kernel == VectorKernel::Linear {
                assert_eq!(cholesky.rank(), 5);
            }
        }
    }

    #[test]
    fn reported_trace_error_is_the_trace_error() {
        let kernel = VectorKernel::Rbf { gamma: 0.3 };
        let new = || Vectors::new(kernel.clone(), 5).unwrap();
        let whole = gram(&mut new(), &rows(60)).unwrap();
        let cholesky = PivotedCholesky::new(&mut new(), &rows(60), 0.05, 60).unwrap();
        let (largest, trace) = gap(&whole, &cholesky);
        assert!((trace - cholesky.trace_error()).abs() < 1e-12);
        assert!(trace <= 0.05 * cholesky.trace && largest <= trace);
        assert!(cholesky.rank() < 60);
        let cut = PivotedCholesky::new(&mut new(), &rows(60), 0.0, 3).unwrap();
        assert_eq!((cut.rank(), &cut.pivots[..3]), (3, &cholesky.pivots[..3]));
    }

    struct Indefinite;
    impl Kernel<str> for Indefinite {
        fn value(&self, a: &str, b: &str) -> f64 {
            if a == b { 1.0 } else { 2.0 }
        }
    }

    #[test]
    fn an_indefinite_kernel_and_bad_parameters_are_refused() {
        let words = ["a".to_string(), "b".to_string()];
        let error = PivotedCholesky::new(&mut Items::new(Indefinite), &words, 0.0, 2).unwrap_err().to_string();
        let wanted = "of the diagonal that a pivot of the kernel matrix leaves must be not negative, got -3";
        assert!(error.ends_with(wanted), "{error}");
        let mut new = Vectors::new(VectorKernel::Linear, 5).unwrap();
        for tolerance in [-1.0, 1.0, f64::NAN] {
            let error = PivotedCholesky::new(&mut new, &rows(3), tolerance, 2).unwrap_err().to_string();
            assert_eq!(error, format!("tolerance must be at least 0 and less than 1, got {tolerance}"));
        }
        assert!(PivotedCholesky::new(&mut new, &rows(3), 0.0, 0).is_err());
        let zero = PivotedCholesky::new(&mut new, &[vec![0.0; 5]], 0.0, 1).unwrap();
        assert_eq!((zero.rank(), zero.trace_error()), (0, 0.0));
    }
}
