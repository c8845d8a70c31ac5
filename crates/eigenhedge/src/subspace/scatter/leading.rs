//! Leading eigenpairs of a running scatter matrix, for a learner that keeps the k largest of many.
//!
//! Unlike with a rank cap, C itself is stored and nothing is dropped. Only the k + [`EXTRA`] largest pairs are
//! computed, or k + [`EXTRA_IF_DENSE`] in a dense part of the spectrum of a large matrix, as in noise.
//! Update: Rayleigh–Ritz. The basis V of the previous row is extended by the part of the new row z outside V, then by
//! residuals and products with C (a Krylov space), until the k leading Ritz pairs (θ, y) are accurate. A row changes
//! each column of the image CV by a multiple of z, so each extension costs one product of C with a vector. In a dense
//! part of the spectrum, residuals of earlier rows remain after [`CHAIN`] extensions. Then all extend the basis at
//! once.
//! Guarantee: each of the k pairs satisfies `|C y - θ y|² ≤ ε (θ - θ') tr C`, where θ' is the smallest stored Ritz
//! value and ε is [`TOLERANCE`], or [`TOLERANCE_IF_DENSE`]. The k directions then miss at most kε of the total energy.
//! If the k-th and the next eigenvalue differ by the share g of the trace, the loss of a row differs from that of a
//! full decomposition by at most `2 √(kε/g)` of its energy. If the pairs are not accurate after [`MOST`] more vectors,
//! or 4k, all are computed ([`Chained`]).
//! Cost per row with w columns: w² for each extension (one or two outside dense parts), and O(w (k + EXTRA)²).
//! References: Parlett, *The Symmetric Eigenvalue Problem*, chapters 11 to 13.

use super::super::frame::Frame;
use super::super::rule::{Directions, Observed};
use super::chained::Chained;
use super::row_sum::RowSum;
use crate::error::Error;
use crate::linalg::checks::{matrix_entries, shape};
use crate::linalg::{Eigen, Matrix, largest_pairs, multiplied, multiply, orthonormal_to, symmetric_times, top};
use crate::num::dot;
use crate::scratch::{Scratch, zero};
use crate::simplex::Multiplicity;
use crate::state::{LARGEST, State, energy, ensure};
use serde::{Deserialize, Serialize};

/// Number of pairs stored beyond the k wanted ones.
pub(super) const EXTRA: usize = 16;
const EXTRA_IF_DENSE: usize = 32;
/// Relative distance from the k-th to the smallest stored eigenvalue below which the spectrum is dense.
const DENSE: f64 = 0.3;
/// Minimum number of columns for special treatment of dense parts, because products are slow.
const LARGE: usize = 512;
/// Energy that a wanted direction may miss, as a share of the total.
const TOLERANCE: f64 = 1e-12;
/// One row among 100,000 changes the energy by this share.
const TOLERANCE_IF_DENSE: f64 = 1e-5;
const CHAIN: usize = 3;
/// Number of vectors added for one row after which the attempt ends, or 4k if that is more.
const MOST: usize = 48;
/// Relative distance between the k-th eigenvalue and the smallest stored one for a start.
const APART: f64 = 0.01;
/// Relative distance from the smallest stored eigenvalue up to which a wanted one is tied with it.
const TIED: f64 = 1e-4;
const BLOCK: usize = 64;
const DRIFT: f64 = 1e-13;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Leading {
    pub(super) sum: RowSum,
    pub(super) frame: Frame,
    images: Matrix,
    pub trace: f64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    /// Extended basis. `images` are its images, and `inner` is the matrix in this basis.
    basis: Matrix,
    images: Matrix,
    inner: Matrix,
    eigen: Eigen,
    ritz: Matrix,
    residuals: Matrix,
    next: Vec<f64>,
    image: Vec<f64>,
    products: Vec<f64>,
}

impl State for Leading {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        self.frame.check_state(&built.frame)?;
        let columns = self.frame.columns();
        self.sum.check_state(columns)?;
        ensure(self.sum.columns() == columns, "the leading directions must be in the columns of the scatter matrix")?;
        shape("the images of the leading directions", &self.images, columns, self.frame.values.len())?;
        matrix_entries("images of the leading directions", &self.images, -LARGEST..=LARGEST)?;
        energy("the trace of the scatter matrix", self.trace)
    }
}

