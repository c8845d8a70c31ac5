//! Span of kernel features: the columns are combinations `b = Φ a` of the features Φ of the t atoms of a
//! [`Dictionary`].
//! State: the coefficients A of w columns (`t × w`), their images `G = K A`, and the origin as coefficients μ with the
//! image `K μ`. The Gram matrix K of the atoms is not stored.
//! Update: let κ be the kernel row of a row x, and z its features minus the origin. Its coordinates are `c = Aᵀ(κ - K
//! μ)`. The residual has the norm ρ, and its direction has the coefficients `(-μ - A c, 1)/ρ`. Without a budget every
//! row with a resolved residual becomes an atom.
//! Cost: one kernel row and O(t w) per row of the stream.
//! Numerics: the rounding error of the squared norm of a column with coefficients a is the machine epsilon times its
//! *size* `Σ a_i² k(x_i, x_i)`. A residual is *resolved* if it becomes a column. Otherwise it remains part of the
//! complement or, with a budget, is lost. It is not resolved if the size of its column would exceed [`LARGEST_SIZE`],
//! if its squared norm is at most [`RESOLVED`] times `k(x, x)`, or if the error of its column ([`Accuracy`]) would
//! exceed both [`KNOWN`] and the rounding error that the largest size explains. Its squared norm is computed in two
//! ways, as `|z|² - |c|²` and as `eᵀK e` with its coefficients e, which must not differ by more than [`DOUBTFUL`].
//! Images are recomputed after a trial if that would resolve a residual, at most every [`REFRESH_AFTER`] rows, and when
//! the number of rows since the last time exceeds both 64 and the number of atoms. Coordinates are computed twice if ρ
//! is below [`REPEAT`] times the norm of z. The drift `|AᵀK A - I|` is measured after images were recomputed or columns
//! combined, and removed above [`REFRESH`]. Directions whose size then exceeds [`LOST_SIZE`], as after an eviction, are
//! discarded.
//! Reference: Kuzmin & Warmuth, ICML 2007, section 5. The span argument given there also applies to tracking.

mod accuracy;
mod block;
mod evict;
mod state;
mod trial;

use super::Span;
use super::removal::{AtomBudget, Removal};
use crate::error::Error;
use crate::kernel::{Dictionary, mix};
use crate::linalg::{Eigen, Matrix, multiply};
use crate::num::dot;
use crate::scratch::Scratch;
use crate::simplex::Multiplicity;
use accuracy::{Accuracy, size};
pub(crate) use block::{Growth, TakenIn};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Feature<D> {
    dictionary: D,
    dimension: Multiplicity,
    coefficients: Matrix,
    images: Matrix,
    accuracy: Accuracy,
    origin: Option<FeatureOrigin>,
    budget: Option<AtomBudget>,
    /// Kernel of every atom with itself. Computed lazily after deserialization.
    #[serde(skip)]
    squares: Scratch<Vec<f64>>,
    #[serde(with = "crate::state::no_limit")]
    stale: usize,
    trials: u64,
    /// Hash of all changes of the dictionary. Spans over the same rows with equal hashes have equal dictionaries.
    lineage: u64,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

/// Origin `m = Φ μ`: coefficients μ, image `K μ` and squared norm.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct FeatureOrigin {
    coefficients: Vec<f64>,
    image: Vec<f64>,
    square: f64,
    error: f64,
}

#[derive(Debug, Clone, Default)]
struct Working {
    row: Vec<f64>,
    own: f64,
    /// Largest entry of the loaded point if its kernel with itself underflows, otherwise 0.
    longest: f64,
    moved: Vec<f64>,
    square: f64,
    residual: Vec<f64>,
    of_point: Vec<f64>,
    /// Coordinates that were subtracted from the point, or from the atom that replaced it.
    taken: Vec<f64>,
    coordinates: Vec<f64>,
    residual_square: f64,
    correction: Vec<f64>,
    expansion: Vec<f64>,
    is_atom: bool,
    combined: bool,
    /// True if recomputed images would have resolved the residual.
    wants_refresh: bool,
    parts: Matrix,
    costs: Vec<f64>,
    going: Vec<usize>,
    removal: Removal,
    product: Matrix,
    gram: Matrix,
    eigen: Eigen,
    rotation: Matrix,
    change: Matrix,
}

