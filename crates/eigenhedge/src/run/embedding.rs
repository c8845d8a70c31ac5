//! A fixed embedding: what a learner would keep now, to use without learning.
//!
//! Setting: the k directions that are most surely kept (of the heaviest member, for a portfolio) and the center (of the first
//! member: members may have centers that follow the last rows, which is no use for rows to come). A row has
//! coordinates in them; coordinates have a row nearest to them; what lies between is the compression loss.
//!
//! Cost: O(n k) for each row; for kernels a kernel row and O(t k) over t atoms.
//!
//! Numerics: while fewer than k directions are known, plain embeddings are completed with unit vectors made orthogonal to
//! them, and those of features with zeros. Directions beyond the length of rows (when the dimension was given) are zero.
//! Signs are fixed: the largest entry of a direction (coefficient, for features) is positive. Directions come in the order of
//! the spectrum, and equally sure ones in that of their energy: the largest first. The basis of aligned coordinates is taken
//! as it is: it is neither completed nor ordered.

use super::basis::Basis;
use crate::batch::Expansion;
use crate::batch::preimage::{Stop, descend, fixed_point};
use crate::error::{Error, every};
use crate::impute::{Imputation, ridge};
use crate::kernel::{Dictionary, VectorKernel, Vectors};
use crate::linalg::Matrix;
use crate::num::{dot, largest};
use crate::row::check_row;
use crate::state::length;

/// Coordinates of rows in k fixed directions.
#[derive(Debug, Clone)]
pub struct Embedding {
    /// How surely each direction is kept.
    inclusion: Vec<f64>,
    basis: Basis,
    /// Coordinates and squared norm of the center, for features.
    shift: Vec<f64>,
    center_square: f64,
    deviation: Vec<f64>,
    /// Factors on the squared coordinates when missing cells are filled in; none if they are refused.
    ridges: Option<Vec<f64>>,
    imputation: Imputation,
}

impl Embedding {
    /// Coordinates in the directions of a basis, which are kept with these probabilities; zero where there are fewer.
    pub(super) fn new(basis: Basis, mut inclusion: Vec<f64>) -> Self {
        inclusion.resize(basis.columns.columns(), 0.0);
        let (mut shift, mut center_square) = (Vec::new(), 0.0);
        if basis.dictionary.is_some() {
            basis.columns.transpose_times(&basis.image, &mut shift);
            center_square = dot(&basis.center, &basis.image);
        }
        let (deviation, imputation) = (Vec::new(), Imputation::default());
        Self { inclusion, basis, shift, center_square, deviation, ridges: None, imputation }
    }

    /// The same, for rows that may have missing cells: they are filled in, with these factors on the squared coordinates in
    /// directions that were learned.
    pub(super) fn filling(mut self, mut ridges: Vec<f64>) -> Self {
        ridges.resize(self.kept(), f64::INFINITY);
        self.ridges = Some(ridges.into_iter().map(|factor| ridge(factor, 1.0)).collect());
        self
    }

    /// Number of coordinates.
    pub fn kept(&self) -> usize {
        self.inclusion.len()
    }

    /// How surely each direction is kept.
    pub fn inclusion(&self) -> &[f64] {
        &self.inclusion
    }

    /// The directions, as columns; none for features.
    pub fn components(&self) -> Option<&Matrix> {
        self.basis.dictionary.is_none().then_some(&self.basis.columns)
    }

    /// The center; none for features.
    pub fn center(&self) -> Option<&[f64]> {
        self.basis.dictionary.is_none().then_some(&self.basis.center)
    }

    /// Atoms and the coefficients of the directions over them; none for plain rows.
    pub fn expansion(&self) -> Option<(&Vectors, &Matrix)> {
        Some((self.basis.dictionary.as_deref()?, &self.basis.columns))
    }

    /// Coordinates of a row, and the squared length of what they leave out, in the cells that are not missing.
    pub fn transform(&mut self, row: &[f64], coordinates: &mut Vec<f64>) -> Result<f64, Error> {
        let Basis { columns, center, dictionary, .. } = &mut self.basis;
        match dictionary {
            None => {
                let (deviation, fills) = (&mut self.deviation, self.ridges.is_some());
                let is_missing = |x: f64| fills && x.is_nan();
                length("row", row.len(), center.len())?;
                every("row", row, "finite", |x| x.is_finite() || is_missing(x))?;
                deviation.clear();
                deviation.extend(row.iter().zip(&*center).map(|(x, m)| *x - *m));
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
                Ok((square - dot(coordinates, coordinates)).max(0.0))
            }
        }
    }

    /// The row with these coordinates; for features, one whose features are near it (a pre-image).
    pub fn reconstruct(&mut self, coordinates: &[f64]) -> Result<Vec<f64>, Error> {
        check_row("coordinates", coordinates, self.kept())?;
        let negative: Vec<f64> = coordinates.iter().map(|c| -c).collect();
        let Basis { columns, center, dictionary, .. } = &mut self.basis;
        let mut sum = center.clone();
        columns.subtract_times(&negative, &mut sum);
        match dictionary {
            None => Ok(sum),
            Some(dictionary) if dictionary.kernel().takes_items() => Err(Error::Unsupported(
                "a list of items cannot be made from coordinates: look for the best of several candidates",
            )),
            Some(dictionary) => {
                let expansion = Expansion::new(&**dictionary, sum)?;
                let start = nearest_atom(dictionary, &expansion)?;
                let stop = Stop { steps: 200, tolerance: 1e-8 };
                let found = match dictionary.kernel().clone() {
                    VectorKernel::Rbf { .. } => fixed_point(dictionary, &expansion, &start, 1, stop)?,
                    kernel => descend(&kernel, &**dictionary, &expansion, &start, stop)?,
                };
                Ok(found.point)
            }
        }
    }
}

/// The atom whose features are nearest to the expansion.
fn nearest_atom(dictionary: &mut Vectors, expansion: &Expansion) -> Result<Vec<f64>, Error> {
    let mut best = (f64::INFINITY, None);
    let mut row = Vec::new();
    for atom in 0..dictionary.len() {
        dictionary.atom_row(atom, &mut row);
        let distance = row[atom] - 2.0 * dot(expansion.weights(), &row);
        if distance < best.0 {
            best = (distance, Some(atom));
        }
    }
    best.1.map(|atom| dictionary.atom(atom).to_vec()).ok_or(Error::Unsupported("no row has been learned from yet"))
}
