//! Weight vectors in `R^n`, at the cost of two passes per trial over the n × P matrix.

use super::rule::{VectorStep, move_column};
use super::weights::Weights;
use crate::error::Error;
use crate::linalg::Matrix;
use crate::linalg::checks::shape;
use crate::num::{dot, largest};
use crate::row::check_row;
use crate::scratch::{Scratch, refill};
use crate::simplex::Multiplicity;
use crate::state::{LARGEST, State, list};
use serde::{Deserialize, Serialize};

/// Weight vectors in `R^n`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AmbientWeights {
    vectors: Matrix,
    /// Fixed part of the center `base + moved`. It is subtracted first, so that a large center does not cost precision.
    base: Vec<f64>,
    moved: Vec<f64>,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    deviation: Vec<f64>,
    deflated: Vec<f64>,
}

impl AmbientWeights {
    /// Creates an empty set of vectors in `R^length`.
    pub fn new(length: usize) -> Self {
        let origin = vec![0.0; length];
        Self { vectors: Matrix::zeros(length, 0), base: origin.clone(), moved: origin, scratch: Scratch::default() }
    }

    /// Returns the center of the rows, which is zero until a row sets or moves it.
    pub fn center(&self) -> Vec<f64> {
        self.base.iter().zip(&self.moved).map(|(base, moved)| base + moved).collect()
    }

    /// Returns the weight vectors, one per column.
    pub fn vectors(&self) -> &Matrix {
        &self.vectors
    }
}

impl State for AmbientWeights {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        shape("the weight vectors", &self.vectors, built.vectors.rows(), self.count())?;
        for part in [&self.base, &self.moved] {
            list("the center", part, built.base.len(), -LARGEST..=LARGEST)?;
        }
        Ok(())
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
        let deviation = &mut self.scratch.0.deviation;
        refill(deviation, point.iter().zip(&self.base).zip(&self.moved).map(|((x, base), moved)| x - base - moved));
        let square = dot(deviation, deviation);
        if !square.is_finite() {
            return Err(Error::Overflow { largest: largest(point) });
        }
        if square < f64::MIN_POSITIVE && largest(deviation) > 0.0 {
            return Err(Error::Underflow { largest: largest(deviation) });
        }
        self.vectors.transpose_times(deviation, outputs);
        Ok(square)
    }

    fn begin(&mut self, point: &[f64], scale: f64) {
        let count = self.vectors.columns();
        self.vectors.resize(point.len(), count + 1);
        let deviation = &self.scratch.0.deviation;
        self.vectors.column_mut(count).iter_mut().zip(deviation).for_each(|(w, x)| *w = scale * x);
    }

    fn begin_at(&mut self, point: &[f64]) {
        self.base.copy_from_slice(point);
    }

    fn shift_center(&mut self, _: &[f64], share: f64) {
        self.moved.iter_mut().zip(&self.scratch.0.deviation).for_each(|(m, d)| *m += share * d);
    }

    fn learn(&mut self, _: &[f64], step: &VectorStep) {
        let Working { deviation, deflated } = &mut self.scratch.0;
        refill(deflated, deviation.iter().map(|x| step.scale * x));
        for p in 0..self.vectors.columns() {
            move_column(self.vectors.column_mut(p), deflated, step.keep[p], step.push[p], step.remove[p]);
        }
    }
}
