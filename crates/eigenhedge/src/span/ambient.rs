//! Plain vectors: the columns are vectors of n numbers.
//!
//! Cost: two passes over the columns for each projection, four when the residual is small; the residual is computed where
//! the next column will be. A combination reads and writes the columns once. Long rows take one pass: a residual that is
//! not small is known from the coordinates alone, so that the row itself is stored and the column it stands for is
//! written as a combination ([`Deferred`]) until the next combination of all columns, which takes it in.
//!
//! Numerics: classical Gram–Schmidt, repeated when the residual is shorter than a tenth of the point, which
//! keeps the defect of every new column under ten roundings. What stands for a deferred column has coefficients of at
//! most [`LARGEST_COEFFICIENTS`], which is what they multiply roundings by. A residual at rounding level counts as zero.
//! After many combinations the drift is measured and, past [`REFRESH`], the columns are orthonormalised afresh.

mod deferred;

use super::Span;
use crate::Error;
use crate::matrix::Matrix;
use crate::num::dot;
use crate::scratch::Scratch;
use crate::simplex::Multiplicity;
use deferred::Deferred;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Orthonormal vectors in `R^n`, which may itself be part of a larger space of dimension N.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ambient {
    dimension: Multiplicity,
    /// Orthonormal vectors, and behind them what the deferred columns are made of.
    columns: Matrix,
    origin: Option<Vec<f64>>,
    combinations: u64,
    #[serde(skip)]
    scratch: Scratch<Working>,
    length: usize,
    #[serde(deserialize_with = "crate::snapshot::since_2")]
    deferred: Deferred,
}

/// Everything that one look leaves behind.
#[derive(Debug, Clone, Default)]
struct Working {
    point: Vec<f64>,
    /// Squared norm of the point.
    square: f64,
    /// Norm of the residual, which lies behind the last column.
    residual_norm: f64,
    /// Whether it does not: the point itself will be stored.
    defer: bool,
    correction: Vec<f64>,
    /// The projection as a combination of the stored vectors.
    explained: Vec<f64>,
    /// A rotation of the columns, in the stored vectors.
    expanded: Matrix,
    product: Vec<f64>,
}

/// Rows handled together.
const ROWS: usize = 512;
/// Residuals under this share of the point's norm are rounding.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Residuals under this share are computed twice.
const REPEAT: f64 = 0.1;
/// Drift that triggers a fresh orthonormalisation.
const REFRESH: f64 = 1e-12;
/// Combinations between two looks at the drift.
const LOOK_EVERY: u64 = 64;
/// Rows at least this long take one pass where they can.
const LONG: usize = 512;
/// Norm of the coefficients of a deferred column over the stored vectors, at most.
const LARGEST_COEFFICIENTS: f64 = 16.0;
/// Squared norms from here on could overflow in sums.
const LARGEST_SQUARE: f64 = 1e300;

impl Ambient {
    /// No columns yet, in `R^length`.
    pub fn new(length: usize) -> Result<Self, Error> {
        if length == 0 {
            return Err(Error::Parameter { name: "the dimension", rule: "at least 1", value: 0.0 });
        }
        Ok(Self {
            dimension: Multiplicity::Finite(length as u64),
            columns: Matrix::zeros(length, 0),
            origin: None,
            combinations: 0,
            scratch: Scratch::default(),
            length,
            deferred: Deferred::default(),
        })
    }

    /// Says that the rows lie in a space of dimension N, of which `R^n` is a part.
    pub fn within(mut self, dimension: Multiplicity) -> Result<Self, Error> {
        if let Multiplicity::Finite(n) = dimension
            && n < self.length as u64
        {
            return Err(Error::Parameter {
                name: "feature-dim",
                rule: "at least the length of a row",
                value: n as f64,
            });
        }
        self.dimension = dimension;
        Ok(self)
    }

    /// Measures points from here.
    pub fn with_origin(mut self, origin: Vec<f64>) -> Result<Self, Error> {
        check_row("center", &origin, self.length)?;
        self.origin = Some(origin);
        Ok(self)
    }

    /// Length of a row.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The origin; none stands for zero.
    pub fn origin(&self) -> Option<&[f64]> {
        self.origin.as_deref()
    }

    /// The orthonormal columns.
    pub fn vectors(&self) -> Cow<'_, Matrix> {
        if self.deferred.columns() == 0 {
            return Cow::Borrowed(&self.columns);
        }
        let (mut vectors, mut rotation) = (self.columns.clone(), Matrix::default());
        self.deferred.expand_all(&Matrix::identity(self.columns.columns()), &mut rotation);
        vectors.combine(&rotation, &mut Vec::new());
        Cow::Owned(vectors)
    }
}

