//! Eigensystem of a running scatter matrix, updated after every row: `C ← f C + Σ a z zᵀ` with a forgetting factor f
//! and row weights a, in the coordinates of the w columns of the span, outside of which C is zero. It holds all
//! eigenpairs ([`Chained`], O(w^2.5) per row), the k largest and a few more ([`Leading`], a few w²), or the R largest
//! without the rest of the matrix ([`CappedScatter`], O(w R²)).

use super::frame::Frame;
use super::rule::{Directions, Observed};
use crate::error::Error;
use crate::linalg::checks::{energies, shape};
use crate::linalg::{Eigen, Matrix, add_product, multiplied, multiply};
use crate::scratch::zero;
use crate::simplex::Multiplicity;
use crate::state::{LARGEST, State, energy, ensure, entries, within};
use chained::Chained;
use leading::Leading;
use serde::{Deserialize, Serialize};

mod chained;
mod leading;

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
// eigenvalues beyond R and those at rounding level are dropped, so the stored matrix never exceeds the true one: `0 ≤
// C' ≤ C`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct CappedScatter {
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

    pub fn pairs(&self) -> (&Matrix, &[f64], usize) {
        (&self.frame.rotation, &self.frame.values, self.max_rank)
    }

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

pub(super) const ROUNDING: f64 = f64::EPSILON;

/// Sum of weighted dyads of rows. The most recent ones are stored and later added by one matrix product.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RowSum {
    matrix: Matrix,
    /// Product of the forgetting factors that have not been applied to `matrix` yet.
    matrix_scale: f64,
    /// Rows that are not in the matrix yet, one per column.
    recent: Matrix,
    recent_weights: Vec<f64>,
}

impl Default for RowSum {
    fn default() -> Self {
        let (matrix, recent) = (Matrix::default(), Matrix::default());
        Self { matrix, matrix_scale: 1.0, recent, recent_weights: Vec::new() }
    }
}

impl From<Matrix> for RowSum {
    fn from(matrix: Matrix) -> Self {
        let recent = Matrix::zeros(matrix.columns(), 0);
        Self { matrix, recent, ..Self::default() }
    }
}

impl RowSum {
    pub fn check_state(&self, columns: usize) -> Result<(), Error> {
        ensure(self.matrix.columns() <= columns, "a decomposition must be of columns that are there")?;
        shape("the scatter matrix", &self.matrix, self.matrix.columns(), self.matrix.columns())?;
        within("the share of the scatter matrix", self.matrix_scale, 0.0..=1.0)?;
        shape("the recent rows", &self.recent, columns, self.recent_weights.len())?;
        entries("weights of the recent rows", &self.recent_weights, 0.0..=LARGEST)?;
        energies("the energy of the recent rows", &self.recent)
    }

    pub fn recent(&self) -> usize {
        self.recent_weights.len()
    }

    pub fn columns(&self) -> usize {
        self.recent.rows()
    }

    pub fn grow(&mut self, columns: usize) {
        self.recent.resize(columns, self.recent.columns());
    }

    pub fn fade(&mut self, forget: f64) {
        self.recent_weights.iter_mut().for_each(|w| *w *= forget);
        self.matrix_scale *= forget;
    }

    pub fn push(&mut self, point: &[f64], weight: f64) {
        self.recent.push_column(point);
        self.recent_weights.push(weight);
    }

    pub fn times(&self, x: &[f64], out: &mut Vec<f64>, products: &mut Vec<f64>) {
        let size = self.matrix.columns();
        zero(out, x.len());
        self.matrix.add_symmetric_product(&x[..size], &mut out[..size]);
        if self.matrix_scale != 1.0 {
            out.iter_mut().for_each(|y| *y *= self.matrix_scale);
        }
        self.recent.transpose_times(x, products);
        products.iter_mut().zip(&self.recent_weights).for_each(|(product, weight)| *product *= -weight);
        self.recent.subtract_times(products, out);
    }

    pub fn times_all(&self, x: &Matrix, out: &mut Matrix) {
        out.resize(x.rows(), x.columns());
        if self.matrix.columns() < x.rows() || x.columns() == 0 {
            let (mut image, mut products) = (Vec::new(), Vec::new());
            for j in 0..x.columns() {
                self.times(x.column(j), &mut image, &mut products);
                out.column_mut(j).copy_from_slice(&image);
            }
            return;
        }
        multiply(out, self.matrix.view(), x.view());
        let mut products = multiplied(self.recent.view().transpose(), x.view());
        for j in 0..x.columns() {
            out.column_mut(j).iter_mut().for_each(|y| *y *= self.matrix_scale);
            let of_rows = products.column_mut(j).iter_mut().zip(&self.recent_weights);
            of_rows.for_each(|(product, weight)| *product *= -weight);
            self.recent.subtract_times(products.column(j), out.column_mut(j));
        }
    }

    pub fn collect(&mut self) -> &Matrix {
        let size = self.columns();
        if self.matrix_scale != 1.0 {
            self.fade_matrix();
        }
        self.matrix_scale = 1.0;
        self.matrix.resize(size, size);
        self.recent.scale_columns(|j| self.recent_weights[j].sqrt());
        self.recent_weights.clear();
        add_product(&mut self.matrix, self.recent.view(), self.recent.view().transpose());
        self.recent.resize(size, 0);
        &self.matrix
    }

    /// Entries too small to affect any eigenvalue become zero.
    fn fade_matrix(&mut self) {
        let largest = (0..self.matrix.columns()).fold(0f64, |a, j| a.max(self.matrix.column(j)[j]));
        let gone = ROUNDING * ROUNDING * largest;
        for j in 0..self.matrix.columns() {
            for x in self.matrix.column_mut(j) {
                *x = if x.abs() > gone { *x * self.matrix_scale } else { 0.0 };
            }
        }
    }

    pub fn reduce(&mut self, rotation: &Matrix) -> &Matrix {
        self.collect();
        if rotation.columns() < rotation.rows() {
            restrict(&mut self.matrix, rotation, &mut Eigen::default());
        } else {
            let half = multiplied(rotation.view().transpose(), self.matrix.view());
            multiply(&mut self.matrix, half.view(), rotation.view());
        }
        self.recent.resize(rotation.columns(), 0);
        &self.matrix
    }

    pub fn replace(&mut self, matrix: Matrix) {
        *self = Self::from(matrix);
    }
}

const LOST: f64 = 64.0 * f64::EPSILON;

/// Computes `C ← Rᵀ C R` after the span has lost columns. If a lost direction had most of the energy, the rest may be
/// rounding. Eigenvalues at that level, and negative ones, become zero.
pub(in super::super) fn restrict(matrix: &mut Matrix, rotation: &Matrix, eigen: &mut Eigen) {
    let trace = matrix.trace();
    let half = multiplied(rotation.view().transpose(), matrix.view());
    multiply(matrix, half.view(), rotation.view());
    eigen.compute(matrix.view());
    let Eigen { values, vectors: roots, .. } = eigen;
    roots.scale_columns(|j| if values[j] > LOST * trace { values[j].sqrt() } else { 0.0 });
    multiply(matrix, roots.view(), roots.view().transpose());
}
