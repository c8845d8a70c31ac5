//! Evidence of a fault on several time scales, for incidents.
//!
//! Setting: x is a row of d values in standard units, and b is the baseline, at first the mean of the warm-up. P are k
//! directions that contain a share `1 - 1/√n` of the energy of the n warm-up rows, at most [`LARGEST_SHARE`]. For rows of at least
//! 512 values, P are the directions of the row scores (`channel`).
//!
//! **Scores.** A *level* is a running mean of the rows with a memory of 1, 4, 16 or 64 rows. Its
//! score is that of `level - b` (Q, T² and M by `shape`, tail probabilities by `tails`). An
//! *energy* `e (exp(mean of ln(1 + s/e)) - 1)` averages the scores s of single rows over 4, 16 or
//! 64 rows. Here e is the value that a share [`USUAL`] of the scores s exceeds in the warm-up. The
//! *jump* is the score of the difference from the previous row.
//!
//! **Limits.** A share `α = m/(6 time)`, at most 5 %, of normal values of a score with memory m exceeds its limit, so
//! that a false incident occurs about once in the requested `time`. The limit is the 95 % point plus the mean excess
//! times `ln(0.05/α)`. It is at least Hill's estimate if the warm-up has fewer than 1/α rows, and at least Student's
//! limit if it is short in autocorrelation times.
//!
//! **Tails.** The warm-up has few independent values of a level with a long memory beyond its 95 % point. Hill's estimate
//! from them alone would call chance grave, so it is shrunk towards that of single rows.
//!
//! **Baseline.** It is fixed unless a column wanders in the warm-up ([`WANDER`]). Then it follows
//! the rows with a memory of 2n rows, or n/4 if the warm-up has fewer than [`FEW`] autocorrelation
//! times. Unusual rows move it less.
//!
//! Cost: one projection per row, O(dk). Levels and baseline are running means of it.

use super::limits::{time_between_independent, upper_quantile};
use super::shape::{Folds, Kept, Parts, Sample, Shape, statistics_of};
use super::tails::{Tails, quantile, student_quantile};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::scratch::{Scratch, refill};
use crate::state::{LARGEST, ensure, entries, list, within};
use serde::{Deserialize, Serialize};

const LEVELS: [f64; 4] = [1.0, 4.0, 16.0, 64.0];
const ENERGIES: [f64; 3] = [4.0, 16.0, 64.0];
/// Number of scores with a memory: levels, then energies.
pub(super) const REMEMBERED: usize = LEVELS.len() + ENERGIES.len();
/// Index of the score of the jump, the last one.
pub(super) const JUMP: usize = REMEMBERED;
const SCORES: usize = REMEMBERED + 1;
const LARGEST_SHARE: f64 = 0.995;
/// Share of normal values above the usual value. An incident ends below the usual value.
const USUAL: f64 = 0.15;
const MOST_OVER: f64 = 0.05;
/// Multiple of the 95 % point at which the scores of the warm-up are clipped before a limit is fitted.
const CAP: f64 = 4.0;
/// Minimum residual energy of a column in the jumps, as a share of the mean over the columns.
const LEAST_RESIDUAL: f64 = 0.03;
/// Length of the warm-up, in autocorrelation times of a column, below which the column wanders.
const WANDER: f64 = 8.0;
/// Length of the warm-up, in mean autocorrelation times of the columns, below which it is too short.
const FEW: f64 = 10.0;
/// Shortest memory of a baseline that follows the rows.
const LEAST_MEMORY: f64 = 64.0;
/// Exponent of the factor `(limit/score)^CAUTION` by which an unusual row moves the baseline less, so that it does not
/// follow a dead sensor.
const CAUTION: f64 = 0.7;
/// Smallest value of [`Bar::tail`]. Lighter tails count as this one.
const LEAST_TAIL: f64 = 0.1;
/// Weight, in independent exceedances, of the tail of single rows in the tail of a score with few of its own.
const SHRINKAGE: f64 = 4.0;
/// Multiple of the requested time in which each score may exceed its limit once. The scores overlap: six of the eight
/// count as independent.
pub(super) const OVERLAP: f64 = 6.0;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Bar {
    pub limit: f64,
    /// Value that a share [`USUAL`] of normal values exceeds.
    pub usual: f64,
    /// Mean logarithm of the ratio of a value above the 95 % point to that point (Hill's estimate), shrunk towards that
    /// of single rows.
    /// Normal scores exceed s > limit `exp(-ln(s/limit)/tail)` times as often as the limit.
    tail: f64,
}

