//! Nearest matrix with orthonormal rows: the orthogonal factor of a polar decomposition.
//! Update: for an r × k matrix T with the defect `E = 1 - T Tᵀ`, a Newton–Schulz step `T ← (1 + E/2) T` reduces the
//! defect to about E². If E is small from the start, as between the bases of successive rows, one to three steps of
//! 2r²k operations suffice. Otherwise one-sided Jacobi rotates the columns of `A = Tᵀ` until they are orthogonal, `A V
//! = U S`, in about ten sweeps of O(k r²), and the nearest matrix to A with orthonormal columns is `U Vᵀ`.
//! Numerics: U and V are orthonormal up to rounding for any singular values. Those below [`NOTHING`] count as zero, and
//! the corresponding columns of U are built from unit vectors.
//! References: Higham, *Functions of Matrices*, section 8.3; Demmel & Veselić, *Jacobi's method is more accurate than
//! QR*, SIAM J. Matrix Anal. Appl. 1992.

use super::{Matrix, multiply, multiply_small, multiply_small_transposed};
use crate::num::dot;
use crate::scratch::zero;

#[derive(Debug, Clone, Default)]
pub(crate) struct Polar {
    turned: Matrix,
    turns: Matrix,
    unit: Vec<f64>,
    overlaps: Vec<f64>,
    defect: Matrix,
}

/// Threshold below which singular values are treated as rounding errors. Entries of the matrix are at most about 1.
const NOTHING: f64 = 1e-8;
/// Largest Frobenius norm of the defect `1 - T Tᵀ` for which Newton–Schulz is used.
const NEAR: f64 = 0.1;
const LAST: f64 = 1e-8;
const MOST_STEPS: usize = 8;
const MOST_SWEEPS: usize = 40;

impl Polar {
    /// Writes the nearest matrix with orthonormal rows to `out`. `matrix` must not have more rows than columns.
    pub fn nearest_rows(&mut self, matrix: &Matrix, out: &mut Matrix) {
        if self.improve(matrix, out) {
            return;
        }
        let (rows, columns) = (matrix.rows(), matrix.columns());
        self.turned.transpose_of(matrix);
        self.turns.reset(rows, rows);
        (0..rows).for_each(|j| self.turns.column_mut(j)[j] = 1.0);
        let tolerance = f64::EPSILON * columns as f64;
        for _ in 0..MOST_SWEEPS {
            if !self.sweep(tolerance) {
                break;
            }
        }
        self.normalise();
        multiply(out, self.turns.view(), self.turned.view().transpose());
    }

    fn improve(&mut self, matrix: &Matrix, out: &mut Matrix) -> bool {
        let Self { turned, defect, .. } = self;
        out.clone_from(matrix);
        for _ in 0..MOST_STEPS {
            multiply_small_transposed(defect, out, out);
            let norm = half_defect(defect);
            if !(norm <= NEAR) {
                return false;
            }
            multiply_small(turned, defect, out);
            std::mem::swap(turned, out);
            if norm <= LAST {
                return true;
            }
        }
        false
    }

    /// Runs one Jacobi sweep over pairs of columns. Returns false if all were orthogonal.
    fn sweep(&mut self, tolerance: f64) -> bool {
        let mut changed = false;
        for q in 1..self.turned.columns() {
            for p in 0..q {
                let (a, b) = self.turned.column_pair_mut(p, q);
                let (of_a, of_b, product) = (dot(a, a), dot(b, b), dot(a, b));
                let is_orthogonal = product.abs() <= tolerance * (of_a * of_b).sqrt();
                if is_orthogonal || of_a.min(of_b) <= NOTHING * NOTHING {
                    continue;
                }
                changed = true;
                let zeta = (of_b - of_a) / (2.0 * product);
                let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                let sine = cosine * tangent;
                turn(a, b, cosine, sine);
                let (a, b) = self.turns.column_pair_mut(p, q);
                turn(a, b, cosine, sine);
            }
        }
        changed
    }

    fn normalise(&mut self) {
        let Self { turned, unit, overlaps, .. } = self;
        let rows = turned.rows();
        for j in 0..turned.columns() {
            let column = turned.column_mut(j);
            let norm = dot(column, column).sqrt();
            column.iter_mut().for_each(|x| *x = if norm > NOTHING { *x / norm } else { 0.0 });
        }
        let mut free = 0..rows;
        for j in 0..turned.columns() {
            if turned.column(j).iter().any(|x| *x != 0.0) {
                continue;
            }
            // With fewer nonzero columns than rows, some unit vector is at a squared distance of at least 1/rows from
            // their span.
            let found = free.by_ref().find_map(|i| {
                zero(unit, rows);
                unit[i] = 1.0;
                let mut square = 1.0;
                for _ in 0..2 {
                    turned.transpose_times(unit, overlaps);
                    square = turned.subtract_times(overlaps, unit);
                }
                (square > 0.5 / rows as f64).then(|| square.sqrt())
            });
            let Some(norm) = found else { return };
            turned.column_mut(j).iter_mut().zip(&*unit).for_each(|(x, u)| *x = u / norm);
        }
    }
}

