//! Logarithmic tail probabilities of the statistics of a row, finite for any value.
//!
//! Setting: the cube root of a sum of squares is nearly normal (Wilson and Hilferty). Its center is the median over the
//! warm-up, and its spread comes from the [`UPPER`] quantile. A tenth of bad rows hardly affects either. The tail
//! probability p of a statistic x is given by `log p = log Φ(-ζ)` with `ζ = (x^{1/3} - center)/spread`, where Φ is the
//! standard normal distribution function. The score of a row is `-(log p_Q + log p_T² + log p_M)`. It is not a p-value,
//! because the three are dependent.
//!
//! Numerics: for large arguments, `ln erfc` comes from its asymptotic series, so that nothing underflows.

use crate::error::Error;
use crate::scratch::refill;
use crate::state::{LARGEST, within};
use serde::{Deserialize, Serialize};

/// Level of the quantile that gives the spread, far from both the median and the tail.
const UPPER: f64 = 0.8;
/// Minimum spread, as a share of the center.
const LEAST_SPREAD: f64 = 1e-3;

/// Argument above which the asymptotic series is exact up to rounding. `erfc` underflows above 26.
const LARGE: f64 = 25.0;

/// Distributions of Q, T² and M over normal rows.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Tails {
    statistics: [Tail; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Tail {
    center: f64,
    spread: f64,
    /// False if the statistic is a rounding error in most rows. It is then left out of the score.
    is_used: bool,
}

impl Tails {
    pub fn fit(rows: &[[f64; 3]], floors: [f64; 3]) -> Self {
        let mut sorted = Vec::with_capacity(rows.len());
        let statistics = [0, 1, 2].map(|i| {
            refill(&mut sorted, rows.iter().map(|row| row[i].cbrt()));
            sorted.sort_unstable_by(f64::total_cmp);
            let (median, least) = (quantile(&sorted, 0.5), floors[i].cbrt());
            let center = median.max(least);
            let spread = (quantile(&sorted, UPPER) - center) / normal_quantile(1.0 - UPPER);
            Tail { center, spread: spread.max(LEAST_SPREAD * center), is_used: median > least }
        });
        Self { statistics }
    }

    pub fn score(&self, statistics: &[f64; 3]) -> f64 {
        let used = self.statistics.iter().zip(statistics).filter(|(tail, _)| tail.is_used);
        used.map(|(tail, x)| -ln_upper_tail((x.cbrt() - tail.center) / tail.spread)).sum()
    }

    /// Returns the values of Q and of T² that normal rows exceed with probability p.
    pub fn exceeded_with(&self, p: f64) -> [f64; 2] {
        [0, 1].map(|i| {
            let Tail { center, spread, .. } = self.statistics[i];
            (center + normal_quantile(p) * spread).max(0.0).powi(3)
        })
    }

    pub fn check_state(&self) -> Result<(), Error> {
        self.statistics.iter().try_for_each(|tail| {
            within("the center of a statistic", tail.center, f64::MIN_POSITIVE..=LARGEST)?;
            within("the spread of a statistic", tail.spread, f64::MIN_POSITIVE..=LARGEST)
        })
    }
}

pub(super) fn quantile(sorted: &[f64], level: f64) -> f64 {
    let place = level.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = place as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// Returns `log Φ(-z)`.
pub(super) fn ln_upper_tail(z: f64) -> f64 {
    let x = z * std::f64::consts::FRAC_1_SQRT_2;
    if z < 0.0 {
        return (-0.5 * libm::erfc(-x)).ln_1p();
    }
    if x < LARGE {
        return (0.5 * libm::erfc(x)).ln();
    }
    // `erfc(x) = exp(-x²) (1 - h + 3 h² - 15 h³ + 105 h⁴ - …) / (x √π)` with `h = 1/(2x²)`. The first omitted term is
    // below 1e-12, and the logarithm is below -600.
    let h = 0.5 / (x * x);
    let series = -h * (1.0 - h * (3.0 - h * (15.0 - 105.0 * h)));
    -x * x - (2.0 * x * std::f64::consts::PI.sqrt()).ln() + series.ln_1p()
}

/// Returns the z with `Φ(-z) = p`, for p in (0, 1). Uses Acklam's method, with a relative error of about 1e-9.
pub(super) fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -39.696_830_286_653_76,
        220.946_098_424_520_5,
        -275.928_510_446_968_7,
        138.357_751_867_269,
        -30.664_798_066_147_16,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -54.476_098_798_224_06,
        161.585_836_858_040_9,
        -155.698_979_859_886_6,
        66.801_311_887_719_72,
        -13.280_681_552_885_72,
    ];
    const C: [f64; 6] = [
        -0.007_784_894_002_430_293,
        -0.322_396_458_041_136_5,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] =
        [0.007_784_695_709_041_462, 0.322_467_129_070_039_8, 2.445_134_137_142_996, 3.754_408_661_907_416];
    let horner = |terms: &[f64], x: f64| terms.iter().fold(0.0, |sum, term| sum * x + term);
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p < 0.024_25 {
        let q = (-2.0 * p.ln()).sqrt();
        return -horner(&C, q) / (horner(&D, q) * q + 1.0);
    }
    let q = p - 0.5;
    let r = q * q;
    -horner(&A, r) * q / (horner(&B, r) * r + 1.0)
}

