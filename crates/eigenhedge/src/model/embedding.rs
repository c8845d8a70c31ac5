//! Fixed embedding: the current directions of a model, for use without learning.
//!
//! Setting: the k directions with the highest probability of being kept, and the center. The loss is the squared
//! distance between a row and its reconstruction. A portfolio uses its heaviest member. Over plain rows, its center may
//! follow the most recent rows. Coordinates are therefore measured from the point of the member's plane that is nearest
//! to the center of the first member.
//!
//! Cost: O(n k) per row. For kernels, one kernel row and O(t k) over t atoms.
//!
//! Numerics: if fewer than k directions are known, plain embeddings are completed with unit vectors made orthogonal to
//! them, and embeddings of features with zeros. The entry of largest absolute value of a direction is positive.
//! Directions are in descending order of probability, and equally likely ones of energy. The basis of aligned coordinates
//! is neither completed nor ordered.

use super::basis::EmbeddingBasis;
use crate::batch::Expansion;
use crate::batch::preimage::{Stop, preimages};
use crate::columns::cannot_standardize;
use crate::error::{Error, every};
use crate::impute::{Imputation, ridge};
use crate::kernel::{Dictionary, Vectors};
use crate::linalg::{Matrix, multiplied, multiply};
use crate::num::{dot, largest};
use crate::row::{check_cells, check_row};
use crate::scratch::refill;
use crate::standardize::{Standardize, Standardizer};
use crate::state::length;
use serde::Serialize;

/// Coordinates of rows in k fixed directions, without learning. Rows are in units of the input.
///
/// ```
/// use eigenhedge::{Columns, Kind, Model, Spec, Standardize, Standardizer};
///
/// let columns = Columns::new(None, Standardizer::new(Standardize::Running, 2));
/// let mut model = Model::new(Spec::bare(Kind::Leader, 1), 2, 0)?.with_columns(columns);
/// for t in 0..100 {
///     let x = f64::from(t % 10);
///     model.step(&[x, 1000.0 * x])?; // two units, and one direction
/// }
/// let mut embedding = model.embedding();
/// let mut coordinates = Vec::new();
/// assert!(embedding.transform(&[5.0, 5000.0], &mut coordinates)? < 1e-9);
/// assert!((embedding.reconstruct(&coordinates)?[1] - 5000.0).abs() < 1e-6);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Embedding {
    standardizer: Standardizer,
    scaled: Vec<f64>,
    /// Probability that each direction is kept, or 0 where it is unknown.
    pub inclusion: Vec<f64>,
    basis: EmbeddingBasis,
    /// Coordinates and squared norm of the center, for features only.
    shift: Vec<f64>,
    center_square: f64,
    deviation: Vec<f64>,
    /// Ridge factors for filling in missing cells, or `None` if these are an error.
    ridges: Option<Vec<f64>>,
    imputation: Imputation,
}

impl Embedding {
    pub(super) fn new(basis: EmbeddingBasis, mut inclusion: Vec<f64>) -> Self {
        inclusion.resize(basis.columns.columns(), 0.0);
        let (mut shift, mut center_square) = (Vec::new(), 0.0);
        if basis.dictionary.is_some() {
            basis.columns.transpose_times(&basis.image, &mut shift);
            center_square = dot(&basis.center, &basis.image);
        }
        let (deviation, imputation) = (Vec::new(), Imputation::default());
        let (standardizer, scaled) = (Standardizer::new(Standardize::None, 0), Vec::new());
        Self { standardizer, scaled, inclusion, basis, shift, center_square, deviation, ridges: None, imputation }
    }

    /// Allows missing cells, filled in with these ridge factors.
    pub(super) fn filling(mut self, mut ridges: Vec<f64>) -> Self {
        ridges.resize(self.kept(), f64::INFINITY);
        self.ridges = Some(ridges.into_iter().map(|factor| ridge(factor, 1.0)).collect());
        self
    }

    pub(super) fn with_scale(mut self, standardizer: &Standardizer) -> Self {
        self.standardizer = standardizer.clone();
        self
    }

    /// Returns the number of coordinates.
    pub fn kept(&self) -> usize {
        self.inclusion.len()
    }

    /// Returns the directions as columns, in standard units, or `None` for kernel features.
    pub fn components(&self) -> Option<&Matrix> {
        self.basis.dictionary.is_none().then_some(&self.basis.columns)
    }

    /// Returns the center, in standard units, or `None` for kernel features.
    pub fn center(&self) -> Option<&[f64]> {
        self.basis.dictionary.is_none().then_some(&self.basis.center)
    }

    /// Returns the dictionary and the coefficients of the directions over its atoms, or `None` for plain rows.
    pub fn expansion(&self) -> Option<(&Vectors, &Matrix)> {
        Some((self.basis.dictionary.as_deref()?, &self.basis.columns))
    }

