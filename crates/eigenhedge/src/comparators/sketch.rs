//! Lower and upper bounds on the loss of the best fixed subspace of long rows, from a sketch of a few directions.
//!
//! Setting: rows x of n numbers, seen once, with the (centered) scatter matrix C. The best loss is `tr C` minus its k
//! largest eigenvalues. An n × n matrix does not fit into memory, but nℓ numbers do.
//! Update (frequent directions): rows become columns of `B` (field `buffer`). At 2ℓ columns, B is replaced by its
//! principal directions, with the (ℓ+1)-th largest eigenvalue δ of `B Bᵀ` subtracted from every eigenvalue, so at most
//! ℓ columns remain. `Δ = Σ δ` is the field `shrinkage`, and the diagonal of C is the field `energies`.
//! Guarantee: `B Bᵀ ⪯ C ⪯ B Bᵀ + Δ I`. With `top` the sum of the k largest eigenvalues, `high = tr C - top(B Bᵀ)` and
//! `low = high - min(k Δ, tr C - tr B Bᵀ)` enclose the best loss. Each step removes at least `(ℓ+1) δ` from B, hence
//! `(ℓ+1-k) Δ ≤ best` and `high - low ≤ best · k/(ℓ+1-k)`. Both ends are equal as long as the rows have rank at most ℓ.
//! Cost: amortized O(nℓ) per row, and memory for 2nℓ numbers. Sparse rows are first collected in a sketch whose cost
//! does not depend on n ([`PendingRows`]).
//! Numerics: a step uses the Gram matrix of B, of which only eigenvalues are needed. Both ends are accurate up to the
//! rounding error of `tr C`.
//! References: Liberty, KDD 2013; Ghashami, Liberty, Phillips & Woodruff, SIAM J. Comput. 2016 (merging).

use super::best::Best;
use super::pending_rows::{PendingRows, shrinking_rotation};
use super::running_scatter::{Mean, check_mean, weigh};
use crate::error::{Error, at_least_one};
use crate::linalg::checks::{energies, shape};
use crate::linalg::{Cells, Eigen, Matrix, STREAK, add_lower_square, multiply, symmetric_eigenvalues};
use crate::num::dot;
use crate::scratch::Scratch;
use crate::state::{self, LARGEST, count, energy, ensure};
use serde::{Deserialize, Serialize};

/// Sketch of a stream: a few directions that approximate the scatter of all rows.
///
/// ```
/// use eigenhedge::comparators::Sketch;
/// let mut sketch = Sketch::new(3, 2, false)?;
/// for _ in 0..50 {
///     sketch.add(&[2.0, 0.0, 0.0]);
///     sketch.add(&[0.0, 1.0, 0.0]);
/// }
/// let best = sketch.best(1);
/// assert!((best.low() - 50.0).abs() < 1e-9 && (best.high() - 50.0).abs() < 1e-9);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sketch {
    pub(super) retained: usize,
    pub(crate) mean: Option<Mean>,
    pub(super) rows: u64,
    /// Energy (after centering) of each column, without the pending rows.
    pub(crate) energies: Vec<f64>,
    pub(crate) shrinkage: f64,
    pub(crate) buffer: Matrix,
    pub(super) pending: PendingRows,
    pub(super) sparse_streak: usize,
    #[serde(skip)]
    pub(super) scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Working {
    gram: Matrix,
    pub(super) eigen: Eigen,
    pub(super) rotation: Matrix,
    block: Matrix,
    pub(super) cells: Cells,
    pub(super) shift: Option<Cells>,
}

const BLOCK: usize = 512;

