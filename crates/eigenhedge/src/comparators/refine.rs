//! Refinement of the cuts of a partition to single rows.
//!
//! Setting: all rows are available, and the cuts are optimal among the points of a coarse grid. Each cut in turn moves
//! to the position that minimizes the total loss of the two segments it separates. This is repeated until no cut moves,
//! at most four times. The loss never increases.
//!
//! Search for the position of a cut: the first step tries about sixteen evenly spaced positions around the cut. Each
//! further step narrows the range to one spacing on either side of the best position found and again tries about
//! sixteen positions, until the spacing is one row. The loss as a function of the cut is not convex, so the best row
//! can be missed; the loss is then only slightly larger.

use super::partition::{PartMoments, Partition};
use crate::linalg::Matrix;

const POSITIONS: usize = 16;
const PASSES: usize = 4;

pub(super) struct Rows<'a> {
    pub rows: &'a Matrix,
    pub kept: usize,
    pub centered: bool,
}

impl Rows<'_> {
    fn empty(&self) -> PartMoments {
        PartMoments::new(self.rows.rows())
    }

    fn add(&self, block: &mut PartMoments, row: usize) {
        block.add(self.rows.column(row), self.centered);
    }

    fn loss(&self, start: usize, end: usize) -> f64 {
        let mut block = self.empty();
        (start..end).for_each(|row| self.add(&mut block, row));
        block.loss(self.kept)
    }

    /// Returns the least total loss of two segments with a cut between `start` and `end`, one of `cuts`, and the cut.
    fn best_of(&self, start: usize, end: usize, cuts: &[usize]) -> (f64, usize) {
        let (mut left, mut right) = (self.empty(), self.empty());
        let (mut from, mut to) = (start, end);
        let mut losses = vec![0.0; cuts.len()];
        for (cut, loss) in cuts.iter().zip(&mut losses) {
            (from..*cut).for_each(|row| self.add(&mut left, row));
            from = *cut;
            *loss += left.loss(self.kept);
        }
        for (cut, loss) in cuts.iter().zip(&mut losses).rev() {
            (*cut..to).rev().for_each(|row| self.add(&mut right, row));
            to = *cut;
            *loss += right.loss(self.kept);
        }
        let found = losses.into_iter().zip(cuts.iter().copied()).min_by(|a, b| a.0.total_cmp(&b.0));
        found.unwrap_or((f64::INFINITY, start))
    }

    /// Returns the best cut found between `start` and `end`, starting with distances up to `reach` from `cut`.
    fn moved(&self, start: usize, end: usize, cut: usize, reach: usize) -> usize {
        let (mut cut, mut reach) = (cut, reach);
        loop {
            let (low, high) = (cut.saturating_sub(reach).max(start + 1), (cut + reach).min(end - 1));
            let step = (high - low).div_ceil(POSITIONS).max(1);
            let mut cuts: Vec<usize> = (low..=high).step_by(step).collect();
            if let Err(place) = cuts.binary_search(&cut) {
                cuts.insert(place, cut);
            }
            cut = self.best_of(start, end, &cuts).1;
            if step == 1 {
                return cut;
            }
            reach = step;
        }
    }

    pub fn refine(&self, mut partition: Partition, grid: usize) -> Partition {
        let count = self.rows.columns();
        let cuts = &mut partition.cuts;
        for _ in 0..PASSES {
            let before = cuts.clone();
            for i in 0..cuts.len() {
                let start = if i == 0 { 0 } else { cuts[i - 1] };
                let end = cuts.get(i + 1).copied().unwrap_or(count);
                cuts[i] = self.moved(start, end, cuts[i], grid);
            }
            if *cuts == before {
                break;
            }
        }
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([count]);
        partition.loss = starts.zip(ends).map(|(start, end)| self.loss(start, end)).sum();
        partition
    }
}
