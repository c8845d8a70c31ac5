//! The best subspace for each segment of a stream: the loss of a comparator that may switch.
//!
//! Setting: the rows are divided into s segments, each with its own k-dimensional subspace (and, if centered, center).
//! [`between`] takes given cuts. [`Blocks::best`] finds the best cuts at multiples of `b` rows.
//!
//! Result: with `loss(i, j)` of blocks `i..j`, the least total loss over s segments that end at block j is `F(s, j) =
//! min_i F(s-1, i) + loss(i, j)`, by dynamic programming. It is exact on the grid. Cuts between grid points can save at
//! most the loss of their blocks ([`Partitions`](super::Partitions)).
//!
//! Cost, for m blocks: memory for m n² numbers; n² operations per row; then m²/2 sums and eigendecompositions of n × n
//! matrices, and s m² comparisons. A hundred columns and a hundred blocks take seconds.
//!
//! Numerics: the scatter of a segment is a sum over blocks, never a difference of prefix sums, which would lose the
//! small eigenvalues of late segments. Centered scatters are most accurate if rows are near zero.
//!
//! References: Bellman 1961 (segmentation by dynamic programming); Chan, Golub & LeVeque 1983 (joining scatters);
//! Herbster & Warmuth 1998 and Warmuth & Kuzmin, JMLR 2008, section 8 (partitions as comparators).

use super::best::BestSubspace;
use super::best_loss;
use crate::error::{Error, at_least_one};
use crate::linalg::Matrix;
use crate::linalg::checks::{scatter, shape};
use crate::num::dot;
use crate::state::{self, count, energy, ensure};
use serde::{Deserialize, Serialize};

/// Division of a stream into segments, with the total loss of the best subspaces of the segments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Partition {
    /// Total loss over all segments.
    pub loss: f64,
    /// Index of the first row of each segment except the first segment.
    pub cuts: Vec<usize>,
}

/// Returns the total loss of the best subspaces of the segments between ascending cuts, the indices of the first rows
/// of all segments except the first. Returns `None` if the rows are too long for [`BestSubspace`].
///
/// ```
/// use eigenhedge::comparators::partition::between;
/// let rows = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]];
/// assert!((between(&rows, &[2], 1, false).unwrap()).abs() < 1e-15);
/// assert!((between(&rows, &[], 1, false).unwrap() - 2.0).abs() < 1e-15);
/// ```
pub fn between<R: AsRef<[f64]>>(rows: &[R], cuts: &[usize], kept: usize, centered: bool) -> Option<f64> {
    let mut total = 0.0;
    let ends = cuts.iter().copied().chain([rows.len()]);
    let mut start = 0;
    for end in ends {
        assert!(start <= end && end <= rows.len(), "cuts ascend and lie within the rows");
        if let Some(first) = rows[start..end].first() {
            let mut best = BestSubspace::new(first.as_ref().len(), centered)?;
            rows[start..end].iter().for_each(|row| best.add(row.as_ref()));
            total += best.loss(kept);
        }
        start = end;
    }
    Some(total)
}

/// Scatter matrices of blocks of rows, for the best partition.
///
/// ```
/// use eigenhedge::comparators::Blocks;
/// use eigenhedge::streams;
/// let mut blocks = Blocks::new(20, 50, false)?;
/// streams::three_subspaces(1).iter().for_each(|row| blocks.add(row));
/// let best = blocks.best(2, 3);
/// assert_eq!(best[2].cuts, [500, 1000]);
/// assert!(best[2].loss < 1e-9 && best[1].loss > 1.0);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Blocks {
    length: usize,
    rows_each: usize,
    centered: bool,
    blocks: Vec<PartMoments>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PartMoments {
    rows: usize,
    mean: Vec<f64>,
    scatter: Matrix,
}

impl PartMoments {
    pub(super) fn new(length: usize) -> Self {
        Self { rows: 0, mean: vec![0.0; length], scatter: Matrix::zeros(length, length) }
    }