/// Parts along and outside the directions of a row, a running mean or the baseline.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Split {
    along: Vec<f64>,
    outside: Vec<f64>,
}

impl Split {
    fn follow(&mut self, row: &Self, step: f64) {
        let parts = [(&mut self.along, &row.along), (&mut self.outside, &row.outside)];
        for (mean, x) in parts {
            mean.iter_mut().zip(x).for_each(|(m, x)| *m += step * (x - *m));
        }
    }

    fn minus(&self, other: &Self, out: &mut Self) {
        let parts = [(&mut out.along, &self.along, &other.along), (&mut out.outside, &self.outside, &other.outside)];
        for (out, a, b) in parts {
            refill(out, a.iter().zip(b).map(|(a, b)| a - b));
        }
    }

    fn check_state(&self, d: usize, k: usize) -> Result<(), Error> {
        list("a part of a level", &self.along, k, -LARGEST..=LARGEST)?;
        list("a part of a level", &self.outside, d, -LARGEST..=LARGEST)
    }
}

/// Scoring of the rows on all time scales: directions, running means, limits and baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Scales {
    pub shape: Shape,
    tails: [Tails; LEVELS.len()],
    levels: [Split; LEVELS.len()],
    /// Running means of `ln(1 + s/e)`.
    energies: [f64; ENERGIES.len()],
    jump_tails: Tails,
    /// Variances along the directions and residual energies of the differences between rows.
    jump_spread: Split,
    pub bars: [Bar; SCORES],
    baseline: Split,
    /// Memory of the baseline, or `None` if it is fixed.
    memory: Option<f64>,
    /// Length of the warm-up in mean autocorrelation times of its columns.
    lengths: f64,
    rows: u64,
    /// Most recent row, or empty parts if there is none.
    row: Split,
    #[serde(skip)]
    difference: Scratch<Split>,
    #[serde(skip)]
    previous: Scratch<Split>,
}

/// Scores of a row, in the order of levels, energies and jump.
pub(super) type Scores = [f64; SCORES];

/// Returns the rule for the number of directions, given n warm-up rows.
pub(super) fn kept(n: usize) -> Kept {
    Kept::Share((1.0 - 1.0 / (n as f64).sqrt()).min(LARGEST_SHARE))
}

