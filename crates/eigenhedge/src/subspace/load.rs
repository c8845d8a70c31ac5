//! Instances, a point or a symmetric matrix as a sum of weighted dyads, and their loading: checks, projection on the
//! columns of the span, coordinates in the directions of the rule.

use super::{DEFECT, NEGLIGIBLE, NormBound, Rule, SLACK, Subspace, Working};
use crate::error::{self, Error};
use crate::linalg::{Matrix, symmetric_eigen, symmetric_eigenvalues};
use crate::num::{LARGEST_TOTAL, dot, unit};
use crate::span::Span;
use crate::state::length;

fn adds_up(parts: f64, whole: f64) -> bool {
    (parts - whole).abs() <= DEFECT * whole
}

impl<S: Span, R: Rule> Subspace<S, R> {
    /// Projects the loaded point on the columns and returns the norm of the residual. If energies do not add up by more
    /// than rounding explains, orthonormalizes the columns and projects again. Scaling removes any remaining error.
    pub(super) fn project(&mut self, point: &S::Point, square: f64) -> f64 {
        let whole = square / self.span.unit().powi(2);
        let columns = &mut self.scratch.0.columns;
        let mut residual = self.span.project(columns);
        let mut found = dot(columns, columns) + residual * residual;
        if adds_up(found, whole) {
            return residual;
        }
        if (found - whole).abs() > self.span.rounding() {
            self.healed += 1;
            self.span.heal();
            self.or_negligible(|span| span.load_point(point))
                .unwrap_or_else(|_| unreachable!("the instance was checked"));
            residual = self.span.project(&mut self.scratch.0.columns);
            let columns = &self.scratch.0.columns;
            found = dot(columns, columns) + residual * residual;
        }
        if !found.is_finite() {
            // If a coordinate overflows, the whole point counts as residual.
            self.scratch.0.columns.fill(0.0);
            return whole.sqrt();
        }
        if !adds_up(found, whole) && found > 0.0 {
            let scale = (whole / found).sqrt();
            self.scratch.0.columns.iter_mut().for_each(|c| *c *= scale);
            residual *= scale;
        }
        residual
    }

    /// Computes the coordinates in the directions of the rule. Returns the squared length of the part outside them. If
    /// the energies do not add up, orthonormalizes the directions and starts again.
    pub(super) fn observe(&mut self) -> f64 {
        let columns = &self.scratch.0.columns;
        let outside = self.rule.directions_mut().observe(columns);
        let coordinates = self.rule.directions().coordinates();
        if adds_up(dot(coordinates, coordinates) + outside, dot(columns, columns)) {
            return outside;
        }
        self.rule.directions_mut().heal();
        self.healed += 1;
        self.rule.directions_mut().observe(columns)
    }

    /// Returns the power of two that converts coordinates of the span to those of the instance.
    pub(super) fn to_unit(&self) -> f64 {
        self.span.unit() / self.scratch.0.observed.unit_square.sqrt()
    }

    /// Appends a column for the residual, if the span can represent it and the rule can distinguish it from rounding.
    /// Returns the squared length of the part without a column, divided by `unit_square`.
    pub(super) fn append(&mut self, residual: f64, point: &S::Point) -> f64 {
        if residual == 0.0 {
            return 0.0;
        }
        let to_unit = self.to_unit();
        let (in_unit, unit_square) = (residual * to_unit, self.scratch.0.observed.unit_square);
        let unresolved = self.rule.resolution() * self.largest_square.max(self.scratch.0.square);
        if in_unit * in_unit * unit_square <= unresolved {
            return in_unit * in_unit;
        }
        let coordinate = self.span.append_residual(point);
        if coordinate > 0.0 {
            self.scratch.0.columns.push(coordinate);
            self.rule.grow(self.span.columns());
        }
        let coordinate = coordinate * to_unit;
        (in_unit * in_unit - coordinate * coordinate).max(0.0)
    }

    /// Checks the largest eigenvalue of an instance against the norm bound, which does not apply to a first row that
    /// only sets the center, and the total energy against overflow.
    pub(super) fn within_bound(&self, square: f64) -> Result<(), Error> {
        match self.options.norm_bound {
            NormBound::Given(bound) if square > bound * bound * (1.0 + SLACK) && !self.fixes_center() => {
                Err(Error::Norm { norm: square.sqrt(), bound })
            }
            _ => error::add_square(self.energy, square).map(|_| ()),
        }
    }

    pub(super) fn admit(&mut self, square: f64) {
        let Working { square: own, is_loaded, observed, .. } = &mut self.scratch.0;
        (*own, *is_loaded) = (square, false);
        observed.unit_square = unit(square.sqrt()).powi(2);
    }

    /// A squared norm that underflows is zero for a row that is negligible compared with earlier rows or only sets the
    /// center.
    pub(super) fn or_negligible(&mut self, look: impl FnOnce(&mut S) -> Result<f64, Error>) -> Result<f64, Error> {
        let nothing = NEGLIGIBLE * self.largest_square.sqrt();
        match look(&mut self.span) {
            Err(Error::Underflow { largest }) if largest <= nothing || self.fixes_center() => Ok(0.0),
            other => other,
        }
    }

