//! Adding the columns of many points at once.
//!
//! Setting: points minus the origin, which does not move meanwhile. A block of points is projected on the columns by
//! matrix products, twice, so that rounding errors do not accumulate. The residuals of a block are then made orthogonal to
//! each other. A residual that is resolved becomes a column, by the rules of single rows.
//!
//! Cost for t atoms and w columns: one kernel row and O(t w) operations per point, most of them in matrix products.
//!
//! Numerics: errors of images are not estimated. Sizes of columns are bounded as for single rows.

use super::{DOUBTFUL, Feature, LARGEST_SIZE, RESOLVED, descend, size};
use crate::cancel;
use crate::error::Error;
use crate::kernel::Dictionary;
use crate::linalg::{Matrix, add_multiple, multiply};
use crate::memory::{check_numbers, product};
use crate::num::dot;
use crate::simplex::Multiplicity;

/// Number of points in a block.
const BLOCK: usize = 48;

/// Points in coordinates of the columns.
#[derive(Debug, Default)]
pub(crate) struct TakenIn {
    /// Coordinates of the points minus the origin, one column per point.
    pub coordinates: Matrix,
    /// Squared norm of each point minus the origin.
    pub squares: Vec<f64>,
}

/// Block of points during the orthogonalization of their residuals.
struct Block {
    /// Kernel of each point with each atom.
    rows: Matrix,
    own: Vec<f64>,
    /// Inner product of each point with the origin.
    overlaps: Vec<f64>,
    squares: Vec<f64>,
    coordinates: Matrix,
    /// Inner products of the residuals with the atoms.
    residuals: Matrix,
    /// Coefficients of the residuals in the atoms. Each point has the coefficient 1 in its own residual.
    expansions: Matrix,
    /// Inner products of the residuals.
    gram: Matrix,
}

/// New column of a block, over the atoms before the block and the new ones.
struct Column {
    coefficients: Vec<f64>,
    image: Vec<f64>,
    /// Inner product with the origin.
    of_origin: f64,
}

impl<D: Dictionary> Feature<D> {
    /// Adds columns until the span contains all points minus the origin, except for residuals that are not resolved. There
    /// must be no budget. The error contains the position of the point. After an error the span must not be used.
    pub(crate) fn take_in_points(&mut self, points: &[&D::Point]) -> Result<TakenIn, (usize, Error)> {
        let mut all = TakenIn { coordinates: Matrix::default(), squares: Vec::with_capacity(points.len()) };
        for (start, block) in (0..points.len()).step_by(BLOCK).zip(points.chunks(BLOCK)) {
            let numbers = product(&[self.coefficients.columns(), points.len() + 4 * self.dictionary.len()]);
            let fits = cancel::check().and(check_numbers("the directions of these rows", numbers));
            fits.map_err(|error| (start, error))?;
            self.know_squares();
            let loaded = self.load_block(block).map_err(|(j, error)| (start + j, error))?;
            let found = self.append_residuals(block, &loaded);
            all.coordinates.resize(self.coefficients.columns(), start + block.len());
            for j in 0..block.len() {
                all.coordinates.column_mut(start + j)[..found.rows()].copy_from_slice(found.column(j));
            }
            all.squares.extend(&loaded.squares);
        }
        self.take_for_fresh();
        // The images are recomputed with the next row.
        self.stale = self.dictionary.len().max(64);
        Ok(all)
    }

    /// Moves the origin by a combination of the columns.
    pub(crate) fn move_origin(&mut self, way: &[f64]) {
        let Some(origin) = &mut self.origin else { return };
        let back: Vec<f64> = way.iter().map(|x| -x).collect();
        self.coefficients.subtract_times(&back, &mut origin.coefficients);
        self.images.subtract_times(&back, &mut origin.image);
        origin.square = dot(&origin.coefficients, &origin.image);
    }

    /// Computes the coordinates and residuals of a block of points.
    fn load_block(&mut self, points: &[&D::Point]) -> Result<Block, (usize, Error)> {
        let (mut rows, mut own) = (Matrix::default(), Vec::new());
        self.dictionary.rows(points, &mut rows, &mut own)?;
        let (mut residuals, mut overlaps, mut squares) = (rows.clone(), vec![0.0; own.len()], own.clone());
        for (j, point) in points.iter().enumerate() {
            if let Some(origin) = &self.origin {
                overlaps[j] = dot(&origin.coefficients, rows.column(j));
                squares[j] = (own[j] - 2.0 * overlaps[j] + origin.square).max(0.0);
                residuals.column_mut(j).iter_mut().zip(&origin.image).for_each(|(k, m)| *k -= m);
            } else if own[j] < f64::MIN_POSITIVE && self.dictionary.largest_entry(point) > 0.0 {
                return Err((j, Error::Underflow { largest: self.dictionary.largest_entry(point) }));
            }
            if !squares[j].is_finite() {
                return Err((j, Error::Overflow { largest: squares[j].sqrt() }));
            }
        }
        let (mut coordinates, mut correction, mut product) = (Matrix::default(), Matrix::default(), Matrix::default());
        multiply(&mut coordinates, self.coefficients.view().transpose(), residuals.view());
        multiply(&mut product, self.images.view(), coordinates.view());
        add_columns(&mut residuals, -1.0, &product);
        multiply(&mut correction, self.coefficients.view().transpose(), residuals.view());
        multiply(&mut product, self.images.view(), correction.view());
        add_columns(&mut residuals, -1.0, &product);
        add_columns(&mut coordinates, 1.0, &correction);
        let mut expansions = Matrix::zeros(rows.rows(), own.len());
        multiply(&mut product, self.coefficients.view(), coordinates.view());
        add_columns(&mut expansions, -1.0, &product);
        if let Some(origin) = &self.origin {
            (0..own.len()).for_each(|j| add_multiple(expansions.column_mut(j), -1.0, &origin.coefficients));
        }
        let mut gram = Matrix::default();
        multiply(&mut gram, coordinates.view().transpose(), coordinates.view());
        let square = self.origin.as_ref().map_or(0.0, |origin| origin.square);
        for j in 0..own.len() {
            for i in 0..j {
                let moved = self.dictionary.value(points[i], points[j]) - overlaps[i] - overlaps[j] + square;
                gram.column_mut(j)[i] = moved - gram.column(j)[i];
            }
        }
        Ok(Block { rows, own, overlaps, squares, coordinates, residuals, expansions, gram })
    }

