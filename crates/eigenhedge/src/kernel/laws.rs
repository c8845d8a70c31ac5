//! Tests of properties that every kernel and dictionary must have.

use super::*;
use crate::linalg::{Eigen, Matrix};
use crate::random::Random;

fn plain() -> Vec<VectorKernel> {
    vec![
        VectorKernel::Linear,
        VectorKernel::Polynomial { gamma: 0.5, degree: 3, coef0: 1.0 },
        VectorKernel::Polynomial { gamma: 1.5, degree: 6, coef0: 0.0 },
        VectorKernel::Rbf { gamma: 0.3 },
        VectorKernel::Laplacian { gamma: 0.2 },
        VectorKernel::Matern32 { length_scale: 1.5 },
        VectorKernel::Matern52 { length_scale: 0.7 },
        VectorKernel::Sigmoid { gamma: 0.1, coef0: 0.5 },
        VectorKernel::Cosine,
    ]
}

fn kernels() -> Vec<VectorKernel> {
    let rbf = VectorKernel::Rbf { gamma: 0.1 };
    let inner = VectorKernel::Linear.plus(rbf.clone()).scaled(0.5).times(VectorKernel::Cosine);
    let nested = inner.plus(rbf.clone().times(VectorKernel::Laplacian { gamma: 0.3 })).plus(rbf).scaled(3.0);
    let mut kernels = plain();
    kernels.extend([nested, VectorKernel::Mallows { gamma: 0.3 }]);
    kernels
}

fn point(random: &mut Random, length: usize) -> Vec<f64> {
    (0..length).map(|_| random.normal()).collect()
}

fn points(seed: u64, count: usize, length: usize) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    (0..count).map(|_| point(&mut random, length)).collect()
}

/// Returns the eigenvalues of the Gram matrix, ascending. Asserts that it is symmetric.
fn spectrum<X: ?Sized + ToOwned>(points: &[X::Owned], value: impl Fn(&X, &X) -> f64) -> Vec<f64> {
    use std::borrow::Borrow;
    let mut gram = Matrix::zeros(points.len(), points.len());
    for (j, b) in points.iter().enumerate() {
        for (i, a) in points.iter().enumerate() {
            let entry = value(a.borrow(), b.borrow());
            assert_eq!(entry, value(b.borrow(), a.borrow()), "entries ({i}, {j})");
            gram.column_mut(j)[i] = entry;
        }
    }
    let mut eigen = Eigen::default();
    eigen.compute(gram.view());
    eigen.values
}

fn assert_positive<X: ?Sized + ToOwned>(what: &str, points: &[X::Owned], kernel: &impl Kernel<X>) {
    let values = spectrum::<X>(points, |a, b| kernel.value(a, b));
    let (smallest, largest) = (values[0], values[values.len() - 1]);
    assert!(smallest >= -1e-10 * largest, "{what}: {smallest:e} of {largest:e}");
}

fn rank(values: &[f64]) -> usize {
    let largest = values[values.len() - 1];
    values.iter().filter(|value| **value > 1e-11 * largest).count()
}

#[test]
fn gram_matrices_of_vector_kernels_are_symmetric_and_positive() {
    for kernel in kernels() {
        for (seed, length) in [(1, 1), (2, 3), (3, 20)] {
            let points = points(seed, 60, length);
            if kernel.positive_definite() {
                assert_positive::<[f64]>(&format!("{kernel:?}"), &points, &kernel);
            } else {
                spectrum::<[f64]>(&points, |a, b| kernel.value(a, b));
            }
        }
    }
}

#[test]
fn the_sigmoid_is_not_positive_definite_and_says_so() {
    let kernel = VectorKernel::Sigmoid { gamma: 1.0, coef0: -1.0 };
    let values = spectrum::<[f64]>(&points(4, 30, 2), |a, b| kernel.value(a, b));
    assert!(values[0] < -1e-3 * values[values.len() - 1]);
    assert!(!kernel.positive_definite());
    assert!(!VectorKernel::Linear.plus(kernel.scaled(2.0)).positive_definite());
}

