//! Largest eigenpairs of a symmetric matrix from its tridiagonal form, for any gaps.
//! Setting: k ≪ n eigenpairs whose eigenvalues may be so close, as in noise, that subspace iteration does not separate
//! them.
//! Method: `A = Q T Qᵀ` with T tridiagonal and Q a product of reflections. The rational QL algorithm finds the
//! eigenvalues of T. Inverse iteration finds the vectors of the k largest, each made orthogonal to the previous ones,
//! and Q is applied to these k vectors alone.
//! Guarantee: every eigenpair (θ, y) of T that is used satisfies `|Ty - θy| ≤` [`RESIDUAL`] `· |T|`, where |T| is the
//! largest absolute row sum. This is checked. The vectors are orthonormal up to rounding.
//! Cost: 4n³/3 operations for T, 2n²k for Q, O(n²) for the values and O(nk²) for the vectors, instead of 9n³.
//! References: Parlett, *The Symmetric Eigenvalue Problem*, chapters 4, 7 and 8; Reinsch, *A stable rational QR
//! algorithm*, 1971; Jessup and Ipsen, *Improving the accuracy of inverse iteration*, 1992.

use super::dense::{comfortable, orthonormal_to};
use crate::linalg::Matrix;
use crate::num::dot;
use crate::random::Random;
use crate::scratch::refill;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::evd::tridiag::{tridiag_in_place, tridiag_in_place_scratch};
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::{Conj, Par};

const RESIDUAL: f64 = 1e-13;
/// Maximum size of a matrix that [`reduce`] reduces to tridiagonal form. For a larger one, faer is faster.
const SMALL: usize = 128;
const TURNS: usize = 60;
/// Minimum squared length of the entries to eliminate for which a reflection is applied.
const LEAST_SQUARE: f64 = 1e-290;
const LOOK_EVERY: usize = 4;
const SETTLED: f64 = 1e-10;
const STEPS: usize = 5;

/// Returns the `kept` largest eigenpairs in descending order, from the lower triangle of a finite matrix. Returns
/// `None` for fewer than 3 rows, for `kept` out of range, or if a pair is not accurate.
pub(crate) fn reduced_pairs(matrix: &Matrix, kept: usize) -> Option<(Vec<f64>, Matrix)> {
    let n = matrix.rows();
    if n < 3 || kept == 0 || kept > n {
        return None;
    }
    let mut scaled = Matrix::default();
    let (comfortable, unit) = comfortable(matrix.view(), &mut scaled);
    let mut lower = Matrix::zeros(n, n);
    lower.view_mut().copy_from_triangular_lower(comfortable);
    if n <= SMALL {
        lower.mirror();
        let (form, factors) = reduce(&mut lower);
        let (values, mut vectors) = form.largest_pairs(kept, unit)?;
        reflect(&lower, &factors, &mut vectors);
        return Some((values, vectors));
    }
    let block = recommended_block_size::<f64>(n, n);
    let need = StackReq::any_of(&[
        tridiag_in_place_scratch::<f64>(n, Par::Seq, faer::prelude::default()),
        apply_scratch::<f64>(n - 1, block, kept),
    ]);
    let mut memory = MemBuffer::new(need);
    let stack = MemStack::new(&mut memory);
    let mut factors = Matrix::zeros(block, n - 1);
    tridiag_in_place(lower.view_mut(), factors.view_mut(), Par::Seq, stack, faer::prelude::default());
    let diagonal = (0..n).map(|i| lower.column(i)[i]).collect();
    let form = Tridiagonal { diagonal, beside: (1..n).map(|i| lower.column(i - 1)[i]).collect() };
    let (values, mut vectors) = form.largest_pairs(kept, unit)?;
    let turned = vectors.view_mut().subrows_mut(1, n - 1);
    apply(lower.view().submatrix(1, 0, n - 1, n - 1), factors.view(), Conj::No, turned, Par::Seq, stack);
    Some((values, vectors))
}