    /// Makes the residuals of a block orthogonal and appends those that are resolved as columns. Returns the coordinates of
    /// the points in all columns.
    fn append_residuals(&mut self, points: &[&D::Point], block: &Block) -> Matrix {
        let (atoms, old) = (block.rows.rows(), self.coefficients.columns());
        let (mut columns, mut new_atoms) = (Vec::<Column>::new(), Vec::new());
        let mut squares = std::mem::take(&mut self.squares.0);
        let mut coordinates = block.coordinates.clone();
        let origin = self.origin.as_ref().map_or(&[][..], |origin| &origin.coefficients);
        for (j, point) in points.iter().enumerate() {
            let mut residual = block.residuals.column(j).to_vec();
            let mut expansion = block.expansions.column(j).to_vec();
            let of_origin = dot(origin, &residual[..origin.len()]);
            residual.extend(new_atoms.iter().map(|i: &usize| block.gram.column(j)[*i] + of_origin));
            expansion.resize(residual.len(), 0.0);
            let mut parts = Vec::with_capacity(columns.len() + 1);
            for column in &columns {
                let part = dot(&column.coefficients, &residual);
                add_multiple(&mut residual, -part, &column.image);
                add_multiple(&mut expansion, -part, &column.coefficients);
                parts.push(part);
            }
            let taken = dot(block.coordinates.column(j), block.coordinates.column(j)) + dot(&parts, &parts);
            let complete = self.dimension == Multiplicity::Finite((old + columns.len()) as u64);
            let left = if complete { 0.0 } else { (block.squares[j] - taken).max(0.0) };
            let mut row = block.rows.column(j).to_vec();
            row.extend(new_atoms.iter().map(|i| self.dictionary.value(points[*i], point)));
            let own = block.own[j];
            // ⟨residual, φ(x)⟩, and the squared norm of the residual for the second time.
            let own_overlap = own + dot(&expansion, &row);
            let same = own_overlap + dot(&expansion, &residual);
            let reach = own + size(&expansion, &squares);
            let resolved = left > RESOLVED * own && reach <= LARGEST_SIZE * left;
            if resolved && (same - left).abs() <= DOUBTFUL * left {
                for (column, part) in columns.iter_mut().zip(&parts) {
                    column.coefficients.push(0.0);
                    column.image.push(part + column.of_origin);
                }
                expansion.push(1.0);
                residual.push(own_overlap);
                let (norm, of_origin) = (same.sqrt(), dot(origin, &residual[..origin.len()]));
                [&mut expansion, &mut residual].into_iter().flatten().for_each(|x| *x /= norm);
                columns.push(Column { coefficients: expansion, image: residual, of_origin: of_origin / norm });
                new_atoms.push(j);
                squares.push(own);
                parts.push(left.sqrt());
                self.dictionary.push(point);
                self.lineage = descend(self.lineage, self.trials);
            }
            self.trials += 1;
            coordinates.resize(old + columns.len(), coordinates.columns());
            coordinates.column_mut(j)[old..][..parts.len()].copy_from_slice(&parts);
        }
        self.squares.0 = squares;
        self.adopt(atoms, columns, &new_atoms, block);
        coordinates
    }

    /// Appends the new atoms and columns of a block.
    fn adopt(&mut self, atoms: usize, columns: Vec<Column>, new_atoms: &[usize], block: &Block) {
        let old = self.coefficients.columns();
        let mut of_origin = Vec::new();
        if let Some(origin) = &mut self.origin {
            self.images.transpose_times(&origin.coefficients, &mut of_origin);
            origin.coefficients.resize(atoms + new_atoms.len(), 0.0);
            origin.image.extend(new_atoms.iter().map(|j| block.overlaps[*j]));
        }
        of_origin.resize(old, 0.0);
        for part in [&mut self.coefficients, &mut self.images] {
            part.resize(atoms + new_atoms.len(), old + columns.len());
        }
        for (l, of_origin) in of_origin.iter().enumerate() {
            let image = &mut self.images.column_mut(l)[atoms..];
            let points = image.iter_mut().zip(new_atoms);
            points.for_each(|(entry, j)| *entry = block.coordinates.column(*j)[l] + of_origin);
        }
        for (l, column) in columns.into_iter().enumerate() {
            self.coefficients.column_mut(old + l).copy_from_slice(&column.coefficients);
            self.images.column_mut(old + l).copy_from_slice(&column.image);
        }
    }
}

/// Adds a multiple of each column of another matrix.
fn add_columns(to: &mut Matrix, factor: f64, other: &Matrix) {
    for j in 0..other.columns().min(to.columns()) {
        add_multiple(to.column_mut(j), factor, other.column(j));
    }
}
