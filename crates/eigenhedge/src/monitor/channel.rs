//! Scores of a row relative to the mean of the warm-up and to the level of the most recent rows,
//! both with the shape of the warm-up.
//!
//! **Reference score** v: score of `x - mean` for a row x. **Recent score** q: score of `x - level`, with
//! `level ← level + (x - level)/50` for every row. A row is an alarm if v exceeds the limit that a tenth of the warm-up
//! exceeded, and q the limit that the requested share of the most recent rows exceeded. The second condition determines
//! the rate. The first excludes rows that are common in the warm-up, such as the return from a fault. With
//! [`Mode::Freeze`], v alone is compared with a fixed limit. A burst of alarms raises the recent limit while it lasts,
//! so that in the long run at most three times the requested share of rows are alarms.
//!
//! The parts of `level - mean` follow the recursion of the level, which saves the products for `x - level`. Every row
//! updates level and limit: if only rows without an alarm did, a cluster of normal rows would cause alarms forever.
//!
//! **Calibration** is out of sample: each contiguous fold of the warm-up is scored by a shape of the others ([`Folds`]).

use super::limits::{RECENT_STEP, Recent, TENTH, tail_limit, upper_quantile};
use super::options::{Limit, Mode};
use super::shape::{Folds, Parts, Sample, Shape};
use super::tails::Tails;
use crate::error::Error;
use crate::linalg::Matrix;
use crate::scratch::{Scratch, refill};
use crate::state::{LARGEST, list, within};
use serde::{Deserialize, Serialize};

/// Share of alarms, as a multiple of the requested one, above which a burst raises the limit.
const BURST: f64 = 3.0;
/// Approximate increase of the logarithm of the limit at each alarm of a burst.
const BURST_STEP: f64 = 0.03;

/// Scoring of rows, or of the differences between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Channel {
    pub shape: Shape,
    reference: Tails,
    recent: Tails,
    pub level: Vec<f64>,
    /// Coordinates of `level - mean` in the directions. `level_outside` is its part outside them.
    level_along: Vec<f64>,
    level_outside: Vec<f64>,
    /// Limit of the reference score that a tenth of normal rows exceed.
    pub reference_limit: f64,
    /// Limit of the reference score with [`Mode::Freeze`].
    pub fixed_limit: f64,
    limits: Recent,
    /// Logarithm of the factor by which bursts of alarms have raised the limit of the most recent rows. It decays.
    raised: f64,
    #[serde(skip)]
    pub reference_parts: Scratch<Parts>,
    #[serde(skip)]
    pub recent_parts: Scratch<Parts>,
    #[serde(skip)]
    working: Scratch<Vec<f64>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub score: f64,
    pub q: f64,
    pub t2: f64,
    /// Ratio of score to limit, above 1 for an alarm. With [`Mode::Adapt`], the smaller of the ratios of both scores.
    pub ratio: f64,
    recent: f64,
}

impl Channel {
    /// Fits a channel. `flags` has the flag scores of each row. Also returns the reference scores, out of sample.
    pub fn fit(sample: Sample<'_>, folds: &Folds, flags: &[[f64; 2]], rule: Limit) -> (Self, Vec<f64>) {
        let count = sample.rows.columns();
        let shape = folds.shape.clone();
        let mut level = first_level(sample);
        let (mut about_mean, mut about_level) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for (fold, others) in &folds.others {
            let mut centered = [(); 2].map(|()| Matrix::zeros(sample.rows.rows(), fold.len()));
            for t in fold.clone() {
                let row = sample.rows.column(t);
                for (centered, level) in centered.iter_mut().zip([&others.mean, &level]) {
                    let cells = centered.column_mut(t - fold.start).iter_mut().zip(row);
                    cells.zip(level).for_each(|((c, x), l)| *c = x - l);
                }
                follow(&mut level, row);
            }
            about_mean.extend(others.statistics(&centered[0]));
            about_level.extend(others.statistics(&centered[1]));
        }
        let (reference, recent) = (Tails::fit(&about_mean, shape.floors()), Tails::fit(&about_level, shape.floors()));
        let scores = |tails: &Tails, statistics: &[[f64; 3]], which: usize| -> Vec<f64> {
            statistics.iter().zip(flags).map(|(row, flags)| tails.score(row) + flags[which]).collect()
        };
        let references = scores(&reference, &about_mean, 0);
        let recents = scores(&recent, &about_level, 1);
        let roots: Vec<f64> = references.iter().map(|score| score.cbrt()).collect();
        let reference_limit = upper_quantile(&references, TENTH).max(1e-6);
        let mut parts = Parts::default();
        shape.look(&level, &shape.mean, &mut parts);
        let channel = Self {
            shape,
            reference,
            recent,
            level,
            level_along: parts.coordinates,
            level_outside: parts.residual,
            reference_limit,
            fixed_limit: tail_limit(&roots, rule.rate()).powi(3).max(reference_limit),
            limits: Recent::new(rule, &recents),
            raised: 0.0,
            reference_parts: Scratch::default(),
            recent_parts: Scratch::default(),
            working: Scratch::default(),
        };
        (channel, references)
    }

