//! The best partitions of a stream of plain rows or kernel features.
//!
//! Setting: as in [`partition`](super::partition). Up to [`Partitions::MOST`] numbers, the rows are stored, and the
//! best cuts on a grid are then refined to single rows. Beyond that, plain rows of up to [`Partitions::SHORT`] numbers
//! keep a grid of 48 to 95 blocks, others nothing.
//! Longer rows and features are reduced to the coordinates of a pivoted Cholesky factor of their kernel matrix, whose
//! residual is added to every loss. Losses are therefore those of actual subspaces, and exceed the best ones for the
//! same cuts by at most the trace error.
//! Cost of an evaluation, with n coordinates per row and m ≤ 95 blocks: m²/2 eigendecompositions of n × n matrices,
//! where m is halved while that is too expensive, and about 34 per cut, pass and spacing of the refinement.

use super::best_loss;
use super::partition::{Blocks, Partition};
use super::running_scatter::RunningScatter;
use crate::batch::PivotedCholesky;
use crate::error::Error;
use crate::kernel::{VectorKernel, Vectors};
use crate::linalg::Matrix;
use crate::linalg::checks::{energies, shape};
use crate::num::dot;
use crate::state::{self, energy, ensure, entries};
use serde::{Deserialize, Serialize};

/// Best partitions of a stream in hindsight.
///
/// ```
/// use eigenhedge::comparators::Partitions;
/// use eigenhedge::streams;
/// let mut partitions = Partitions::new(20, false);
/// streams::three_subspaces(1).iter().for_each(|row| partitions.add(row));
/// let best = partitions.best(2, 3);
/// assert_eq!(best[2].cuts, [500, 1000]);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Partitions {
    length: usize,
    centered: bool,
    kernel: Option<VectorKernel>,
    /// The first row if the comparator is centered, zero otherwise. `None` before the first row.
    base: Option<Vec<f64>>,
    uncharged: usize,
    seen: KeptRows,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum KeptRows {
    Rows(Matrix),
    Grid(Blocks),
    Nothing,
}

impl Partitions {
    /// Maximum number of stored values, which take 64 MiB.
    pub const MOST: usize = 1 << 23;
    /// Maximum length of plain rows that are not reduced to fewer coordinates.
    pub const SHORT: usize = 256;
    /// When there are twice as many blocks, they are merged in pairs.
    const BLOCKS: usize = 48;
    const WORK: f64 = 1e10;

    /// Creates a comparator for rows of `length` numbers.
    pub fn new(length: usize, centered: bool) -> Self {
        let seen = KeptRows::Rows(Matrix::zeros(length, 0));
        Self { length, centered, kernel: None, base: None, uncharged: 0, seen }
    }

    pub(crate) fn of_features(kernel: VectorKernel, length: usize, centered: bool) -> Self {
        Self { kernel: Some(kernel), ..Self::new(length, centered) }
    }

    pub(crate) fn check_state(
        &self,
        kernel: Option<&VectorKernel>,
        length: usize,
        centered: bool,
    ) -> Result<(), Error> {
        let parameters = (self.length, self.centered, self.kernel.as_ref()) == (length, centered, kernel);
        ensure(parameters, "the partitions must be of rows like those of the learner")?;
        ensure(self.uncharged <= 1, "at most the first row may not be charged")?;
        if let Some(base) = &self.base {
            state::length("the first row", base.len(), length)?;
            match &self.kernel {
                Some(_) => entries("entries of the first row", base, f64::MIN..=f64::MAX)?,
                None => energy("the squared norm of the first row", dot(base, base))?,
            }
        }
        match &self.seen {
            KeptRows::Rows(rows) => {
                shape("the rows to cut", rows, length, rows.columns())?;
                match self.kernel {
                    Some(_) => Ok(()),
                    // Differences of rows have at most four times their energy.
                    None => energies("the energy of the rows to cut", rows),
                }
            }
            KeptRows::Grid(_) if !self.is_short() => Err(Error::State("long rows and features have no grid")),
            KeptRows::Grid(blocks) => blocks.check_state(length, centered, 2 * Self::BLOCKS),
            KeptRows::Nothing => Ok(()),
        }
    }

    fn is_short(&self) -> bool {
        self.kernel.is_none() && self.length <= Self::SHORT
    }

    /// Sets the base row, whose loss does not count. Must be called before the first row.
    pub fn begin_at(&mut self, row: &[f64]) {
        self.base = self.centered.then(|| row.to_vec());
        self.uncharged = 1;
    }

