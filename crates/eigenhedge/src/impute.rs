//! Imputation of missing cells from the kept directions.
//!
//! Setting: a centered row of which only the cells in Ω are observed, and orthonormal directions B.
//!
//! Result: `c = argmin |z_Ω - B_Ω c|² + Σ r_i c_i²`. The missing cells are those of `B c`. For noise of variance δ in each cell
//! and coordinates of variance s², this is the most likely row when `r = δ/s²`.
//!
//! The accuracy is estimated on the cells of Ω. The leave-one-out error of a cell is `e/(1 - h)`, where e is its
//! residual and h its leverage, a diagonal entry of `B_Ω (B_ΩᵀB_Ω + diag r)⁻¹ B_Ωᵀ`.
//!
//! Guarantee: none.
//!
//! Cost: O(n w² + w³) for w directions.
//!
//! Numerics: the normal equations are solved by a Cholesky factorization. The columns of B_Ω have at most unit length and r is
//! at least [`LEAST_RIDGE`], so that every pivot is well above rounding. A direction without observed cells has the coordinate
//! zero.

use crate::linalg::{Matrix, multiply};
use crate::num::dot;

/// Imputation of one row at a time. The fields are scratch space.
#[derive(Debug, Clone, Default)]
pub(crate) struct Imputation {
    /// Directions, with zeros in the missing cells.
    seen: Matrix,
    /// Normal equations, later overwritten by their Cholesky factor in the lower triangle.
    normal: Matrix,
    coefficients: Vec<f64>,
}

/// Minimum ridge penalty, the factor of each squared coordinate in the objective.
const LEAST_RIDGE: f64 = 1e-12;
/// Maximum ridge penalty.
const LARGEST_RIDGE: f64 = 1e12;
/// Smallest divisor `1 - h` of a leave-one-out error, where h is the leverage of the cell.
const LEAST_LEFT: f64 = 1e-3;

/// Returns the ridge factor of a coordinate: the noise variance per cell divided by the energy per row along the
/// direction. The factor is clamped to a finite range.
pub(crate) fn ridge(noise: f64, energy: f64) -> f64 {
    let ratio = noise / energy;
    if energy > 0.0 && ratio >= 0.0 { ratio.clamp(LEAST_RIDGE, LARGEST_RIDGE) } else { LARGEST_RIDGE }
}

impl Imputation {
    /// Fills in the NaN cells of the row. The columns of `basis` are the directions, and `ridge` contains the factor of
    /// each squared coordinate.
    pub fn fill(&mut self, basis: &Matrix, ridge: &[f64], row: &mut [f64]) {
        let Self { seen, normal, coefficients } = self;
        seen.clone_from(basis);
        let count = basis.columns();
        coefficients.clear();
        for i in 0..count {
            let column = seen.column_mut(i);
            let mut along = 0.0;
            for (b, x) in column.iter_mut().zip(&*row) {
                if x.is_nan() { *b = 0.0 } else { along += *b * x }
            }
            coefficients.push(along);
        }
        if count > 0 {
            multiply(normal, seen.view().transpose(), seen.view());
            (0..count).for_each(|i| normal.column_mut(i)[i] += ridge[i]);
            solve(normal, coefficients);
        }
        let finite = coefficients.iter().all(|c| c.is_finite());
        for (j, x) in row.iter_mut().enumerate().filter(|(_, x)| x.is_nan()) {
            *x = if finite { coefficients.iter().enumerate().map(|(i, c)| basis.column(i)[j] * c).sum() } else { 0.0 };
        }
    }
}

