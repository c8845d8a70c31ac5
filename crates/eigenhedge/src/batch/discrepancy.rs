//! Maximum mean discrepancy of two samples, and a two-sample test.
//!
//! Setting: two samples of m and n points. With weights `a_i = 1/m` for the points of the first and `-1/n` for those of
//! the second, the squared distance between the mean features is `aᵀ K a` for the kernel matrix K of all points: the
//! squared maximum mean discrepancy. For a characteristic kernel, such as RBF, the discrepancy of two distributions is
//! zero if and only if they are equal.
//! The test: if both samples come from one distribution, all splits of the points into m and n are equally likely. The
//! p-value is the fraction of splits, the observed one and random ones, that are at least as far apart as observed. It
//! is at most α with probability at most α, for any distribution and any number of points.
//! Cost: (m + n)²/2 kernel values for each [`SPLITS`] splits. No kernel values are stored.
//! Numerics: a split whose distance equals the observed one up to rounding counts as at least as far apart.
//! References: Gretton, Borgwardt, Rasch, Schölkopf and Smola, *A kernel two-sample test*, 2012.

use super::gram::{check_fresh, each_triangle};
use crate::error::{Error, at_least_one};
use crate::kernel::Dictionary;
use crate::linalg::{Matrix, multiply};
use crate::random::Random;
use std::borrow::Borrow;

/// Squared maximum mean discrepancy of two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Discrepancy {
    /// Squared distance between the mean features of the samples. Its bias is of order 1/m + 1/n.
    pub biased: f64,
    /// Unbiased estimate for the distributions, possibly negative. `None` if a sample has only one point.
    pub unbiased: Option<f64>,
}

/// Computes the discrepancy of two samples. `dictionary` must be empty and provides the kernel.
pub fn discrepancy<D: Dictionary, P: Borrow<D::Point>>(
    mut dictionary: D,
    first: &[P],
    second: &[P],
) -> Result<Discrepancy, Error> {
    check_fresh(&dictionary, first.len().min(second.len()))?;
    let mut sums = Sums { sizes: [first.len(), second.len()], ..Sums::default() };
    each_triangle(&mut dictionary, &joined::<D, P>(first, second), |start, rows, own| {
        sums.add_block(start, rows, own)
    })?;
    Ok(sums.discrepancy())
}

#[derive(Debug, Default)]
struct Sums {
    sizes: [usize; 2],
    own: [f64; 2],
    /// Sum of the kernel over all pairs of different points of each sample. Each pair is counted once.
    within: [f64; 2],
    across: f64,
}

fn joined<'a, D: Dictionary, P: Borrow<D::Point>>(first: &'a [P], second: &'a [P]) -> Vec<&'a D::Point> {
    first.iter().chain(second).map(Borrow::borrow).collect()
}

impl Sums {
    fn add_block(&mut self, start: usize, rows: &Matrix, own: &[f64]) {
        own.iter().enumerate().for_each(|(j, own)| self.add(&rows.column(j)[..start + j], *own));
    }

    fn add(&mut self, row: &[f64], own: f64) {
        let sample = usize::from(row.len() >= self.sizes[0]);
        self.own[sample] += own;
        let (head, tail) = row.split_at(self.sizes[0].min(row.len()));
        let head = head.iter().sum::<f64>();
        if sample == 0 {
            self.within[0] += head;
        } else {
            self.across += head;
            self.within[1] += tail.iter().sum::<f64>();
        }
    }

    fn discrepancy(&self) -> Discrepancy {
        let [m, n] = self.sizes.map(|size| size as f64);
        let ([a, b], [c, d]) = (self.own, self.within);
        let between = 2.0 * self.across / (m * n);
        let biased = (a + 2.0 * c) / (m * m) + (b + 2.0 * d) / (n * n) - between;
        let unbiased = 2.0 * c / (m * (m - 1.0)) + 2.0 * d / (n * (n - 1.0)) - between;
        Discrepancy { biased: biased.max(0.0), unbiased: (m > 1.0 && n > 1.0).then_some(unbiased) }
    }
}

/// Result of a two-sample test.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct TwoSampleTest {
    /// Discrepancy of the samples.
    pub discrepancy: Discrepancy,
    /// Fraction of the splits, including the observed one, with at least the observed discrepancy.
    pub p_value: f64,
}