impl Leading {
    /// Returns `None` unless there are many more columns than pairs to store, and the smallest stored eigenvalue is
    /// clearly below the `kept`-th.
    pub fn of(all: &Chained, kept: usize, dimension: Multiplicity) -> Option<Self> {
        let (vectors, sum) = all.decomposed()?;
        let (values, size) = (&all.values, all.values.len());
        let first_of = |stored: usize| size.checked_sub(stored).filter(|others| *others > 2 * stored);
        let mut first = first_of(kept + EXTRA)?;
        let least = values[size - kept];
        if is_dense(size, least, values[first]) {
            first = first_of(kept + EXTRA_IF_DENSE).unwrap_or(first);
        }
        if !(least - values[first] > APART * least) {
            return None;
        }
        let mut directions = Matrix::zeros(values.len(), 0);
        (first..values.len()).for_each(|j| directions.push_column(vectors.column(j)));
        Some(Self::of_pairs(sum.clone(), values[first..].iter().copied(), directions, dimension, values.iter().sum()))
    }

    /// Returns the sum if a full decomposition is about as fast, or if the pairs are not accurate.
    pub(super) fn of_sum(mut sum: RowSum, stored: usize, dimension: Multiplicity) -> Result<Self, Box<RowSum>> {
        let matrix = sum.collect();
        let trace = matrix.trace();
        if stored > matrix.columns() / 8 {
            return Err(Box::new(sum));
        }
        let Some((values, vectors)) = largest_pairs(matrix, stored) else { return Err(Box::new(sum)) };
        // Reverses the order of the pairs to ascending.
        let (values, vectors) = top(&values, &vectors, stored);
        Ok(Self::of_pairs(sum, values.into_iter(), vectors, dimension, trace))
    }

    fn of_pairs(
        sum: RowSum,
        values: impl Iterator<Item = f64>,
        mut directions: Matrix,
        dimension: Multiplicity,
        trace: f64,
    ) -> Self {
        let mut frame = Frame::new(dimension);
        frame.grow(directions.rows());
        frame.replace(&directions, values);
        directions.scale_columns(|j| frame.values[j]);
        Self { sum, frame, images: directions, trace, scratch: Scratch::default() }
    }

    pub fn empty(dimension: Multiplicity) -> Self {
        let (sum, images) = (RowSum::default(), Matrix::default());
        Self { sum, frame: Frame::new(dimension), images, trace: 0.0, scratch: Scratch::default() }
    }

    pub fn take_all(&mut self) -> Box<Chained> {
        Box::new(Chained::of(std::mem::take(&mut self.sum)))
    }

    pub fn grow(&mut self, columns: usize) {
        self.sum.grow(columns);
        self.frame.grow(columns);
        self.images.resize(columns, self.images.columns());
    }

    /// Adds an instance whose last point was observed last. Returns true if the leading pairs are accurate.
    pub fn add(&mut self, forget: f64, instance: &Observed, kept: usize) -> bool {
        if forget != 1.0 {
            self.sum.fade(forget);
            self.trace *= forget;
            self.frame.values.iter_mut().for_each(|value| *value *= forget);
            self.images.scale_columns(|_| forget);
        }
        let mut accurate = true;
        for (j, weight) in instance.weights.iter().enumerate().rev().filter(|(_, weight)| **weight > 0.0) {
            let point = instance.coordinates.column(j);
            if j + 1 < instance.weights.len() {
                self.frame.observe(point);
            }
            accurate = accurate && self.add_dyad(point, *weight * instance.unit_square, kept);
        }
        accurate
    }

    fn add_dyad(&mut self, point: &[f64], weight: f64, kept: usize) -> bool {
        self.sum.push(point, weight);
        self.trace += weight * dot(point, point);
        let inner = &mut self.scratch.0.inner;
        let coordinates = self.frame.coordinates();
        let size = coordinates.len();
        inner.resize(size, size);
        for (j, amount) in coordinates.iter().enumerate() {
            let amount = weight * amount;
            inner.column_mut(j).iter_mut().zip(coordinates).for_each(|(entry, c)| *entry = amount * c);
            inner.column_mut(j)[j] += self.frame.values[j];
            self.images.column_mut(j).iter_mut().zip(point).for_each(|(entry, x)| *entry += amount * x);
        }
        self.frame.outside().clone_into(&mut self.scratch.0.next);
        let accurate = self.refine(kept);
        if self.sum.recent() >= BLOCK {
            self.refresh();
        }
        accurate
    }

    fn refresh(&mut self) {
        if self.frame.rotation.drift() > DRIFT {
            self.frame.heal();
        }
        symmetric_times(&mut self.images, self.sum.collect(), &self.frame.rotation);
    }

