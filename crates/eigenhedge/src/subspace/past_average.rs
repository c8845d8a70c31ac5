//! Mixing with the average of all previous matrices V.
//!
//! Update in trial t: `V ← (1-α) V + α · mean(V_0 … V_{t-1})`, with the uniform start V_0. The sum of these matrices is
//! dense in the coordinates of the columns, with a common eigenvalue outside. If d of N directions are dropped, every
//! eigenvalue of the result is at least `α d/(N t)`, so logarithms are not needed.
//! Guarantee: none proved for subspaces.
//! Cost: one dense eigendecomposition per trial over all columns ever added, unless a rank cap folds the least likely
//! directions into the complement.
//! References: Bousquet & Warmuth, JMLR 2002; Warmuth & Kuzmin, JMLR 2008, equation (20).

use super::frame::Frame;
use crate::error::Error;
use crate::linalg::checks::{matrix_entries, shape};
use crate::linalg::{Eigen, Matrix, multiplied, multiply};
use crate::scratch::Scratch;
use crate::simplex::{Complement, Multiplicity};
use crate::state::within;
use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PastAverage {
    sum: Matrix,
    sum_outside: f64,
    terms: f64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    mixed: Matrix,
    scaled: Matrix,
    eigen: Eigen,
}

/// Largest number of terms that can be counted exactly.
const LARGEST_TERMS: f64 = 9e15;

impl PastAverage {
    pub fn new(uniform: f64) -> Self {
        Self { sum: Matrix::default(), sum_outside: uniform.exp(), terms: 1.0, scratch: Scratch::default() }
    }

    pub fn check_state(&self, columns: usize) -> Result<(), Error> {
        within("the number of terms of the past", self.terms, 1.0..=LARGEST_TERMS)?;
        shape("the sum of the past", &self.sum, columns, columns)?;
        // Every term has eigenvalues between 0 and 1.
        let most = (1.0 + 1e-6) * self.terms;
        matrix_entries("sum of the past", &self.sum, -most..=most)?;
        within("the common value of the past", self.sum_outside, 0.0..=most)
    }

    pub fn grow(&mut self, columns: usize) {
        let before = self.sum.columns();
        self.sum.resize(columns, columns);
        for j in before..columns {
            self.sum.column_mut(j)[j] = self.sum_outside;
        }
    }

    pub fn reduce(&mut self, rotation: &Matrix) {
        let half = multiplied(rotation.view().transpose(), self.sum.view());
        multiply(&mut self.sum, half.view(), rotation.view());
    }

    pub fn mix(&mut self, alpha: f64, max_rank: usize, frame: &mut Frame, complement: &mut Complement) {
        let rotation = &frame.rotation;
        let Working { mixed, scaled, eigen } = &mut self.scratch.0;
        let size = self.sum.columns();
        let outside = complement.log_weight.exp();
        // V = v I + Σ (v_i - v) b_i b_iᵀ, with the value v of the complement and the explicit directions b_i.
        mixed.reset(size, size);
        scaled.clone_from(rotation);
        scaled.scale_columns(|j| frame.values[j].exp() - outside);
        matmul(mixed.view_mut(), Accum::Replace, scaled.view(), rotation.view().transpose(), 1.0 - alpha, Par::Seq);
        let share = alpha / self.terms;
        for j in 0..size {
            mixed.column_mut(j)[j] += (1.0 - alpha) * outside;
            for (m, s) in mixed.column_mut(j).iter_mut().zip(self.sum.column(j)) {
                *m += share * s;
            }
        }
        let mixed_outside = (1.0 - alpha) * outside + share * self.sum_outside;
        self.terms += 1.0;
        self.sum_outside += mixed_outside;
        for j in 0..size {
            for (s, m) in self.sum.column_mut(j).iter_mut().zip(mixed.column(j)) {
                *s += m;
            }
        }
        eigen.compute(mixed.view());
        let kept = size.min(max_rank);
        // The complement takes the mean of its own value and the values beyond the rank cap.
        let folded: f64 = eigen.values[kept..].iter().sum();
        let weight = match frame.others_beyond(size) {
            Multiplicity::Finite(others) if kept < size => {
                (folded + others as f64 * mixed_outside) / ((size - kept) as f64 + others as f64)
            }
            _ => mixed_outside,
        };
        complement.log_weight = weight.ln().min(0.0);
        frame.replace(&eigen.vectors, eigen.values[..kept].iter().map(|v| v.max(f64::MIN_POSITIVE).ln().min(0.0)));
    }

    /// Spreads the trace outside the new columns evenly over the other directions.
    pub fn combine(&mut self, rotation: &Matrix, dimension: Multiplicity) {
        let (before, columns) = (self.sum.trace(), self.sum.columns());
        self.reduce(rotation);
        if let Multiplicity::Finite(n) = dimension {
            let outside = before - self.sum.trace() + (n - columns as u64) as f64 * self.sum_outside;
            self.sum_outside = outside / (n - rotation.columns() as u64).max(1) as f64;
        }
    }
}