/// Reduces a small symmetric matrix to tridiagonal form. Column j and factor j then hold reflection j.
fn reduce(matrix: &mut Matrix) -> (Tridiagonal, Vec<f64>) {
    let n = matrix.rows();
    let (mut diagonal, mut beside, mut factors) = (Vec::with_capacity(n), Vec::with_capacity(n), vec![0.0; n]);
    let (mut v, mut w) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for k in 0..n {
        diagonal.push(matrix.column(k)[k]);
        if k + 1 == n {
            break;
        }
        matrix.column(k)[k + 1..].clone_into(&mut v);
        let (first, square) = (v[0], dot(&v, &v));
        let rest = dot(&v[1..], &v[1..]);
        if rest < LEAST_SQUARE {
            beside.push(first);
            continue;
        }
        let length = square.sqrt().copysign(-first);
        beside.push(length);
        v[0] -= length;
        let factor = 2.0 / (rest + v[0] * v[0]);
        factors[k] = factor;
        matrix.column_mut(k)[k + 1..].copy_from_slice(&v);
        refill(&mut w, (k + 1..n).map(|j| factor * dot(&matrix.column(j)[k + 1..], &v)));
        let along = 0.5 * factor * dot(&v, &w);
        w.iter_mut().zip(&v).for_each(|(w, v)| *w -= along * v);
        for j in k + 1..n {
            let (of_v, of_w) = (v[j - k - 1], w[j - k - 1]);
            let column = matrix.column_mut(j)[k + 1..].iter_mut().zip(v.iter().zip(&w));
            column.for_each(|(entry, (v, w))| *entry -= of_w * v + of_v * w);
        }
    }
    (Tridiagonal { diagonal, beside }, factors)
}

fn reflect(reflections: &Matrix, factors: &[f64], columns: &mut Matrix) {
    for (k, factor) in factors.iter().enumerate().rev().filter(|(_, factor)| **factor != 0.0) {
        let v = &reflections.column(k)[k + 1..];
        columns.for_each_column(|_, column| {
            let along = factor * dot(v, &column[k + 1..]);
            column[k + 1..].iter_mut().zip(v).for_each(|(x, v)| *x -= along * v);
        });
    }
}

/// Returns the largest eigenvalue of a positive semidefinite matrix of size n, given its product with a vector, by the
/// Lanczos method with full reorthogonalization, until the relative growth of the result is at most [`SETTLED`].
pub(crate) fn largest_value(n: usize, mut apply: impl FnMut(&[f64], &mut Vec<f64>)) -> f64 {
    let mut random = Random::seeded(0x5eed);
    let mut next: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let (mut basis, mut image, mut largest) = (Matrix::zeros(n, 0), Vec::new(), 0.0);
    let mut form = Tridiagonal { diagonal: Vec::new(), beside: Vec::new() };
    while basis.columns() < n && orthonormal_to(&basis, &mut next) {
        apply(&next, &mut image);
        if let Some(last) = basis.columns().checked_sub(1) {
            form.beside.push(dot(basis.column(last), &image));
        }
        form.diagonal.push(dot(&next, &image));
        basis.push_column(&next);
        std::mem::swap(&mut next, &mut image);
        if basis.columns().is_multiple_of(LOOK_EVERY) || basis.columns() == n {
            let before = std::mem::replace(&mut largest, form.largest());
            if largest - before <= SETTLED * largest {
                return largest;
            }
        }
    }
    form.largest()
}

struct Tridiagonal {
    diagonal: Vec<f64>,
    beside: Vec<f64>,
}

impl Tridiagonal {
    /// Divides the matrix by its largest absolute row sum, which no absolute eigenvalue exceeds. Returns the divisor.
    fn normalize(&mut self) -> f64 {
        let beside = |i: usize| self.beside.get(i).map_or(0.0, |x| x.abs());
        let row = |(i, x): (usize, &f64)| x.abs() + beside(i) + if i > 0 { beside(i - 1) } else { 0.0 };
        let norm = self.diagonal.iter().enumerate().map(row).fold(0.0, f64::max);
        let norm = if norm > 0.0 { norm } else { 1.0 };
        self.diagonal.iter_mut().chain(&mut self.beside).for_each(|x| *x /= norm);
        norm
    }

    fn largest_pairs(mut self, kept: usize, unit: f64) -> Option<(Vec<f64>, Matrix)> {
        let norm = self.normalize();
        let mut values = self.values()?;
        values.reverse();
        values.truncate(kept);
        let vectors = self.vectors(&values)?;
        let is_accurate = |(j, value): (usize, &f64)| self.residual(*value, vectors.column(j)) <= RESIDUAL;
        let all_are = values.iter().enumerate().all(is_accurate);
        values.iter_mut().for_each(|value| *value *= unit * norm);
        all_are.then_some((values, vectors))
    }