const RESOLVED: f64 = 1e-7;
const LARGEST_SIZE: f64 = 2e9;
/// Size above which a direction is discarded. A combination of columns can be larger than each of them.
const LOST_SIZE: f64 = 16.0 * LARGEST_SIZE;
/// Squared norm below which a formerly unit column is discarded after an eviction.
const LOST_DIRECTION: f64 = 1e-4;
const KNOWN: f64 = 1e-9;
const DOUBTFUL: f64 = 1e-3;
/// Largest such difference that rounding can cause, as a share of the residual's size plus the energies.
const CERTAIN: f64 = 128.0 * f64::EPSILON;
/// Largest error of an image that rounding can cause, as a share of the square root of the largest column's size.
const CONSISTENT: f64 = 32.0 * f64::EPSILON;
/// Smallest squared norm of the part of a residual along its representing atom, as a share of `k(x, x)`.
const CARRIED: f64 = 1e-6;
const REPEAT: f64 = 0.75;
const ROUNDINGS: f64 = 8.0;
const REFRESH_AFTER: usize = 8;
const REFRESH: f64 = 1e-13;

impl<D: Dictionary> Feature<D> {
    pub fn new(dictionary: D) -> Self {
        let dimension = dictionary.dimension();
        Self {
            dictionary,
            dimension,
            coefficients: Matrix::default(),
            images: Matrix::default(),
            accuracy: Accuracy::default(),
            origin: None,
            budget: None,
            squares: Scratch::default(),
            stale: 0,
            trials: 0,
            lineage: 0,
            scratch: Scratch::default(),
        }
    }

    pub fn within(mut self, dimension: Multiplicity) -> Self {
        self.dimension = dimension;
        self
    }

    /// Limits the number of atoms. A row is no new atom if one atom represents all but a share `novelty` of its energy.
    pub fn with_budget(mut self, atoms: usize, novelty: f64) -> Result<Self, Error> {
        self.budget = Some(AtomBudget::new(atoms, novelty)?);
        Ok(self)
    }

    pub fn dictionary(&self) -> &D {
        &self.dictionary
    }

    pub fn coefficients(&self) -> &Matrix {
        &self.coefficients
    }

    pub fn origin(&self) -> Option<&[f64]> {
        self.origin.as_ref().map(|origin| &origin.coefficients[..])
    }

    pub(crate) fn origin_with_image(&self) -> Option<(&[f64], &[f64])> {
        self.origin.as_ref().map(|origin| (&origin.coefficients[..], &origin.image[..]))
    }

    /// Computes the kernel of each new atom with itself, or of all atoms after deserialization.
    fn know_squares(&mut self) {
        let (squares, dictionary) = (&mut self.squares.0, &self.dictionary);
        let new = squares.len()..dictionary.len();
        squares.extend(new.map(|atom| dictionary.value_between(atom, dictionary, atom)));
    }

    /// Subtracts the origin from the loaded point, in its kernel row. Returns the squared norm of the difference.
    fn move_to_origin(&mut self) -> Result<f64, Error> {
        let Working { row, own, longest, moved, square, is_atom, .. } = &mut self.scratch.0;
        *is_atom = false;
        moved.clear();
        match &self.origin {
            None => {
                moved.extend_from_slice(row);
                *square = *own;
            }
            Some(origin) => {
                moved.extend(row.iter().zip(&origin.image).map(|(k, m)| k - m));
                *square = (*own - 2.0 * dot(&origin.coefficients, row) + origin.square).max(0.0);
            }
        }
        if !square.is_finite() {
            return Err(Error::Overflow { largest: square.sqrt() });
        }
        if *square >= f64::MIN_POSITIVE {
            return Ok(*square);
        }
        // A difference at rounding level counts as zero, and so do features whose squared norm underflows.
        *square = 0.0;
        moved.fill(0.0);
        if self.origin.is_none() && *longest > 0.0 { Err(Error::Underflow { largest: *longest }) } else { Ok(0.0) }
    }

    /// Computes the coefficients of the atoms in the residual. That of the point itself, 1, is not included.
    fn expand_residual(&mut self) {
        let Working { expansion, coordinates, taken, .. } = &mut self.scratch.0;
        taken.clone_from(coordinates);
        expansion.clear();
        match &self.origin {
            Some(origin) => expansion.extend(origin.coefficients.iter().map(|m| -m)),
            None => expansion.resize(self.dictionary.len(), 0.0),
        }
        self.coefficients.subtract_times(coordinates, expansion);
    }