    /// Adds a row.
    pub fn add(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.length, "one entry for each number of a row");
        let base = self.base.get_or_insert_with(|| if self.centered { row.to_vec() } else { vec![0.0; row.len()] });
        if let KeptRows::Rows(rows) = &mut self.seen {
            if rows.rows() * (rows.columns() + 1) <= Self::MOST {
                return rows.push_column(row);
            }
            let grid = self.kernel.is_none() && self.length <= Self::SHORT;
            self.seen = match Blocks::new(self.length, 1, self.centered) {
                Ok(mut blocks) if grid => {
                    (0..rows.columns()).for_each(|j| add_to_grid(&mut blocks, rows.column(j), base));
                    KeptRows::Grid(blocks)
                }
                _ => KeptRows::Nothing,
            };
        }
        if let KeptRows::Grid(blocks) = &mut self.seen {
            add_to_grid(blocks, row, base);
        }
    }

    /// Returns the best partitions found into 1, 2, … segments, at most `most`. Empty without rows to cut.
    pub fn best(&self, kept: usize, most: usize) -> Vec<Partition> {
        let mut partitions = match &self.seen {
            KeptRows::Rows(rows) if rows.columns() > 0 => self.cut_rows(rows, kept, most),
            KeptRows::Grid(blocks) => blocks.best(kept, most),
            KeptRows::Rows(_) | KeptRows::Nothing => Vec::new(),
        };
        partitions.iter_mut().flat_map(|partition| &mut partition.cuts).for_each(|cut| *cut += self.uncharged);
        partitions
    }

    fn cut_rows(&self, rows: &Matrix, kept: usize, most: usize) -> Vec<Partition> {
        let Some((rows, lost)) = self.coordinates(rows, kept) else { return Vec::new() };
        let (length, count) = (rows.rows(), rows.columns());
        let segments_work = |blocks: usize| (blocks * blocks) as f64 / 2.0 * (length as f64).powi(3);
        let mut blocks = 2 * Self::BLOCKS - 1;
        while blocks > most.saturating_mul(4) && segments_work(blocks) > Self::WORK {
            blocks /= 2;
        }
        let grid = count.div_ceil(blocks);
        let Ok(mut blocks) = Blocks::new(length, grid, self.centered) else { return Vec::new() };
        (0..count).for_each(|j| blocks.add(rows.column(j)));
        let rows = Rows { rows: &rows, kept, centered: self.centered };
        let mut found = blocks.best(kept, most);
        for partition in &mut found {
            if !partition.cuts.is_empty() && grid > 1 {
                *partition = rows.refine(partition.clone(), grid);
            }
            partition.loss += lost;
        }
        found
    }

    /// Returns the coordinates of the rows, as columns, and the energy of the residual. Long rows and features are
    /// reduced to at most 8k + 64 coordinates.
    fn coordinates(&self, rows: &Matrix, kept: usize) -> Option<(Matrix, f64)> {
        let mut moved = rows.clone();
        if let (None, Some(base)) = (&self.kernel, &self.base) {
            moved.for_each_column(|_, row| row.iter_mut().zip(base).for_each(|(x, base)| *x -= base));
        }
        if self.is_short() {
            return Some((moved, 0.0));
        }
        let kernel = self.kernel.clone().unwrap_or(VectorKernel::Linear);
        let points: Vec<&[f64]> = (0..moved.columns()).map(|j| moved.column(j)).collect();
        let mut dictionary = Vectors::new(kernel, self.length).ok()?;
        let cholesky = PivotedCholesky::new(&mut dictionary, &points, 1e-6, 8 * kept + 64).ok()?;
        let factor = &cholesky.factor;
        let mut coordinates = Matrix::zeros(factor.columns().max(1), factor.rows());
        for j in 0..factor.columns() {
            factor.column(j).iter().enumerate().for_each(|(i, x)| coordinates.column_mut(i)[j] = *x);
        }
        Some((coordinates, cholesky.trace_error().max(0.0))).filter(|(_, lost)| lost.is_finite())
    }
}

fn add_to_grid(blocks: &mut Blocks, row: &[f64], base: &[f64]) {
    let moved: Vec<f64> = row.iter().zip(base).map(|(x, base)| x - base).collect();
    blocks.add(&moved);
    if blocks.count() >= 2 * Partitions::BLOCKS {
        blocks.join_pairs();
    }
}

// Refinement of cuts to single rows. Each cut in turn moves to the position that minimizes the total loss of its two
// segments, until no cut moves, at most four times. The first step tries about sixteen evenly spaced positions around
// the cut, and each further step narrows the range to one spacing around the best, until it is one row. The loss is not
// convex in the cut, so the best row can be missed, usually for a slightly larger loss.
const POSITIONS: usize = 16;
const PASSES: usize = 4;

pub(super) struct Rows<'a> {
    pub rows: &'a Matrix,
    pub kept: usize,
    pub centered: bool,
}