/// Replaces `T Tᵀ` by `1 + E/2`, where `E = 1 - T Tᵀ`. Returns the Frobenius norm of E.
fn half_defect(gram: &mut Matrix) -> f64 {
    let mut square = 0.0;
    for j in 0..gram.columns() {
        let column = gram.column_mut(j);
        column[j] -= 1.0;
        square += dot(column, column);
        column.iter_mut().for_each(|entry| *entry *= -0.5);
        column[j] += 1.0;
    }
    square.sqrt()
}

fn turn(a: &mut [f64], b: &mut [f64], cosine: f64, sine: f64) {
    for (a, b) in a.iter_mut().zip(b) {
        (*a, *b) = (cosine * *a - sine * *b, sine * *a + cosine * *b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::linalg::symmetric_eigen;

    fn random_matrix(rows: usize, columns: usize, random: &mut Random) -> Matrix {
        let mut matrix = Matrix::zeros(rows, columns);
        (0..columns).for_each(|j| matrix.column_mut(j).iter_mut().for_each(|x| *x = random.normal() / rows as f64));
        matrix
    }

    fn nearest(matrix: &Matrix) -> Matrix {
        let (mut rows, mut found, mut out) = (Matrix::default(), Matrix::default(), Matrix::default());
        rows.transpose_of(matrix);
        Polar::default().nearest_rows(&rows, &mut found);
        out.transpose_of(&found);
        out
    }

    /// Computes the oracle `A (AᵀA)^{-1/2}` from an eigendecomposition.
    fn dense(matrix: &Matrix) -> Matrix {
        let (mut gram, mut scaled, mut root) = (Matrix::default(), Matrix::default(), Matrix::default());
        multiply(&mut gram, matrix.view().transpose(), matrix.view());
        let eigen = symmetric_eigen(&gram);
        scaled.clone_from(&eigen.vectors);
        for (j, value) in eigen.values.iter().enumerate() {
            scaled.column_mut(j).iter_mut().for_each(|x| *x /= value.sqrt());
        }
        multiply(&mut root, scaled.view(), eigen.vectors.view().transpose());
        let mut out = Matrix::default();
        multiply(&mut out, matrix.view(), root.view());
        out
    }

    #[test]
    fn the_nearest_matrix_equals_the_one_of_an_eigendecomposition() {
        let mut random = Random::seeded(5);
        for (rows, columns) in [(1, 1), (4, 4), (7, 3), (12, 12), (3, 1), (5, 0)] {
            let matrix = random_matrix(rows, columns, &mut random);
            let found = nearest(&matrix);
            assert!(found.drift() < 1e-14, "{rows} {columns}: {}", found.drift());
            let wanted = dense(&matrix);
            for j in 0..columns {
                for (a, b) in found.column(j).iter().zip(wanted.column(j)) {
                    assert!((a - b).abs() < 1e-9, "{rows} {columns}: {a} {b}");
                }
            }
        }
    }

    #[test]
    fn newton_schulz_equals_jacobi_near_orthonormal_columns() {
        let mut random = Random::seeded(8);
        for (rows, columns) in [(4, 4), (10, 10), (9, 5)] {
            let start = nearest(&random_matrix(rows, columns, &mut random));
            for size in [0.0, 1e-12, 1e-6, 1e-3, 3e-3] {
                let mut near = start.clone();
                (0..columns).for_each(|j| near.column_mut(j).iter_mut().for_each(|x| *x += size * random.normal()));
                let (mut rows, mut improved) = (Matrix::default(), Matrix::default());
                rows.transpose_of(&near);
                assert!(Polar::default().improve(&rows, &mut improved), "{size} is near");
                let found = nearest(&near);
                assert!(found.drift() < 1e-14, "{size}: {}", found.drift());
                let wanted = dense(&near);
                for j in 0..columns {
                    for (a, b) in found.column(j).iter().zip(wanted.column(j)) {
                        assert!((a - b).abs() < 1e-13, "{size}: {a} {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_not_determined_is_filled_with_the_first_free_unit_vectors() {
        let mut matrix = Matrix::zeros(4, 3);
        assert_eq!(nearest(&matrix), {
            let mut identity = Matrix::identity(4);
            identity.resize(4, 3);
            identity
        });
        // The only known direction is the first unit vector. The other entries are rounding errors.
        matrix.column_mut(1).copy_from_slice(&[-0.5, 0.0, 0.0, 0.0]);
        matrix.column_mut(2).copy_from_slice(&[1e-17, 0.0, 1e-17, 0.0]);
        let found = nearest(&matrix);
        assert_eq!(found.column(1), [-1.0, 0.0, 0.0, 0.0]);
        assert_eq!(found.column(0), [0.0, 1.0, 0.0, 0.0]);
        assert_eq!(found.column(2), [0.0, 0.0, 1.0, 0.0]);
    }
}