    /// Returns the largest eigenvalue of the instance, or an upper bound within the given norm bound.
    pub(super) fn instance_square(&mut self, instance: &Instance<'_, S::Point>) -> Result<f64, Error> {
        self.scratch.0.row_weight = 1.0;
        let dyads = match instance {
            Instance::Point(point) => {
                let square = self.or_negligible(|span| span.load_point(point))?;
                self.scratch.0.energy = square;
                return Ok(square);
            }
            Instance::Dyads(dyads) if dyads.len() == 1 && dyads[0].0 > 0.0 => {
                self.scratch.0.row_weight = dyads[0].0;
                dyads
            }
            Instance::Dyads(_) if self.options.center.is_some() => {
                return Err(Error::Unsupported(
                    "a learner that centers takes rows one by one, not several or a matrix at once",
                ));
            }
            Instance::Dyads(dyads) => dyads,
        };
        let mut trace = 0.0;
        for (index, (weight, point)) in dyads.iter().enumerate() {
            if !(*weight >= 0.0 && weight.is_finite()) {
                let (what, rule) = ("weights of the dyads", "finite and not negative");
                return Err(Error::Entry { what, index, rule, value: *weight });
            }
            trace += weight * self.or_negligible(|span| span.load_point(point))?;
        }
        check_weights(dyads, trace)?;
        self.scratch.0.energy = trace;
        match self.options.norm_bound {
            _ if dyads.len() == 1 => Ok(trace),
            // The trace bounds the largest eigenvalue, so often no decomposition is needed.
            NormBound::Given(bound) if trace <= bound * bound => Ok(trace),
            _ => Ok(self.largest_eigenvalue(dyads)),
        }
    }

    pub(super) fn largest_eigenvalue(&self, dyads: &[(f64, &S::Point)]) -> f64 {
        let mut gram = Matrix::zeros(dyads.len(), dyads.len());
        for (j, (weight, point)) in dyads.iter().enumerate() {
            for (i, (other_weight, other)) in dyads.iter().enumerate() {
                gram.column_mut(j)[i] = weight.sqrt() * other_weight.sqrt() * self.span.inner(point, other);
            }
        }
        symmetric_eigenvalues(gram.view()).last().copied().unwrap_or(0.0)
    }
}

/// Returns `Err` if the product of a weight and the trace overflows. A trace that is too large by itself has another
/// error.
fn check_weights<P: ?Sized>(dyads: &[(f64, &P)], trace: f64) -> Result<(), Error> {
    let overflows = |(weight, _): &(f64, &P)| trace < LARGEST_TOTAL && weight * trace >= LARGEST_TOTAL;
    match dyads.iter().position(overflows) {
        Some(index) => {
            let rule = "less than 4.4e304 divided by the sum of the weighted squared norms";
            Err(Error::Entry { what: "weights of the dyads", index, rule, value: dyads[index].0 })
        }
        None => Ok(()),
    }
}

/// Instance of a trial, with borrowed points.
#[derive(Debug)]
pub enum Instance<'a, P: ?Sized> {
    /// Single point z, which represents the matrix `z zᵀ`.
    Point(&'a P),
    /// Sum of dyads `Σ w z zᵀ` with nonnegative weights w.
    Dyads(&'a [(f64, &'a P)]),
}

impl<'a, P: ?Sized> From<&'a P> for Instance<'a, P> {
    fn from(point: &'a P) -> Self {
        Self::Point(point)
    }
}

/// Symmetric positive semidefinite matrix, decomposed into dyads.
#[derive(Debug, Clone)]
pub struct Symmetric {
    weights: Vec<f64>,
    vectors: Matrix,
}

impl Symmetric {
    /// Decomposes the matrix into dyads. Returns `Err` unless it is square, finite and, up to rounding, symmetric and
    /// positive semidefinite.
    pub fn new(matrix: &Matrix) -> Result<Self, Error> {
        let n = matrix.rows();
        length("a row of the symmetric matrix", matrix.columns(), n)?;
        for j in 0..n {
            for i in 0..n {
                let (value, mirrored) = (matrix.column(j)[i], matrix.column(i)[j]);
                let index = j * n + i;
                if !value.is_finite() {
                    return Err(Error::Entry { what: "symmetric matrix", index, rule: "finite", value });
                }
                if (value - mirrored).abs() > 1e-12 * (value.abs() + mirrored.abs()) {
                    return Err(Error::Entry { what: "symmetric matrix", index, rule: "equal to its mirror", value });
                }
            }
        }
        let eigen = symmetric_eigen(matrix);
        let largest = eigen.values.iter().fold(0f64, |a, v| a.max(v.abs()));
        for (index, &value) in eigen.values.iter().enumerate() {
            if value < -1e-12 * largest {
                return Err(Error::Entry { what: "spectrum of the instance", index, rule: "not negative", value });
            }
        }
        Ok(Self { weights: eigen.values.iter().map(|v| v.max(0.0)).collect(), vectors: eigen.vectors })
    }

    /// Returns the dyads, for [`Instance::Dyads`].
    pub fn dyads(&self) -> Vec<(f64, &[f64])> {
        self.weights.iter().enumerate().map(|(j, w)| (*w, self.vectors.column(j))).collect()
    }
}