#[test]
fn gram_matrices_of_kernels_of_items_are_symmetric_and_positive() {
    let mut random = Random::seeded(5);
    let rows: Vec<Vec<f64>> =
        (0..50).map(|_| (0..random.below(12)).map(|_| random.below(4) as f64).collect()).collect();
    let items = TextItems::Chars;
    let spectra = (1..4).map(|substring| VectorKernel::Spectrum { items, substring });
    for kernel in spectra.chain([VectorKernel::Intersection { items }, VectorKernel::Jaccard { items }]) {
        assert_positive::<[f64]>(kernel.name(), &rows, &kernel);
    }
}

#[test]
fn dictionaries_of_items_equal_values_and_are_saved() {
    let kernel = VectorKernel::Spectrum { items: TextItems::Words, substring: 1 };
    let mut dictionary = Vectors::new(kernel.clone(), 1).unwrap();
    let rows: Vec<Vec<f64>> = vec![vec![1.0, 2.0, 1.0], vec![], vec![2.0], vec![3.0, 2.0, 4.0, 1.0]];
    rows.iter().for_each(|row| dictionary.push(row));
    dictionary.swap_remove(1);
    let bytes = postcard::to_allocvec(&dictionary).unwrap();
    let mut restored: Vectors = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(restored, dictionary);
    let (mut row, mut other) = (Vec::new(), Vec::new());
    let itself = restored.row(&[1.0, 3.0], &mut row).unwrap();
    assert_eq!(itself, 1.0);
    for atom in 0..3 {
        assert_eq!(row[atom], kernel.value(dictionary.atom(atom), &[1.0, 3.0]));
        dictionary.atom_row(atom, &mut other);
        let between: Vec<f64> = (0..3).map(|j| dictionary.value_between(atom, &restored, j)).collect();
        assert_eq!(other, between);
        assert_eq!(dictionary.value_between(atom, &dictionary, atom), other[atom]);
    }
    assert!(dictionary.row(&[f64::NAN], &mut row).is_err());
}

#[test]
fn a_function_is_a_kernel_that_cannot_be_saved_or_combined() {
    let kernel = VectorKernel::Function(Function::new(|a, b| a[0] * b[0]));
    assert_eq!(kernel.clone(), kernel);
    assert_ne!(kernel, VectorKernel::Function(Function::new(|a, b| a[0] * b[0])));
    assert!(postcard::to_allocvec(&kernel).is_err());
    assert!(kernel.clone().plus(VectorKernel::Linear).checked().is_err());
    let mut dictionary = Vectors::new(kernel, 1).unwrap();
    dictionary.push(&[3.0]);
    let mut row = Vec::new();
    assert_eq!((dictionary.row(&[2.0], &mut row), &row[..]), (Ok(4.0), &[6.0][..]));
}

#[test]
fn a_row_with_equal_entries_is_no_ranking() {
    let mut dictionary = Vectors::new(VectorKernel::Kendall { length: 3 }, 3).unwrap();
    let message = dictionary.row(&[1.0, 0.5, 1.0], &mut Vec::new()).unwrap_err().to_string();
    assert_eq!(message, "entry 2 of the row must be unlike those before it, to be a ranking, got 1");
}

fn rankings(items: usize) -> Vec<Vec<f64>> {
    let count = items.pow(items as u32);
    let places =
        |code: usize| -> Vec<f64> { (0..items as u32).map(|i| (code / items.pow(i) % items) as f64).collect() };
    (0..count)
        .map(places)
        .filter(|places| VectorKernel::Kendall { length: items }.check_point(places).is_ok())
        .collect()
}

#[test]
fn dimensions_equal_ranks_of_large_gram_matrices() {
    for n in 1..4 {
        for degree in 1..4 {
            for coef0 in [0.0, 0.7] {
                let kernel = VectorKernel::Polynomial { gamma: 0.6, degree, coef0 };
                assert_rank(&kernel, n);
                assert_rank(&kernel.scaled(2.0), n);
            }
        }
        assert_rank(&VectorKernel::Linear, n);
        assert_rank(&VectorKernel::Cosine, n);
    }
}

fn assert_rank(kernel: &VectorKernel, n: usize) {
    let values = spectrum::<[f64]>(&points(6, 60, n), |a, b| kernel.value(a, b));
    assert_eq!(kernel.dimension(n), Multiplicity::Finite(rank(&values) as u64), "{kernel:?} in {n} dimensions");
}

