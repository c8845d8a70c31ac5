//! Eigensystem of a running scatter matrix, updated after every row.
//!
//! Setting: `C ← f C + Σ a z zᵀ` with a forgetting factor f and row weights a, in the coordinates of the w columns of
//! the span. C is zero outside the columns.
//!
//! There are three representations with one interface: all eigenpairs ([`Chained`], O(w^2.5) per row), the k largest
//! and a few more ([`Leading`], a few w²), or the R largest without the rest of the matrix ([`CappedScatter`],
//! O(w R²)).

mod chained;
mod leading;
mod row_sum;

use super::frame::Frame;
use super::rule::{Directions, Observed};
use crate::error::Error;
use crate::linalg::{Eigen, Matrix, multiplied};
use crate::simplex::Multiplicity;
use crate::state::{LARGEST, State, energy, ensure, entries};
use chained::Chained;
use leading::Leading;
pub(super) use row_sum::restrict;
use row_sum::{ROUNDING, RowSum};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Scatter {
    Full(Box<Chained>),
    Capped(Box<CappedScatter>),
    /// Largest eigenpairs of the whole matrix, if there are many columns. Used for the leader, and after a set of
    /// points was learned at once.
    Leading(Box<Leading>),
}

impl State for Scatter {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        match (self, built) {
            (Self::Full(own), Self::Full(built)) => own.check_state(built)?,
            (Self::Capped(own), Self::Capped(built)) => own.check_state(built)?,
            (Self::Leading(own), Self::Full(_)) => own.check_state(&Leading::empty(own.frame.dimension))?,
            _ => return Err(Error::State("the rank cap must be that of the learner")),
        }
        let values = self.values();
        let largest = values.iter().fold(0f64, |a, v| a.max(*v));
        entries("eigenvalues of the scatter matrix", values, -1e-6 * largest..=LARGEST)?;
        energy("the trace of the scatter matrix", values.iter().sum::<f64>().max(0.0))
    }
}

impl Scatter {
    /// Returns the eigenvalues of the explicit directions, in the order of the coordinates.
    pub fn values(&self) -> &[f64] {
        match self {
            Self::Full(full) => &full.values,
            Self::Capped(capped) => &capped.frame.values,
            Self::Leading(leading) => &leading.frame.values,
        }
    }

    pub fn directions(&self) -> &dyn Directions {
        match self {
            Self::Full(full) => &**full,
            Self::Capped(capped) => &capped.frame,
            Self::Leading(leading) => &leading.frame,
        }
    }

    pub fn directions_mut(&mut self) -> &mut dyn Directions {
        match self {
            Self::Full(full) => &mut **full,
            Self::Capped(capped) => &mut capped.frame,
            Self::Leading(leading) => &mut leading.frame,
        }
    }

    /// Sets the number of columns of the span. New columns have no energy.
    pub fn grow(&mut self, columns: usize) {
        match self {
            Self::Full(full) => full.grow(columns),
            Self::Capped(capped) => capped.frame.grow(columns),
            Self::Leading(leading) => leading.grow(columns),
        }
    }

    /// Computes `C ← forget · C + Σ a z zᵀ` for an instance of points z with weights a. The last
    /// one must be the most recently observed point. Returns the sum of the dropped eigenvalues.
    /// Without a rank cap, the `kept` leading eigenpairs of the result are always accurate.
    pub fn add(&mut self, forget: f64, instance: &Observed, kept: usize) -> f64 {
        match self {
            Self::Full(full) => full.add(forget, instance),
            Self::Capped(capped) => return capped.add(forget, instance),
            Self::Leading(leading) => {
                if !leading.add(forget, instance, kept) {
                    *self = Self::Full(leading.take_all());
                }
            }
        }
        0.0
    }

    /// Stores only the leading eigenpairs if there are many columns, for a learner that keeps the `kept` largest ones.
    pub fn lead(&mut self, kept: usize, dimension: Multiplicity) {
        if let Self::Full(full) = self
            && let Some(leading) = Leading::of(full, kept, dimension)
        {
            *self = Self::Leading(Box::new(leading));
        }
    }

    pub fn matrix(&mut self) -> Matrix {
        match self {
            Self::Full(full) => full.sum.collect().clone(),
            Self::Capped(capped) => capped.matrix(),
            Self::Leading(leading) => leading.sum.collect().clone(),
        }
    }

    /// Replaces the matrix, which may have another number of columns. Returns the sum of the dropped eigenvalues.
    pub fn replace(&mut self, matrix: Matrix) -> f64 {
        match self {
            Self::Full(full) => full.replace(matrix),
            Self::Capped(capped) => return capped.replace(&matrix),
            Self::Leading(_) => {
                let mut full = Box::<Chained>::default();
                full.replace(matrix);
                *self = Self::Full(full);
            }
        }
        0.0
    }

    /// Replaces the matrix. Computes its `kept` largest eigenpairs and a few more, or all if that is as fast.
    pub fn replace_by_leading(&mut self, matrix: Matrix, kept: usize, dimension: Multiplicity) {
        *self = Self::of_sum(RowSum::from(matrix), kept.saturating_add(leading::EXTRA), dimension);
    }

