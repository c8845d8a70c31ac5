//! Limits for autocorrelated scores.
//!
//! **Effective number of rows.** Consecutive rows are similar: n of them are equivalent to
//! `n_e = n/τ` independent ones, where `τ = 1 + 2 Σ ρ_h`. The sum runs over the autocorrelations
//! ρ_h of the ranks at lags h = 1, 2, … up to the first that is not positive.
//!
//! **Limit for a share α** of n_e independent scores: the `1 - α'` quantile with
//! `α' = (α(n_e + 1/3) - 2/3)/n_e`, or the largest score if α' is at most `1/(n + 1)`. [`Limit::Conformal`] uses the
//! rank `⌈(n + 1)(1 - α)⌉` instead. If the largest score is used, a moving limit is also at least the limit that
//! Student's distribution gives for the cube roots of the scores.
//!
//! **Moving limit** ([`Recent`]): the quantile of recent scores, clipped at [`CLIP`] times the limit. A limit that
//! learned only from rows below it would keep falling. A fault therefore raises the limit while it lasts.
//!
//! Cost: one selection among the recent scores every [`RENEWAL`] rows.

use super::options::Limit;
use super::tails::{quantile, student_quantile};
use crate::error::Error;
use crate::state::{LARGEST, count, ensure, entries, within};
use serde::{Deserialize, Serialize};

/// Weight of a row in the recent level. It is small enough for a steady level and large enough to follow a
/// moving process.
pub(super) const RECENT_STEP: f64 = 1.0 / 50.0;
/// Share of normal rows above the limits that the user does not set: the limit of the reference score for an alarm, and
/// the limit for possible outliers in the warm-up.
pub(super) const TENTH: f64 = 0.1;

const FEWEST: f64 = 4.0;
/// Number of scores in the window that should exceed the limit.
const PASSING: f64 = 5.0;
const RENEWAL: u64 = 10;
const CLIP: f64 = 1.5;
/// Smallest limit, for streams whose rows are all equal.
const LEAST: f64 = 1e-6;

/// Returns the autocorrelation time τ: the number of values equivalent to one independent value.
pub(super) fn time_between_independent(values: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]).then(a.cmp(b)));
    let middle = 0.5 * (values.len() as f64 - 1.0);
    let mut ranks = vec![0.0; values.len()];
    order.iter().enumerate().for_each(|(rank, row)| ranks[*row] = rank as f64 - middle);
    let energy: f64 = ranks.iter().map(|x| x * x).sum();
    if energy <= 0.0 {
        return 1.0;
    }
    let correlation = |lag: usize| ranks.iter().zip(&ranks[lag..]).map(|(a, b)| a * b).sum::<f64>() / energy;
    1.0 + 2.0 * (1..ranks.len()).map(correlation).take_while(|r| *r > 0.0).sum::<f64>()
}

/// Returns the level of the sample quantile for `alpha`, or `None` for the largest score.
fn level(n: f64, effective: f64, alpha: f64) -> Option<f64> {
    let corrected = (alpha * (effective + 1.0 / 3.0) - 2.0 / 3.0) / effective;
    (corrected > 1.0 / (n + 1.0)).then_some(1.0 - corrected)
}

/// Returns the value that a share `alpha` of later scores should exceed, if scores are independent.
pub(super) fn upper_quantile(scores: &[f64], alpha: f64) -> f64 {
    careful_quantile(scores, alpha, scores.len() as f64)
}

fn careful_quantile(scores: &[f64], alpha: f64, effective: f64) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    level(sorted.len() as f64, effective, alpha).map_or(sorted[sorted.len() - 1], |level| quantile(&sorted, level))
}

/// Returns a limit that the share `alpha` of later values should exceed, given dependent values.
pub(super) fn tail_limit(values: &[f64], alpha: f64) -> f64 {
    let n = values.len() as f64;
    let effective = (n / time_between_independent(values)).max(FEWEST);
    match level(n, effective, alpha) {
        Some(_) => careful_quantile(values, alpha, effective),
        None => prediction_limit(values, alpha),
    }
}

