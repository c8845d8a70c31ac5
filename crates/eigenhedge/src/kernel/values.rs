//! Kernel values of vectors and of lists of items.

use super::item_rows::ItemRow;
use super::measures::Measure;
use super::{Kernel, VectorKernel};
use crate::error::Error;
use crate::num::exp_lane;
use crate::row::check_row;

/// Largest argument of a Matérn kernel. Larger arguments are clipped to avoid `∞ · 0`. The kernel is zero there.
const FAR: f64 = 1000.0;

impl VectorKernel {
    /// Returns `k(a, b)`. Panics if the lengths differ, unless the kernel accepts rows of any length.
    pub fn value(&self, a: &[f64], b: &[f64]) -> f64 {
        if self.takes_items() {
            return self.of_items(&ItemRow::new(self, a), &ItemRow::new(self, b));
        }
        assert_eq!(a.len(), b.len(), "vectors of one length");
        self.of_measures(&|measure| measure.of(a, b))
    }

    pub(super) fn of_measures(&self, of: &dyn Fn(Measure) -> f64) -> f64 {
        match self {
            Self::Sum(parts) => parts.iter().map(|part| part.of_measures(of)).sum(),
            Self::Product(parts) => parts.iter().map(|part| part.of_measures(of)).product(),
            Self::Scaled { scale, kernel } => kernel.of_measures(of) * scale,
            plain => {
                let mut value = [0.0];
                if let Some(measure) = plain.measure() {
                    plain.apply(&[of(measure)], &mut value);
                }
                value[0]
            }
        }
    }

    /// Computes the values of an elementary kernel from `measures`, in loops that the compiler can vectorize.
    #[inline(always)]
    pub(super) fn apply(&self, measures: &[f64], values: &mut [f64]) {
        match self {
            Self::Kendall { length } => {
                let pairs = (length * length.saturating_sub(1) / 2) as f64;
                map(measures, values, |discordant| if pairs > 0.0 { 1.0 - 2.0 * discordant / pairs } else { 0.0 });
            }
            Self::Polynomial { gamma, degree, coef0 } => {
                map(measures, values, |product| gamma * product + coef0);
                powers(values, *degree);
            }
            Self::Rbf { gamma } | Self::Laplacian { gamma } | Self::Mallows { gamma } => {
                map(measures, values, |distance| exp_lane(-(gamma * distance)));
            }
            Self::Matern32 { length_scale } => {
                let factor = 3f64.sqrt() / length_scale;
                map(measures, values, |square| {
                    let s = matern_argument(factor, square);
                    (1.0 + s) * exp_lane(-s)
                });
            }
            Self::Matern52 { length_scale } => {
                let factor = 5f64.sqrt() / length_scale;
                map(measures, values, |square| {
                    let s = matern_argument(factor, square);
                    (1.0 + s + s * s / 3.0) * exp_lane(-s)
                });
            }
            Self::Sigmoid { gamma, coef0 } => map(measures, values, |product| (gamma * product + coef0).tanh()),
            _ => values.copy_from_slice(measures),
        }
    }
}

impl Kernel<[f64]> for VectorKernel {
    fn value(&self, a: &[f64], b: &[f64]) -> f64 {
        Self::value(self, a, b)
    }

    fn check(&self, point: &[f64]) -> Result<(), Error> {
        check_row("row", point, point.len())?;
        self.check_point(point)
    }

    fn positive_definite(&self) -> bool {
        Self::positive_definite(self)
    }
}

#[inline(always)]
fn map(measures: &[f64], values: &mut [f64], function: impl Fn(f64) -> f64) {
    for (value, measure) in values.iter_mut().zip(measures) {
        *value = function(*measure);
    }
}

#[inline(always)]
fn matern_argument(factor: f64, square: f64) -> f64 {
    let s = factor * square.sqrt();
    if s < FAR { s } else { FAR }
}

/// Raises every value to an integer power by repeated squaring, eight values at a time.
#[inline(always)]
fn powers(values: &mut [f64], degree: u32) {
    let (groups, rest) = values.as_chunks_mut::<8>();
    groups.iter_mut().for_each(|group| power(group, degree));
    rest.iter_mut().for_each(|value| power(std::array::from_mut(value), degree));
}

#[inline(always)]
fn power<const LANES: usize>(values: &mut [f64; LANES], degree: u32) {
    let mut square = *values;
    let mut result = [1.0; LANES];
    let mut left = degree;
    loop {
        if left & 1 == 1 {
            (0..LANES).for_each(|lane| result[lane] *= square[lane]);
        }
        left >>= 1;
        if left == 0 {
            break;
        }
        (0..LANES).for_each(|lane| square[lane] *= square[lane]);
    }
    *values = result;
}