    pub fn widen(&mut self) {
        if let Self::Leading(leading) = self {
            let (stored, dimension) = (3 * leading.frame.values.len(), leading.frame.dimension);
            *self = Self::of_sum(std::mem::take(&mut leading.sum), stored, dimension);
        }
    }

    fn of_sum(sum: RowSum, stored: usize, dimension: Multiplicity) -> Self {
        match Leading::of_sum(sum, stored, dimension) {
            Ok(leading) => Self::Leading(Box::new(leading)),
            Err(sum) => Self::Full(Box::new(Chained::of(*sum))),
        }
    }

    /// Computes all eigenpairs if only the leading ones are stored, and observes the last dyad again.
    pub fn complete(&mut self, instance: &Observed) {
        if let Self::Leading(leading) = self {
            let mut full = leading.take_all();
            if let Some(last) = instance.weights.len().checked_sub(1) {
                full.observe(instance.coordinates.column(last));
            }
            *self = Self::Full(full);
        }
    }

    pub fn combine(&mut self, max_pending: usize) -> Option<&Matrix> {
        match self {
            Self::Full(_) | Self::Leading(_) => None,
            Self::Capped(capped) => capped.frame.combine(max_pending),
        }
    }

    /// Updates the matrix after the span has lost columns: `C ← Rᵀ C R` for R = `rotation`.
    pub fn reduce(&mut self, rotation: &Matrix, kept: usize) {
        match self {
            Self::Full(full) => full.reduce(rotation),
            Self::Capped(capped) => capped.reduce(rotation),
            Self::Leading(leading) => {
                if !leading.reduce(rotation, kept) {
                    *self = Self::Full(leading.take_all());
                }
            }
        }
    }

    pub fn trace(&self) -> f64 {
        match self {
            Self::Leading(leading) => leading.trace,
            _ => self.values().iter().sum(),
        }
    }
}

// Largest eigenpairs of a running scatter matrix: at most R directions with positive eigenvalues. All other eigenvalues
// are zero. Update: a rank-one update of the [`Frame`]. Then the smallest eigenvalues beyond R, and those at the
// rounding level of the largest, are dropped. The stored matrix C' never exceeds the true one: `0 ≤ C' ≤ C`. Cost: that
// of the frame, O(w R²), where w is R plus the pending columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct CappedScatter {
    /// Directions with their eigenvalues, in ascending order.
    pub(super) frame: Frame,
    max_rank: usize,
}

impl State for CappedScatter {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        ensure(self.max_rank == built.max_rank, "the rank cap must be that of the learner")?;
        self.frame.check_state(&built.frame)
    }
}

impl CappedScatter {
    pub fn new(max_rank: usize, dimension: Multiplicity) -> Self {
        Self { frame: Frame::new(dimension), max_rank }
    }

    /// Computes `C ← forget · C + Σ a z zᵀ` for points z with weights a. Returns the sum of the dropped eigenvalues.
    pub fn add(&mut self, forget: f64, instance: &Observed) -> f64 {
        self.frame.values.iter_mut().for_each(|value| *value *= forget);
        if !self.frame.change_by_dyads(instance, instance.unit_square, 0.0) {
            return 0.0;
        }
        let values = &self.frame.values;
        let goes = self.dropped(values);
        let dropped = values[..goes].iter().map(|value| value.max(0.0)).sum();
        self.frame.retain(|i, _| i >= goes);
        dropped
    }

    /// Returns the number of values that are dropped. They come first, because values are ascending.
    fn dropped(&self, values: &[f64]) -> usize {
        let rounding = ROUNDING * values.last().copied().unwrap_or(0.0);
        let faded = values.iter().take_while(|value| **value <= rounding).count();
        faded.max(values.len().saturating_sub(self.max_rank))
    }

    /// Returns the directions in coordinates of the columns, their values, and the rank cap.
    pub fn pairs(&self) -> (&Matrix, &[f64], usize) {
        (&self.frame.rotation, &self.frame.values, self.max_rank)
    }

    /// Replaces the values, in ascending order. The directions are the columns of the span.
    pub fn replace_pairs(&mut self, values: Vec<f64>) {
        self.frame.grow(values.len());
        self.frame.replace(&Matrix::identity(values.len()), values.into_iter());
    }

    pub fn matrix(&self) -> Matrix {
        let mut scaled = self.frame.rotation.clone();
        scaled.scale_columns(|j| self.frame.values[j]);
        multiplied(scaled.view(), self.frame.rotation.view().transpose())
    }

    pub fn replace(&mut self, matrix: &Matrix) -> f64 {
        let mut eigen = Eigen::default();
        eigen.compute_graded(matrix);
        let Eigen { values, vectors, .. } = eigen;
        let goes = self.dropped(&values);
        let mut directions = Matrix::zeros(matrix.rows(), 0);
        (goes..values.len()).for_each(|j| directions.push_column(vectors.column(j)));
        self.frame.grow(matrix.columns());
        self.frame.replace(&directions, values[goes..].iter().copied());
        values[..goes].iter().map(|value| value.max(0.0)).sum()
    }

    pub fn reduce(&mut self, rotation: &Matrix) {
        self.frame.reduce(rotation, 0.0);
        self.frame.values.iter_mut().for_each(|value| *value = value.max(0.0));
    }
}