impl Rows<'_> {
    fn empty(&self) -> RunningScatter {
        RunningScatter::new(self.rows.rows(), self.centered)
    }

    /// Adds rows, and returns the loss of their best subspace.
    fn grown(&self, block: &mut RunningScatter, rows: impl Iterator<Item = usize>) -> f64 {
        rows.for_each(|row| _ = block.add_weighted(self.rows.column(row), 1.0));
        best_loss(&block.whole(), self.kept)
    }

    fn best_of(&self, start: usize, end: usize, cuts: &[usize]) -> (f64, usize) {
        let (mut left, mut right) = (self.empty(), self.empty());
        let (mut from, mut to) = (start, end);
        let mut losses = vec![0.0; cuts.len()];
        for (cut, loss) in cuts.iter().zip(&mut losses) {
            *loss += self.grown(&mut left, from..*cut);
            from = *cut;
        }
        for (cut, loss) in cuts.iter().zip(&mut losses).rev() {
            *loss += self.grown(&mut right, (*cut..to).rev());
            to = *cut;
        }
        let found = losses.into_iter().zip(cuts.iter().copied()).min_by(|a, b| a.0.total_cmp(&b.0));
        found.unwrap_or((f64::INFINITY, start))
    }

    /// Starts with distances up to `reach` from `cut`.
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
        partition.loss = starts.zip(ends).map(|(start, end)| self.grown(&mut self.empty(), start..end)).sum();
        partition
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparators::tests::between;
    use crate::streams;

    fn followed(mut partitions: Partitions, rows: &[Vec<f64>]) -> Partitions {
        rows.iter().for_each(|row| partitions.add(row));
        partitions
    }

    /// Generates noisy rows of `length` numbers with an offset. Their subspace changes at rows 307 and 731.
    fn changing(length: usize, seed: u64) -> Vec<Vec<f64>> {
        let source = streams::three_subspaces(seed);
        let (first, second, third) = (&source[..307], &source[500..924], &source[1000..1300]);
        let mut random = crate::Random::seeded(seed);
        let rows = first.iter().chain(second).chain(third);
        let mut place = |x: Option<&f64>| x.copied().unwrap_or(0.0) + 3.0 + 0.02 * random.normal();
        rows.map(|row| (0..length).map(|i| place(row.get(i))).collect()).collect()
    }

    #[test]
    fn cuts_are_found_to_the_row() {
        for (length, kernel) in [(20, None), (300, None), (20, Some(VectorKernel::Rbf { gamma: 0.5 }))] {
            let new = match kernel.clone() {
                None => Partitions::new(length, true),
                Some(kernel) => Partitions::of_features(kernel, length, true),
            };
            let best = followed(new, &changing(length, 3)).best(3, 3);
            let near = |cut: usize, truth: usize| cut.abs_diff(truth) <= 3;
            let cuts = &best[2].cuts;
            assert!(near(cuts[0], 307) && near(cuts[1], 731), "{length} {kernel:?}: {cuts:?}");
        }
    }

    #[test]
    fn losses_are_those_of_the_segments() {
        let rows = changing(20, 5);
        for centered in [false, true] {
            let plain = followed(Partitions::new(20, centered), &rows).best(2, 4);
            let linear = followed(Partitions::of_features(VectorKernel::Linear, 20, centered), &rows).best(2, 4);
            for (plain, linear) in plain.iter().zip(&linear) {
                let direct = between(&rows, &plain.cuts, 2, centered).unwrap();
                assert!((plain.loss - direct).abs() < 1e-9 * direct, "{centered}: {} {direct}", plain.loss);
                assert!((plain.loss - linear.loss).abs() < 1e-4 * direct, "{centered}: {} {}", plain.loss, linear.loss);
            }
        }
    }

    #[test]
    fn rows_that_are_not_remembered_keep_their_grid() {
        let rows = changing(20, 7);
        let mut partitions = followed(Partitions::new(20, true), &rows[..500]);
        // This imitates a reached memory limit.
        let KeptRows::Rows(seen) = &partitions.seen else { panic!("the rows are few") };
        let mut blocks = Blocks::new(20, 1, true).unwrap();
        (0..500).for_each(|j| add_to_grid(&mut blocks, seen.column(j), partitions.base.as_ref().unwrap()));
        partitions.seen = KeptRows::Grid(blocks);
        let best = followed(partitions, &rows[500..]).best(2, 3);
        let direct = between(&rows, &best[2].cuts, 2, true).unwrap();
        assert!((best[2].loss - direct).abs() < 1e-9 * direct);
        assert!(best[2].cuts[0].abs_diff(307) <= 22, "{:?}", best[2].cuts);
    }
}
