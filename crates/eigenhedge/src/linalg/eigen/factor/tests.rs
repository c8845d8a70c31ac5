use super::*;
use crate::Random;
use crate::linalg::symmetric_eigen;

fn matrix_of(factor: &Factor, scratch: &mut FactorScratch) -> Matrix {
    let mut q = Matrix::identity(factor.size);
    factor.rotate(&mut q, &vec![true; factor.size], scratch);
    q
}

fn largest_gap_to_identity(q: &Matrix) -> f64 {
    let gram = q.view().transpose() * q.view();
    let mut largest = 0f64;
    for j in 0..q.columns() {
        for i in 0..q.columns() {
            largest = largest.max((gram[(i, j)] - f64::from(u8::from(i == j))).abs());
        }
    }
    largest
}

/// Returns random eigenvalues and coordinates. `kind` selects normal, graded, repeated, half-zero
/// or nearly equal eigenvalues. Kind 2 also has zero coordinates.
fn case(n: usize, kind: usize, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
    let value = |random: &mut Random| match kind {
        0 => random.normal(),
        1 => -1e6 * 10f64.powf(-18.0 * random.uniform()),
        2 => random.below(3) as f64,
        3 => {
            if random.uniform() < 0.5 {
                0.0
            } else {
                -1e6 * random.uniform()
            }
        }
        _ => 1.0 + 1e-15 * random.below(6) as f64,
    };
    let values = (0..n).map(|_| value(random)).collect();
    let z = (0..n).map(|i| if kind == 2 && i % 4 == 0 { 0.0 } else { random.normal() }).collect();
    (values, z)
}

#[test]
fn rank_one_update_equals_fresh_eigendecomposition() {
    let mut random = Random::seeded(7);
    let (mut factor, mut scratch) = (Factor::default(), FactorScratch::default());
    for n in [1, 2, 3, 5, 17, 40, 130] {
        for kind in 0..5 {
            for sigma in [1.0, -1.0, 1e-3, -1e3] {
                let (mut values, z) = case(n, kind, &mut random);
                let mut dense = Matrix::zeros(n, n);
                for j in 0..n {
                    for i in 0..n {
                        dense.column_mut(j)[i] = sigma * z[i] * z[j] + if i == j { values[i] } else { 0.0 };
                    }
                }
                let size: f64 = values.iter().fold(0f64, |a, v| a.max(v.abs()))
                    + sigma.abs() * z.iter().map(|x| x * x).sum::<f64>();
                factor.solve(&mut values, sigma, &z, &mut scratch);
                let q = matrix_of(&factor, &mut scratch);
                let tolerance = 16.0 * f64::EPSILON * (n as f64).sqrt().max(4.0);
                let gap = largest_gap_to_identity(&q);
                assert!(gap <= tolerance, "orthogonality {gap:e} at n {n}, kind {kind}, sigma {sigma}");
                let image = dense.view() * q.view();
                for j in 0..n {
                    for i in 0..n {
                        let residual = (image[(i, j)] - values[j] * q.column(j)[i]).abs();
                        assert!(residual <= tolerance * size, "residual {residual:e}, n {n}, kind {kind}");
                    }
                }
                let mut fresh = symmetric_eigen(&dense).values;
                values.sort_by(f64::total_cmp);
                fresh.sort_by(f64::total_cmp);
                for (a, b) in values.iter().zip(&fresh) {
                    assert!((a - b).abs() <= tolerance * size, "eigenvalue {a} against {b}");
                }
            }
        }
    }
}