/// Tests whether two samples come from the same distribution. `dictionary` must be empty and provides the kernel.
///
/// ```
/// use eigenhedge::batch::two_sample_test;
/// use eigenhedge::kernel::{VectorKernel, Vectors};
/// use eigenhedge::{Random, streams};
///
/// let rows = streams::three_subspaces(1); // the subspace changes after row 500
/// let kernel = Vectors::new(VectorKernel::Rbf { gamma: 0.5 }, 20)?;
/// let changed = two_sample_test(kernel.clone(), &rows[..100], &rows[500..600], 99, &mut Random::seeded(0))?;
/// assert!(changed.p_value <= 0.01 + 1e-12);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
pub fn two_sample_test<D: Dictionary, P: Borrow<D::Point>>(
    mut dictionary: D,
    first: &[P],
    second: &[P],
    splits: usize,
    random: &mut Random,
) -> Result<TwoSampleTest, Error> {
    at_least_one("the number of splits", splits)?;
    check_fresh(&dictionary, first.len().min(second.len()))?;
    let points = joined::<D, P>(first, second);
    let sizes = [first.len(), second.len()];
    let mut sums = Sums::default();
    let [m, n] = sizes.map(|size| size as f64);
    let mut weights = vec![1.0 / m; first.len()];
    weights.resize(points.len(), -1.0 / n);
    let (mut observed, mut as_far) = (f64::NAN, 1);
    for start in (0..=splits).step_by(SPLITS) {
        // The first column of the first group is the observed split.
        let mut group = Matrix::zeros(points.len(), SPLITS.min(splits + 1 - start));
        for s in 0..group.columns() {
            if start + s > 0 {
                (1..weights.len()).rev().for_each(|i| weights.swap(i, random.below(i + 1)));
            }
            group.column_mut(s).copy_from_slice(&weights);
        }
        let mut of_points = Sums { sizes, ..Sums::default() };
        let squares = squares(&mut dictionary, &points, &group, &mut of_points)?;
        if start == 0 {
            sums = of_points;
            observed = squares[0] - 1e-12 * sums.own.iter().sum::<f64>() / m.min(n).powi(2);
        }
        as_far += squares.iter().skip(usize::from(start == 0)).filter(|square| **square >= observed).count();
    }
    Ok(TwoSampleTest { discrepancy: sums.discrepancy(), p_value: as_far as f64 / (splits + 1) as f64 })
}

const SPLITS: usize = 256;