/// Rejects a row of the wrong length or with an entry that is not finite.
pub(crate) fn check_row(what: &'static str, row: &[f64], length: usize) -> Result<(), Error> {
    if row.len() != length {
        return Err(Error::Length { what, expected: length, found: row.len() });
    }
    match row.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(Error::Entry { what, index, rule: "finite", value: row[index] }),
        None => Ok(()),
    }
}

impl Span for Ambient {
    type Point = [f64];

    fn dimension(&self) -> Multiplicity {
        self.dimension
    }

    fn columns(&self) -> usize {
        self.columns.columns()
    }

    fn look(&mut self, point: &[f64]) -> Result<f64, Error> {
        if point.len() != self.length {
            check_row("row", point, self.length)?;
        }
        let Working { point: z, square, .. } = &mut self.scratch.0;
        z.clear();
        *square = 0.0;
        // In parts that stay in the first cache: the point is read once.
        for from in (0..self.length).step_by(ROWS) {
            let rows = from..(from + ROWS).min(self.length);
            match &self.origin {
                None => z.extend_from_slice(&point[rows]),
                Some(origin) => z.extend(point[rows.clone()].iter().zip(&origin[rows]).map(|(x, m)| x - m)),
            }
            *square += dot(&z[from..], &z[from..]);
        }
        if !(*square < LARGEST_SQUARE) {
            check_row("row", point, self.length)?;
            let largest = point.iter().fold(0f64, |a, x| a.max(x.abs()));
            return Err(Error::Overflow { largest });
        }
        Ok(*square)
    }

    fn inner(&self, a: &[f64], b: &[f64]) -> f64 {
        dot(a, b)
    }

    fn project(&mut self, coordinates: &mut Vec<f64>) -> f64 {
        let Working { point, square, correction, residual_norm, defer, explained, .. } = &mut self.scratch.0;
        self.columns.transpose_times(point, coordinates);
        self.deferred.resolve(coordinates);
        *residual_norm = 0.0;
        if self.columns.columns() == self.length {
            return 0.0;
        }
        self.deferred.expand(coordinates, explained);
        if self.length >= LONG {
            let left = *square - dot(coordinates, coordinates);
            let coefficients = *square + dot(explained, explained);
            *defer = left > 0.0 && coefficients <= LARGEST_COEFFICIENTS * LARGEST_COEFFICIENTS * left;
            if *defer {
                *residual_norm = left.sqrt();
                return *residual_norm;
            }
        }
        let mut left = self.columns.spare_residual(point, explained);
        if left < REPEAT * REPEAT * *square {
            self.columns.transpose_times_spare(correction);
            self.deferred.resolve(correction);
            coordinates.iter_mut().zip(&*correction).for_each(|(c, more)| *c += *more);
            self.deferred.expand(correction, explained);
            left = self.columns.subtract_from_spare(explained);
        }
        if left > ROUNDING * ROUNDING * *square {
            *residual_norm = left.sqrt();
        }
        *residual_norm
    }

    fn append_residual(&mut self, _: &[f64]) -> f64 {
        let Working { point, square, residual_norm, defer, explained, .. } = &self.scratch.0;
        if *defer {
            let norm = square.sqrt();
            self.columns.push_column(point, 1.0 / norm);
            self.deferred.push(explained, norm, *residual_norm);
        } else {
            self.columns.adopt_spare(1.0 / residual_norm);
            self.deferred.push_whole(self.columns.columns());
        }
        *residual_norm
    }

    fn combine(&mut self, rotation: &Matrix) {
        let Working { product, expanded, .. } = &mut self.scratch.0;
        if self.deferred.columns() == 0 {
            self.columns.combine(rotation, product);
        } else {
            self.deferred.expand_all(rotation, expanded);
            self.columns.combine(expanded, product);
            self.deferred.clear();
        }
        self.combinations += 1;
        if self.combinations.is_multiple_of(LOOK_EVERY) && self.drift() > REFRESH {
            self.columns.orthonormalise();
        }
    }

    fn shift_origin(&mut self, step: f64) {
        let origin = self.origin.get_or_insert_with(|| vec![0.0; self.length]);
        for (m, z) in origin.iter_mut().zip(&self.scratch.0.point) {
            *m += step * z;
        }
    }

    fn drift(&self) -> f64 {
        self.vectors().drift()
    }
}