    /// Computes the coordinates of a row. Returns the squared reconstruction error of the observed cells, in standard
    /// units. A missing cell is an error unless the model fills in missing cells.
    pub fn transform(&mut self, raw: &[f64], coordinates: &mut Vec<f64>) -> Result<f64, Error> {
        if self.standardizer.how() == Standardize::None {
            return self.transform_scaled(raw, coordinates);
        }
        check_cells("row", raw, self.standardizer.mean().len())?;
        let mut scaled = std::mem::take(&mut self.scaled);
        let outcome = match self.standardizer.apply(raw, &mut scaled) {
            Ok(()) => self.transform_scaled(&scaled, coordinates),
            Err(index) => Err(cannot_standardize(raw, index)),
        };
        self.scaled = scaled;
        outcome
    }

    /// Appends the coordinates of several rows to `coordinates`, and calls `each` with the squared reconstruction error
    /// of every row if `with_losses` is true. Plain rows without missing cells are multiplied by the directions as one
    /// matrix, with the results of [`Self::transform`] up to rounding. An error comes with the index of its row.
    pub fn transform_block(
        &mut self,
        rows: &[&[f64]],
        coordinates: &mut Vec<f64>,
        with_losses: bool,
        mut each: impl FnMut(f64),
    ) -> Result<(), (usize, Error)> {
        let Some(block) = self.deviations(rows) else {
            let mut own = Vec::new();
            for (i, row) in rows.iter().enumerate() {
                let loss = self.transform(row, &mut own).map_err(|error| (i, error))?;
                coordinates.extend_from_slice(&own);
                if with_losses {
                    each(loss);
                }
            }
            return Ok(());
        };
        let EmbeddingBasis { columns, .. } = &self.basis;
        let mut projection = Matrix::default();
        let along = multiplied(columns.view().transpose(), block.view());
        (0..rows.len()).for_each(|i| coordinates.extend_from_slice(along.column(i)));
        if with_losses {
            multiply(&mut projection, columns.view(), along.view());
            for i in 0..rows.len() {
                let rest = block.column(i).iter().zip(projection.column(i)).map(|(x, p)| (x - p) * (x - p));
                each(rest.sum());
            }
        }
        Ok(())
    }

    /// Returns rows minus the center in standard units as columns, or `None` for a single row, for features, and if a row
    /// has missing cells or is invalid.
    fn deviations(&mut self, rows: &[&[f64]]) -> Option<Matrix> {
        let (EmbeddingBasis { dictionary, center, .. }, length) = (&self.basis, self.basis.center.len());
        if rows.len() < 2 || dictionary.is_some() {
            return None;
        }
        let is_scaled = self.standardizer.how() != Standardize::None;
        let mut block = Matrix::zeros(length, rows.len());
        for (i, raw) in rows.iter().enumerate() {
            if raw.len() != length || is_scaled && self.standardizer.apply(raw, &mut self.scaled).is_err() {
                return None;
            }
            let row = if is_scaled { &self.scaled[..] } else { raw };
            let deviation = block.column_mut(i);
            deviation.iter_mut().zip(row).zip(center).for_each(|((to, x), m)| *to = *x - *m);
            if !dot(deviation, deviation).is_finite() {
                return None;
            }
        }
        Some(block)
    }

    fn transform_scaled(&mut self, row: &[f64], coordinates: &mut Vec<f64>) -> Result<f64, Error> {
        let EmbeddingBasis { columns, center, dictionary, .. } = &mut self.basis;
        match dictionary {
            None => {
                let (deviation, fills) = (&mut self.deviation, self.ridges.is_some());
                let is_missing = |x: f64| fills && x.is_nan();
                length("row", row.len(), center.len())?;
                every("row", row, "finite", |x| x.is_finite() || is_missing(x))?;
                refill(deviation, row.iter().zip(&*center).map(|(x, m)| *x - *m));
                let ridges = self.ridges.as_deref().filter(|_| row.iter().any(|x| x.is_nan()));
                if let Some(ridges) = ridges {
                    self.imputation.fill(columns, ridges, deviation);
                }
                if !dot(deviation, deviation).is_finite() {
                    return Err(Error::Overflow { largest: largest(deviation) });
                }
                columns.transpose_times(deviation, coordinates);
                let square = columns.subtract_times(coordinates, deviation);
                let seen = || deviation.iter().zip(row).filter(|(_, x)| !x.is_nan()).map(|(z, _)| z * z).sum();
                Ok(ridges.map_or(square, |_| seen()))
            }
            Some(dictionary) => {
                let own = dictionary.row(row, &mut self.deviation)?;
                columns.transpose_times(&self.deviation, coordinates);
                coordinates.iter_mut().zip(&self.shift).for_each(|(c, s)| *c -= *s);
                let square = own - 2.0 * dot(center, &self.deviation) + self.center_square;
                if !(square.is_finite() && dot(coordinates, coordinates).is_finite()) {
                    return Err(Error::Overflow { largest: largest(row) });
                }
                Ok((square - dot(coordinates, coordinates)).max(0.0))
            }
        }
    }

