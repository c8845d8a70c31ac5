//! Imputation of missing cells from orthonormal directions.
//!
//! Setting: a centered row z with observed cells Ω and missing cells M, and w orthonormal directions, the columns of B,
//! with the rows B_Ω and B_M for these cells.
//! Result: `c = argmin |z_Ω - B_Ω c|² + Σ r_i c_i²`, and `B c` in the missing cells. For noise of variance δ in each
//! cell and coordinates of variance s², this is the most likely row when `r = δ/s²`. The leave-one-out error of an
//! observed cell is `e/(1 - h)` for its residual e and leverage h, an entry of `B_Ω (B_ΩᵀB_Ω + diag r)⁻¹ B_Ωᵀ`.
//! Cost: O(n w² + w³) for rows of n cells. If only m < w cells are missing, one system of size m is enough
//! ([`Imputation::fill_few`]): by `B_ΩᵀB_Ω = I - B_MᵀB_M` and Woodbury's identity, the missing cells x solve `(I - G) x
//! = B_M D⁻¹ B_Ωᵀz_Ω` with `D = I + diag r` and `G = B_M D⁻¹ B_Mᵀ`, in O(n w + m² w + m³). Consecutive rows with the
//! same missing cells share one factorization.
//! Numerics: the columns of B_Ω have at most unit length and r is at least [`LEAST_RIDGE`], so that every pivot of the
//! Cholesky factorization is well above rounding.

use crate::linalg::{Matrix, multiply};
use crate::num::dot;

#[derive(Debug, Clone, Default)]
pub(crate) struct Imputation {
    /// With zeros in the missing cells.
    seen: Matrix,
    /// Overwritten in the lower triangle by their Cholesky factor.
    normal: Matrix,
    coefficients: Vec<f64>,
    scaled: Vec<f64>,
    few: Few,
}

#[derive(Debug, Clone, Default)]
struct Few {
    cells: Vec<usize>,
    /// Columns of `D⁻¹ B_Mᵀ`.
    scaled: Matrix,
    factor: Matrix,
    is_accurate: bool,
    solution: Vec<f64>,
}

/// Rounding errors are divided by the pivots of the system of missing cells.
const LEAST_PIVOT: f64 = 1e-6;
const LEAST_RIDGE: f64 = 1e-12;
const LARGEST_RIDGE: f64 = 1e12;
const LEAST_LEFT: f64 = 1e-3;

/// Returns the clamped ridge factor of a coordinate: noise variance per cell over energy per row along the direction.
pub(crate) fn ridge(noise: f64, energy: f64) -> f64 {
    let ratio = noise / energy;
    if energy > 0.0 && ratio >= 0.0 { ratio.clamp(LEAST_RIDGE, LARGEST_RIDGE) } else { LARGEST_RIDGE }
}

impl Imputation {
    /// Fills in the NaN cells of a centered row, with 0 if the solution is not finite. `ridge` has the factors r_i.
    pub fn fill(&mut self, basis: &Matrix, ridge: &[f64], row: &mut [f64]) {
        let Self { seen, normal, coefficients, .. } = self;
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

    /// Fills in the cells `missing` of the row, which must be zero. `products` are those of the directions with the
    /// row. `basis` and `ridge` must be equal in all calls. Returns false if [`Self::fill`] is faster or more accurate.
    pub fn fill_few(
        &mut self,
        basis: &Matrix,
        ridge: &[f64],
        missing: &[usize],
        products: &[f64],
        row: &mut [f64],
    ) -> bool {
        if missing.len() >= basis.columns() {
            return false;
        }
        let few = &mut self.few;
        if few.cells != missing {
            few.factorize(basis, ridge, missing);
        }
        let Few { scaled, factor, is_accurate, solution, .. } = few;
        scaled.transpose_times(products, solution);
        substitute(factor, solution);
        let is_solved = *is_accurate && solution.iter().all(|x| x.is_finite());
        if is_solved {
            missing.iter().zip(&*solution).for_each(|(j, x)| row[*j] = *x);
        }
        is_solved
    }

    /// Computes leave-one-out errors, 0 for missing cells, for the row most recently filled by [`Self::fill`], at most
    /// once. `row` has NaN in the missing cells. `variances` receives that of the residual, `1 - h`, for each observed
    /// cell, and that of the error for each missing cell, in units of the noise.
    pub fn errors_without(&mut self, basis: &Matrix, row: &[f64], out: &mut [f64], variances: &mut [f64]) {
        let Self { seen, normal, coefficients, .. } = &mut *self;
        // The leverages h are the squared row lengths of B_Ω times the inverse Cholesky factor.
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
            for (i, c) in self.coefficients.iter().enumerate() {
                fitted += c * basis.column(i)[j];
                own += self.seen.column(i)[j].powi(2);
            }
            let left = (1.0 - own).max(LEAST_LEFT);
            let error_without = (x - fitted) / left;
            *error = if error_without.is_finite() { error_without } else { 0.0 };
            variances[j] = if x.is_nan() { 1.0 + self.leverage(basis, j) } else { left };
        }
    }

    fn leverage(&mut self, basis: &Matrix, j: usize) -> f64 {
        let Self { normal, scaled, .. } = self;
        scaled.clear();
        for i in 0..basis.columns() {
            let before: f64 = scaled.iter().enumerate().map(|(p, x)| normal.column(p)[i] * x).sum();
            scaled.push((basis.column(i)[j] - before) / normal.column(i)[i]);
        }
        let leverage = dot(scaled, scaled);
        if leverage.is_finite() { leverage } else { 0.0 }
    }
}