impl Sketch {
    pub(crate) fn check_state(&self, length: usize, retained: usize, centered: bool) -> Result<(), Error> {
        check_mean(self.mean.as_ref(), length, centered)?;
        ensure(self.retained == retained, "the sketch must be made for as many directions as are kept")?;
        let columns = self.buffer.columns();
        shape("the sketch", &self.buffer, length, columns)?;
        ensure(columns <= 2 * retained, "the sketch must be no wider than twice what it retains")?;
        energies("the energy of the sketch", &self.buffer)?;
        state::list("the energies of columns", &self.energies, length, 0.0..=LARGEST)?;
        energy("the energy of all rows", self.energy())?;
        energy("the shrinkage of the sketch", self.shrinkage)?;
        self.pending.check_state(length, retained)?;
        ensure(self.sparse_streak <= STREAK, "the number of sparse rows must be counted up to its limit")?;
        count("the number of rows", self.rows)
    }

    /// Creates a sketch without rows. The number `retained ≥ 1` of directions should be several times k.
    pub fn new(length: usize, retained: usize, centered: bool) -> Result<Self, Error> {
        at_least_one("retained", retained)?;
        Ok(Self {
            retained,
            mean: centered.then(Mean::default),
            rows: 0,
            energies: vec![0.0; length],
            shrinkage: 0.0,
            buffer: Matrix::zeros(length, 0),
            pending: PendingRows::default(),
            sparse_streak: 0,
            scratch: Scratch::default(),
        })
    }

    /// Returns the number of rows seen.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the total squared norm of the (centered) rows.
    pub fn energy(&self) -> f64 {
        self.energies.iter().sum::<f64>() + self.pending_energy()
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[f64]) {
        self.add_weighted(row, 1.0);
    }

    /// Returns the increase of the energy.
    pub(crate) fn add_weighted(&mut self, row: &[f64], weight: f64) -> f64 {
        self.sparse_streak = 0;
        self.settle();
        self.add_dense(row, weight)
    }

    pub(super) fn add_dense(&mut self, row: &[f64], weight: f64) -> f64 {
        let at = self.push(row);
        self.rows += 1;
        let column = self.buffer.column_mut(at);
        weigh(column, weight, self.mean.as_mut());
        add_squares(&mut self.energies, column);
        dot(column, column)
    }

    /// Merges the sketches of two streams. The result retains as many directions as `self`. With centering, the
    /// displacement between the means becomes one more row: `√(s t / (s + t)) (m - m')` for total weights s and t.
    pub fn merge(mut self, mut other: Self) -> Result<Self, Error> {
        self.settle();
        other.settle();
        state::length("rows of the other sketch", other.buffer.rows(), self.buffer.rows())?;
        match (&mut self.mean, &other.mean) {
            (None, None) => {}
            (Some(mean), Some(others)) => {
                if let Some(between) = mean.merge(others) {
                    add_squares(&mut self.energies, &between);
                    self.push(&between);
                }
            }
            _ => return Err(Error::Unsupported("a centered sketch cannot be merged with one that is not")),
        }
        for j in 0..other.buffer.columns() {
            self.push(other.buffer.column(j));
        }
        self.rows += other.rows;
        self.energies.iter_mut().zip(&other.energies).for_each(|(own, more)| *own += more);
        self.shrinkage += other.shrinkage;
        Ok(self)
    }

    /// Returns an interval that contains the total loss of the best subspace of dimension `kept`.
    pub fn best(&self, kept: usize) -> Best {
        if kept >= self.buffer.rows() {
            return Best::between(0.0, 0.0);
        }
        if self.pending.count() > 0 {
            return self.best_with_pending(kept);
        }
        bracket(&self.buffer, self.energy(), kept, kept as f64 * self.shrinkage)
    }

    fn push(&mut self, column: &[f64]) -> usize {
        if self.buffer.columns() == 2 * self.retained {
            self.shrink();
        }
        let at = self.buffer.columns();
        self.buffer.push_column(column);
        at
    }

    fn shrink(&mut self) {
        let Working { gram, eigen, rotation, .. } = &mut self.scratch.0;
        fill_gram(gram, &self.buffer);
        eigen.compute(gram.view());
        self.shrinkage += shrinking_rotation(eigen, self.retained, rotation);
        self.rotate();
    }