    /// Returns the row with these coordinates, or for kernel features a pre-image: a row whose features are near them.
    pub fn reconstruct(&mut self, coordinates: &[f64]) -> Result<Vec<f64>, Error> {
        let mut row = Vec::new();
        if self.basis.dictionary.is_some() {
            self.reconstruct_block(&[coordinates], &mut row).map_err(|(_, error)| error)?;
            return Ok(row);
        }
        check_row("coordinates", coordinates, self.kept())?;
        row.clone_from(&self.basis.center);
        self.basis.columns.add_times(coordinates, &mut row);
        self.standardizer.undo(&mut row);
        Ok(row)
    }

    /// Returns the row whose coordinates are all 0, or `None` for kernel features.
    pub fn mean(&self) -> Option<Vec<f64>> {
        let mut mean = self.center()?.to_vec();
        self.standardizer.undo(&mut mean);
        Some(mean)
    }

    /// Returns the divisor of each of `length` columns, or 0 for a column that has been constant under a running scale.
    pub fn scale(&self, length: usize) -> Vec<f64> {
        match self.standardizer.how() {
            Standardize::None => vec![1.0; length],
            _ => self.standardizer.scale().collect(),
        }
    }

    /// Returns the embedding as a linear map, or `None` for kernel features. A column whose divisor is 0 has scale 1 and
    /// zero components.
    pub fn linear_map(&self, names: Option<&[String]>) -> Option<LinearMap> {
        let (directions, mean) = (self.components()?, self.mean()?);
        let mut scale = self.scale(mean.len());
        let mut components: Vec<Vec<f64>> = (0..self.kept()).map(|j| directions.column(j).to_vec()).collect();
        for i in (0..mean.len()).filter(|i| scale[*i] == 0.0) {
            components.iter_mut().for_each(|component| component[i] = 0.0);
        }
        scale.iter_mut().filter(|scale| **scale == 0.0).for_each(|scale| *scale = 1.0);
        Some(LinearMap { columns: names.map(<[String]>::to_vec), mean, scale, components })
    }

    /// Appends the rows with these coordinates, or pre-images, to `rows`. An error comes with the index of its coordinates.
    pub fn reconstruct_block(&mut self, coordinates: &[&[f64]], rows: &mut Vec<f64>) -> Result<(), (usize, Error)> {
        let kept = self.kept();
        let (mut along, mut block) = (Matrix::zeros(kept, coordinates.len()), Matrix::default());
        for (i, own) in coordinates.iter().enumerate() {
            check_row("coordinates", own, kept).map_err(|error| (i, error))?;
            along.column_mut(i).copy_from_slice(own);
        }
        let EmbeddingBasis { columns, center, dictionary, .. } = &mut self.basis;
        multiply(&mut block, columns.view(), along.view());
        (0..coordinates.len()).for_each(|i| block.column_mut(i).iter_mut().zip(&*center).for_each(|(x, c)| *x += c));
        let mut points = match dictionary {
            None => {
                for i in 0..coordinates.len() {
                    self.standardizer.undo(block.column_mut(i));
                    rows.extend_from_slice(block.column(i));
                }
                return Ok(());
            }
            Some(dictionary) if dictionary.kernel().takes_items() => {
                let sentence =
                    "a list of items cannot be made from coordinates: look for the best of several candidates";
                return Err((0, Error::Unsupported(sentence)));
            }
            Some(dictionary) => {
                let square = |i| {
                    self.center_square + 2.0 * dot(along.column(i), &self.shift) + dot(along.column(i), along.column(i))
                };
                let expansion = |i| Expansion::from_parts(block.column(i).to_vec(), square(i));
                let expansions: Vec<Expansion> = (0..coordinates.len()).map(expansion).collect();
                let stop = Stop { steps: 200, tolerance: 1e-8 };
                let found =
                    preimages(dictionary, &expansions, None::<&[Vec<f64>]>, stop).map_err(|error| (0, error))?;
                found.into_iter().map(|found| found.point).collect::<Vec<Vec<f64>>>()
            }
        };
        for point in &mut points {
            self.standardizer.undo(point);
            rows.extend_from_slice(point);
        }
        Ok(())
    }
}

/// Linear model with `z = components · ((x - mean) / scale)` and the reconstruction `mean + scale · (componentsᵀ z)`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinearMap {
    /// Names of the columns, or `None` if the columns are unnamed.
    pub columns: Option<Vec<String>>,
    /// Row whose coordinates are all 0.
    pub mean: Vec<f64>,
    /// Divisor of each column.
    pub scale: Vec<f64>,
    /// Directions. Each entry is one direction, with one number per column.
    pub components: Vec<Vec<f64>>,
}