#[test]
fn dimensions_of_ranking_kernels_equal_ranks_over_all_rankings() {
    for items in 2..5 {
        let rankings = rankings(items);
        for kernel in [VectorKernel::Kendall { length: items }, VectorKernel::Mallows { gamma: 0.3 }] {
            let values = spectrum::<[f64]>(&rankings, |a, b| kernel.value(a, b));
            assert_eq!(kernel.dimension(items), Multiplicity::Finite(rank(&values) as u64), "{kernel:?}");
        }
    }
    assert_eq!(VectorKernel::Mallows { gamma: 1.0 }.dimension(21), Multiplicity::Infinite);
}

#[test]
fn dimensions_of_sums_and_products_are_bounds_and_saturate() {
    let square = VectorKernel::Polynomial { gamma: 1.0, degree: 2, coef0: 0.0 };
    let (sum, product) = (square.clone().plus(VectorKernel::Linear), square.times(VectorKernel::Linear));
    assert_eq!(sum.dimension(4), Multiplicity::Finite(14));
    assert_eq!(product.dimension(4), Multiplicity::Finite(40));
    let gram = spectrum::<[f64]>(&points(7, 60, 4), |a, b| sum.value(a, b));
    assert_eq!(rank(&gram), 14);
    assert_eq!(sum.plus(VectorKernel::Rbf { gamma: 1.0 }).dimension(4), Multiplicity::Infinite);
    let large = VectorKernel::Polynomial { gamma: 1.0, degree: 5, coef0: 1.0 };
    assert_eq!(large.dimension(10), Multiplicity::Finite(3003));
    assert_eq!(large.dimension(usize::MAX), Multiplicity::Infinite);
    assert_eq!(VectorKernel::Linear.times(VectorKernel::Linear).dimension(usize::MAX), Multiplicity::Infinite);
    assert_eq!(VectorKernel::Linear.plus(VectorKernel::Linear).dimension(usize::MAX), Multiplicity::Infinite);
    let steep = VectorKernel::Polynomial { gamma: 1.0, degree: u32::MAX, coef0: 0.0 };
    assert_eq!(steep.dimension(2), Multiplicity::Finite(1 << 32));
    assert_eq!(steep.dimension(0), Multiplicity::Finite(0));
}