    /// Extends the basis by `next` and by residuals until the `kept` leading pairs are accurate, and replaces the
    /// directions by the leading pairs. `scratch.inner` must contain the matrix in the basis of the directions.
    fn refine(&mut self, kept: usize) -> bool {
        let stored = self.frame.values.len();
        let Working { basis, images, inner, eigen, ritz, residuals, next, image, products } = &mut self.scratch.0;
        basis.clone_from(&self.frame.rotation);
        images.clone_from(&self.images);
        let is_dense = is_dense(basis.rows(), self.frame.values[stored - kept], self.frame.values[0]);
        let tolerance = if is_dense { TOLERANCE_IF_DENSE } else { TOLERANCE } * self.trace;
        let (mut steps, mut check, mut is_block) = (0, if is_dense { CHAIN } else { 1 }, false);
        let accurate = loop {
            let before = basis.columns();
            if is_block {
                extend_by_residuals(&self.sum, basis, images, residuals);
            } else if orthonormal_to(basis, next) {
                self.sum.times(next, image, products);
                basis.push_column(next);
                images.push_column(image);
            }
            for j in before..basis.columns() {
                basis.transpose_times(images.column(j), products);
                inner.resize(products.len(), products.len());
                products.iter().enumerate().for_each(|(i, product)| inner.column_mut(i)[j] = *product);
            }
            let added = basis.columns() - before;
            steps += added;
            if added > 0 && steps < check && !is_block {
                std::mem::swap(next, image);
                continue;
            }
            eigen.compute_graded(inner);
            let worst = worst_residual(eigen, (basis, images), kept, stored, (ritz, residuals));
            if worst.1 <= tolerance {
                break true;
            }
            if added == 0 || steps >= MOST.max(4 * kept) || !worst.1.is_finite() {
                break false;
            }
            residuals.column(worst.0).clone_into(next);
            is_block = is_dense;
            check = steps + 1 + steps / 2;
        };
        let leading = eigen.vectors.view().subcols(eigen.values.len() - stored, stored);
        multiply(ritz, basis.view(), leading);
        multiply(&mut self.images, images.view(), leading);
        self.frame.replace(ritz, eigen.values[eigen.values.len() - stored..].iter().copied());
        accurate
    }

    pub fn reduce(&mut self, rotation: &Matrix, kept: usize) -> bool {
        let matrix = self.sum.reduce(rotation);
        self.trace = matrix.trace();
        let mut directions = multiplied(rotation.view().transpose(), self.frame.rotation.view());
        directions.orthonormalise_any();
        let values = std::mem::take(&mut self.frame.values);
        self.frame.grow(rotation.columns());
        self.frame.replace(&directions, values.into_iter());
        self.refresh();
        let Working { inner, next, .. } = &mut self.scratch.0;
        multiply(inner, directions.view().transpose(), self.images.view());
        zero(next, rotation.columns());
        self.refine(kept)
    }
}

fn is_dense(columns: usize, value: f64, smallest: f64) -> bool {
    columns >= LARGE && value - smallest < DENSE * value
}

fn extend_by_residuals(sum: &RowSum, basis: &mut Matrix, images: &mut Matrix, residuals: &mut Matrix) {
    let mut added = Matrix::zeros(basis.rows(), 0);
    for j in 0..residuals.columns() {
        if orthonormal_to(basis, residuals.column_mut(j)) {
            basis.push_column(residuals.column(j));
            added.push_column(residuals.column(j));
        }
    }
    sum.times_all(&added, residuals);
    (0..added.columns()).for_each(|j| images.push_column(residuals.column(j)));
}

/// Returns the wanted pair whose direction may miss the most energy, and this energy: the squared residual divided by
/// the distance from the smallest stored Ritz value.
fn worst_residual(
    eigen: &Eigen,
    (basis, images): (&Matrix, &Matrix),
    kept: usize,
    stored: usize,
    (ritz, residuals): (&mut Matrix, &mut Matrix),
) -> (usize, f64) {
    let size = eigen.values.len();
    let leading = eigen.vectors.view().subcols(size - kept, kept);
    multiply(ritz, basis.view(), leading);
    multiply(residuals, images.view(), leading);
    let mut worst = (0, 0.0);
    for (j, value) in eigen.values[size - kept..].iter().enumerate() {
        let residual = residuals.column_mut(j);
        residual.iter_mut().zip(ritz.column(j)).for_each(|(image, y)| *image -= value * y);
        let distance = value - eigen.values[size - stored];
        let missed = if distance > TIED * value { dot(residual, residual) / distance } else { f64::INFINITY };
        if !(missed <= worst.1) {
            worst = (j, missed);
        }
    }
    worst
}
