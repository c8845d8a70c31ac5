//! Change points: times at which the level of the score changes, each reported once.
//!
//! Setting: the score s is normalized to `g = (s^{1/3} - median)/deviation` and clipped to ±[`CAP`]. The cube root
//! makes scores nearly normal. Median and deviation are those of a baseline: the scores of the warm-up, and after each
//! change the scores of the next [`RENEWAL`] rows.
//!
//! Rule: a generalized likelihood ratio over the last [`WINDOW`] rows, `max_L (Σ of the last L g)²/(2 v_L)`, with L at
//! least [`SHORTEST`] so that a single row is not a change. The variance v_L of the sum is that of L rows with
//! autocorrelation `ρ = (τ - 1)/(τ + 1)` (τ rows count as one independent row), plus `1.57 L² τ/b` for the median of b
//! baseline rows. A change is reported if the ratio exceeds `ln(time/1.75) - 0.65 ln τ`. The constants come from
//! simulations with autocorrelations 0, 0.64 and 0.8. The start is the maximizing L, moved to the nearby row that best
//! separates the values of the main causing column.
//!
//! Cost: [`WINDOW`] sums per row.

use super::causes::{Cause, Causes, NAMED};
use crate::error::Error;
use crate::scratch::refill;
use crate::state::{LARGEST, count, ensure, entries, within};
use serde::{Deserialize, Serialize};

const WINDOW: usize = 100;
const SHORTEST: usize = 5;
const RENEWAL: usize = 60;
const CAP: f64 = 6.0;
/// Maximum number of rows by which the first estimate of the start is moved.
const NEAR: usize = 10;
const RATE: f64 = 1.75;
const DEPENDENCE: f64 = 0.65;
/// Ratio of the variance of a median to that of a mean, for normal values.
const MEDIAN: f64 = 1.57;

/// Change of the level of the score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Change {
    /// Estimated index of the first row at the new level.
    pub start: u64,
    /// Index of the row at which the change was reported.
    pub reported: u64,
    /// Log-likelihood ratio of a change against no change. Larger values are more certain.
    pub strength: f64,
    /// True if scores increased.
    pub is_rise: bool,
    /// Main causes of the scores since the change, largest share first.
    pub columns: [Option<Cause>; NAMED],
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Changes {
    width: usize,
    change_time: f64,
    center: f64,
    deviation: f64,
    tau: f64,
    baseline_rows: f64,
    numbers: Vec<u64>,
    /// Ring buffers of g, and of cells and ranks, `width` per row.
    deviations: Vec<f64>,
    cells: Vec<f64>,
    ranks: Vec<f64>,
    /// Number of rows since the baseline was set, or 0 while a new baseline is collected.
    rows: u64,
    baseline: Vec<f64>,
    is_renewing: bool,
}

impl Changes {
    pub fn new(width: usize, change_time: f64) -> Self {
        Self {
            width,
            change_time,
            center: 0.0,
            deviation: 1.0,
            tau: 1.0,
            baseline_rows: 1.0,
            numbers: vec![0; WINDOW],
            deviations: vec![0.0; WINDOW],
            cells: vec![0.0; WINDOW * width],
            ranks: vec![0.0; WINDOW * width],
            rows: 0,
            baseline: Vec::with_capacity(RENEWAL),
            is_renewing: false,
        }
    }

    /// Sets the baseline from these scores. `tau` scores are equivalent to one independent score.
    pub fn begin(&mut self, scores: impl Iterator<Item = f64>, tau: f64) {
        refill(&mut self.baseline, scores.map(f64::cbrt));
        self.set_level();
        self.tau = tau.max(1.0);
    }

    fn set_level(&mut self) {
        let median = |list: &mut Vec<f64>| {
            list.sort_unstable_by(f64::total_cmp);
            list[list.len() / 2]
        };
        let list = &mut self.baseline;
        self.baseline_rows = list.len() as f64;
        self.center = median(list);
        list.iter_mut().for_each(|x| *x = (*x - self.center).abs());
        self.deviation = (1.4826 * median(list)).max(1e-6 * self.center.abs()).max(1e-12);
        list.clear();
        (self.rows, self.is_renewing) = (0, false);
    }

