//! Small numerical functions that several modules need.

mod exp;

pub(crate) use exp::exp_lane;
pub use exp::{exp, kept_all};

/// `log(Σ exp(x))`, summed from the small end when the input is sorted ascending; `-∞` for no terms.
pub fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    largest + terms.map(|t| (t - largest).exp()).sum::<f64>().ln()
}

/// Probability of being kept, `1 - v`, from `log v`.
pub fn kept(log_dropped: f64) -> f64 {
    -log_dropped.exp_m1()
}

/// A number as it would be typed: the shortest text that reads back as the same number.
pub fn exact(value: f64) -> String {
    if value == 0.0 || (1e-5..1e16).contains(&value.abs()) { value.to_string() } else { format!("{value:e}") }
}

/// Dot product with eight running sums: vectorises, and its error grows with `n/8`.
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
