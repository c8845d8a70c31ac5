//! Kernel rows: the kernel values of one vector, or of a block of vectors, with all atoms.
//!
//! Each measure of the vector and the atoms is computed only once, even if several terms of the kernel depend on it.

use super::VectorKernel;
use super::measures::Measure;
use crate::linalg::Matrix;
use pulp::{Arch, Simd, WithSimd};

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

    /// Computes a measure of the points with all atoms, unless it was computed before for another kernel.
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
