//! Limits of the score, from scores of rows that the model had not seen.
//!
//! **Folds.** The warm-up is cut into [`FOLDS`] contiguous pieces. Each is looked at by a model of the others, without the rows
//! nearest to it, which share lagged cells with it.
//!
//! **Effective number of rows.** Rows that follow each other are alike, so that n of them say as much as `n_e = n/τ` independent
//! ones, `τ = 1 + 2 Σ` autocorrelations of the ranks up to the first that is not positive.
//!
//! **Limit at level α** ([`Limit::Auto`]): the larger of two. Empirical: the `1 - α'` quantile with `α' = (α(n_e + 1/3) - 2/3)/n_e`,
//! the largest score if α' is less than `1/(n + 1)`. Parametric: `(mean u + t sd(u) √(1 + 1/n_e))³`, with u the cube roots of
//! the scores, and t Student's quantile for `n_e - 1` degrees of freedom.
//!
//! Cost: a sort of the scores, and a pass for each lag of the autocorrelation.

use super::directions::{Directions, Kept, Parts};
use super::options::Limit;
use super::statistics::student_quantile;
use crate::linalg::Matrix;

/// Pieces of the warm-up.
const FOLDS: usize = 5;
/// Fewest rows that scores can be worth.
const FEWEST: f64 = 4.0;
/// Quantile over which scores are peaks.
const PEAKS: f64 = 0.9;

/// Q, T² and M of rows in the columns of a matrix, each from a model that has not seen it nor the `gap` rows around it.
pub(super) fn out_of_sample(rows: &Matrix, gap: usize, kept: Kept) -> Vec<[f64; 3]> {
    let count = rows.columns();
    let mut parts = Parts::default();
    let mut statistics = Vec::with_capacity(count);
    for fold in 0..FOLDS {
        let (start, end) = (fold * count / FOLDS, (fold + 1) * count / FOLDS);
        let directions = Directions::fit(rows, start.saturating_sub(gap)..(end + gap).min(count), kept);
        statistics.extend((start..end).map(|t| directions.look(rows.column(t), &mut parts)));
    }
    statistics
}

/// Working space.
#[derive(Debug, Clone, Default)]
pub(super) struct Working {
    order: Vec<usize>,
    ranks: Vec<f64>,
    sorted: Vec<f64>,
}

impl Working {
    /// Takes scores in the order of their rows; returns τ.
    pub fn load(&mut self, scores: impl Iterator<Item = f64>) -> f64 {
        let Self { order, ranks, sorted } = self;
        sorted.clear();
        sorted.extend(scores);
        let count = sorted.len();
        order.clear();
        order.extend(0..count);
        order.sort_unstable_by(|a, b| sorted[*a].total_cmp(&sorted[*b]).then(a.cmp(b)));
        ranks.clear();
        ranks.resize(count, 0.0);
        let middle = 0.5 * (count as f64 - 1.0);
        order.iter().enumerate().for_each(|(rank, row)| ranks[*row] = rank as f64 - middle);
        sorted.sort_unstable_by(f64::total_cmp);
        time_between_independent(ranks)
    }

    /// The limit by this rule for the scores that were loaded, worth one in `tau`.
    pub fn limit(&self, rule: Limit, tau: f64) -> f64 {
        let scores = &self.sorted;
        match rule {
            Limit::Auto(alpha) => auto(scores, alpha, tau),
            Limit::Conformal(rate) => {
                let rank = ((scores.len() as f64 + 1.0) * (1.0 - rate)).ceil() as usize;
                scores[rank.clamp(1, scores.len()) - 1]
            }
            Limit::Quantile(level) => quantile(scores, level),
            Limit::Spot(rate) => peaks_over_threshold(scores, rate),
        }
    }
}

/// `1 + 2 Σ` autocorrelations of centered numbers up to the first that is not positive.
fn time_between_independent(centered: &[f64]) -> f64 {
    let energy: f64 = centered.iter().map(|x| x * x).sum();
    if energy <= 0.0 {
        return 1.0;
    }
    let correlation = |lag: usize| centered.iter().zip(&centered[lag..]).map(|(a, b)| a * b).sum::<f64>() / energy;
    1.0 + 2.0 * (1..centered.len()).map(correlation).take_while(|r| *r > 0.0).sum::<f64>()
}