    fn add_dyad(&mut self, z: &[f64], weight: f64) {
        for (j, factor) in z.iter().enumerate() {
            let amount = weight * factor;
            self.scatter.column_mut(j)[j..].iter_mut().zip(&z[j..]).for_each(|(s, x)| *s += amount * x);
        }
    }

    pub(super) fn add(&mut self, row: &[f64], centered: bool) {
        self.rows += 1;
        if !centered {
            return self.add_dyad(row, 1.0);
        }
        let t = self.rows as f64;
        let z: Vec<f64> = row.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        self.mean.iter_mut().zip(&z).for_each(|(m, z)| *m += z / t);
        self.add_dyad(&z, (t - 1.0) / t);
    }

    fn join(&mut self, other: &Self) {
        for j in 0..self.mean.len() {
            let others = &other.scatter.column(j)[j..];
            self.scatter.column_mut(j)[j..].iter_mut().zip(others).for_each(|(s, x)| *s += x);
        }
        let way: Vec<f64> = other.mean.iter().zip(&self.mean).map(|(there, here)| there - here).collect();
        let share = other.rows as f64 / (self.rows + other.rows) as f64;
        self.add_dyad(&way, self.rows as f64 * share);
        self.mean.iter_mut().zip(&way).for_each(|(m, way)| *m += share * way);
        self.rows += other.rows;
    }

    pub(super) fn loss(&self, kept: usize) -> f64 {
        best_loss(&self.scatter, kept)
    }
}

impl Blocks {
    pub(crate) fn check_state(&self, length: usize, centered: bool, most: usize) -> Result<(), Error> {
        let parameters = (self.length, self.centered) == (length, centered);
        ensure(parameters, "the partition must be of rows like those of the learner")?;
        ensure(self.rows_each > 0 && self.blocks.len() < most, "the partition must have blocks, but not too many")?;
        count("the number of rows of a block", self.rows_each as u64)?;
        let mut total = 0.0;
        for (i, block) in self.blocks.iter().enumerate() {
            let whole = block.rows == self.rows_each || (i + 1 == self.blocks.len() && block.rows < self.rows_each);
            ensure(whole && block.rows > 0, "all blocks but the last must be full")?;
            state::length("the mean of a block", block.mean.len(), length)?;
            shape("the scatter matrix of a block", &block.scatter, length, length)?;
            let spread = block.rows as f64 * dot(&block.mean, &block.mean);
            total += scatter("the scatter matrix of a block", &block.scatter)? + spread;
        }
        // Merging blocks adds squared displacements between their means, which are at most four times the squared
        // norms.
        energy("the energy of all blocks", 4.0 * total)
    }