impl Scales {
    /// Fits scores and limits to the warm-up. `flags` contains the flag scores of its rows.
    pub fn fit(sample: Sample<'_>, folds: Folds, flags: &[[f64; 2]], time: f64) -> Self {
        let (d, count) = (sample.rows.rows(), sample.rows.columns());
        let n = count as f64;
        let Folds { shape, others } = folds;
        let floors = shape.floors().map(|floor| floor * 1e-3);
        let mut tails = [Tails::default(); LEVELS.len()];
        let (mut bars, mut first) = (Vec::with_capacity(SCORES), Vec::new());
        let mut last = Vec::new();
        for (tails, memory) in tails.iter_mut().zip(LEVELS) {
            let mut level = sample.rows.column(0).to_vec();
            let mut statistics = Vec::with_capacity(count);
            for (fold, shape) in &others {
                let mut centered = Matrix::zeros(d, fold.len());
                for t in fold.clone() {
                    level.iter_mut().zip(sample.rows.column(t)).for_each(|(l, x)| *l += (x - *l) / memory);
                    let cells = centered.column_mut(t - fold.start).iter_mut().zip(&level);
                    cells.zip(&shape.mean).for_each(|((c, l), m)| *c = l - m);
                }
                statistics.extend(shape.statistics(&centered));
            }
            *tails = Tails::fit(&statistics, floors);
            let of_flags = |t: usize| if memory == 1.0 { flags[t][0] } else { 0.0 };
            let scores: Vec<f64> = statistics.iter().enumerate().map(|(t, s)| tails.score(s) + of_flags(t)).collect();
            let of_rows = bars.first().map(|bar: &Bar| bar.tail);
            bars.push(Bar::fit(&scores, memory, time, of_rows));
            if memory == 1.0 {
                first = scores;
            }
            last.push(split(&shape, &level));
        }
        let (least, of_rows) = (bars[0].usual, Some(bars[0].tail));
        let logs: Vec<f64> = first.iter().map(|s| (s / least).ln_1p()).collect();
        let mean = logs.iter().sum::<f64>() / n;
        for memory in ENERGIES {
            let mut energy = mean;
            let follow = |log: &f64| {
                energy += (log - energy) / memory;
                least * energy.exp_m1()
            };
            let values: Vec<f64> = logs.iter().map(follow).collect();
            bars.push(Bar::fit(&values, memory, time, of_rows));
        }
        let (jump_spread, jump_tails, jumps) = fit_jumps(&shape, sample.rows);
        bars.push(Bar::fit(&jumps, 1.0, time, of_rows));
        let times =
            (0..d).map(|j| time_between_independent(&(0..count).map(|t| sample.rows.column(t)[j]).collect::<Vec<_>>()));
        let (longest, sum) = times.fold((1.0, 0.0), |(most, sum): (f64, f64), time| (most.max(time), sum + time));
        let lengths = n * d as f64 / sum;
        let wanders = longest > n / WANDER;
        let memory = wanders.then_some(if lengths < FEW { 0.25 * n } else { 2.0 * n });
        let baseline = split(&shape, &shape.mean);
        let row = split(&shape, sample.rows.column(count - 1));
        Self {
            tails,
            levels: std::array::from_fn(|i| last[i].clone()),
            energies: [mean; ENERGIES.len()],
            jump_tails,
            jump_spread,
            bars: std::array::from_fn(|i| bars[i]),
            baseline,
            memory,
            lengths,
            rows: count as u64,
            row,
            shape,
            difference: Scratch::default(),
            previous: Scratch::default(),
        }
    }

    /// Returns the relative error of estimates from the n warm-up rows, `1/√n`.
    pub fn error(&self) -> f64 {
        1.0 / (self.rows as f64).sqrt()
    }

    /// Returns the length of the warm-up in mean autocorrelation times, if a column wanders and it is below [`FEW`].
    pub fn too_short(&self) -> Option<f64> {
        Some(self.lengths).filter(|lengths| self.memory.is_some() && *lengths < FEW)
    }

    /// Moves each cell of the most recent row toward its prediction, by at most its half step.
    pub fn unround(&mut self, vector: &mut [f64], half_steps: &[f64]) {
        let parts = &mut self.difference.0;
        project(&self.shape, vector, &mut parts.along, &mut parts.outside);
        let cells = vector.iter_mut().zip(&parts.outside).zip(&self.baseline.outside);
        cells.zip(half_steps).for_each(|(((x, e), b), g)| *x -= (e - b).clamp(-g, *g));
    }

    pub fn enter(&mut self, vector: &[f64], of_flags: f64) -> Scores {
        let (previous, difference) = (&mut self.previous.0, &mut self.difference.0);
        std::mem::swap(previous, &mut self.row);
        project(&self.shape, vector, &mut self.row.along, &mut self.row.outside);
        let mut scores = [0.0; SCORES];
        for (i, (level, memory)) in self.levels.iter_mut().zip(LEVELS).enumerate() {
            level.follow(&self.row, 1.0 / memory);
            level.minus(&self.baseline, difference);
            let Shape { variances, residual_energy, .. } = &self.shape;
            scores[i] =
                self.tails[i].score(&statistics_of(&difference.along, &difference.outside, variances, residual_energy));
        }
        scores[0] += of_flags;
        let least = self.bars[0].usual;
        for (i, (energy, memory)) in self.energies.iter_mut().zip(ENERGIES).enumerate() {
            *energy += ((scores[0] / least).ln_1p() - *energy) / memory;
            scores[LEVELS.len() + i] = least * energy.exp_m1();
        }
        if !previous.outside.is_empty() {
            self.row.minus(previous, difference);
            let Split { along, outside } = &self.jump_spread;
            let statistics = statistics_of(&difference.along, &difference.outside, along, outside);
            scores[JUMP] = self.jump_tails.score(&statistics);
        }
        scores
    }