fn auto(sorted: &[f64], alpha: f64, tau: f64) -> f64 {
    let count = sorted.len() as f64;
    let effective = (count / tau).max(FEWEST);
    let corrected = (alpha * (effective + 1.0 / 3.0) - 2.0 / 3.0) / effective;
    let empirical =
        if corrected > 1.0 / (count + 1.0) { quantile(sorted, 1.0 - corrected) } else { sorted[sorted.len() - 1] };
    let mean = sorted.iter().map(|c| c.cbrt()).sum::<f64>() / count;
    let variance = sorted.iter().map(|c| (c.cbrt() - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let times = student_quantile(alpha.min(0.5), effective - 1.0);
    let parametric = (mean + times * (variance * (1.0 + 1.0 / effective)).sqrt()).powi(3);
    empirical.max(parametric)
}

/// The quantile between two of the sorted numbers.
fn quantile(sorted: &[f64], level: f64) -> f64 {
    let place = level.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = place as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// The level passed with this probability, by a generalized Pareto tail that has the moments of the peaks.
fn peaks_over_threshold(sorted: &[f64], rate: f64) -> f64 {
    let threshold = quantile(sorted, PEAKS);
    let peaks = &sorted[sorted.partition_point(|c| *c <= threshold)..];
    if peaks.len() < 2 || rate * sorted.len() as f64 >= peaks.len() as f64 {
        return quantile(sorted, 1.0 - rate);
    }
    let count = peaks.len() as f64;
    let mean = peaks.iter().map(|c| c - threshold).sum::<f64>() / count;
    let variance = peaks.iter().map(|c| (c - threshold - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let ratio = mean * mean / variance.max(1e-12 * mean * mean);
    let (shape, scale) = (0.5 * (1.0 - ratio), 0.5 * mean * (1.0 + ratio));
    let odds = rate * sorted.len() as f64 / count;
    let reach = if shape.abs() < 1e-9 { -odds.ln() } else { (odds.powf(-shape) - 1.0) / shape };
    threshold + scale * reach
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Scores whose square roots are those of a process that remembers.
    fn scores(remembered: f64, count: usize, random: &mut Random) -> Vec<f64> {
        let mut state = random.normal();
        let step = (1.0 - remembered * remembered).sqrt();
        let next = |_| {
            state = remembered * state + step * random.normal();
            state * state
        };
        (0..count).map(next).collect()
    }

    /// Share of later scores that pass the limit.
    fn rate(remembered: f64, alpha: f64, tau_factor: f64) -> f64 {
        let (mut random, mut working) = (Random::seeded(7), Working::default());
        let (mut passed, mut all) = (0, 0);
        for _ in 0..300 {
            let drawn = scores(remembered, 900, &mut random);
            let tau = tau_factor * working.load(drawn[..400].iter().copied());
            let limit = working.limit(Limit::Auto(alpha), tau.max(1.0));
            passed += drawn[500..].iter().filter(|score| **score > limit).count();
            all += 400;
        }
        f64::from(passed as u32) / f64::from(all)
    }

    #[test]
    fn the_effective_number_of_rows_makes_the_rates_what_was_asked_for() {
        for remembered in [0.0, 0.9] {
            for alpha in [0.05, 0.01] {
                let found = rate(remembered, alpha, 1.0);
                assert!((alpha / 1.6..=alpha * 1.6).contains(&found), "{remembered} {alpha}: {found}");
            }
        }
        // As if rows were independent.
        let naive = rate(0.9, 0.01, 0.0);
        assert!(naive > 1.25 * rate(0.9, 0.01, 1.0), "{naive}");
    }

    #[test]
    fn independent_rows_count_in_full_and_dependent_ones_do_not() {
        let (mut random, mut working) = (Random::seeded(1), Working::default());
        let tau = |remembered: f64, random: &mut Random, working: &mut Working| {
            (0..20).map(|_| working.load(scores(remembered, 2000, random).into_iter())).sum::<f64>() / 20.0
        };
        let independent = tau(0.0, &mut random, &mut working);
        assert!((1.0..1.2).contains(&independent), "{independent}");
        // The squares of a process that remembers 0.9 remember 0.81, 1 + 2 Σ 0.81^h = 9.5; their ranks a little less.
        let dependent = tau(0.9, &mut random, &mut working);
        assert!((6.0..9.0).contains(&dependent), "{dependent}");
    }

    #[test]
    fn every_rule_gives_a_limit_between_the_median_and_far_above_the_largest_score() {
        let mut working = Working::default();
        for count in [1, 2, 20, 500] {
            let drawn = scores(0.0, count, &mut Random::seeded(3));
            let tau = working.load(drawn.iter().copied());
            let largest = drawn.iter().fold(0.0, |a: f64, b| a.max(*b));
            for rule in [Limit::Auto(0.01), Limit::Conformal(0.01), Limit::Quantile(0.99), Limit::Spot(0.01)] {
                let limit = working.limit(rule, tau);
                assert!(limit >= quantile(&working.sorted, 0.5) && limit <= 60.0 * largest, "{count} {rule}: {limit}");
            }
        }
    }
}