    pub(super) fn rotate(&mut self) {
        let Working { rotation, block, .. } = &mut self.scratch.0;
        let (length, left) = (self.buffer.rows(), rotation.columns());
        for start in (0..length).step_by(BLOCK) {
            let rows = BLOCK.min(length - start);
            multiply(block, self.buffer.view().subrows(start, rows), rotation.view());
            for j in 0..left {
                self.buffer.column_mut(j)[start..start + rows].copy_from_slice(block.column(j));
            }
        }
        self.buffer.resize(length, left);
    }
}

/// Returns an interval for the best loss of rows with this energy and the sketch B. The k largest eigenvalues of `B Bᵀ`
/// must sum to at most `most` less than those of the scatter matrix.
pub(crate) fn bracket(sketch: &Matrix, energy: f64, kept: usize, most: f64) -> Best {
    let mut gram = Matrix::default();
    fill_gram(&mut gram, sketch);
    bracket_of(&gram, energy, kept, most)
}

pub(super) fn bracket_of(gram: &Matrix, energy: f64, kept: usize, most: f64) -> Best {
    let values = symmetric_eigenvalues(gram.view());
    let largest = values.len().saturating_sub(kept);
    let rest: f64 = values[..largest].iter().map(|v| v.max(0.0)).sum();
    let top: f64 = values[largest..].iter().map(|v| v.max(0.0)).sum();
    let high = (energy - top).max(0.0);
    let lost = (high - rest).max(0.0);
    Best::between((high - lost.min(most)).max(0.0), high)
}

pub(super) fn add_squares(energies: &mut [f64], column: &[f64]) {
    energies.iter_mut().zip(column).for_each(|(energy, x)| *energy += x * x);
}

