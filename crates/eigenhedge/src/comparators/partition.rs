//! The best subspace for each segment of a stream: the loss of a comparator that may switch.
//!
//! Setting: the rows are divided into s segments, each with its own k-dimensional subspace (and, if centered, center).
//! [`Blocks::best`] finds the best cuts at multiples of `b` rows.
//!
//! Result: with `loss(i, j)` of blocks `i..j`, the least total loss over s segments that end at block j is `F(s, j) =
//! min_i F(s-1, i) + loss(i, j)`, by dynamic programming. It is exact on the grid. Cuts between grid points can save at
//! most the loss of their blocks ([`Partitions`](super::Partitions)).
//!
//! Cost, for m blocks: memory for m n² numbers; n² operations per row; then m²/2 sums and eigendecompositions of n × n
//! matrices, and s m² comparisons. A hundred columns and a hundred blocks take seconds.
//!
//! Numerics: the scatter of a segment is a sum over blocks, never a difference of prefix sums, which would lose the
//! small eigenvalues of late segments.
//!
//! References: Bellman 1961 (segmentation by dynamic programming); Chan, Golub & LeVeque 1983 (joining scatters);
//! Herbster & Warmuth 1998 and Warmuth & Kuzmin, JMLR 2008, section 8 (partitions as comparators).

use super::best_loss;
use super::running_scatter::{Mean, RunningScatter};
use crate::error::{Error, at_least_one};
use crate::num::dot;
use crate::state::{count, energy, ensure};
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Blocks {
    length: usize,
    rows_each: usize,
    centered: bool,
    rows: usize,
    blocks: Vec<RunningScatter>,
}

impl Blocks {
    pub(crate) fn check_state(&self, length: usize, centered: bool, most: usize) -> Result<(), Error> {
        let parameters = (self.length, self.centered) == (length, centered);
        ensure(parameters, "the partition must be of rows like those of the learner")?;
        ensure(self.rows_each > 0 && self.blocks.len() < most, "the partition must have blocks, but not too many")?;
        count("the number of rows", self.rows.max(self.rows_each) as u64)?;
        ensure(self.blocks.len() == self.rows.div_ceil(self.rows_each), "all blocks but the last must be full")?;
        let mut total = 0.0;
        for (i, block) in self.blocks.iter().enumerate() {
            block.check_state(length, centered)?;
            let weight = self.rows_each.min(self.rows - i * self.rows_each) as f64;
            let fits = block.mean.as_ref().is_none_or(|mean| mean.weight == weight);
            ensure(fits, "the mean of a block must be that of its rows")?;
            let mean = block.mean.as_ref().and_then(Mean::value).unwrap_or_default();
            total += block.whole().trace() + weight * dot(&mean, &mean);
        }
        // Merging adds squared displacements between means, at most four times the squared norms.
        energy("the energy of all blocks", 4.0 * total)
    }

    /// Cuts are possible at multiples of `rows_each ≥ 1`.
    pub fn new(length: usize, rows_each: usize, centered: bool) -> Result<Self, Error> {
        at_least_one("block", rows_each)?;
        Ok(Self { length, rows_each, centered, rows: 0, blocks: Vec::new() })
    }

    pub fn add(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.length, "one entry for each number of a row");
        if self.rows == self.blocks.len() * self.rows_each {
            self.blocks.push(RunningScatter::new(self.length, self.centered));
        }
        self.rows += 1;
        self.blocks.last_mut().into_iter().for_each(|block| _ = block.add_weighted(row, 1.0));
    }

    pub(crate) fn join_pairs(&mut self) {
        let mut joined: Vec<RunningScatter> = Vec::with_capacity(self.blocks.len().div_ceil(2));
        for (i, block) in self.blocks.drain(..).enumerate() {
            match joined.last_mut() {
                Some(first) if i % 2 == 1 => first.merge(&block),
                _ => joined.push(block),
            }
        }
        self.blocks = joined;
        self.rows_each *= 2;
    }

    pub fn count(&self) -> usize {
        self.blocks.len()
    }

    /// Entry `i (m+1) + j` is the loss of blocks `i..j`.
    fn segment_losses(&self, kept: usize) -> Vec<f64> {
        let m = self.blocks.len();
        let mut losses = vec![0.0; (m + 1) * (m + 1)];
        for i in 0..m {
            let mut segment = self.blocks[i].clone();
            losses[i * (m + 1) + i + 1] = best_loss(&segment.whole(), kept);
            for j in i + 1..m {
                segment.merge(&self.blocks[j]);
                losses[i * (m + 1) + j + 1] = best_loss(&segment.whole(), kept);
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