    fn residual(&self, x: f64, y: &[f64]) -> f64 {
        let at = |i: usize| {
            let before = if i > 0 { self.beside[i - 1] * y[i - 1] } else { 0.0 };
            let after = self.beside.get(i).map_or(0.0, |beside| beside * y[i + 1]);
            (before + (self.diagonal[i] - x) * y[i] + after).powi(2)
        };
        (0..y.len()).map(at).sum::<f64>().sqrt()
    }

    fn values(&self) -> Option<Vec<f64>> {
        let n = self.diagonal.len();
        let mut d = self.diagonal.clone();
        let mut e: Vec<f64> = self.beside.iter().map(|x| x * x).collect();
        for first in 0..n {
            let mut turns = 0;
            loop {
                let last = (first..n - 1).find(|i| e[*i] <= f64::EPSILON * f64::EPSILON).unwrap_or(n - 1);
                if last == first {
                    break;
                }
                if turns == TURNS {
                    return None;
                }
                turns += 1;
                let root = e[first].sqrt();
                let half = (d[first + 1] - d[first]) / (2.0 * root);
                let shift = d[first] - root / (half + half.hypot(1.0).copysign(half));
                let (mut c, mut s, mut gamma) = (1.0, 0.0, d[last] - shift);
                let mut p = gamma * gamma;
                for i in (first..last).rev() {
                    let (square, sum) = (e[i], p + e[i]);
                    if i + 1 < last {
                        e[i + 1] = s * sum;
                    }
                    let (before, old) = (c, gamma);
                    (c, s) = (p / sum, square / sum);
                    gamma = c * (d[i] - shift) - s * old;
                    d[i + 1] = old + (d[i] - gamma);
                    p = if c == 0.0 { before * square } else { gamma * gamma / c };
                }
                e[first] = s * p;
                d[first] = shift + gamma;
            }
        }
        d.sort_unstable_by(f64::total_cmp);
        Some(d)
    }

    fn largest(&self) -> f64 {
        let mut form = Self { diagonal: self.diagonal.clone(), beside: self.beside.clone() };
        let norm = form.normalize();
        norm * form.values().and_then(|values| values.last().copied()).unwrap_or(1.0)
    }

    fn vectors(&self, values: &[f64]) -> Option<Matrix> {
        let n = self.diagonal.len();
        let mut random = Random::seeded(0x5eed);
        let (mut vectors, mut factors) = (Matrix::zeros(n, 0), Factors::default());
        let enough = RESIDUAL.recip();
        for value in values {
            factors.compute(self, *value);
            let mut vector: Vec<f64> = (0..n).map(|_| random.uniform() - 0.5).collect();
            let (mut converged, mut steps) = (false, 0);
            loop {
                let length = dot(&vector, &vector).sqrt();
                vector.iter_mut().for_each(|x| *x /= length);
                factors.solve(&mut vector);
                // The residual of the solution is the inverse of its length. One more step removes other components.
                let is_large = dot(&vector, &vector).sqrt() >= enough;
                if !orthonormal_to(&vectors, &mut vector) {
                    return None;
                }
                steps += 1;
                if converged && is_large {
                    break;
                }
                if steps == STEPS {
                    return None;
                }
                converged = is_large;
            }
            vectors.push_column(&vector);
        }
        Some(vectors)
    }
}

/// Triangular factors of `T - x I` with row exchanges.
#[derive(Default)]
struct Factors {
    /// Multiplier of each elimination step, and true if the two rows were exchanged.
    multipliers: Vec<(f64, bool)>,
    inverses: Vec<f64>,
    /// The two entries of each row to the right of the pivot.
    above: Vec<[f64; 2]>,
}

impl Factors {
    fn compute(&mut self, form: &Tridiagonal, x: f64) {
        let n = form.diagonal.len();
        self.multipliers.clear();
        self.inverses.clear();
        self.above.clear();
        let beside = |i: usize| form.beside.get(i).copied().unwrap_or(0.0);
        let pivot_of = |pivot: f64| if pivot.abs() < f64::EPSILON { f64::EPSILON } else { pivot }.recip();
        let (mut pivot, mut next) = (form.diagonal[0] - x, beside(0));
        for i in 0..n - 1 {
            let (below, diagonal, after) = (beside(i), form.diagonal[i + 1] - x, beside(i + 1));
            if pivot.abs() >= below.abs() {
                let inverse = pivot_of(pivot);
                let multiplier = below * inverse;
                self.multipliers.push((multiplier, false));
                self.inverses.push(inverse);
                self.above.push([next, 0.0]);
                (pivot, next) = (diagonal - multiplier * next, after);
            } else {
                let inverse = pivot_of(below);
                let multiplier = pivot * inverse;
                self.multipliers.push((multiplier, true));
                self.inverses.push(inverse);
                self.above.push([diagonal, after]);
                (pivot, next) = (next - multiplier * diagonal, -multiplier * after);
            }
        }
        self.inverses.push(pivot_of(pivot));
        self.above.push([0.0; 2]);
    }

