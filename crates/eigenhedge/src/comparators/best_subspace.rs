//! The best fixed subspace in hindsight.
//!
//! Setting: all rows x, seen once. Result: the least total `|x - m - P(x - m)|²` over k-dimensional projections P
//! (and centers m): the sum of the n-k smallest eigenvalues of the (centered) scatter matrix.
//!
//! Cost: n² for each row, in blocks at the speed of a matrix product; n² memory; one eigendecomposition when asked.
//! Rows longer than [`BestSubspace::LONGEST`] are not followed.

use super::best::Best;
use super::best_loss;
use super::leading_directions::LeadingDirections;
use crate::error::Error;
use crate::linalg::checks::{energies, scatter, shape};
use crate::linalg::{Matrix, add_lower_product};
use crate::num::dot;
use crate::state::{self, energy, ensure};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Running mean, as a fixed point and the way from there: a row less the fixed point is rounded once, and what follows does
/// not depend on where the rows lie.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Mean {
    /// A row; empty before the first one.
    base: Vec<f64>,
    way: Vec<f64>,
    /// Total weight of the rows.
    weight: f64,
    /// True if the fixed point is a row that was left out.
    left_out: bool,
}

impl Mean {
    /// Measures rows from a row that is left out. Must come before the first row, which is the fixed point otherwise.
    pub fn begin_at(&mut self, base: &[f64]) {
        self.base = base.to_vec();
        self.way = vec![0.0; base.len()];
        self.left_out = true;
    }

    /// Moves the fixed point of a column in which all rows so far were at it.
    pub fn begin_column(&mut self, column: usize, value: f64) {
        self.base[column] = value;
    }

    /// Squared length along a direction that the row left out would add to the scatter of the others.
    fn energy_left_out(&self, along: impl Fn(&[f64]) -> f64) -> f64 {
        let weight = self.weight;
        if self.left_out { weight / (weight + 1.0) * along(&self.way) } else { 0.0 }
    }

    /// Adds a row of weight w, and turns it into what it adds to the scatter matrix: `√(w W/(W + w))` times its distance from the
    /// mean of the rows before it, of weight W in all.
    pub fn add(&mut self, row: &mut [f64], own: f64) {
        if self.base.is_empty() {
            self.begin_at(row);
            self.left_out = false;
        }
        let before = self.weight;
        self.weight += own;
        let root = (own * before / self.weight).sqrt();
        let step = own / self.weight;
        for ((x, base), way) in row.iter_mut().zip(&self.base).zip(&mut self.way) {
            let z = (*x - base) - *way;
            *way += step * z;
            *x = root * z;
        }
    }

    /// Moves to the mean of the rows of both; returns the way to the other.
    pub fn join(&mut self, other: &Self) -> Vec<f64> {
        let share = other.weight / (self.weight + other.weight);
        let way = |i: usize| (other.base[i] - self.base[i]) + (other.way[i] - self.way[i]);
        let step: Vec<f64> = (0..self.way.len()).map(way).collect();
        self.way.iter_mut().zip(&step).for_each(|(way, step)| *way += share * step);
        self.weight += other.weight;
        step
    }

    /// Total weight of the rows.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// The mean; none before the first row.
    pub fn value(&self) -> Option<Vec<f64>> {
        (self.weight > 0.0).then(|| self.base.iter().zip(&self.way).map(|(base, way)| base + way).collect())
    }

    /// Squared distance of the mean from the fixed point.
    pub fn squared_way(&self) -> f64 {
        dot(&self.way, &self.way)
    }
}

/// Collects the scatter matrix of all rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestSubspace {
    /// Running mean, when the comparator is centered.
    pub(super) mean: Option<Mean>,
    /// Lower triangle.
    scatter: Matrix,
    block: Matrix,
    filled: usize,
}

/// Turns a row that counts `weight` times into what it adds to the scatter matrix.
pub(super) fn weigh(row: &mut [f64], weight: f64, mean: Option<&mut Mean>) {
    match mean {
        Some(mean) => mean.add(row, weight),
        None if weight == 1.0 => {}
        None => row.iter_mut().for_each(|x| *x *= weight.sqrt()),
    }
}

/// Rows that are added to the matrix at a time.
const BLOCK: usize = 64;

/// Checks a mean that was read from bytes.
pub(super) fn check_mean(mean: Option<&Mean>, length: usize, centered: bool) -> Result<(), Error> {
    ensure(mean.is_some() == centered, "the comparator must be centered if the learner is")?;
    let Some(Mean { base, way, weight, left_out: _ }) = mean else { return Ok(()) };
    energy("the weight of the rows", *weight)?;
    state::length("the way to the mean of the rows", way.len(), base.len())?;
    if *weight > 0.0 || !base.is_empty() {
        state::length("the mean of the rows", base.len(), length)?;
    }
    energy("the squared norm of the first row", dot(base, base))?;
    energy("the squared way to the mean", dot(way, way))
}

impl BestSubspace {
    /// Checks what was read from bytes, for rows of this length.
    pub(super) fn check_state(&self, length: usize, centered: bool) -> Result<(), Error> {
        check_mean(self.mean.as_ref(), length, centered)?;
        shape("the scatter matrix of all rows", &self.scatter, length, length)?;
        shape("the last rows", &self.block, length, BLOCK)?;
        scatter("the scatter matrix of all rows", &self.scatter)?;
        energies("the energy of the last rows", &self.block)?;
        ensure(self.filled < BLOCK, "the last rows must be fewer than a block")
    }

    /// Longest rows that are followed exactly: 128 MiB of scatter matrix.
    pub const LONGEST: usize = 4096;

