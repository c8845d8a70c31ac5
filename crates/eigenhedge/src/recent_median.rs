//! Running median of the most recent numbers of a sequence, and clipping of long rows.

use crate::error::Error;
use crate::scratch::Scratch;
use crate::state::{LARGEST, count, ensure, entries};
use serde::{Deserialize, Serialize};

const WINDOW: usize = 101;
const ENOUGH: usize = 10;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct RecentMedian {
    /// Most recent numbers. A full list is a ring buffer whose oldest number has the index `oldest`.
    ring: Vec<f64>,
    oldest: usize,
    /// Numbers of `ring` in ascending order. Empty after deserialization or [`Self::rescale`], until the next `push`.
    #[serde(skip)]
    sorted: Scratch<Vec<f64>>,
}

impl RecentMedian {
    pub fn value(&self) -> Option<f64> {
        match (self.ring.len(), self.sorted.0.len()) {
            (0..ENOUGH, _) => None,
            (length, sorted) if length == sorted => Some(self.sorted.0[length / 2]),
            (length, _) => {
                let mut sorted = self.ring.clone();
                sorted.sort_unstable_by(f64::total_cmp);
                Some(sorted[length / 2])
            }
        }
    }

    pub fn push(&mut self, number: f64) {
        let sorted = &mut self.sorted.0;
        if sorted.len() != self.ring.len() {
            sorted.clone_from(&self.ring);
            sorted.sort_unstable_by(f64::total_cmp);
        }
        let place = |sorted: &[f64], number: f64| sorted.partition_point(|other| other.total_cmp(&number).is_lt());
        if self.ring.len() < WINDOW {
            self.ring.push(number);
        } else {
            let oldest = std::mem::replace(&mut self.ring[self.oldest], number);
            self.oldest = (self.oldest + 1) % WINDOW;
            sorted.remove(place(sorted, oldest));
        }
        sorted.insert(place(sorted, number), number);
    }

    /// Returns `times` the median of the previous numbers, or infinity without a positive median.
    pub fn limit(&self, times: f64) -> f64 {
        self.value().filter(|median| *median > 0.0).map_or(f64::INFINITY, |median| times * median)
    }

    /// Returns the factor that reduces `number` to the limit of [`Self::limit`], or 1 if the number is not larger.
    pub fn shortening(&self, number: f64, times: f64) -> f64 {
        let limit = self.limit(times);
        if number > limit { limit / number } else { 1.0 }
    }

    pub fn rescale(&mut self, factor: f64) {
        self.ring.iter_mut().for_each(|number| *number *= factor);
        self.sorted.0.clear();
    }

    pub fn check_state(&self) -> Result<(), Error> {
        let fits = self.ring.len() <= WINDOW && self.oldest < WINDOW.min(self.ring.len().max(1));
        ensure(fits, "a median must be that of the last 101 numbers")?;
        entries("numbers whose median is followed", &self.ring, 0.0..=LARGEST)
    }
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Clip {
    norms: RecentMedian,
    pub clipped: u64,
}

impl Clip {
    /// Returns the factor that shortens a row to at most `times` the median norm, or 1 if `times` is `None`.
    pub fn factor(&self, times: Option<f64>, norm: f64) -> f64 {
        times.map_or(1.0, |times| self.norms.shortening(norm, times))
    }

    /// Records the norm of a row and the factor with which it was learned. Does nothing if `times` is `None`.
    pub fn count_in(&mut self, times: Option<f64>, norm: f64, factor: f64) {
        if times.is_some() {
            self.norms.push(norm);
            self.clipped += u64::from(factor < 1.0);
        }
    }

    pub fn check_state(&self) -> Result<(), Error> {
        count("the number of rows that were shortened", self.clipped)?;
        self.norms.check_state()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn it_is_the_median_of_the_last_numbers() {
        let (mut random, mut median, mut all) = (Random::seeded(3), RecentMedian::default(), Vec::new());
        for t in 0..400 {
            let last: &[f64] = &all[all.len().saturating_sub(WINDOW)..];
            let mut sorted = last.to_vec();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(median.value(), (t >= ENOUGH).then(|| sorted[sorted.len() / 2]));
            if t == 250 {
                // The sorted numbers are missing, as after deserialization.
                median.sorted = Scratch::default();
                assert_eq!(median.value(), Some(sorted[sorted.len() / 2]));
            }
            // The numbers contain many duplicates.
            let number = (8.0 * random.uniform()).floor();
            median.push(number);
            all.push(number);
        }
        assert_eq!(median.shortening(1e3, 2.0), 2.0 * median.value().unwrap() / 1e3);
        assert_eq!(median.shortening(0.0, 2.0), 1.0);
    }
}