/// Returns the larger of the quantile for `alpha` and Student's prediction limit, given dependent values.
pub(super) fn prediction_limit(values: &[f64], alpha: f64) -> f64 {
    let n = values.len() as f64;
    let effective = (n / time_between_independent(values)).max(FEWEST);
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    let times = student_quantile(alpha.min(0.5), (effective - 1.0).max(FEWEST - 1.0));
    careful_quantile(values, alpha, effective).max(mean + times * (variance * (1.0 + 1.0 / effective)).sqrt())
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Recent {
    rule: Limit,
    scores: Vec<f64>,
    /// Index of the oldest score once the window is full, and 0 before.
    oldest: usize,
    rows: u64,
    pub limit: f64,
}

impl Recent {
    pub fn new(rule: Limit, scores: &[f64]) -> Self {
        let most = window(rule);
        let mut window = Vec::with_capacity(most);
        window.extend_from_slice(&scores[scores.len().saturating_sub(most)..]);
        let mut recent = Self { rule, scores: window, oldest: 0, rows: 0, limit: LEAST };
        recent.set_limit();
        recent
    }

    pub fn push(&mut self, score: f64, working: &mut Vec<f64>) {
        let score = score.min(CLIP * self.limit);
        if self.scores.len() < window(self.rule) {
            self.scores.push(score);
        } else {
            self.scores[self.oldest] = score;
            self.oldest = (self.oldest + 1) % self.scores.len();
        }
        self.rows += 1;
        if self.rows.is_multiple_of(RENEWAL) {
            working.clone_from(&self.scores);
            self.limit = limit_of(self.rule, working);
        }
    }

    fn set_limit(&mut self) {
        self.limit = limit_of(self.rule, &mut self.scores.clone());
    }

    pub fn rate(&self) -> f64 {
        self.rule.rate()
    }

    pub fn check_state(&self) -> Result<(), Error> {
        let rate = self.rule.rate();
        ensure(rate > 0.0 && rate < 1.0, "a limit must have a rate between 0 and 1")?;
        let most = window(self.rule);
        let fits = !self.scores.is_empty() && self.scores.len() <= most && self.oldest < self.scores.len();
        ensure(fits && (self.oldest == 0 || self.scores.len() == most), "a limit must come from the last scores")?;
        entries("scores", &self.scores, 0.0..=LARGEST)?;
        count("rows of a limit", self.rows)?;
        within("a limit of scores", self.limit, LEAST..=LARGEST)
    }
}

fn window(rule: Limit) -> usize {
    ((PASSING / rule.rate()).ceil() as usize).clamp(100, 20_000)
}

/// Returns the limit for these scores, and reorders them.
fn limit_of(rule: Limit, scores: &mut [f64]) -> f64 {
    let n = scores.len();
    let level = match rule {
        Limit::Auto(alpha) => level(n as f64, n as f64, alpha),
        Limit::Conformal(rate) => {
            let rank = ((n as f64 + 1.0) * (1.0 - rate)).ceil();
            (rank < n as f64 && n > 1).then(|| ((rank - 1.0) / (n as f64 - 1.0)).clamp(0.0, 1.0))
        }
    };
    let place = level.unwrap_or(1.0) * (n - 1) as f64;
    let (below, part) = (place as usize, place.fract());
    let (_, low, rest) = scores.select_nth_unstable_by(below, f64::total_cmp);
    let high = rest.iter().copied().fold(f64::INFINITY, f64::min);
    let limit = if part > 0.0 && high.is_finite() { *low + part * (high - *low) } else { *low };
    let beyond = if level.is_none() { extrapolated(scores, rule.rate()) } else { 0.0 };
    limit.max(beyond).max(LEAST)
}

/// Returns a limit at a level beyond the sample, from Student's distribution for the cube roots of
/// the scores, which are nearly normal.
fn extrapolated(scores: &[f64], alpha: f64) -> f64 {
    let n = scores.len() as f64;
    let mean = scores.iter().map(|s| s.cbrt()).sum::<f64>() / n;
    let variance = scores.iter().map(|s| (s.cbrt() - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean + student_quantile(alpha.min(0.5), (n - 1.0).max(FEWEST - 1.0)) * (variance * (1.0 + 1.0 / n)).sqrt()).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Draws scores that are squares of an autoregressive process.
    fn scores(remembered: f64, count: usize, random: &mut Random) -> Vec<f64> {
        let mut state = random.normal();
        let step = (1.0 - remembered * remembered).sqrt();
        let next = |_| {
            state = remembered * state + step * random.normal();
            state * state
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn prediction_limits_are_passed_as_seldom_as_asked_for() {
        for remembered in [0.0, 0.9] {
            let mut random = Random::seeded(7);
            let (mut passed, mut all) = (0, 0);
            for _ in 0..300 {
                let drawn: Vec<f64> = scores(remembered, 900, &mut random).iter().map(|s| s.cbrt()).collect();
                let limit = prediction_limit(&drawn[..400], 0.01);
                passed += drawn[500..].iter().filter(|score| **score > limit).count();
                all += 400;
            }
            let rate = f64::from(passed as u32) / f64::from(all);
            assert!((0.004..=0.016).contains(&rate), "{remembered}: {rate}");
        }
    }

    #[test]
    fn independent_rows_count_in_full_and_dependent_ones_do_not() {
        let mut random = Random::seeded(1);
        let mut tau = |remembered: f64| {
            (0..20).map(|_| time_between_independent(&scores(remembered, 2000, &mut random))).sum::<f64>() / 20.0
        };
        let independent = tau(0.0);
        assert!((1.0..1.2).contains(&independent), "{independent}");
        // The squares have autocorrelation 0.81, so 1 + 2 Σ 0.81^h = 9.5. Ranks give slightly less.
        let dependent = tau(0.9);
        assert!((6.0..9.0).contains(&dependent), "{dependent}");
    }

    #[test]
    fn a_moving_limit_is_the_quantile_of_the_last_scores() {
        for rule in [Limit::Auto(0.05), Limit::Conformal(0.05)] {
            let mut random = Random::seeded(3);
            let drawn = scores(0.0, 4000, &mut random);
            let mut recent = Recent::new(rule, &drawn[..200]);
            let (mut passed, mut working) = (0, Vec::new());
            for score in &drawn[200..] {
                passed += usize::from(*score > recent.limit);
                recent.push(*score, &mut working);
            }
            let rate = passed as f64 / 3800.0;
            assert!((0.04..0.06).contains(&rate), "{rule}: {rate}");
        }
    }

    #[test]
    fn a_moving_limit_follows_scores_that_stay_high_and_returns() {
        let mut random = Random::seeded(4);
        let mut recent = Recent::new(Limit::Auto(0.01), &scores(0.0, 400, &mut random));
        let (before, mut working) = (recent.limit, Vec::new());
        (0..600).for_each(|_| recent.push(100.0 * before, &mut working));
        assert!((recent.limit / before - 100.0).abs() < 1e-9, "{}", recent.limit);
        scores(0.0, 600, &mut random).iter().for_each(|score| recent.push(*score, &mut working));
        assert!(recent.limit < 2.0 * before, "{}", recent.limit);
    }

    #[test]
    fn every_rule_gives_a_limit_between_the_median_and_far_above_the_largest_score() {
        for n in [1, 2, 20, 500] {
            let drawn = scores(0.0, n, &mut Random::seeded(3));
            let mut sorted = drawn.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            for rule in [Limit::Auto(0.01), Limit::Conformal(0.01)] {
                let limit = Recent::new(rule, &drawn).limit;
                let largest = sorted[sorted.len() - 1].max(LEAST);
                assert!(limit >= quantile(&sorted, 0.5) && limit <= 60.0 * largest, "{n} {rule}: {limit}");
            }
        }
    }
}
