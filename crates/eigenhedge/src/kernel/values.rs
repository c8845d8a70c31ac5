//! Kernel values of vectors and of lists of items.

use super::item_rows::ItemRow;
use super::measures::Measure;
use super::{Kernel, VectorKernel};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::num::exp_lane;
use crate::row::check_row;
use pulp::{Arch, Simd, WithSimd};

/// Largest argument s of a Matérn kernel. Larger arguments are clipped to avoid `∞ · 0`. The kernel is zero there.
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

pub(super) fn check_values(itself: f64, row: &[f64]) -> Result<(), Error> {
    if !(itself >= 0.0 && itself.is_finite()) {
        return Err(Error::KernelValue { atom: None, rule: "finite and not negative", value: itself });
    }
    if all_finite(row) {
        return Ok(());
    }
    match row.iter().position(|value| !value.is_finite()) {
        Some(atom) => Err(Error::KernelValue { atom: Some(atom), rule: "finite", value: row[atom] }),
        None => Ok(()),
    }
}

fn all_finite(values: &[f64]) -> bool {
    Arch::new().dispatch(AllFinite(values))
}

struct AllFinite<'a>(&'a [f64]);

impl WithSimd for AllFinite<'_> {
    type Output = bool;
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        // Without an early exit the loop vectorizes.
        self.0.iter().fold(true, |finite, value| finite & value.is_finite())
    }
}

/// Buffers of kernel rows. Each measure is computed only once, even if several terms of the kernel depend on it.
#[derive(Debug, Clone, Default)]
pub(super) struct Working {
    measures: [Vec<f64>; Measure::COUNT],
    spare: Vec<Vec<f64>>,
}

#[derive(Clone, Copy)]
pub(super) enum Points<'a> {
    One(&'a [f64], f64),
    Block(&'a Matrix, &'a [f64]),
}

pub(super) struct Row<'a> {
    atoms: &'a Matrix,
    squares: &'a [f64],
    points: Points<'a>,
    working: &'a mut Working,
    known: [bool; Measure::COUNT],
}

impl<'a> Row<'a> {
    pub(super) fn new((atoms, squares): (&'a Matrix, &'a [f64]), points: Points<'a>, working: &'a mut Working) -> Self {
        Self { atoms, squares, points, working, known: [false; Measure::COUNT] }
    }

    pub(super) fn fill(&mut self, kernel: &VectorKernel, values: &mut Vec<f64>) {
        match kernel {
            VectorKernel::Sum(parts) => self.combine(parts, values, |value, other| *value += other),
            VectorKernel::Product(parts) => self.combine(parts, values, |value, other| *value *= other),
            VectorKernel::Scaled { scale, kernel } => {
                self.fill(kernel, values);
                values.iter_mut().for_each(|value| *value *= scale);
            }
            plain => {
                let Some(measure) = plain.measure() else { return };
                self.know(measure);
                let measures = &self.working.measures[measure as usize];
                values.resize(measures.len(), 0.0);
                Arch::new().dispatch(Apply { kernel: plain, measures, values });
            }
        }
    }

    fn combine(&mut self, parts: &[VectorKernel], values: &mut Vec<f64>, with: fn(&mut f64, f64)) {
        let Some((first, others)) = parts.split_first() else { return };
        self.fill(first, values);
        let mut other = self.working.spare.pop().unwrap_or_default();
        for part in others {
            self.fill(part, &mut other);
            values.iter_mut().zip(&other).for_each(|(value, other)| with(value, *other));
        }
        self.working.spare.push(other);
    }

    fn know(&mut self, measure: Measure) {
        if std::mem::replace(&mut self.known[measure as usize], true) {
            return;
        }
        let out = &mut self.working.measures[measure as usize];
        match self.points {
            Points::One(point, square) => measure.of_all((self.atoms, self.squares), (point, square), out),
            Points::Block(points, squares) => measure.of_block((self.atoms, self.squares), (points, squares), out),
        }
    }
}

struct Apply<'a> {
    kernel: &'a VectorKernel,
    measures: &'a [f64],
    values: &'a mut [f64],
}

impl WithSimd for Apply<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.kernel.apply(self.measures, self.values);
    }
}