    /// No rows yet. None when the rows are too long.
    pub fn new(length: usize, centered: bool) -> Option<Self> {
        (length <= Self::LONGEST).then(|| Self {
            mean: centered.then(Mean::default),
            scatter: Matrix::zeros(length, length),
            block: Matrix::zeros(length, BLOCK),
            filled: 0,
        })
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[f64]) {
        self.add_weighted(row, 1.0);
    }

    /// Adds a row that counts this many times.
    pub fn add_weighted(&mut self, row: &[f64], weight: f64) {
        let column = self.block.column_mut(self.filled);
        column.copy_from_slice(row);
        weigh(column, weight, self.mean.as_mut());
        self.filled += 1;
        if self.filled == BLOCK {
            Self::flush(&mut self.scatter, &self.block, self.filled);
            self.filled = 0;
        }
    }

    fn flush(scatter: &mut Matrix, block: &Matrix, filled: usize) {
        let rows = block.view().subcols(0, filled);
        add_lower_product(scatter, rows, rows.transpose());
    }

    /// Energy of all rows, the one left out too, along each of these unit vectors, and in all: squared lengths, after
    /// centering.
    pub fn energies(&self, directions: &Matrix) -> (Vec<f64>, f64) {
        let scatter = self.whole_scatter();
        let length = scatter.rows();
        let along = |direction: &[f64]| {
            let column = |j: usize| {
                let below = dot(&scatter.column(j)[j + 1..], &direction[j + 1..]);
                direction[j] * (scatter.column(j)[j] * direction[j] + 2.0 * below)
            };
            let left_out = self.energy_left_out(|way| dot(way, direction).powi(2));
            (0..length).map(column).sum::<f64>().max(0.0) + left_out
        };
        let energies = (0..directions.columns()).map(|j| along(directions.column(j))).collect();
        let total = (0..length).map(|j| scatter.column(j)[j]).sum::<f64>();
        (energies, total + self.energy_left_out(|way| dot(way, way)))
    }

    fn energy_left_out(&self, along: impl Fn(&[f64]) -> f64) -> f64 {
        self.mean.as_ref().map_or(0.0, |mean| mean.energy_left_out(along))
    }

    /// Total loss of the best k-dimensional subspace.
    pub fn loss(&self, kept: usize) -> f64 {
        best_loss(&self.whole_scatter(), kept)
    }

    /// The same between two numbers; cheapest after a whole number of blocks.
    pub(super) fn loss_on_the_way(&self, kept: usize, leading: &mut LeadingDirections) -> Best {
        leading.best(&self.whole_scatter(), kept)
    }

    /// The scatter matrix of all rows.
    fn whole_scatter(&self) -> Cow<'_, Matrix> {
        if self.filled == 0 {
            return Cow::Borrowed(&self.scatter);
        }
        let mut scatter = self.scatter.clone();
        Self::flush(&mut scatter, &self.block, self.filled);
        Cow::Owned(scatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::linalg::symmetric_eigen;

    #[test]
    fn energies_are_those_of_all_rows_whether_the_first_is_left_out_of_the_loss_or_not() {
        let mut random = Random::seeded(4);
        let rows: Vec<Vec<f64>> = (0..90).map(|_| (0..5).map(|i| i as f64 + random.normal()).collect()).collect();
        let (mut all, mut others) = (BestSubspace::new(5, true).unwrap(), BestSubspace::new(5, true).unwrap());
        rows.iter().for_each(|row| all.add(row));
        others.mean.iter_mut().for_each(|mean| mean.begin_at(&rows[0]));
        rows[1..].iter().for_each(|row| others.add(row));
        let directions = Matrix::identity(5);
        let ((a, in_all), (b, in_others)) = (all.energies(&directions), others.energies(&directions));
        a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() <= 1e-12 * in_all, "{a} against {b}"));
        assert!((in_all - in_others).abs() <= 1e-12 * in_all);
        assert!(all.loss(2) > others.loss(2));
    }

    #[test]
    fn best_loss_equals_the_loss_of_the_projection_on_the_top_directions() {
        let mut random = Random::seeded(3);
        for centered in [false, true] {
            let rows: Vec<Vec<f64>> =
                (0..150).map(|_| (0..7).map(|i| (i as f64) * random.normal() + 2.0).collect()).collect();
            let mut best = BestSubspace::new(7, centered).expect("short rows");
            rows.iter().for_each(|row| best.add(row));
            let mean: Vec<f64> = (0..7)
                .map(|i| if centered { rows.iter().map(|r| r[i]).sum::<f64>() / rows.len() as f64 } else { 0.0 })
                .collect();
            let moved: Vec<Vec<f64>> = rows.iter().map(|r| r.iter().zip(&mean).map(|(x, m)| x - m).collect()).collect();
            let mut scatter = Matrix::zeros(7, 7);
            for row in &moved {
                for j in 0..7 {
                    scatter.column_mut(j).iter_mut().zip(row).for_each(|(s, x)| *s += x * row[j]);
                }
            }
            let eigen = symmetric_eigen(&scatter);
            let (energies, total) = best.energies(&eigen.vectors);
            for (energy, value) in energies.iter().zip(&eigen.values) {
                assert!((energy - value).abs() <= 1e-12 * total, "{energy} against {value}");
            }
            assert!((energies.iter().sum::<f64>() - total).abs() <= 1e-12 * total);
            let kept = 3;
            let direct: f64 = moved
                .iter()
                .map(|r| dot(r, r) - (7 - kept..7).map(|j| dot(eigen.vectors.column(j), r).powi(2)).sum::<f64>())
                .sum();
            assert!((best.loss(kept) - direct).abs() <= 1e-11 * direct, "{} against {direct}", best.loss(kept));
        }
    }
}