    fn push_column(&mut self, norm: f64, size: f64, error: f64) {
        let Working { expansion, residual, .. } = &self.scratch.0;
        let column = self.coefficients.columns();
        self.coefficients.resize(expansion.len(), column + 1);
        self.images.resize(expansion.len(), column + 1);
        let entries = self.coefficients.column_mut(column).iter_mut().zip(expansion);
        entries.for_each(|(entry, e)| *entry = e / norm);
        self.images.column_mut(column).iter_mut().zip(residual).for_each(|(entry, r)| *entry = r / norm);
        self.accuracy.push(size, error, norm);
    }

    /// Returns the size of the residual, that of `expansion` plus `rest`, and the squared error of its image, or `None`
    /// if the column would be too inaccurate. Requests recomputed images if they would help.
    fn resolve(&mut self, rest: f64, norm_square: f64) -> Option<(f64, f64)> {
        let Working { own, expansion, taken, .. } = &mut self.scratch.0;
        let size = rest + size(expansion, &self.squares.0);
        if !(size <= LARGEST_SIZE * norm_square && norm_square > RESOLVED * *own) {
            return None;
        }
        let (error, fresh) = self.accuracy.of_residual(taken, size);
        let of_origin = self.origin.as_ref().map_or(0.0, |origin| origin.error);
        let (error, fresh) = (error + of_origin, fresh + of_origin);
        let largest = self.accuracy.largest_size().max(size / norm_square);
        let allowed =
            (CONSISTENT * CONSISTENT * largest * norm_square).max(KNOWN * KNOWN * norm_square * norm_square / size);
        if fresh <= allowed && error > allowed {
            self.scratch.0.wants_refresh = true;
        }
        (error <= allowed).then_some((size, error))
    }

    fn take_for_fresh(&mut self) {
        self.know_squares();
        let (coefficients, squares) = (&self.coefficients, &self.squares.0);
        self.accuracy.refresh((0..coefficients.columns()).map(|j| size(coefficients.column(j), squares)));
        if let Some(origin) = &mut self.origin {
            origin.square = dot(&origin.coefficients, &origin.image);
            origin.error = accuracy::ROUNDING * size(&origin.coefficients, squares);
        }
        self.stale = 0;
    }

    fn may_refresh(&self) -> bool {
        self.stale >= REFRESH_AFTER.max(self.dictionary.len() / 8)
    }

    fn transform(&mut self, change: &Matrix) {
        self.know_squares();
        let product = &mut self.scratch.0.product;
        for part in [&mut self.coefficients, &mut self.images] {
            multiply(product, part.view(), change.view());
            std::mem::swap(product, part);
        }
        let (coefficients, squares) = (&self.coefficients, &self.squares.0);
        self.accuracy.combine(change, (0..change.columns()).map(|j| size(coefficients.column(j), squares)));
    }

    /// Adds a column for the part of the residual that a single atom represents: `factor` times the atom replaces the
    /// point. Returns the coordinate of the point in the new column, or zero if no column is added.
    fn push_carried(&mut self, atom: usize, factor: f64) -> f64 {
        let Working { row, own, residual, residual_square, of_point, correction, expansion, moved, taken, .. } =
            &mut self.scratch.0;
        expansion[atom] += factor;
        of_point.clone_from(residual);
        self.dictionary.atom_row(atom, moved);
        for ((r, kernel), of_atom) in residual.iter_mut().zip(row).zip(moved) {
            *r += factor * *of_atom - *kernel;
        }
        for _ in 0..2 {
            self.coefficients.transpose_times(residual, correction);
            self.coefficients.subtract_times(correction, expansion);
            self.images.subtract_times(correction, residual);
            taken.iter_mut().zip(&*correction).for_each(|(c, more)| *c += *more);
        }
        let overlap = dot(expansion, of_point);
        let norm = dot(expansion, residual).max(0.0).sqrt();
        let coordinate = (overlap / norm).min(residual_square.sqrt());
        let least = CARRIED * *own;
        if !(norm * norm > least && coordinate > 0.0 && coordinate * coordinate > least) {
            return 0.0;
        }
        let Some((size, error)) = self.resolve(0.0, norm * norm) else { return 0.0 };
        self.scratch.0.coordinates.push(coordinate);
        self.push_column(norm, size, error);
        coordinate
    }

