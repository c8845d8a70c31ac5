//! Numerical functions shared by several modules.

mod exp;

pub(crate) use exp::exp_lane;
pub use exp::{exp, kept_all};

/// Returns `log(Σ exp(x))`, or `-∞` without terms. Ascending order is most accurate.
pub fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    largest + terms.map(|t| (t - largest).exp()).sum::<f64>().ln()
}

/// Returns the probability of being kept, `1 - v`, given `log v`.
pub fn kept(log_dropped: f64) -> f64 {
    -log_dropped.exp_m1()
}

/// Largest accepted sum of squared norms, 2^1012 (4.4e304): sums of losses, energies and bounds stay finite.
pub const LARGEST_TOTAL: f64 = f64::from_bits((1023 + 1012) << 52);

/// Binary exponents of numbers whose fourth powers neither overflow nor underflow.
const COMFORTABLE: std::ops::RangeInclusive<i64> = -200..=200;

/// Returns the power of two by which numbers of magnitude `size` should be divided before they are squared: 1 if the
/// fourth power of the size is far from overflow and underflow, or if the size is zero, subnormal or not finite.
/// Division by it is exact.
pub fn unit(size: f64) -> f64 {
    let exponent = (size.to_bits() >> 52 & 0x7ff) as i64 - 1023;
    if COMFORTABLE.contains(&exponent) || !size.is_normal() {
        return 1.0;
    }
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

pub fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0f64, |largest, x| largest.max(x.abs()))
}

/// Formats the number as the shortest string that parses to the same number.
pub fn exact(value: f64) -> String {
    if value == 0.0 || (1e-5..1e16).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

/// Computes a dot product of n terms with eight partial sums, in vectorized loops. The rounding error grows with `n/8`.
#[inline(always)]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a8, a_rest) = a.as_chunks::<8>();
    let (b8, b_rest) = b.as_chunks::<8>();
    for (x, y) in a8.iter().zip(b8) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::unit;

    #[test]
    fn the_unit_is_one_unless_squares_would_overflow_or_underflow() {
        assert_eq!((unit(3.0), unit(0.0), unit(f64::INFINITY)), (1.0, 1.0, 1.0));
        assert_eq!(unit(3.0 * 2f64.powi(-900)), 2f64.powi(-899));
    }
}