    fn solve(&self, vector: &mut [f64]) {
        let n = vector.len();
        for (i, (multiplier, is_exchanged)) in self.multipliers.iter().enumerate() {
            if *is_exchanged {
                vector.swap(i, i + 1);
            }
            vector[i + 1] -= multiplier * vector[i];
        }
        let (mut first, mut second) = (0.0, 0.0);
        for i in (0..n).rev() {
            let [one, two] = self.above[i];
            let x = (vector[i] - one * first - two * second) * self.inverses[i];
            (first, second) = (x, first);
            vector[i] = x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::largest_pairs::tests::with_spectrum;
    use super::*;
    use crate::linalg::{symmetric_eigen, symmetric_times};

    fn agrees(matrix: &Matrix, kept: usize, name: &str) {
        let (values, vectors) = reduced_pairs(matrix, kept).unwrap_or_else(|| panic!("{name}: inaccurate"));
        let all = symmetric_eigen(matrix).values;
        let norm = all.iter().fold(0f64, |a, v| a.max(v.abs()));
        assert_eq!((values.len(), vectors.columns()), (kept, kept), "{name}");
        for (j, value) in values.iter().enumerate() {
            let wanted = all[all.len() - 1 - j];
            assert!((value - wanted).abs() <= 4e-13 * norm, "{name}, {j}: {value} {wanted}");
        }
        assert!(vectors.drift() < 1e-13, "{name}: {}", vectors.drift());
        let mut image = Matrix::default();
        symmetric_times(&mut image, matrix, &vectors);
        for (j, value) in values.iter().enumerate() {
            let worst = image.column(j).iter().zip(vectors.column(j)).map(|(x, y)| (x - value * y).abs());
            assert!(worst.fold(0.0, f64::max) <= 1e-12 * norm, "{name}, {j}");
        }
    }

    #[test]
    fn largest_pairs_of_any_spectrum_are_those_of_the_full_decomposition() {
        let mut random = Random::seeded(7);
        for n in [3, 4, 17, 64, 150] {
            let noise: Vec<f64> = (0..n).map(|_| random.normal()).collect();
            let spectra = [
                ("noise", noise.clone()),
                ("decay", (0..n).map(|i| 0.5f64.powi(i)).collect()),
                ("all equal", vec![2.0; n as usize]),
                ("low rank", (0..n).map(|i| if i < 2 { 3.0 + f64::from(i) } else { 0.0 }).collect()),
                ("pairs", (0..n).map(|i| f64::from(i / 2)).collect()),
                ("near ties", (0..n).map(|i| 1.0 + 1e-13 * f64::from(i)).collect()),
                ("negative", (0..n).map(|i| -1.0 - f64::from(i)).collect()),
                ("zero", vec![0.0; n as usize]),
                ("large", noise.iter().map(|x| x * 1e200).collect()),
                ("small", noise.iter().map(|x| x * 1e-200).collect()),
            ];
            for (name, values) in spectra {
                for kept in [1, 3, (n as usize).min(13), n as usize] {
                    agrees(&with_spectrum(&values, 4), kept, &format!("{name}, {n}, {kept}"));
                }
            }
            let values: Vec<f64> = noise.iter().map(|x| x * x).collect();
            let matrix = with_spectrum(&values, 4);
            let found = largest_value(n as usize, |x, y| {
                y.clear();
                y.resize(x.len(), 0.0);
                matrix.add_symmetric_product(x, y);
            });
            let wanted = values.iter().copied().fold(0.0, f64::max);
            assert!((found - wanted).abs() <= 1e-8 * wanted, "{n}: {found} {wanted}");
            let mut diagonal = Matrix::identity(n as usize);
            diagonal.column_mut(1)[1] = 4.0;
            agrees(&diagonal, 3, "diagonal");
        }
    }
}
