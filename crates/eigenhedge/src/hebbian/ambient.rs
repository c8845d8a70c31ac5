//! Weight vectors in `R^n`.
//!
//! Cost: two passes over the n × P numbers for each trial. Nothing is allocated once all vectors are there.

use super::SavedWeights;
use super::implicit_frame::Frame;
use super::step::{Step, move_column};
use super::weights::Weights;
use crate::error::Error;
use crate::linalg::Matrix;
use crate::linalg::checks::shape;
use crate::num::{dot, largest};
use crate::row::check_row;
use crate::scratch::Scratch;
use crate::simplex::Multiplicity;
use serde::{Deserialize, Serialize};

/// Plain vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AmbientWeights {
    vectors: Matrix,
    #[serde(skip)]
    scratch: Scratch<Vec<f64>>,
}

impl AmbientWeights {
    /// No vectors yet, in `R^length`.
    pub fn new(length: usize) -> Self {
        Self { vectors: Matrix::zeros(length, 0), scratch: Scratch::default() }
    }

    /// The weight vectors, one a column.
    pub fn vectors(&self) -> &Matrix {
        &self.vectors
    }
}

impl SavedWeights for AmbientWeights {
    fn check_state(&self, built: &Self, frame: &Frame) -> Result<(), Error> {
        shape("the weight vectors", &self.vectors, built.vectors.rows(), self.count())?;
        frame.check_products(1e-6, |p, q| dot(self.vectors.column(p), self.vectors.column(q)))
    }
}

impl Weights for AmbientWeights {
    type Point = [f64];

    fn dimension(&self) -> Multiplicity {
        Multiplicity::Finite(self.vectors.rows() as u64)
    }

    fn count(&self) -> usize {
        self.vectors.columns()
    }

    fn load_point(&mut self, point: &[f64], outputs: &mut Vec<f64>) -> Result<f64, Error> {
        check_row("row", point, self.vectors.rows())?;
        let square = dot(point, point);
        if !square.is_finite() {
            return Err(Error::Overflow { largest: largest(point) });
        }
        if square < f64::MIN_POSITIVE && largest(point) > 0.0 {
            return Err(Error::Underflow { largest: largest(point) });
        }
        self.vectors.transpose_times(point, outputs);
        Ok(square)
    }

    fn begin(&mut self, point: &[f64], scale: f64) {
        let count = self.vectors.columns();
        self.vectors.resize(point.len(), count + 1);
        self.vectors.column_mut(count).iter_mut().zip(point).for_each(|(w, x)| *w = scale * x);
    }

    fn learn(&mut self, point: &[f64], step: &Step) {
        let deflated = &mut self.scratch.0;
        deflated.clear();
        deflated.extend_from_slice(point);
        for p in 0..self.vectors.columns() {
            move_column(self.vectors.column_mut(p), deflated, step.keep[p], step.push[p], step.remove[p]);
        }
    }
}