/// Returns `aᵀ K a` for each column a of `weights`. The dictionary is empty before and after the call.
fn squares<D: Dictionary>(
    dictionary: &mut D,
    points: &[&D::Point],
    weights: &Matrix,
    sums: &mut Sums,
) -> Result<Vec<f64>, Error> {
    let (mut squares, mut products) = (vec![0.0; weights.columns()], Matrix::default());
    each_triangle(dictionary, points, |start, rows, own| {
        sums.add_block(start, rows, own);
        multiply(&mut products, rows.view().transpose(), weights.view().subrows(0, rows.rows()));
        for (s, square) in squares.iter_mut().enumerate() {
            let pairs = weights.column(s)[start..].iter().zip(products.column(s)).zip(own);
            *square += pairs.map(|((a, product), own)| a * (2.0 * product + own * a)).sum::<f64>();
        }
    })?;
    while !dictionary.is_empty() {
        dictionary.swap_remove(dictionary.len() - 1);
    }
    Ok(squares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{VectorKernel, Vectors};

    fn sample(random: &mut Random, t: usize, shift: f64) -> Vec<Vec<f64>> {
        (0..t).map(|_| (0..3).map(|_| random.normal() + shift).collect()).collect()
    }

    fn rbf() -> Vectors {
        Vectors::new(VectorKernel::Rbf { gamma: 0.3 }, 3).unwrap()
    }

    #[test]
    fn with_the_linear_kernel_it_is_the_distance_of_the_means() {
        let mut random = Random::seeded(1);
        let (a, b) = (sample(&mut random, 20, 0.3), sample(&mut random, 31, -0.2));
        let mean = |rows: &[Vec<f64>], i: usize| rows.iter().map(|row| row[i]).sum::<f64>() / rows.len() as f64;
        let gap: f64 = (0..3).map(|i| (mean(&a, i) - mean(&b, i)).powi(2)).sum();
        let found = discrepancy(Vectors::new(VectorKernel::Linear, 3).unwrap(), &a, &b).unwrap();
        assert!((found.biased - gap).abs() < 1e-14, "{} against {gap}", found.biased);
    }

    #[test]
    fn unbiased_discrepancy_of_equal_distributions_is_zero_on_average() {
        let mut random = Random::seeded(2);
        let repeats = 200;
        let draw = |random: &mut Random, shift| {
            let (a, b) = (sample(random, 15, 0.0), sample(random, 12, shift));
            discrepancy(Vectors::new(VectorKernel::Rbf { gamma: 0.3 }, 3).unwrap(), &a, &b).unwrap().unbiased.unwrap()
        };
        let values: Vec<f64> = (0..repeats).map(|_| draw(&mut random, 0.0)).collect();
        let mean = values.iter().sum::<f64>() / repeats as f64;
        let spread = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (repeats - 1) as f64;
        let standard_error = (spread / repeats as f64).sqrt();
        assert!(mean.abs() < 4.0 * standard_error, "{mean} with standard error {standard_error}");
        assert!(draw(&mut random, 1.5) > 20.0 * standard_error);
    }

    #[test]
    fn a_test_has_the_discrepancy_of_the_samples() {
        let mut random = Random::seeded(3);
        for (m, n) in [(1, 1), (1, 5), (7, 4)] {
            let (a, b) = (sample(&mut random, m, 0.0), sample(&mut random, n, 0.4));
            let (alone, tested) = (discrepancy(rbf(), &a, &b).unwrap(), two_sample_test(rbf(), &a, &b, 3, &mut random));
            let tested = tested.unwrap().discrepancy;
            assert!((alone.biased - tested.biased).abs() < 1e-13);
            assert_eq!(alone.unbiased.is_some(), tested.unbiased.is_some());
            assert!((alone.unbiased.unwrap_or(0.0) - tested.unbiased.unwrap_or(0.0)).abs() < 1e-13);
        }
    }

    /// Checks that p-values are uniform for one distribution and small for different ones.
    #[test]
    fn p_values_are_uniform_where_nothing_differs_and_small_where_something_does() {
        let mut random = Random::seeded(4);
        let mut p_values = |shift: f64| -> Vec<f64> {
            let test = |_| {
                let (a, b) = (sample(&mut random, 12, 0.0), sample(&mut random, 17, shift));
                two_sample_test(rbf(), &a, &b, 39, &mut random).unwrap().p_value
            };
            (0..300).map(test).collect()
        };
        let (same, other) = (p_values(0.0), p_values(1.2));
        for level in [0.05, 0.2, 0.5] {
            let share = same.iter().filter(|p| **p <= level).count() as f64 / 300.0;
            let error = (level * (1.0 - level) / 300.0f64).sqrt();
            assert!((share - level).abs() < 4.0 * error, "{share} of the p-values are at most {level}");
        }
        assert!(other.iter().filter(|p| **p <= 0.05).count() > 270);
    }

    #[test]
    fn samples_of_equal_points_are_never_apart() {
        let points = vec![vec![1.0, 2.0, 3.0]; 9];
        let found = two_sample_test(rbf(), &points[..4], &points[4..], 20, &mut Random::seeded(0)).unwrap();
        assert_eq!(found.p_value, 1.0);
        assert!(found.discrepancy.biased < 1e-15);
    }

    #[test]
    fn empty_samples_and_no_splits_are_refused() {
        let (none, one): ([Vec<f64>; 0], _) = ([], [vec![1.0, 1.0, 1.0]]);
        assert!(discrepancy(rbf(), &none, &one).is_err());
        let mut random = Random::seeded(0);
        let told = |result: Result<TwoSampleTest, Error>| result.unwrap_err().to_string();
        let error = told(two_sample_test(rbf(), &none, &one, 9, &mut random));
        assert_eq!(error, "the number of points must be at least 1, got 0");
        let error = told(two_sample_test(rbf(), &one, &one, 0, &mut random));
        assert_eq!(error, "the number of splits must be at least 1, got 0");
    }
}
