//! Eigensystem of a running scatter matrix, updated after every row: `C ← f C + Σ a z zᵀ` with a forgetting factor f
//! and row weights a, in the coordinates of the w columns of the span, outside of which C is zero. It holds all
//! eigenpairs ([`Chained`], O(w^2.5) per row), the k largest and a few more ([`Leading`], a few w²), or the R largest
//! without the rest of the matrix ([`CappedScatter`], O(w R²)).

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

mod chained;
mod leading;
mod row_sum;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Scatter {
    Full(Box<Chained>),
    Capped(Box<CappedScatter>),
    /// For the leader, and after a set of points was learned at once, if there are many columns.
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

    pub fn grow(&mut self, columns: usize) {
        match self {
            Self::Full(full) => full.grow(columns),
            Self::Capped(capped) => capped.frame.grow(columns),
            Self::Leading(leading) => leading.grow(columns),
        }
    }

    /// Adds an instance whose last point was observed last. Returns the sum of the dropped eigenvalues. Without a rank
    /// cap, the `kept` leading eigenpairs are then accurate.
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

    pub fn replace(&mut self, matrix: Matrix) -> f64 {
        if let Self::Capped(capped) = self {
            return capped.replace(&matrix);
        }
        *self = Self::Full(Box::new(Chained::of(RowSum::from(matrix))));
        0.0
    }

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

    /// Computes `C ← Rᵀ C R` after the span has lost columns.
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

// At most R directions with positive eigenvalues, all others zero. After the update of the [`Frame`], the smallest
// eigenvalues beyond R and those at rounding level are dropped, so the stored matrix never exceeds the true one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct CappedScatter {
    pub(super) frame: Frame,
    pub(super) max_rank: usize,
}

impl State for CappedScatter {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        ensure(self.max_rank == built.max_rank, "the rank cap must be that of the learner")?;
        self.frame.check_state(&built.frame)
    }
}

impl CappedScatter {
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

    fn dropped(&self, values: &[f64]) -> usize {
        let rounding = ROUNDING * values.last().copied().unwrap_or(0.0);
        let faded = values.iter().take_while(|value| **value <= rounding).count();
        faded.max(values.len().saturating_sub(self.max_rank))
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
