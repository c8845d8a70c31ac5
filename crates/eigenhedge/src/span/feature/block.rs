//! Addition of the columns of many points at once, relative to an origin that does not move in between.
//! Each block of points is projected twice, by matrix products, on the columns that the span had before the set. The
//! Gram matrix of the residuals U is then factored as `L Lᵀ`. If a residual is resolved by the rules for single rows,
//! its point becomes an atom with a new column. The new columns are `U L⁻ᵀ`, and row i of L contains the coordinates of
//! atom i in them.
//! Cost for t atoms: one kernel row and about 2 t² operations per point, nearly all in matrix products and triangular
//! solves.
//! Numerics: errors of images are not estimated. Sizes of columns are bounded as for single rows.

use super::{DOUBTFUL, Feature, LARGEST_SIZE, RESOLVED, descend};
use crate::cancel;
use crate::error::Error;
use crate::kernel::Dictionary;
use crate::linalg::{Matrix, add_multiple, multiplied, multiply};
use crate::memory::{check_numbers, product};
use crate::num::dot;
use crate::simplex::Multiplicity;
use faer::Par;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};

/// Atoms and columns that a set of points has added so far. Each new atom has a column.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    /// Coordinates of the new atoms in the columns from before the set.
    before: Matrix,
    factor: Matrix,
    overlaps: Vec<f64>,
}

#[derive(Debug, Default)]
pub(crate) struct TakenIn {
    pub coordinates: Matrix,
    pub squares: Vec<f64>,
}

/// Block of points after the projection on all columns. The residuals are not yet orthogonal to each other.
struct ProjectedBlock {
    own: Vec<f64>,
    overlaps: Vec<f64>,
    squares: Vec<f64>,
    before: Matrix,
    parts: Matrix,
    /// Coefficients of the atoms in the residuals, without that of a point in its own residual.
    expansions: Matrix,
    /// Inner products of the residuals with each other, and with the points. Only the upper triangles are valid.
    gram: Matrix,
    with_points: Matrix,
    sizes: Matrix,
}

impl<D: Dictionary> Feature<D> {
    pub(crate) const BLOCK: usize = 128;

    /// Adds columns until the span, which has no budget, contains a block of points minus the origin, except for
    /// residuals that are not resolved. [`Self::end_growth`] must follow the last block. After an error the span must
    /// not be used.
    pub(crate) fn take_in_block(&mut self, to: &mut Growth, points: &[&D::Point]) -> Result<TakenIn, (usize, Error)> {
        let numbers =
            product(&[self.coefficients.columns() + points.len(), 5 * (self.dictionary.len() + points.len())]);
        let fits = cancel::check().and(check_numbers("the directions of these rows", numbers));
        fits.map_err(|error| (0, error))?;
        self.know_squares();
        to.before.resize(self.images.columns(), to.overlaps.len());
        let block = self.load_block(to, points)?;
        Ok(self.append_residuals(to, points, block))
    }

    pub(crate) fn move_origin(&mut self, way: &[f64]) {
        let Some(origin) = &mut self.origin else { return };
        self.coefficients.add_times(way, &mut origin.coefficients);
        self.images.add_times(way, &mut origin.image);
        origin.square = dot(&origin.coefficients, &origin.image);
    }

