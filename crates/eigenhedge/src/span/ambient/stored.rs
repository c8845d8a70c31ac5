//! The stored vectors of a span, in either width.

use crate::matrix::{Intake, Matrix, Packed, Source};
use crate::snapshot;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// How the numbers of a basis are stored. Arithmetic is float64 in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Storage {
    /// As they are.
    #[default]
    Float64,
    /// Rounded to float32: half the memory, and losses that differ in the sixth digit or so.
    Float32,
}

impl Storage {
    /// By the names users type.
    pub const NAMES: [(&'static str, Self); 2] = [("float64", Self::Float64), ("float32", Self::Float32)];
}

/// Columns, and vectors behind them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Stored {
    Full(Matrix),
    Packed(Packed),
}

/// Reads what version 3 was the first to have a choice of.
pub(super) fn read<'a, D: Deserializer<'a>>(source: D) -> Result<Stored, D::Error> {
    if snapshot::reads_before(3) { Matrix::deserialize(source).map(Stored::Full) } else { Stored::deserialize(source) }
}

/// Residuals under this share of the point's norm are rounding, for numbers with this distance.
const ROUNDINGS: f64 = 64.0;

/// Passes a call on to what is inside.
macro_rules! delegate {
    ($self:expr, $stored:ident => $call:expr) => {
        match $self {
            Stored::Full($stored) => $call,
            Stored::Packed($stored) => $call,
        }
    };
}

impl Stored {
    pub fn new(length: usize, storage: Storage) -> Self {
        match storage {
            Storage::Float64 => Self::Full(Matrix::zeros(length, 0)),
            Storage::Float32 => Self::Packed(Packed::new(length)),
        }
    }

    /// Residuals under this share of the point's norm are rounding.
    pub fn rounding(&self) -> f64 {
        match self {
            Self::Full(_) => ROUNDINGS * f64::EPSILON,
            Self::Packed(_) => ROUNDINGS * f64::from(f32::EPSILON),
        }
    }

    /// Drift that calls for fresh columns.
    pub fn tolerable_drift(&self) -> f64 {
        match self {
            Self::Full(_) => 1e-12,
            Self::Packed(_) => 1e-6,
        }
    }

    /// All of it, as numbers to calculate with.
    pub fn matrix(&self) -> Cow<'_, Matrix> {
        match self {
            Self::Full(matrix) => Cow::Borrowed(matrix),
            Self::Packed(packed) => Cow::Owned(packed.widened()),
        }
    }

    /// What lies behind the last column, here or in the buffer.
    pub fn spare<'a>(&'a mut self, buffer: &'a mut Vec<f64>) -> &'a [f64] {
        match self {
            Self::Full(matrix) => matrix.spare(),
            Self::Packed(packed) => {
                packed.vector(packed.columns(), buffer);
                buffer
            }
        }
    }

    /// The last column, here or in the buffer.
    pub fn last<'a>(&'a self, buffer: &'a mut Vec<f64>) -> &'a [f64] {
        match self {
            Self::Full(matrix) => matrix.column(matrix.columns() - 1),
            Self::Packed(packed) => {
                packed.vector(packed.columns() - 1, buffer);
                buffer
            }
        }
    }

    pub fn columns(&self) -> usize {
        delegate!(self, stored => stored.columns())
    }

    pub fn take_in(&mut self, source: &Source<'_>, products: bool, intake: &mut Intake) {
        delegate!(self, stored => stored.take_in(source, products, intake));
    }

    pub fn transpose_times(&mut self, x: &[f64], out: &mut Vec<f64>) {
        delegate!(self, stored => stored.transpose_times(x, out));
    }

    pub fn transpose_times_spare(&mut self, out: &mut Vec<f64>) {
        delegate!(self, stored => stored.transpose_times_spare(out));
    }

    pub fn last_times_spares(&mut self, distance: usize, count: usize, out: &mut Vec<f64>) {
        delegate!(self, stored => stored.last_times_spares(distance, count, out));
    }

    pub fn spare_residual(&mut self, x: &[f64], coefficients: &[f64]) -> f64 {
        delegate!(self, stored => stored.spare_residual(x, coefficients))
    }

    pub fn subtract_from_spare(&mut self, coefficients: &[f64]) -> f64 {
        delegate!(self, stored => stored.subtract_from_spare(coefficients))
    }

    pub fn adopt_spare(&mut self) {
        delegate!(self, stored => stored.adopt_spare());
    }

    pub fn adopt_spare_scaled(&mut self, scale: f64) {
        delegate!(self, stored => stored.adopt_spare_scaled(scale));
    }

    pub fn draw_spare(&mut self, distance: usize) {
        delegate!(self, stored => stored.draw_spare(distance));
    }

    pub fn combine(&mut self, rotation: &Matrix, working: &mut Vec<f64>) {
        delegate!(self, stored => stored.combine(rotation, working));
    }

    pub fn orthonormalise(&mut self) {
        delegate!(self, stored => stored.orthonormalise());
    }
}