impl Few {
    fn factorize(&mut self, basis: &Matrix, ridge: &[f64], missing: &[usize]) {
        let Self { cells, scaled, factor, is_accurate, .. } = self;
        missing.clone_into(cells);
        scaled.resize(basis.columns(), missing.len());
        factor.resize(missing.len(), missing.len());
        for (a, j) in missing.iter().enumerate() {
            let column = scaled.column_mut(a).iter_mut();
            column.zip(ridge).enumerate().for_each(|(i, (to, r))| *to = basis.column(i)[*j] / (1.0 + r));
        }
        for b in 0..missing.len() {
            for a in b..missing.len() {
                let pairs = scaled.column(a).iter().zip(scaled.column(b)).zip(ridge);
                let overlap: f64 = pairs.map(|((x, y), r)| x * y * (1.0 + r)).sum();
                factor.column_mut(b)[a] = f64::from(u8::from(a == b)) - overlap;
            }
        }
        cholesky(factor);
        *is_accurate = (0..missing.len()).all(|a| factor.column(a)[a].powi(2) >= LEAST_PIVOT);
    }
}

/// Solves `A x = b`, with b in `x`, for a positive definite A in the lower triangle, which becomes its Cholesky factor.
pub(crate) fn solve(matrix: &mut Matrix, x: &mut [f64]) {
    cholesky(matrix);
    substitute(matrix, x);
}

fn cholesky(matrix: &mut Matrix) {
    for j in 0..matrix.columns() {
        for p in 0..j {
            let (before, column) = matrix.column_pair_mut(p, j);
            let factor = before[j];
            column[j..].iter_mut().zip(&before[j..]).for_each(|(entry, x)| *entry -= factor * x);
        }
        let root = matrix.column(j)[j].sqrt();
        matrix.column_mut(j)[j..].iter_mut().for_each(|entry| *entry /= root);
    }
}

/// Solves `L Lᵀ x = b`, with b in `x`.
fn substitute(factor: &Matrix, x: &mut [f64]) {
    for j in 0..x.len() {
        let column = factor.column(j);
        x[j] /= column[j];
        let step = x[j];
        x[j + 1..].iter_mut().zip(&column[j + 1..]).for_each(|(x, entry)| *x -= step * entry);
    }
    for j in (0..x.len()).rev() {
        let column = factor.column(j);
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
        let mut variances = vec![0.0; length];
        imputation.errors_without(&basis, &row, &mut errors, &mut variances);
        // The oracle of the variances inverts the normal equations, one unit vector at a time.
        for j in 0..length {
            let own: Vec<f64> = (0..count).map(|i| basis.column(i)[j]).collect();
            let mut solution = own.clone();
            let mut normal = Matrix::zeros(count, count);
            for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                let seen = (0..length).filter(|j| !row[*j].is_nan());
                normal.column_mut(a)[b] = seen.map(|j| basis.column(a)[j] * basis.column(b)[j]).sum();
            }
            (0..count).for_each(|i| normal.column_mut(i)[i] += ridges[i]);
            solve(&mut normal, &mut solution);
            let leverage = dot(&own, &solution);
            let wanted = if row[j].is_nan() { 1.0 + leverage } else { 1.0 - leverage };
            assert!((variances[j] - wanted).abs() <= 1e-12, "{j}: {} {wanted}", variances[j]);
        }
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

    #[test]
    fn a_small_system_fills_in_what_the_normal_equations_do() {
        let mut random = Random::seeded(4);
        let mut solved = 0;
        for (length, count) in [(5, 4), (9, 3), (30, 12), (30, 29), (120, 40)] {
            let mut basis = Matrix::zeros(length, count);
            (0..count).for_each(|i| basis.column_mut(i).iter_mut().for_each(|b| *b = random.normal()));
            basis.orthonormalise();
            for noise in [1e-5, 1e-2, 3.0] {
                let ridges: Vec<f64> = (0..count).map(|i| ridge(noise, 1.0 + i as f64)).collect();
                let mut imputation = Imputation::default();
                for missing in
                    [1, 2, count - 1, count, length - 1].map(|m| (0..m).map(|a| a * (length - 1) / m).collect())
                {
                    let missing: Vec<usize> = missing;
                    let mut row: Vec<f64> = (0..length).map(|_| random.normal()).collect();
                    missing.iter().for_each(|j| row[*j] = f64::NAN);
                    let mut slow = row.clone();
                    Imputation::default().fill(&basis, &ridges, &mut slow);
                    missing.iter().for_each(|j| row[*j] = 0.0);
                    let mut products = Vec::new();
                    basis.transpose_times(&row, &mut products);
                    // The second call uses the factorization of the first.
                    for _ in 0..2 {
                        if !imputation.fill_few(&basis, &ridges, &missing, &products, &mut row) {
                            assert!(missing.len() >= count || noise < 1e-2, "{length} {count} {noise} {missing:?}");
                            continue;
                        }
                        solved += 1;
                        let size = slow.iter().fold(1f64, |size, x| size.max(x.abs()));
                        for j in &missing {
                            assert!((row[*j] - slow[*j]).abs() <= 1e-9 * size, "{length} {count} {noise} {j}");
                        }
                    }
                }
            }
        }
        assert!(solved > 60, "{solved}");
    }
}