    fn load_block(&mut self, to: &Growth, points: &[&D::Point]) -> Result<ProjectedBlock, (usize, Error)> {
        let (mut rows, mut own) = (Matrix::default(), Vec::new());
        self.dictionary.rows(points, &mut rows, &mut own)?;
        let (mut overlaps, mut squares) = (vec![0.0; own.len()], own.clone());
        for (j, point) in points.iter().enumerate() {
            if let Some(origin) = &self.origin {
                overlaps[j] = dot(&origin.coefficients, &rows.column(j)[..origin.coefficients.len()]);
                squares[j] = (own[j] - 2.0 * overlaps[j] + origin.square).max(0.0);
            } else if own[j] < f64::MIN_POSITIVE && self.dictionary.largest_entry(point) > 0.0 {
                return Err((j, Error::Underflow { largest: self.dictionary.largest_entry(point) }));
            }
            if !squares[j].is_finite() {
                return Err((j, Error::Overflow { largest: squares[j].sqrt() }));
            }
        }
        let before = self.project_on_old(&rows);
        let (atoms, old) = (self.images.rows(), self.images.columns());
        let square = self.origin.as_ref().map_or(0.0, |origin| origin.square);
        // Inner products of the residuals, first with the residuals of the new atoms, then with each other.
        let (mut parts, mut product) = (Matrix::zeros(to.overlaps.len(), own.len()), Matrix::default());
        let mut with_points = Matrix::default();
        for (j, overlap) in overlaps.iter().enumerate() {
            let kernels = rows.column(j)[atoms..].iter().zip(&to.overlaps);
            let moved = kernels.map(|(kernel, other)| kernel - other - overlap + square);
            parts.column_mut(j).iter_mut().zip(moved).for_each(|(part, moved)| *part = moved);
        }
        if old > 0 {
            multiply(&mut product, to.before.view().transpose(), before.view());
            add_columns(&mut parts, -1.0, &product);
        }
        solve_lower_triangular_in_place(to.factor.view(), parts.view_mut(), Par::Seq);
        let mut gram = multiplied(parts.view().transpose(), parts.view());
        multiply(&mut product, before.view().transpose(), before.view());
        add_columns(&mut gram, 1.0, &product);
        let expansions = self.expand_block(to, &before, &parts);
        if let Some(origin) = &self.origin {
            for j in 0..own.len() {
                let image = origin.image.iter().chain(&to.overlaps);
                rows.column_mut(j).iter_mut().zip(image).for_each(|(kernel, m)| *kernel -= m);
            }
        }
        multiply(&mut with_points, expansions.view().transpose(), rows.view());
        for j in 0..own.len() {
            for i in 0..=j {
                let kernel = if i == j { own[j] } else { self.dictionary.value(points[i], points[j]) };
                with_points.column_mut(j)[i] += kernel - overlaps[i];
                let moved = if i == j { squares[j] } else { kernel - overlaps[i] - overlaps[j] + square };
                gram.column_mut(j)[i] = moved - gram.column(j)[i];
            }
        }
        let mut scaled = expansions.clone();
        scaled.for_each_column(|_, column| column.iter_mut().zip(&self.squares.0).for_each(|(e, square)| *e *= square));
        let mut sizes = multiplied(scaled.view().transpose(), expansions.view());
        own.iter().enumerate().for_each(|(j, own)| sizes.column_mut(j)[j] += own);
        Ok(ProjectedBlock { own, overlaps, squares, before, parts, expansions, gram, with_points, sizes })
    }

    /// Returns the coordinates of points in the columns from before the set. `rows` contains their kernels with all
    /// atoms.
    fn project_on_old(&self, rows: &Matrix) -> Matrix {
        let (atoms, old) = (self.images.rows(), self.images.columns());
        let (mut coordinates, mut correction, mut image) = (Matrix::default(), Matrix::default(), Matrix::default());
        if old == 0 {
            coordinates.resize(0, rows.columns());
            return coordinates;
        }
        let coefficients = self.coefficients.view().submatrix(0, 0, atoms, old);
        let mut moved = rows.clone();
        moved.resize(atoms, rows.columns());
        if let Some(origin) = &self.origin {
            (0..moved.columns()).for_each(|j| add_multiple(moved.column_mut(j), -1.0, &origin.image));
        }
        multiply(&mut coordinates, coefficients.transpose(), moved.view());
        multiply(&mut image, self.images.view(), coordinates.view());
        add_columns(&mut moved, -1.0, &image);
        multiply(&mut correction, coefficients.transpose(), moved.view());
        add_columns(&mut coordinates, 1.0, &correction);
        coordinates
    }

    fn expand_block(&self, to: &Growth, before: &Matrix, parts: &Matrix) -> Matrix {
        let (atoms, old, count) = (self.images.rows(), self.images.columns(), parts.columns());
        let mut of_new = parts.clone();
        solve_upper_triangular_in_place(to.factor.view().transpose(), of_new.view_mut(), Par::Seq);
        let mut expansions = Matrix::zeros(atoms + parts.rows(), count);
        let (mut taken, mut product) = (Matrix::default(), Matrix::default());
        if old > 0 {
            // The residuals of new atoms also contain the columns from before the set.
            multiply(&mut taken, to.before.view(), of_new.view());
            (0..count).for_each(|j| taken.column_mut(j).iter_mut().zip(before.column(j)).for_each(|(t, b)| *t -= b));
            multiply(&mut product, self.coefficients.view().submatrix(0, 0, atoms, old), taken.view());
        }
        for j in 0..count {
            let (first, last) = expansions.column_mut(j).split_at_mut(atoms);
            last.iter_mut().zip(of_new.column(j)).for_each(|(e, x)| *e = -x);
            if old > 0 {
                first.copy_from_slice(product.column(j));
            }
            if let Some(origin) = &self.origin {
                add_multiple(first, last.iter().map(|e| -e).sum::<f64>() - 1.0, &origin.coefficients);
            }
        }
        expansions
    }

