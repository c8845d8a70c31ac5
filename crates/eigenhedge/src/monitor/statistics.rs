//! Tail probabilities of the statistics of a row, as logarithms that are finite for any value.
//!
//! Setting: a sum of squares with mean m and variance v on rows that are normal behaves like a scaled chi-square with
//! `h = 2m²/v` degrees of freedom, whose cube root is nearly normal (Wilson and Hilferty):
//!
//! `ζ = ((x/m)^{1/3} - (1 - 2/(9h))) / √(2/(9h))`, `log p = log Φ(-ζ)`.
//!
//! Numerics: the complementary error function is taken as a logarithm (relative error 1.2e-7), so that nothing underflows.

use crate::error::Error;
use crate::state::{LARGEST, energy};
use serde::{Deserialize, Serialize};

/// Least variance, as a share of the squared mean.
const LEAST_SPREAD: f64 = 1e-6;
/// Standard deviations of the cube root at which a value that moves mean and variance is cut off.
const WINSOR: f64 = 2.5;

/// Mean and variance of a statistic on calibration rows.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Moments {
    mean: f64,
    variance: f64,
    /// Least mean: smaller values are rounding.
    floor: f64,
}

impl Moments {
    /// Of these values.
    pub fn of(values: impl ExactSizeIterator<Item = f64> + Clone, floor: f64) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.clone().sum::<f64>() / count;
        let variance = values.map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        Self { mean, variance, floor }
    }

    /// Mean, and mean and deviation of the cube root of `x/mean`.
    fn cube_root(&self) -> (f64, f64, f64) {
        let mean = self.mean.max(self.floor);
        let variance = self.variance.max(LEAST_SPREAD * mean * mean);
        // 2/(9h)
        let ninth = variance / (9.0 * mean * mean);
        (mean, 1.0 - ninth, ninth.sqrt())
    }

    /// Logarithm of the probability of a value this large.
    pub fn log_p(&self, x: f64) -> f64 {
        let (mean, center, deviation) = self.cube_root();
        // The quotient of the roots: that of the numbers themselves may overflow.
        ln_upper_tail((x.cbrt() / mean.cbrt() - center) / deviation)
    }

    /// The value that is exceeded with this probability.
    pub fn exceeded_with(&self, p: f64) -> f64 {
        let (mean, center, deviation) = self.cube_root();
        mean * (center + normal_quantile(p) * deviation).max(0.0).powi(3)
    }

    /// Follows a value with this memory; one that is far out counts as less.
    pub fn follow(&mut self, x: f64, memory: f64) {
        let (mean, center, deviation) = self.cube_root();
        let most = mean * (center + WINSOR * deviation).max(0.0).powi(3);
        let distance = x.min(most) - self.mean;
        self.mean += distance / memory;
        self.variance = (1.0 - 1.0 / memory) * (self.variance + distance * distance / memory);
    }

    /// Checks what was read from bytes.
    pub fn check_state(&self) -> Result<(), Error> {
        energy("the mean of a statistic", self.mean)?;
        energy("the variance of a statistic", self.variance)?;
        crate::state::within("the floor of a statistic", self.floor, f64::MIN_POSITIVE..=LARGEST)
    }
}

/// `log Φ(-z)`.
pub(super) fn ln_upper_tail(z: f64) -> f64 {
    let x = z.abs() * std::f64::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    const TERMS: [f64; 10] = [
        0.170_872_77,
        -0.822_152_23,
        1.488_515_87,
        -1.135_203_98,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_68,
        -1.265_512_23,
    ];
    let series = TERMS.iter().fold(0.0, |sum, term| sum * t + term);
    let half_erfc = t.ln() - x * x + series - std::f64::consts::LN_2;
    if z >= 0.0 { half_erfc } else { (-half_erfc.exp()).ln_1p() }
}

/// The z with `Φ(-z) = p`, for p in (0, 1); by Acklam, relative error 1e-9.
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

/// The value that Student's t with these degrees of freedom exceeds with probability p, at most one half; by Hill
/// (algorithm 396).
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

    #[test]
    fn tails_and_quantiles_are_those_of_the_tables() {
        for (z, p) in
            [(0.0, 0.5), (1.0, 0.158_655_254), (-1.5, 0.933_192_799), (3.0, 0.001_349_898), (8.0, 6.220_961e-16)]
        {
            let found = ln_upper_tail(z).exp();
            assert!((found - p).abs() <= 3e-7 * p, "{z}: {found} {p}");
            if z < 7.0 {
                assert!((normal_quantile(p) - z).abs() < 1e-6, "{z}: {}", normal_quantile(p));
            }
        }
        for (p, degrees, wanted) in
            [(0.01, 10.0, 2.763_769), (0.001, 4.0, 7.173_182), (0.1, 3.0, 1.637_744), (0.05, 120.0, 1.657_651)]
        {
            let found = student_quantile(p, degrees);
            assert!((found / wanted - 1.0).abs() < 3e-3, "{p} {degrees}: {found} {wanted}");
        }
    }

    #[test]
    fn log_p_is_finite_and_falls_for_any_value() {
        for moments in [
            Moments { mean: 3.0, variance: 2.0, floor: 1e-9 },
            Moments { mean: 0.0, variance: 0.0, floor: 1e-9 },
            Moments { mean: 1e-3, variance: 1e6, floor: 1e-9 },
        ] {
            let values = [0.0, 1e-300, 1e-9, 1.0, 10.0, 1e6, 1e100, 1e306].map(|x| moments.log_p(x));
            assert!(values.iter().all(|p| p.is_finite() && *p <= 0.0), "{values:?}");
            assert!(values.windows(2).all(|pair| pair[0] >= pair[1]), "{values:?}");
        }
    }

    #[test]
    fn log_p_is_the_tail_of_a_chi_square() {
        // Twelve degrees of freedom: 26.217 is exceeded with probability 0.01, 6.304 with 0.9.
        let moments = Moments { mean: 12.0, variance: 24.0, floor: 1e-9 };
        assert!((moments.log_p(26.217).exp() - 0.01).abs() < 5e-4);
        assert!((moments.log_p(6.304).exp() - 0.9).abs() < 5e-3);
    }
}
