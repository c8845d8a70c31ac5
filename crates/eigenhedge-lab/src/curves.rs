//! Cumulative losses of a learner over a stream: the expected loss, and the losses of many random draws.

use crate::{LabError, Progress};
use eigenhedge::internals::dot;
use eigenhedge::{AnyLearner, Instance, Learner, Matrix, Random, trial};
use eigenhedge_pages::Series;
use std::borrow::Borrow;

/// Learner over plain rows whose state can be inspected.
pub trait Inspected: for<'a> Learner<Instance<'a, [f64]>> + Clone {
    /// Returns the number of explicit columns. Computing the loss of a row may add one.
    fn columns(&self) -> usize;
    /// Returns the expected squared length of the kept part of a unit vector.
    fn kept_of(&self, direction: &[f64]) -> Result<f64, LabError>;
    fn most_surely_kept(&mut self, kept: usize) -> Matrix;
}

impl Inspected for AnyLearner {
    fn columns(&self) -> usize {
        AnyLearner::columns(self)
    }

    fn kept_of(&self, direction: &[f64]) -> Result<f64, LabError> {
        let mut probe = self.clone();
        let instance = Instance::from(direction);
        probe.check(&instance)?;
        probe.choose(&mut Random::seeded(0));
        Ok(dot(direction, direction) - probe.incur(&instance).expected)
    }

    fn most_surely_kept(&mut self, kept: usize) -> Matrix {
        self.embedding(kept).components().cloned().unwrap_or_default()
    }
}

#[derive(Debug, Clone, Default)]
pub struct LossTotals {
    pub expected: Vec<f64>,
    /// Mean and standard deviation over the draws of the total loss up to each row.
    pub mean: Vec<f64>,
    pub deviation: Vec<f64>,
}

impl LossTotals {
    pub fn expected_total(&self) -> f64 {
        last(&self.expected)
    }

    pub fn drawn(&self) -> (f64, f64) {
        (last(&self.mean), last(&self.deviation))
    }

    /// Returns the distance of the mean total loss from the expected one, in standard errors.
    pub fn surprise(&self, draws: usize) -> f64 {
        let (mean, deviation) = self.drawn();
        (mean - self.expected_total()).abs() / (deviation / (draws as f64).sqrt() + 1e-9 * (1.0 + mean))
    }

    /// Returns a line through the mean at the first and every tenth row, with error bars of one standard deviation at the
    /// rows `shift`, `100 + shift` and so on. Different shifts keep the bars of several lines apart.
    pub fn series(&self, name: &str, shift: usize) -> Series {
        let rows: Vec<usize> = std::iter::once(0).chain((9..self.mean.len()).step_by(10)).collect();
        let x: Vec<f64> = rows.iter().map(|row| *row as f64 + 1.0).collect();
        let y: Vec<f64> = rows.iter().map(|row| self.mean[*row]).collect();
        let mut series = Series::line(name, &x, &y);
        for (point, row) in series.points.iter_mut().zip(rows) {
            if (row + 1) % 100 == shift {
                (point.low, point.high) = (point.y - self.deviation[row], point.y + self.deviation[row]);
            }
        }
        series
    }
}

/// Runs a learner once over a stream, with `draws` random draws per row, which do not affect its state.
pub fn totals(
    mut learner: impl Inspected,
    stream: &[Vec<f64>],
    (seed, draws): (u64, usize),
    progress: &Progress,
) -> Result<LossTotals, LabError> {
    let mut randoms: Vec<Random> = (1..=draws as u64).map(|i| Random::seeded(seed.wrapping_add(i))).collect();
    let mut lost = vec![0.0; draws];
    let mut totals = LossTotals::default();
    let mut expected = 0.0;
    for (t, row) in stream.iter().enumerate() {
        let instance = Instance::from(&row[..]);
        learner.check(&instance)?;
        let before = learner.clone();
        for (i, (random, lost)) in randoms.iter_mut().zip(&mut lost).enumerate() {
            if learner.columns() > before.columns() {
                learner = before.clone();
            }
            learner.choose(random);
            let loss = learner.incur(&instance);
            *lost += loss.realised;
            expected += if i == 0 { loss.expected } else { 0.0 };
        }
        learner.update(&instance);
        let (mean, deviation) = spread(&lost);
        totals.expected.push(expected);
        totals.mean.push(mean);
        totals.deviation.push(deviation);
        if t % 100 == 0 {
            progress(t as f64 / stream.len() as f64);
        }
    }
    Ok(totals)
}

pub fn expected_losses<I: ?Sized>(
    learner: &mut impl Learner<I>,
    instances: impl ExactSizeIterator<Item = impl Borrow<I>>,
    progress: &Progress,
) -> Result<Vec<f64>, LabError> {
    let (mut random, count) = (Random::seeded(0), instances.len());
    let mut losses = Vec::with_capacity(count);
    for (t, instance) in instances.enumerate() {
        losses.push(trial(learner, instance.borrow(), &mut random)?.expected);
        if t % 50 == 0 {
            progress(t as f64 / count as f64);
        }
    }
    Ok(losses)
}

pub fn spread(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

pub fn cumulated(values: &[f64]) -> Vec<f64> {
    let mut total = 0.0;
    let mut add = |value: &f64| {
        total += value;
        total
    };
    values.iter().map(&mut add).collect()
}

/// Returns the loss `|z|² - |Bᵀ z|²` of a row z for orthonormal columns B.
pub fn loss_of(columns: &Matrix, row: &[f64]) -> f64 {
    let mut coordinates = Vec::new();
    columns.transpose_times(row, &mut coordinates);
    (dot(row, row) - dot(&coordinates, &coordinates)).max(0.0)
}

pub fn last(values: &[f64]) -> f64 {
    values.last().copied().unwrap_or(f64::NAN)
}

pub fn row_numbers(rows: usize) -> Vec<f64> {
    (1..=rows).map(|row| row as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenhedge::{Kind, NormBound, Spec, streams};

    #[test]
    fn spread_of_three_numbers() {
        assert_eq!(spread(&[1.0, 2.0, 3.0]), (2.0, 1.0));
        assert_eq!(spread(&[4.0]), (4.0, 0.0));
    }

    #[test]
    fn shared_draws_equal_separate_runs() {
        let stream = streams::switching(8, 2, 2, 30, 5);
        let spec = Spec { norm_bound: NormBound::Given(1.0), ..Spec::bare(Kind::Tracking, 2) };
        let shared = totals(AnyLearner::new(&spec, 8).unwrap(), &stream, (4, 3), &|_| {}).unwrap();
        let separate: Vec<f64> = (5..=7)
            .map(|seed| {
                let (mut learner, mut random) = (AnyLearner::new(&spec, 8).unwrap(), Random::seeded(seed));
                let step =
                    |row: &Vec<f64>| trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap().realised;
                stream.iter().map(step).sum()
            })
            .collect();
        let (mean, deviation) = spread(&separate);
        assert!((shared.mean[59] - mean).abs() <= 1e-12 && (shared.deviation[59] - deviation).abs() <= 1e-12);
    }
}