    fn push_atom(&mut self, point: &D::Point) {
        let Working { row, is_atom, correction, coordinates, .. } = &mut self.scratch.0;
        let atoms = self.dictionary.len();
        self.dictionary.push(point);
        self.lineage = descend(self.lineage, self.trials);
        *is_atom = true;
        if self.origin.is_some() {
            self.coefficients.transpose_times(row, correction);
        } else {
            correction.clone_from(coordinates);
        }
        self.coefficients.resize(atoms + 1, self.coefficients.columns());
        self.images.resize(atoms + 1, self.images.columns());
        for (j, overlap) in correction.iter().enumerate() {
            self.images.column_mut(j)[atoms] = *overlap;
        }
        if let Some(origin) = &mut self.origin {
            origin.image.push(dot(&origin.coefficients, row));
            origin.coefficients.push(0.0);
        }
    }

    fn refresh(&mut self) {
        let atoms = self.dictionary.len();
        let Working { row, correction, .. } = &mut self.scratch.0;
        for atom in 0..atoms {
            self.dictionary.atom_row(atom, row);
            self.coefficients.transpose_times(row, correction);
            for (j, overlap) in correction.iter().enumerate() {
                self.images.column_mut(j)[atom] = *overlap;
            }
            if let Some(origin) = &mut self.origin {
                origin.image[atom] = dot(&origin.coefficients, row);
            }
        }
        self.take_for_fresh();
    }

    fn remove_drift(&mut self) -> bool {
        // Coefficients may cancel, so the first pass can leave rounding errors of their former size.
        (0..2).any(|_| self.drift() > REFRESH && self.orthonormalise(true))
    }

    /// Replaces the columns by the nearest orthonormal ones. Returns true if the dictionary cannot represent all of
    /// them: nothing changes then, or if `may_lose`, the new columns are the old ones times `scratch.rotation`, up to
    /// drift.
    fn orthonormalise(&mut self, may_lose: bool) -> bool {
        self.know_squares();
        let columns = self.coefficients.columns();
        let Working { gram, eigen, rotation, product, change, .. } = &mut self.scratch.0;
        multiply(gram, self.coefficients.view().transpose(), self.images.view());
        make_symmetric(gram);
        // Keeps combinations v of columns that are neither nearly zero nor too large: vᵀ(S - N/LOST_SIZE) v exceeds
        // LOST_DIRECTION |v|², with the Gram matrix S of the columns and the matrix N of their sizes.
        product.clone_from(&self.coefficients);
        for j in 0..columns {
            product.column_mut(j).iter_mut().zip(&self.squares.0).for_each(|(a, square)| *a *= square / LOST_SIZE);
        }
        multiply(change, self.coefficients.view().transpose(), product.view());
        change.for_each_column(|j, sizes| {
            sizes.iter_mut().zip(gram.column(j)).for_each(|(size, gram)| *size = gram - *size)
        });
        make_symmetric(change);
        eigen.compute(change.view());
        let lost = eigen.values.iter().filter(|value| !(**value > LOST_DIRECTION)).count();
        if lost > 0 && !may_lose {
            return true;
        }
        if lost > 0 {
            rotation.resize(columns, columns - lost);
            for j in lost..columns {
                rotation.column_mut(j - lost).copy_from_slice(eigen.vectors.column(j));
            }
            multiply(product, gram.view(), rotation.view());
            multiply(gram, rotation.view().transpose(), product.view());
            make_symmetric(gram);
        }
        // With the eigendecomposition U D Uᵀ of the Gram matrix, U D^{-1/2} Uᵀ makes the columns orthonormal.
        eigen.compute(gram.view());
        change.clone_from(&eigen.vectors);
        change.scale_columns(|j| 1.0 / eigen.values[j].sqrt());
        multiply(product, change.view(), eigen.vectors.view().transpose());
        if lost > 0 {
            multiply(change, rotation.view(), product.view());
        } else {
            std::mem::swap(product, change);
        }
        let change = std::mem::take(change);
        self.transform(&change);
        self.scratch.0.change = change;
        lost > 0
    }
}

fn make_symmetric(matrix: &mut Matrix) {
    for j in 0..matrix.columns() {
        for i in 0..j {
            let mean = 0.5 * (matrix.column(j)[i] + matrix.column(i)[j]);
            matrix.column_mut(j)[i] = mean;
            matrix.column_mut(i)[j] = mean;
        }
    }
}

fn descend(lineage: u64, event: u64) -> u64 {
    mix((lineage ^ event).wrapping_add(0x9e37_79b9_7f4a_7c15))
}