#[test]
fn applying_to_a_vector_equals_multiplying_by_the_matrix() {
    let mut random = Random::seeded(8);
    let (mut factor, mut scratch) = (Factor::default(), FactorScratch::default());
    for n in [1, 4, 31, 64, 100] {
        for kind in 0..5 {
            let (mut values, z) = case(n, kind, &mut random);
            factor.solve(&mut values, -2.0, &z, &mut scratch);
            let q = matrix_of(&factor, &mut scratch);
            let y: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            let mut there = vec![0.0; n];
            factor.apply_transpose(&y, &mut there, &mut scratch);
            // The matrix has one row more than the factor, and that row stays unchanged.
            let mut columns = Matrix::zeros(n + 1, 2);
            columns.column_mut(0)[..n].copy_from_slice(&there);
            columns.column_mut(1).fill(1.0);
            factor.apply_to_columns(&mut columns, &mut scratch);
            assert_eq!((columns.column(0)[n], columns.column(1)[n]), (0.0, 1.0));
            let back = columns.column(0);
            let tolerance = 64.0 * f64::EPSILON * (n as f64);
            for j in 0..n {
                let direct: f64 = q.column(j).iter().zip(&y).map(|(a, b)| a * b).sum();
                assert!((direct - there[j]).abs() <= tolerance);
                assert!((back[j] - y[j]).abs() <= tolerance);
                assert!((columns.column(0)[j] - y[j]).abs() <= tolerance);
            }
        }
    }
}

#[test]
fn a_tiny_value_that_trades_places_with_a_large_one_stays_apart_from_zero() {
    let (mut factor, mut scratch) = (Factor::default(), FactorScratch::default());
    for tiny in [1e-30, 1e-34, 1e-40] {
        let mut values = [tiny, 18.75, 0.0];
        let z = [0.3535533905932739, -1.1102230246251565e-16, 0.25];
        factor.solve(&mut values, 1.0, &z, &mut scratch);
        let q = matrix_of(&factor, &mut scratch);
        assert!((0..3).all(|j| q.column(j).iter().all(|x| x.is_finite())), "{q:?}");
        let gap = largest_gap_to_identity(&q);
        assert!(gap <= 64.0 * f64::EPSILON, "orthogonality {gap:e} with {tiny:e}");
        let wanted = [0.0, z[0] * z[0] + z[2] * z[2], 18.75];
        for (found, wanted) in values.iter().zip(wanted) {
            assert!((found - wanted).abs() <= 64.0 * f64::EPSILON, "{found} against {wanted}");
        }
    }
}

#[test]
fn a_change_far_below_the_values_leaves_them_finite() {
    let mut scratch = FactorScratch::default();
    for power in [-300, -200, -100, 0, 100, 200, 300] {
        for other in [-300, -150, 0, 150, 300] {
            let mut values = [10f64.powi(power)];
            Factor::default().solve(&mut values, 10f64.powi(other), &[1.0], &mut scratch);
            let wanted = 10f64.powi(power) + 10f64.powi(other);
            assert!((values[0] - wanted).abs() <= 1e-15 * wanted, "{values:?} against {wanted:e}");
        }
    }
}

#[test]
fn small_values_of_a_graded_spectrum_keep_their_relative_accuracy() {
    // diag(-1e6, -1e-3, -2e-3) with a coupling: the 2 × 2 Schur complement is the oracle for the small pair.
    let (a, b, c): (f64, f64, f64) = (-1e6, -1e-3, -2e-3);
    let (z, sigma) = ([1e-3, 0.6, 0.5], -1e-3f64);
    let mut values = [a, b, c];
    Factor::default().solve(&mut values, sigma, &z, &mut FactorScratch::default());
    let coupling = |i: usize, j: usize| sigma * z[i] * z[j];
    let schur = |i: usize, j: usize| coupling(i, j) - coupling(0, i) * coupling(0, j) / (a + coupling(0, 0));
    let (p, q, r) = (b + schur(1, 1), schur(1, 2), c + schur(2, 2));
    let middle = 0.5 * (p + r);
    let radius = (0.25 * (p - r) * (p - r) + q * q).sqrt();
    for (found, wanted) in [(values[0], middle + radius), (values[1], middle - radius)] {
        assert!((found - wanted).abs() <= 1e-13 * wanted.abs(), "{found} against {wanted}");
    }
}