/// Returns the value that Student's t exceeds with probability p ≤ 1/2. Uses Hill's algorithm 396.
pub(super) fn student_quantile(p: f64, degrees: f64) -> f64 {
    let (n, p) = (degrees, 2.0 * p);
    let a = 1.0 / (n - 0.5);
    let b = 48.0 / (a * a);
    let mut c = ((20700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * std::f64::consts::FRAC_PI_2).sqrt() * n;
    let mut y = (d * p).powf(2.0 / n);
    if y > 0.05 + a {
        let x = -normal_quantile(0.5 * p);
        y = x * x;
        if n < 5.0 {
            c += 0.3 * (n - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = (a * y * y).exp_m1();
    } else {
        y = ((1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0) + 0.5 / (n + 4.0)) * y - 1.0)
            * (n + 1.0)
            / (n + 2.0)
            + 1.0 / y;
    }
    (n * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn tails_and_quantiles_are_those_of_the_tables() {
        for (z, p) in
            [(0.0, 0.5), (1.0, 0.158_655_254), (-1.5, 0.933_192_799), (3.0, 0.001_349_898), (8.0, 6.220_961e-16)]
        {
            let found = ln_upper_tail(z).exp();
            assert!((found - p).abs() <= 1e-7 * p, "{z}: {found} {p}");
            if z < 7.0 {
                assert!((normal_quantile(p) - z).abs() < 1e-6, "{z}: {}", normal_quantile(p));
            }
        }
        // Mills' ratio as a continued fraction, on both sides of the switch to the series.
        for z in [10.0, 30.0, 35.0, 35.3, 35.4, 36.0, 60.0, 1e4, 1e100] {
            let ratio = (1..=200).rev().fold(z, |below, i| z + f64::from(i) / below);
            let wanted = -0.5 * z * z - (ratio * (2.0 * std::f64::consts::PI).sqrt()).ln();
            assert!((ln_upper_tail(z) / wanted - 1.0).abs() < 1e-14, "{z}: {} {wanted}", ln_upper_tail(z));
        }
        for (p, degrees, wanted) in
            [(0.01, 10.0, 2.763_769), (0.001, 4.0, 7.173_182), (0.1, 3.0, 1.637_744), (0.05, 120.0, 1.657_651)]
        {
            let found = student_quantile(p, degrees);
            assert!((found / wanted - 1.0).abs() < 3e-3, "{p} {degrees}: {found} {wanted}");
        }
    }

    fn chi_squares(degrees: usize, count: usize, seed: u64) -> Vec<[f64; 3]> {
        let mut random = Random::seeded(seed);
        (0..count).map(|_| [(0..degrees).map(|_| random.normal().powi(2)).sum(); 3]).collect()
    }

    #[test]
    fn scores_are_finite_and_rise_for_any_value() {
        let rows = [chi_squares(3, 50, 1), vec![[0.0; 3]; 50], vec![[1e-3; 3]; 50]];
        for tails in rows.iter().map(|rows| Tails::fit(rows, [1e-9; 3])) {
            let values = [0.0, 1e-300, 1e-9, 1.0, 10.0, 1e6, 1e100, 1e160].map(|x| tails.score(&[x; 3]));
            assert!(values.iter().all(|score| score.is_finite() && *score >= 0.0), "{values:?}");
            assert!(values.windows(2).all(|pair| pair[0] <= pair[1]), "{values:?}");
        }
    }

    #[test]
    fn the_tail_is_that_of_a_chi_square_and_a_tenth_of_bad_rows_does_not_move_it() {
        let mut rows = chi_squares(12, 20_000, 2);
        // Twelve degrees of freedom: 26.217 is exceeded with probability 0.01.
        let score = |rows: &[[f64; 3]]| Tails::fit(rows, [1e-9; 3]).score(&[26.217; 3]) / 3.0;
        let clean = score(&rows);
        assert!((clean + 0.01f64.ln()).abs() < 0.3, "{clean}");
        rows.iter_mut().step_by(12).for_each(|row| *row = [1e12; 3]);
        let dirty = score(&rows);
        assert!((dirty / clean - 1.0).abs() < 0.35, "{clean} {dirty}");
    }
}