    /// Writes the vector from which a score was computed (a level minus the baseline, or the jump) and its parts.
    pub fn parts(&self, score: usize, parts: &mut Parts) {
        let mut difference = Split::default();
        match score {
            JUMP => self.row.minus(&self.previous.0, &mut difference),
            // An energy averages single rows. A short level shows their causes with less noise.
            energy if energy >= LEVELS.len() => self.levels[1].minus(&self.baseline, &mut difference),
            level => self.levels[level].minus(&self.baseline, &mut difference),
        }
        let Split { along, outside } = difference;
        parts.centered.clone_from(&outside);
        self.shape.basis.add_times(&along, &mut parts.centered);
        (parts.coordinates, parts.residual) = (along, outside);
    }

    /// Moves the baseline toward the most recent row, unless it is fixed, faster by the factor e^raised.
    pub fn follow(&mut self, scores: &Scores, raised: f64) {
        let Some(memory) = self.memory else { return };
        let remembered = scores.iter().zip(&self.bars).take(REMEMBERED);
        let most = remembered.map(|(score, bar)| score / bar.limit).fold(1.0, f64::max);
        let step = (raised.exp() / memory).min(1.0 / LEAST_MEMORY) * most.powf(-CAUTION);
        self.baseline.follow(&self.row, step);
    }

    /// Sets the baseline and the levels to the column means of another stream.
    pub fn move_to(&mut self, means: &[f64]) {
        let lagged: Vec<f64> = means.iter().copied().cycle().take(self.shape.mean.len()).collect();
        self.baseline = split(&self.shape, &lagged);
        self.levels = std::array::from_fn(|_| self.baseline.clone());
        self.begin_table();
    }

    pub fn begin_table(&mut self) {
        self.row = Split::default();
    }

    pub fn check_state(&self, d: usize) -> Result<(), Error> {
        self.shape.check_state(d)?;
        let k = self.shape.basis.columns();
        self.tails.iter().chain([&self.jump_tails]).try_for_each(Tails::check_state)?;
        let levels = self.levels.iter().chain([&self.baseline, &self.jump_spread]);
        levels.clone().try_for_each(|level| level.check_state(d, k))?;
        entries("the spread of jumps", &self.jump_spread.along, f64::MIN_POSITIVE..=LARGEST)?;
        entries("the spread of jumps", &self.jump_spread.outside, f64::MIN_POSITIVE..=LARGEST)?;
        entries("the energies of a monitor", &self.energies, 0.0..=LARGEST)?;
        if !self.row.outside.is_empty() || !self.row.along.is_empty() {
            self.row.check_state(d, k)?;
        }
        for bar in &self.bars {
            within("the limit of an incident", bar.limit, f64::MIN_POSITIVE..=LARGEST)?;
            within("the usual score of an incident", bar.usual, f64::MIN_POSITIVE..=bar.limit)?;
            within("the tail of a score", bar.tail, LEAST_TAIL..=LARGEST)?;
        }
        ensure(self.rows > 0, "a monitor must have a warm-up")?;
        within("the length of a warm-up", self.lengths, 0.0..=LARGEST)?;
        self.memory.map_or(Ok(()), |memory| within("the memory of a baseline", memory, 1.0..=LARGEST))
    }
}