/// Evaluates the formula of a kernel with the standard library and plain sums.
fn slow(kernel: &VectorKernel, a: &[f64], b: &[f64]) -> f64 {
    let product: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    let square: f64 = a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum();
    let absolute: f64 = a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum();
    let norm = |a: &[f64]| a.iter().map(|x| x * x).sum::<f64>().sqrt();
    match kernel {
        VectorKernel::Linear => product,
        VectorKernel::Polynomial { gamma, degree, coef0 } => (gamma * product + coef0).powi(*degree as i32),
        VectorKernel::Rbf { gamma } => (-gamma * square).exp(),
        VectorKernel::Laplacian { gamma } => (-gamma * absolute).exp(),
        VectorKernel::Matern32 { length_scale } => {
            let s = (3.0 * square).sqrt() / length_scale;
            (1.0 + s) * (-s).exp()
        }
        VectorKernel::Matern52 { length_scale } => {
            let s = (5.0 * square).sqrt() / length_scale;
            (1.0 + s + 5.0 * square / (3.0 * length_scale.powi(2))) * (-s).exp()
        }
        VectorKernel::Sigmoid { gamma, coef0 } => (gamma * product + coef0).tanh(),
        VectorKernel::Cosine => product / (norm(a) * norm(b)),
        VectorKernel::Sum(parts) => parts.iter().map(|part| slow(part, a, b)).sum(),
        VectorKernel::Product(parts) => parts.iter().map(|part| slow(part, a, b)).product(),
        VectorKernel::Scaled { scale, kernel } => scale * slow(kernel, a, b),
        VectorKernel::Mallows { gamma } => {
            let pairs = (0..a.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
            let discordant = pairs.filter(|(i, j)| (a[*i] - a[*j]) * (b[*i] - b[*j]) < 0.0).count();
            (-gamma * discordant as f64).exp()
        }
        other => unreachable!("{other:?} is compared elsewhere"),
    }
}

/// Returns the allowed absolute error of a formula, from eps, conditioning and roundings.
fn allowance(kernel: &VectorKernel, a: &[f64], b: &[f64]) -> f64 {
    let size: f64 = a.iter().zip(b).map(|(x, y)| x * x + y * y + x.abs() + y.abs()).sum();
    let steps = 4.0 + a.len() as f64;
    let scale = match kernel {
        VectorKernel::Polynomial { gamma, degree, coef0 } => {
            let base = gamma * size + coef0 + 1.0;
            f64::from(*degree) * base.powi(*degree as i32)
        }
        VectorKernel::Sum(_) | VectorKernel::Product(_) | VectorKernel::Scaled { .. } => 10.0 * (1.0 + size).powi(2),
        _ => 4.0 * (1.0 + size),
    };
    steps * scale * f64::EPSILON
}

#[test]
fn rows_equal_formulas_and_values_equal_rows_to_the_last_bit() {
    for kernel in kernels() {
        // The lengths and counts leave various remainders after whole SIMD vectors.
        for (length, count) in [(1, 1), (3, 7), (8, 16), (13, 9), (64, 33)] {
            let atoms = points(8, count, length);
            let x = point(&mut Random::seeded(9), length);
            let mut dictionary = Vectors::new(kernel.clone(), length).unwrap();
            atoms.iter().for_each(|atom| dictionary.push(atom));
            let mut row = Vec::new();
            let itself = dictionary.row(&x, &mut row).unwrap();
            assert_eq!(row.len(), count);
            for (value, atom) in row.iter().zip(&atoms) {
                assert_eq!(*value, dictionary.value(atom, &x), "{kernel:?}");
                let error = (value - slow(&kernel, atom, &x)).abs();
                assert!(error <= allowance(&kernel, atom, &x), "{kernel:?}: {error:e}");
            }
            let error = (itself - slow(&kernel, &x, &x)).abs();
            assert!(error <= allowance(&kernel, &x, &x), "{kernel:?} itself: {error:e}");
        }
    }
}

#[test]
fn distances_of_vectors_longer_than_a_block_equal_plain_sums() {
    let atoms = points(10, 6, 5000);
    let x = point(&mut Random::seeded(11), 5000);
    let kernels = [
        VectorKernel::Rbf { gamma: 1e-4 },
        VectorKernel::Laplacian { gamma: 1e-4 },
        VectorKernel::Matern52 { length_scale: 90.0 },
    ];
    for kernel in kernels {
        let mut dictionary = Vectors::new(kernel.clone(), 5000).unwrap();
        atoms.iter().for_each(|atom| dictionary.push(atom));
        let mut row = Vec::new();
        dictionary.row(&x, &mut row).unwrap();
        for (value, atom) in row.iter().zip(&atoms) {
            assert_eq!(*value, dictionary.value(atom, &x), "{kernel:?}");
            let expected = slow(&kernel, atom, &x);
            assert!((value - expected).abs() <= 5000.0 * f64::EPSILON * expected, "{kernel:?}");
        }
    }
}

#[test]
fn duplicates_have_kernel_one_and_near_duplicates_are_accurate() {
    let mut random = Random::seeded(12);
    for length in [1, 5, 64, 3000] {
        // The vectors are far from the origin, where distances from inner products would cancel.
        let x: Vec<f64> = (0..length).map(|_| 1e6 + random.normal()).collect();
        let mut near = x.clone();
        near[length / 2] += 1e-3;
        let step = near[length / 2] - x[length / 2];
        let cases = [
            (VectorKernel::Rbf { gamma: 1e5 }, (-1e5 * step * step).exp()),
            (VectorKernel::Laplacian { gamma: 100.0 }, (-100.0 * step).exp()),
            (VectorKernel::Matern32 { length_scale: step }, (1.0 + 3f64.sqrt()) * (-(3f64.sqrt())).exp()),
            (VectorKernel::Matern52 { length_scale: step }, (8.0 / 3.0 + 5f64.sqrt()) * (-(5f64.sqrt())).exp()),
        ];
        for (kernel, expected) in cases {
            let mut dictionary = Vectors::new(kernel.clone(), length).unwrap();
            (0..5).for_each(|_| dictionary.push(&x));
            dictionary.push(&near);
            let mut row = Vec::new();
            assert_eq!(dictionary.row(&x, &mut row).unwrap(), 1.0);
            assert_eq!(row[..5], [1.0; 5], "{kernel:?}");
            assert!((row[5] - expected).abs() <= 4.0 * f64::EPSILON * expected, "{kernel:?}: {} {expected}", row[5]);
        }
    }
}

#[test]
fn rows_follow_the_atoms_when_one_is_removed() {
    for kernel in kernels() {
        let mut atoms = points(13, 12, 5);
        let x = point(&mut Random::seeded(14), 5);
        let mut dictionary = Vectors::new(kernel.clone(), 5).unwrap();
        let mut items: Items<_, [f64]> = Items::new(kernel);
        for atom in &atoms {
            dictionary.push(atom);
            items.push(atom);
        }
        let (mut row, mut other) = (Vec::new(), Vec::new());
        for removed in [3, 0, 9, 8, 2] {
            atoms.swap_remove(removed);
            dictionary.swap_remove(removed);
            items.swap_remove(removed);
            dictionary.row(&x, &mut row).unwrap();
            items.row(&x, &mut other).unwrap();
            assert_eq!(row, other);
            assert_eq!((dictionary.len(), items.len()), (atoms.len(), atoms.len()));
            for (i, atom) in atoms.iter().enumerate() {
                assert_eq!(dictionary.atom(i), atom);
                assert_eq!(items.atom(i), atom);
                assert_eq!(row[i], dictionary.value(atom, &x));
            }
        }
    }
}

#[test]
fn bad_parameters_are_refused_by_name() {
    let refusal = |kernel: VectorKernel| kernel.checked().unwrap_err().to_string();
    let polynomial = |gamma, degree, coef0| VectorKernel::Polynomial { gamma, degree, coef0 };
    assert_eq!(refusal(polynomial(0.0, 2, 1.0)), "gamma must be positive and finite, got 0");
    assert_eq!(refusal(polynomial(1.0, 0, 1.0)), "degree must be at least 1, got 0");
    assert_eq!(refusal(polynomial(1.0, 2, -0.5)), "coef0 must be finite and not negative, got -0.5");
    assert_eq!(refusal(polynomial(1.0, 2, f64::NAN)), "coef0 must be finite and not negative, got NaN");
    assert_eq!(refusal(VectorKernel::Rbf { gamma: f64::NAN }), "gamma must be positive and finite, got NaN");
    assert_eq!(refusal(VectorKernel::Laplacian { gamma: -1.0 }), "gamma must be positive and finite, got -1");
    let matern = VectorKernel::Matern32 { length_scale: 0.0 };
    assert_eq!(refusal(matern), "length-scale must be positive and finite, got 0");
    let matern = VectorKernel::Matern52 { length_scale: f64::INFINITY };
    assert_eq!(refusal(matern), "length-scale must be positive and finite, got inf");
    let sigmoid = VectorKernel::Sigmoid { gamma: 1.0, coef0: f64::INFINITY };
    assert_eq!(refusal(sigmoid), "coef0 must be finite, got inf");
    assert_eq!(refusal(VectorKernel::Linear.scaled(-2.0)), "scale must be positive and finite, got -2");
    let nested = VectorKernel::Linear.plus(VectorKernel::Cosine.times(VectorKernel::Rbf { gamma: -3.0 })).scaled(1.0);
    assert_eq!(refusal(nested), "gamma must be positive and finite, got -3");
    let empty = VectorKernel::Sum(Vec::new());
    assert_eq!(refusal(empty), "number of kernels in a sum or product must be at least 1, got 0");
    assert!(Vectors::new(VectorKernel::Rbf { gamma: 0.0 }, 3).is_err());
}

#[test]
fn bad_points_and_values_are_refused_with_the_value() {
    fn refusal(kernel: VectorKernel, atoms: &[f64], x: &[f64]) -> String {
        let mut dictionary = Vectors::new(kernel.clone(), 1).unwrap();
        let mut items: Items<_, [f64]> = Items::new(kernel);
        for atom in atoms {
            dictionary.push(&[*atom]);
            items.push(&[*atom]);
        }
        let message = dictionary.row(x, &mut Vec::new()).unwrap_err().to_string();
        if x.len() == 1 {
            assert_eq!(items.row(x, &mut Vec::new()).unwrap_err().to_string(), message);
        }
        message
    }
    let sigmoid = VectorKernel::Sigmoid { gamma: 1.0, coef0: -1e9 };
    assert_eq!(
        refusal(sigmoid, &[], &[0.0]),
        "the kernel of the row with itself must be finite and not negative, got -1"
    );
    assert_eq!(
        refusal(VectorKernel::Linear, &[1.0], &[1e200]),
        "the kernel of the row with itself must be finite and not negative, got inf"
    );
    let fourth = VectorKernel::Polynomial { gamma: 1.0, degree: 4, coef0: 0.0 };
    assert_eq!(
        refusal(fourth, &[1.0, 2.0, 0.0, 1e150], &[1.0]),
        "the kernel of the row with atom 3 must be finite, got inf"
    );
    assert_eq!(refusal(VectorKernel::Linear, &[], &[1.0, 2.0]), "row must have 1 entries, got 2");
    assert_eq!(refusal(VectorKernel::Linear, &[], &[f64::NAN]), "entry 0 of the row must be finite, got NaN");
}

#[test]
fn zero_and_very_long_rows_have_finite_kernels() {
    let mut row = Vec::new();
    // A row of zeros is not a ranking.
    for kernel in kernels().into_iter().filter(|kernel| kernel.name() != "mallows") {
        let mut dictionary = Vectors::new(kernel.clone(), 2).unwrap();
        dictionary.push(&[0.0, 0.0]);
        dictionary.push(&[1.0, 2.0]);
        dictionary.row(&[0.0, 0.0], &mut row).unwrap();
        assert!(row.iter().all(|value| value.is_finite()), "{kernel:?}");
    }
    for kernel in [VectorKernel::Linear, VectorKernel::Cosine] {
        let mut dictionary = Vectors::new(kernel, 2).unwrap();
        dictionary.push(&[1.0, 2.0]);
        assert_eq!(dictionary.row(&[0.0, 0.0], &mut row).unwrap(), 0.0);
        assert_eq!(row, [0.0]);
    }
    // The squared distance overflows, so the kernel is zero.
    for kernel in [VectorKernel::Rbf { gamma: 1.0 }, VectorKernel::Matern52 { length_scale: 1.0 }] {
        let mut dictionary = Vectors::new(kernel, 2).unwrap();
        dictionary.push(&[-1e200, 0.0]);
        assert_eq!(dictionary.row(&[1e200, 0.0], &mut row).unwrap(), 1.0);
        assert_eq!(row, [0.0]);
    }
    assert!(Vectors::new(VectorKernel::Cosine, 1).unwrap().row(&[1e200], &mut row).is_err());
}

#[test]
fn saved_dictionaries_continue_and_bad_ones_are_refused() {
    for kernel in kernels() {
        let mut dictionary = Vectors::new(kernel, 3).unwrap();
        points(15, 5, 3).iter().for_each(|atom| dictionary.push(atom));
        let x = point(&mut Random::seeded(16), 3);
        let (mut row, mut other) = (Vec::new(), Vec::new());
        dictionary.row(&x, &mut row).unwrap();
        let text = serde_json::to_string(&dictionary).unwrap();
        let bytes = postcard::to_allocvec(&dictionary).unwrap();
        let restored: [Vectors; 2] = [serde_json::from_str(&text).unwrap(), postcard::from_bytes(&bytes).unwrap()];
        for mut restored in restored {
            assert_eq!(restored, dictionary);
            restored.row(&x, &mut other).unwrap();
            assert_eq!(row, other);
        }
    }
    let text = serde_json::to_string(&Vectors::new(VectorKernel::Rbf { gamma: 2.0 }, 3).unwrap()).unwrap();
    assert!(serde_json::from_str::<Vectors>(&text.replace("2.0", "-2.0")).is_err());
    let mut items: Items<_, usize> = Items::new(Precomputed::from_rows(&[[2.0, 0.5], [0.5, 1.0]]).unwrap());
    items.push(&1);
    let bytes = postcard::to_allocvec(&items).unwrap();
    assert_eq!(postcard::from_bytes::<Items<Precomputed, usize>>(&bytes).unwrap(), items);
}