    pub fn look(&mut self, row: &[f64], flags: [f64; 2], mode: Mode) -> Scored {
        let statistics = self.shape.look(row, &self.shape.mean, &mut self.reference_parts.0);
        let (about_mean, recent) = (&self.reference_parts.0, &mut self.recent_parts.0);
        difference(row, &self.level, &mut recent.centered);
        difference(&about_mean.coordinates, &self.level_along, &mut recent.coordinates);
        difference(&about_mean.residual, &self.level_outside, &mut recent.residual);
        let about_level = self.shape.statistics_of(&recent.coordinates, &recent.residual);
        let [q, t2, _] = statistics;
        let score = self.reference.score(&statistics) + flags[0];
        let recent = self.recent.score(&about_level) + flags[1];
        let ratio = match mode {
            Mode::Freeze(_) => score / self.fixed_limit,
            Mode::Adapt => (score / self.reference_limit).min(recent / (self.limits.limit * self.raised.exp())),
        };
        Scored { score, q, t2, ratio, recent }
    }

    pub fn follow(&mut self, row: &[f64], scored: &Scored) {
        follow(&mut self.level, row);
        let alarm = f64::from(u8::from(scored.ratio > 1.0));
        self.raised = (self.raised + BURST_STEP * (alarm - BURST * self.limits.rate())).max(0.0);
        follow(&mut self.level_along, &self.reference_parts.0.coordinates);
        follow(&mut self.level_outside, &self.reference_parts.0.residual);
        self.limits.push(scored.recent, &mut self.working.0);
    }

    pub fn fill(&mut self, row: &mut [f64]) {
        self.shape.fill(row, &self.level);
    }

    /// Sets the mean of the reference and the recent level to the column means of another stream.
    pub fn move_to(&mut self, means: &[f64]) {
        self.shape.move_to(means);
        self.level.clone_from(&self.shape.mean);
        self.level_along.fill(0.0);
        self.level_outside.fill(0.0);
    }

    pub fn limit(&self, mode: Mode) -> f64 {
        if mode == Mode::Adapt { self.reference_limit } else { self.fixed_limit }
    }

    /// Returns the values of Q and of T² that the requested share of normal rows exceed, or half of it if differences
    /// are scored too.
    pub fn statistic_limits(&self) -> [f64; 2] {
        self.reference.exceeded_with(self.limits.rate())
    }

    pub fn check_state(&self, d: usize) -> Result<(), Error> {
        self.shape.check_state(d)?;
        self.reference.check_state()?;
        self.recent.check_state()?;
        list("the level of a monitor", &self.level, d, -LARGEST..=LARGEST)?;
        list("the coordinates of the level", &self.level_along, self.shape.basis.columns(), -LARGEST..=LARGEST)?;
        list("the level outside the directions", &self.level_outside, d, -LARGEST..=LARGEST)?;
        within("a limit of scores", self.reference_limit, f64::MIN_POSITIVE..=LARGEST)?;
        within("a limit of scores", self.fixed_limit, f64::MIN_POSITIVE..=LARGEST)?;
        within("the raise of a limit", self.raised, 0.0..=1e3)?;
        self.limits.check_state()
    }
}

fn first_level(sample: Sample<'_>) -> Vec<f64> {
    let count = sample.rows.columns().min((1.0 / RECENT_STEP) as usize).max(1);
    let mut level = vec![0.0; sample.rows.rows()];
    for t in 0..count.min(sample.rows.columns()) {
        level.iter_mut().zip(sample.rows.column(t)).for_each(|(l, x)| *l += x / count as f64);
    }
    level
}

fn difference(a: &[f64], b: &[f64], out: &mut Vec<f64>) {
    refill(out, a.iter().zip(b).map(|(a, b)| a - b));
}

fn follow(level: &mut [f64], row: &[f64]) {
    level.iter_mut().zip(row).for_each(|(l, x)| *l += RECENT_STEP * (x - *l));
}