pub(super) fn fill_gram(gram: &mut Matrix, columns: &Matrix) {
    gram.reset(columns.columns(), columns.columns());
    add_lower_square(gram, columns.view().transpose());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::comparators::BestSubspace;

    /// Tolerance for both ends of an interval, relative to the total energy.
    const ROUNDING: f64 = 1e-12;

    /// Generates rows: decaying variances (0), low rank (1), heavy tails (2), or axes in turn (3).
    fn rows(kind: u64, length: usize, count: usize, random: &mut Random) -> Vec<Vec<f64>> {
        let rank = 1 + random.below(length);
        let factor: Vec<Vec<f64>> = (0..rank).map(|_| (0..length).map(|_| random.normal()).collect()).collect();
        let offset = random.normal();
        let mut rows: Vec<Vec<f64>> = (0..count)
            .map(|t| match kind {
                0 => (0..length).map(|i| offset + random.normal() / (1 + i) as f64).collect(),
                1 => {
                    let amounts: Vec<f64> = factor.iter().map(|_| random.normal()).collect();
                    let entry = |i: usize| amounts.iter().zip(&factor).map(|(a, f)| a * f[i]).sum::<f64>();
                    (0..length).map(|i| offset + entry(i)).collect()
                }
                // A normal number divided by the square root of a uniform one.
                2 => (0..length).map(|_| random.normal() / (random.uniform() + 1e-9).sqrt()).collect(),
                _ => (0..length).map(|i| f64::from(u8::from(i == t * length / count)) * (1 + i) as f64).collect(),
            })
            .collect();
        if kind == 3 && random.uniform() < 0.5 {
            rows.reverse();
        }
        rows
    }

    fn assert_encloses(sketch: &Sketch, rows: &[Vec<f64>], centered: bool) {
        let length = rows[0].len();
        let mut exact = BestSubspace::new(length, centered).unwrap();
        rows.iter().for_each(|row| exact.add(row));
        let slack = ROUNDING * sketch.energy();
        for kept in 1..=length {
            let (best, bracket) = (exact.loss(kept), sketch.best(kept));
            assert!(bracket.low() <= best + slack && best <= bracket.high() + slack, "{bracket:?} around {best}");
            if kept <= sketch.retained {
                let width = best * kept as f64 / (sketch.retained + 1 - kept) as f64;
                assert!(bracket.high() - bracket.low() <= width + slack, "{bracket:?} too wide around {best}");
            }
        }
    }

    fn sketch(rows: &[Vec<f64>], retained: usize, centered: bool) -> Sketch {
        let mut sketch = Sketch::new(rows[0].len(), retained, centered).unwrap();
        rows.iter().for_each(|row| sketch.add(row));
        sketch
    }

    #[test]
    fn the_bracket_encloses_the_best_loss_and_is_no_wider_than_promised() {
        for seed in 0..100 {
            let mut random = Random::seeded(seed);
            let (length, retained) = (2 + random.below(14), 1 + random.below(8));
            let count = 20 + random.below(200);
            let rows = rows(seed % 4, length, count, &mut random);
            for centered in [false, true] {
                assert_encloses(&sketch(&rows, retained, centered), &rows, centered);
            }
        }
    }

    #[test]
    fn merged_sketches_enclose_the_best_loss_of_the_joined_stream() {
        for seed in 0..60 {
            let mut random = Random::seeded(1000 + seed);
            let (length, retained) = (3 + random.below(10), 2 + random.below(6));
            let parts: Vec<Vec<Vec<f64>>> = (0..3)
                .map(|part| {
                    let count = 1 + random.below(80);
                    rows((seed + part) % 4, length, count, &mut random)
                })
                .collect();
            for centered in [false, true] {
                let empty = Sketch::new(length, retained, centered).unwrap();
                let merged = parts.iter().fold(empty, |all, part| {
                    let part = sketch(part, 1 + seed as usize % 9, centered);
                    all.merge(part).unwrap()
                });
                let joined = parts.concat();
                assert_eq!(merged.rows(), joined.len() as u64);
                let mut exact = BestSubspace::new(length, centered).unwrap();
                joined.iter().for_each(|row| exact.add(row));
                let slack = ROUNDING * merged.energy();
                for kept in 1..length {
                    let (best, bracket) = (exact.loss(kept), merged.best(kept));
                    assert!(bracket.low() <= best + slack && best <= bracket.high() + slack, "{bracket:?}, {best}");
                }
                let total = exact.loss(0);
                assert!((merged.energy() - total).abs() <= slack, "{} {total}", merged.energy());
            }
        }
    }

    #[test]
    fn the_bracket_has_no_width_while_the_rank_is_at_most_the_retained_directions() {
        let mut random = Random::seeded(5);
        let factor: Vec<Vec<f64>> = (0..4).map(|_| (0..30).map(|_| random.normal()).collect()).collect();
        let rows: Vec<Vec<f64>> = (0..500)
            .map(|_| {
                let amounts: Vec<f64> = (0..4).map(|_| random.normal()).collect();
                (0..30).map(|i| amounts.iter().zip(&factor).map(|(a, f)| a * f[i]).sum()).collect()
            })
            .collect();
        for (retained, centered) in [(4, false), (5, true)] {
            let sketch = sketch(&rows, retained, centered);
            for kept in 1..5 {
                let bracket = sketch.best(kept);
                assert!(bracket.high() - bracket.low() <= ROUNDING * sketch.energy(), "{bracket:?}");
            }
            assert_encloses(&sketch, &rows, centered);
        }
    }

    #[test]
    fn a_restored_sketch_continues_alike() {
        let rows = rows(0, 9, 60, &mut Random::seeded(7));
        let mut one = Sketch::new(9, 3, true).unwrap();
        let mut other = one.clone();
        for row in &rows {
            other = postcard::from_bytes(&postcard::to_stdvec(&other).unwrap()).unwrap();
            one.add(row);
            other.add(row);
            assert_eq!(one, other);
        }
    }

    #[test]
    fn sketches_that_do_not_fit_are_refused() {
        let plain = Sketch::new(4, 2, false).unwrap();
        assert!(matches!(plain.clone().merge(Sketch::new(5, 2, false).unwrap()), Err(Error::Length { .. })));
        assert!(matches!(plain.merge(Sketch::new(4, 2, true).unwrap()), Err(Error::Unsupported(_))));
        assert!(Sketch::new(4, 0, false).is_err());
    }
}