    /// Creates a comparator without rows. Cuts are possible at multiples of `rows_each ≥ 1`.
    pub fn new(length: usize, rows_each: usize, centered: bool) -> Result<Self, Error> {
        at_least_one("block", rows_each)?;
        Ok(Self { length, rows_each, centered, blocks: Vec::new() })
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.length, "one entry for each number of a row");
        if self.blocks.last().is_none_or(|block| block.rows == self.rows_each) {
            self.blocks.push(PartMoments::new(self.length));
        }
        if let Some(block) = self.blocks.last_mut() {
            block.add(row, self.centered);
        }
    }

    pub(crate) fn join_pairs(&mut self) {
        let mut joined: Vec<PartMoments> = Vec::with_capacity(self.blocks.len().div_ceil(2));
        for (i, block) in self.blocks.drain(..).enumerate() {
            match joined.last_mut() {
                Some(first) if i % 2 == 1 => first.join(&block),
                _ => joined.push(block),
            }
        }
        self.blocks = joined;
        self.rows_each *= 2;
    }

    /// Returns the number of blocks with rows.
    pub fn count(&self) -> usize {
        self.blocks.len()
    }

    /// Entry `i (m+1) + j` is the loss of blocks `i..j`.
    fn segment_losses(&self, kept: usize) -> Vec<f64> {
        let m = self.blocks.len();
        let mut losses = vec![0.0; (m + 1) * (m + 1)];
        for i in 0..m {
            let mut segment = self.blocks[i].clone();
            losses[i * (m + 1) + i + 1] = segment.loss(kept);
            for j in i + 1..m {
                segment.join(&self.blocks[j]);
                losses[i * (m + 1) + j + 1] = segment.loss(kept);
            }
        }
        losses
    }

    /// Returns the best partitions into 1, 2, … segments, up to `most` or the number of blocks.
    pub fn best(&self, kept: usize, most: usize) -> Vec<Partition> {
        let m = self.blocks.len();
        let losses = self.segment_losses(kept);
        let loss = |i: usize, j: usize| losses[i * (m + 1) + j];
        // For each number of segments and each end: the least loss, and the start of the last segment.
        let mut table: Vec<Vec<(f64, usize)>> = Vec::new();
        for segments in 1..=most.min(m) {
            let last = table.last();
            let row = (0..=m).map(|j| {
                let least = |i: usize| last.map_or(loss(0, j), |row: &Vec<(f64, usize)>| row[i].0 + loss(i, j));
                let starts = if segments == 1 { 0..1 } else { segments - 1..j };
                starts.map(|i| (least(i), i)).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, 0))
            });
            let row = row.collect();
            table.push(row);
        }
        (1..=table.len()).map(|segments| self.traced(&table[..segments])).collect()
    }

    fn traced(&self, table: &[Vec<(f64, usize)>]) -> Partition {
        let mut end = self.blocks.len();
        let loss = table[table.len() - 1][end].0;
        let mut cuts = Vec::with_capacity(table.len() - 1);
        for row in table[1..].iter().rev() {
            end = row[end].1;
            cuts.push(end * self.rows_each);
        }
        cuts.reverse();
        Partition { loss, cuts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn rows(length: usize, count: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Random::seeded(seed);
        let mut scale = vec![1.0; length];
        (0..count)
            .map(|t| {
                if t % 7 == 0 {
                    scale = (0..length).map(|_| random.uniform() * 2.0).collect();
                }
                scale.iter().map(|s| 0.5 + s * random.normal()).collect()
            })
            .collect()
    }

    fn placements(positions: &[usize], cuts: usize) -> Vec<Vec<usize>> {
        if cuts == 0 {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for (i, position) in positions.iter().enumerate() {
            for mut rest in placements(&positions[i + 1..], cuts - 1) {
                rest.insert(0, *position);
                all.push(rest);
            }
        }
        all
    }

    #[test]
    fn the_best_partition_is_that_of_trying_all_of_them() {
        for seed in 0..6 {
            for centered in [false, true] {
                let (length, each, kept) = (4, 3, 1 + seed as usize % 3);
                let rows = rows(length, 25, seed);
                let mut blocks = Blocks::new(length, each, centered).unwrap();
                rows.iter().for_each(|row| blocks.add(row));
                let grid: Vec<usize> = (each..rows.len()).step_by(each).collect();
                let found = blocks.best(kept, 4);
                assert_eq!(found.len(), 4);
                for (cuts, found) in found.iter().enumerate() {
                    let least = placements(&grid, cuts)
                        .iter()
                        .map(|cuts| between(&rows, cuts, kept, centered).unwrap())
                        .fold(f64::INFINITY, f64::min);
                    assert!((found.loss - least).abs() <= 1e-12 * rows.len() as f64, "{} {least}", found.loss);
                    let again = between(&rows, &found.cuts, kept, centered).unwrap();
                    assert!((again - least).abs() <= 1e-12 * rows.len() as f64, "{again} {least}");
                    assert_eq!(found.cuts.len(), cuts);
                }
            }
        }
    }

    #[test]
    fn more_segments_than_blocks_are_not_made() {
        let mut blocks = Blocks::new(3, 4, false).unwrap();
        assert!(blocks.best(1, 5).is_empty());
        rows(3, 9, 1).iter().for_each(|row| blocks.add(row));
        assert_eq!((blocks.count(), blocks.best(1, 50).len()), (3, 3));
        assert!(Blocks::new(3, 0, false).is_err());
    }
}