    fn append_residuals(&mut self, to: &mut Growth, points: &[&D::Point], block: ProjectedBlock) -> TakenIn {
        let ProjectedBlock { own, overlaps, squares, before, parts, expansions, gram, with_points, sizes } = block;
        let (atoms, columns, count) = (self.dictionary.len(), self.coefficients.columns(), points.len());
        let (old, known) = (before.rows(), before.rows() + parts.rows());
        let mut coordinates = Matrix::zeros(known + count, count);
        let (mut combinations, mut new) = (Matrix::zeros(count, 0), Vec::new());
        let (mut inner, mut of_size) = (Vec::new(), Vec::new());
        for (j, point) in points.iter().enumerate() {
            combinations.transpose_times(gram.column(j), &mut inner);
            let mut combination = vec![0.0; count];
            combination[j] = 1.0;
            combinations.subtract_times(&inner, &mut combination);
            let full = self.dimension == Multiplicity::Finite((columns + new.len()) as u64);
            let left = if full { 0.0 } else { (gram.column(j)[j] - dot(&inner, &inner)).max(0.0) };
            let column = coordinates.column_mut(j);
            column[..old].copy_from_slice(before.column(j));
            column[old..known].copy_from_slice(parts.column(j));
            column[known..][..inner.len()].copy_from_slice(&inner);
            // The squared norm of the residual, computed in a second way.
            let same = dot(&combination[..=j], &with_points.column(j)[..=j]);
            sizes.transpose_times(&combination, &mut of_size);
            let reach = dot(&of_size, &combination);
            let resolved = left > RESOLVED * own[j] && reach <= LARGEST_SIZE * left;
            if resolved && (same - left).abs() <= DOUBTFUL * left {
                column[known + new.len()] = left.sqrt();
                combination.iter_mut().for_each(|x| *x /= same.sqrt());
                combinations.push_column(&combination);
                new.push(j);
                self.squares.0.push(own[j]);
                self.dictionary.push(point);
                self.lineage = descend(self.lineage, self.trials);
            }
            self.trials += 1;
        }
        coordinates.resize(known + new.len(), count);
        self.coefficients.resize(atoms + new.len(), columns + new.len());
        to.factor.resize(parts.rows() + new.len(), parts.rows() + new.len());
        to.before.resize(old, parts.rows() + new.len());
        let product = multiplied(expansions.view(), combinations.view());
        for (a, j) in new.iter().enumerate() {
            let (of_old, of_new) = self.coefficients.column_mut(columns + a).split_at_mut(atoms);
            of_old.copy_from_slice(product.column(a));
            of_new.iter_mut().zip(&new).for_each(|(c, i)| *c = combinations.column(a)[*i]);
            to.before.column_mut(parts.rows() + a).copy_from_slice(before.column(*j));
            to.overlaps.push(overlaps[*j]);
            for (l, x) in coordinates.column(*j)[old..=known + a].iter().enumerate() {
                to.factor.column_mut(l)[parts.rows() + a] = *x;
            }
        }
        TakenIn { coordinates, squares }
    }

    pub(crate) fn end_growth(&mut self, added: &Growth) {
        let (atoms, old) = (self.images.rows(), self.images.columns());
        let mut of_origin = vec![0.0; self.coefficients.columns()];
        if let Some(origin) = &mut self.origin {
            origin.coefficients.resize(self.dictionary.len(), 0.0);
            origin.image.extend(&added.overlaps);
            self.coefficients.transpose_times(&origin.image, &mut of_origin);
        }
        self.images.resize(self.coefficients.rows(), self.coefficients.columns());
        for (l, of_origin) in of_origin.into_iter().enumerate() {
            let (of_old, of_new) = self.images.column_mut(l).split_at_mut(atoms);
            if l < old {
                of_new.iter_mut().enumerate().for_each(|(i, x)| *x = added.before.column(i)[l] + of_origin);
            } else {
                of_old.fill(of_origin);
                of_new.iter_mut().zip(added.factor.column(l - old)).for_each(|(x, c)| *x = c + of_origin);
            }
        }
        self.take_for_fresh();
        // The images are recomputed at the end of the next trial.
        self.stale = self.dictionary.len().max(64);
    }
}

fn add_columns(to: &mut Matrix, factor: f64, other: &Matrix) {
    for j in 0..other.columns() {
        add_multiple(to.column_mut(j), factor, other.column(j));
    }
}