impl Bar {
    /// Fits the limit to the values of a score in the warm-up. All scores together then cause about
    /// one false incident in `time` rows.
    fn fit(values: &[f64], memory: f64, time: f64, of_rows: Option<f64>) -> Self {
        let alpha = (memory / (OVERLAP * time)).min(MOST_OVER);
        let n = values.len() as f64;
        let effective = (n / time_between_independent(values)).max(4.0);
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let high = quantile(&sorted, 1.0 - MOST_OVER);
        // Clipped, so that outliers in the warm-up do not raise the limit much.
        let values: Vec<f64> = values.iter().map(|s| s.min(CAP * high)).collect();
        sorted.iter_mut().for_each(|s| *s = s.min(CAP * high));
        let excess = || sorted.iter().filter(|s| **s > high);
        let over = excess().count().max(1) as f64;
        let tail = if high > 0.0 { excess().map(|s| (s / high).ln()).sum::<f64>() / over } else { 0.0 };
        let mean_excess = excess().map(|s| s - high).sum::<f64>() / over;
        let mut limit = high + mean_excess * (MOST_OVER / alpha).ln();
        if alpha * n < 1.0 {
            limit = limit.max(high * (MOST_OVER / alpha).powf(tail));
        }
        if alpha * effective < 5.0 {
            let mean = values.iter().map(|s| s.sqrt()).sum::<f64>() / n;
            let variance = values.iter().map(|s| (s.sqrt() - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
            let times = student_quantile(alpha, (effective - 1.0).max(3.0));
            limit = limit.max((mean + times * (variance * (1.0 + 1.0 / effective)).sqrt()).powi(2));
        }
        let limit = limit.max(1e-3);
        let usual = upper_quantile(&values, USUAL).clamp(1e-6, limit);
        let (count, tail) = (MOST_OVER * effective, tail.max(LEAST_TAIL));
        let shrunk = |of_rows: f64| (count * tail + SHRINKAGE * of_rows) / (count + SHRINKAGE);
        let tail = of_rows.map_or(tail, shrunk).max(LEAST_TAIL);
        Self { limit, usual, tail }
    }

    /// Returns the severity of a score of `ratio` times its limit: minus the decimal logarithm of the probability that
    /// a normal score above the limit is as large.
    pub fn severity(&self, ratio: f64) -> f64 {
        ratio.max(1.0).log10() / self.tail
    }
}

fn fit_jumps(shape: &Shape, rows: &Matrix) -> (Split, Tails, Vec<f64>) {
    let (d, k, count) = (rows.rows(), shape.basis.columns(), rows.columns());
    let mut spread = Split { along: vec![0.0; k], outside: vec![0.0; d] };
    let mut steps = Vec::with_capacity(count);
    let (mut before, mut row) = (split(shape, rows.column(0)), Split::default());
    for t in 1..count {
        project(shape, rows.column(t), &mut row.along, &mut row.outside);
        let mut step = Split::default();
        row.minus(&before, &mut step);
        let parts = [(&mut spread.along, &step.along), (&mut spread.outside, &step.outside)];
        for (sum, x) in parts {
            sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += x * x / (count - 1) as f64);
        }
        std::mem::swap(&mut before, &mut row);
        steps.push(step);
    }
    let floor = (1e-3 * shape.floor).max(f64::MIN_POSITIVE.sqrt());
    let least = (LEAST_RESIDUAL * spread.outside.iter().sum::<f64>() / d as f64).max(floor);
    spread.along.iter_mut().for_each(|x| *x = x.max(floor));
    spread.outside.iter_mut().for_each(|x| *x = x.max(least));
    let of_step = |step: &Split| statistics_of(&step.along, &step.outside, &spread.along, &spread.outside);
    let statistics: Vec<[f64; 3]> = steps.iter().map(of_step).collect();
    let tails = Tails::fit(&statistics, shape.floors().map(|floor| floor * 1e-3));
    let scores = statistics.iter().map(|row| tails.score(row)).collect();
    (spread, tails, scores)
}

fn project(shape: &Shape, row: &[f64], along: &mut Vec<f64>, outside: &mut Vec<f64>) {
    shape.basis.transpose_times(row, along);
    row.clone_into(outside);
    shape.basis.subtract_times(along, outside);
}

fn split(shape: &Shape, row: &[f64]) -> Split {
    let mut parts = Split::default();
    project(shape, row, &mut parts.along, &mut parts.outside);
    parts
}