    pub fn enter(&mut self, row: u64, score: f64, cells: &[f64], causes: &Causes) -> Option<Change> {
        if self.is_renewing {
            self.baseline.push(score.cbrt());
            if self.baseline.len() >= RENEWAL {
                self.set_level();
            }
            return None;
        }
        let place = (self.rows % WINDOW as u64) as usize;
        let span = place * self.width..(place + 1) * self.width;
        self.numbers[place] = row;
        self.deviations[place] = ((score.cbrt() - self.center) / self.deviation).clamp(-CAP, CAP);
        self.cells[span.clone()].copy_from_slice(cells);
        self.ranks[span].copy_from_slice(&causes.ranks);
        self.rows += 1;
        let (length, strength, sum) = self.longest_ratio()?;
        if strength <= (self.change_time / RATE).ln() - DEPENDENCE * self.tau.ln() {
            return None;
        }
        let mut summed = Causes::new(self.width);
        for back in 0..length {
            let place = self.place(back);
            let span = place * self.width..(place + 1) * self.width;
            summed.ranks.iter_mut().zip(&self.ranks[span]).for_each(|(sum, x)| *sum += x);
        }
        let columns = summed.named();
        let start = self.numbers[self.place(self.refined(length, columns) - 1)];
        (self.is_renewing, self.rows) = (true, 0);
        self.baseline.clear();
        Some(Change { start, reported: row, strength, is_rise: sum > 0.0, columns })
    }

    /// Returns the index in the ring buffers of the row that is `back` rows before the most recent one.
    fn place(&self, back: usize) -> usize {
        ((self.rows - 1 - back as u64) % WINDOW as u64) as usize
    }

    fn held(&self) -> usize {
        self.rows.min(WINDOW as u64) as usize
    }

    /// Returns the L with the largest ratio, the ratio, and the sum of the last L normalized scores.
    fn longest_ratio(&self) -> Option<(usize, f64, f64)> {
        let mut sum = 0.0;
        let mut best: Option<(usize, f64, f64)> = None;
        for back in 0..self.held() {
            sum += self.deviations[self.place(back)];
            let length = back + 1;
            let ratio = sum * sum / (2.0 * self.variance(length as f64));
            if length >= SHORTEST && best.is_none_or(|(_, strength, _)| ratio > strength) {
                best = Some((length, ratio, sum));
            }
        }
        best
    }

    fn variance(&self, length: f64) -> f64 {
        let rho = (self.tau - 1.0) / (self.tau + 1.0);
        let excess = 2.0 * rho * (1.0 - rho.powf(length)) / (1.0 - rho).powi(2);
        length * self.tau - excess + MEDIAN * length * length * self.tau / self.baseline_rows
    }

    /// Moves the estimated number of rows since the change so that two means fit the main causing column best.
    fn refined(&self, length: usize, columns: [Option<Cause>; NAMED]) -> usize {
        let held = self.held();
        let gain = |length: usize| -> f64 {
            let of_column = |cause: &Cause| {
                let cell = |back: usize| self.cells[self.place(back) * self.width + cause.column];
                let mean = |range: std::ops::Range<usize>| {
                    let count = range.len() as f64;
                    range.map(cell).sum::<f64>() / count
                };
                let (after, before) = (length as f64, (held - length) as f64);
                (mean(0..length) - mean(length..held)).powi(2) * after * before / held as f64
            };
            columns.iter().flatten().take(1).map(of_column).sum()
        };
        let (least, most) = (length.saturating_sub(NEAR).max(1), (length + NEAR).min(held.saturating_sub(1)));
        let best = (least..=most).max_by(|a, b| gain(*a).total_cmp(&gain(*b)));
        best.unwrap_or(length)
    }

    pub fn check_state(&self, width: usize) -> Result<(), Error> {
        let size = WINDOW * width;
        let fits = self.width == width
            && self.deviations.len() == WINDOW
            && [&self.cells, &self.ranks].iter().all(|ring| ring.len() == size);
        ensure(fits && self.baseline.len() <= RENEWAL, "the rows of a change must be the last ones")?;
        count("rows without a change", self.rows)?;
        ensure(self.numbers.len() == WINDOW, "the rows of a change must be the last ones")?;
        within("the time between changes", self.change_time, 1.0..=1e9)?;
        within("the rows of a level", self.baseline_rows, 1.0..=LARGEST)?;
        within("the level of the score", self.center, -LARGEST..=LARGEST)?;
        within("the deviation of the score", self.deviation, f64::MIN_POSITIVE..=LARGEST)?;
        within("the rows that are worth one", self.tau, 1.0..=LARGEST)?;
        entries("deviations of the score", &self.deviations, -CAP..=CAP)?;
        entries("rows of a change", &self.cells, -LARGEST..=LARGEST)?;
        entries("causes of a change", &self.ranks, 0.0..=LARGEST)?;
        entries("scores of a level", &self.baseline, 0.0..=LARGEST)
    }
}