impl Imputation {
    /// Writes the leave-one-out error of each observed cell of the most recently filled row, and 0 for each missing
    /// cell. `row` has NaN in the missing cells. [`Self::fill`] must have been called with the same basis.
    pub fn errors_without(&mut self, basis: &Matrix, row: &[f64], out: &mut [f64]) {
        let Self { seen, normal, coefficients } = self;
        // L is the Cholesky factor. Rows of B_Ω are multiplied by L⁻¹. Their squared lengths are the leverages h.
        for i in 0..coefficients.len() {
            for p in 0..i {
                let (factor, (before, column)) = (normal.column(p)[i], seen.column_pair_mut(p, i));
                column.iter_mut().zip(before).for_each(|(x, y)| *x -= factor * *y);
            }
            let root = normal.column(i)[i];
            seen.column_mut(i).iter_mut().for_each(|x| *x /= root);
        }
        for (j, (error, x)) in out.iter_mut().zip(row).enumerate() {
            let (mut fitted, mut own) = (0.0, 0.0);
            for (i, c) in coefficients.iter().enumerate() {
                fitted += c * basis.column(i)[j];
                own += seen.column(i)[j].powi(2);
            }
            let error_without = (x - fitted) / (1.0 - own).max(LEAST_LEFT);
            *error = if error_without.is_finite() { error_without } else { 0.0 };
        }
    }
}

/// Solves `A x = b` for a positive definite matrix. `x` contains b on input. Only the lower triangle of `matrix` is
/// used, and it is overwritten by the Cholesky factor.
pub(crate) fn solve(matrix: &mut Matrix, x: &mut [f64]) {
    let size = x.len();
    for j in 0..size {
        let (before, rest) = (0..j, j..size);
        for i in rest {
            let overlap: f64 = before.clone().map(|p| matrix.column(p)[i] * matrix.column(p)[j]).sum();
            matrix.column_mut(j)[i] -= overlap;
        }
        let root = matrix.column(j)[j].sqrt();
        matrix.column_mut(j)[j..].iter_mut().for_each(|entry| *entry /= root);
    }
    for j in 0..size {
        let column = matrix.column(j);
        x[j] /= column[j];
        let step = x[j];
        x[j + 1..].iter_mut().zip(&column[j + 1..]).for_each(|(x, entry)| *x -= step * entry);
    }
    for j in (0..size).rev() {
        let column = matrix.column(j);
        x[j] = (x[j] - dot(&column[j + 1..], &x[j + 1..])) / column[j];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn the_row_that_was_filled_in_minimises_the_sum() {
        let mut random = Random::seeded(1);
        let (length, count) = (9, 3);
        let mut basis = Matrix::zeros(length, count);
        (0..count).for_each(|i| basis.column_mut(i).iter_mut().for_each(|b| *b = random.normal()));
        basis.orthonormalise();
        let ridges = [1e-3, 0.1, 2.0];
        let row: Vec<f64> = (0..length).map(|j| if j % 3 == 1 { f64::NAN } else { random.normal() }).collect();
        let mut filled = row.clone();
        let mut imputation = Imputation::default();
        imputation.fill(&basis, &ridges, &mut filled);
        let c = imputation.coefficients.clone();
        let cell = |c: &[f64], j: usize| (0..count).map(|i| basis.column(i)[j] * c[i]).sum::<f64>();
        let sum = |c: &[f64]| {
            let seen = (0..length).filter(|j| !row[*j].is_nan()).map(|j| (row[j] - cell(c, j)).powi(2)).sum::<f64>();
            seen + (0..count).map(|i| ridges[i] * c[i] * c[i]).sum::<f64>()
        };
        for i in 0..count {
            for step in [-1e-4, 1e-4] {
                let mut other = c.clone();
                other[i] += step;
                assert!(sum(&other) > sum(&c));
            }
        }
        // The oracle of the leave-one-out errors fits each observed cell in a separate call.
        let mut errors = vec![0.0; length];
        imputation.errors_without(&basis, &row, &mut errors);
        for j in (0..length).filter(|j| !row[*j].is_nan()) {
            let mut without = row.clone();
            without[j] = f64::NAN;
            Imputation::default().fill(&basis, &ridges, &mut without);
            assert!((errors[j] - (row[j] - without[j])).abs() <= 1e-12, "{j}: {} {}", errors[j], row[j] - without[j]);
        }
        for j in 0..length {
            let wanted = if row[j].is_nan() { cell(&c, j) } else { row[j] };
            assert!((filled[j] - wanted).abs() <= 1e-14, "{j}: {} {wanted}", filled[j]);
        }
    }
}
