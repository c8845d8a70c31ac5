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

use crate::batch::preimage::{Stop, descend, fixed_point};
use crate::batch::{Expansion, fix_sign};
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
    place: Place,
    deviation: Vec<f64>,
    /// Factors on the squared coordinates when missing cells are filled in; none if they are refused.
    ridges: Option<Vec<f64>>,
    imputation: Imputation,
}

#[derive(Debug, Clone)]
enum Place {
    /// Orthonormal directions around a center.
    Plain { center: Vec<f64>, components: Matrix },
    /// Directions `Φ A` around a center `Φ μ`; `shift` holds the center's coordinates.
    Features { dictionary: Box<Vectors>, coefficients: Matrix, center: Vec<f64>, center_square: f64, shift: Vec<f64> },
}

impl Embedding {
    /// The first `kept` columns, completed when there are fewer; with zeros when rows are shorter than that.
    pub(super) fn plain(mut components: Matrix, inclusion: Vec<f64>, center: Vec<f64>, kept: usize) -> Self {
        components.resize(components.rows(), kept.min(components.columns()));
        complete(&mut components, kept);
        components.resize(components.rows(), kept);
        (0..kept).for_each(|j| _ = fix_sign(components.column_mut(j)));
        Self::plain_basis(components, inclusion, center)
    }

    /// A basis as it is: some of its columns may be combinations of others.
    pub(super) fn plain_basis(components: Matrix, mut inclusion: Vec<f64>, center: Vec<f64>) -> Self {
        inclusion.resize(components.columns(), 0.0);
        Self::new(inclusion, Place::Plain { center, components })
    }

    fn new(inclusion: Vec<f64>, place: Place) -> Self {
        Self { inclusion, place, deviation: Vec::new(), ridges: None, imputation: Imputation::default() }
    }

    /// The same, for rows that may have missing cells: they are filled in, with these factors on the squared coordinates in
    /// directions that were learned.
    pub(super) fn filling(mut self, mut ridges: Vec<f64>) -> Self {
        ridges.resize(self.kept(), f64::INFINITY);
        self.ridges = Some(ridges.into_iter().map(|factor| ridge(factor, 1.0)).collect());
        self
    }

    /// Directions over a dictionary; `center` holds coefficients too, with the kernel of each atom with it in `image`.
    pub(super) fn features(
        dictionary: Vectors,
        mut coefficients: Matrix,
        inclusion: Vec<f64>,
        center: (Vec<f64>, Vec<f64>),
        kept: usize,
    ) -> Self {
        coefficients.resize(dictionary.len(), kept);
        (0..kept).for_each(|j| _ = fix_sign(coefficients.column_mut(j)));
        Self::feature_basis(dictionary, coefficients, inclusion, center)
    }

    /// A basis over a dictionary as it is.
    pub(super) fn feature_basis(
        dictionary: Vectors,
        coefficients: Matrix,
        mut inclusion: Vec<f64>,
        (center, image): (Vec<f64>, Vec<f64>),
    ) -> Self {
        inclusion.resize(coefficients.columns(), 0.0);
        let mut shift = Vec::new();
        coefficients.transpose_times(&image, &mut shift);
        let center_square = dot(&center, &image);
        let dictionary = Box::new(dictionary);
        let place = Place::Features { dictionary, coefficients, center, center_square, shift };
        Self::new(inclusion, place)
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
        match &self.place {
            Place::Plain { components, .. } => Some(components),
            Place::Features { .. } => None,
        }
    }

    /// The center; none for features.
    pub fn center(&self) -> Option<&[f64]> {
        match &self.place {
            Place::Plain { center, .. } => Some(center),
            Place::Features { .. } => None,
        }
    }

    /// Atoms and the coefficients of the directions over them; none for plain rows.
    pub fn expansion(&self) -> Option<(&Vectors, &Matrix)> {
        match &self.place {
            Place::Plain { .. } => None,
            Place::Features { dictionary, coefficients, .. } => Some((dictionary, coefficients)),
        }
    }

    /// Coordinates of a row, and the squared length of what they leave out, in the cells that are not missing.
    pub fn transform(&mut self, row: &[f64], coordinates: &mut Vec<f64>) -> Result<f64, Error> {
        match &mut self.place {
            Place::Plain { center, components } => {
                let (deviation, fills) = (&mut self.deviation, self.ridges.is_some());
                let is_missing = |x: f64| fills && x.is_nan();
                length("row", row.len(), center.len())?;
                every("row", row, "finite", |x| x.is_finite() || is_missing(x))?;
                deviation.clear();
                deviation.extend(row.iter().zip(center).map(|(x, m)| *x - *m));
                let ridges = self.ridges.as_deref().filter(|_| row.iter().any(|x| x.is_nan()));
                if let Some(ridges) = ridges {
                    self.imputation.fill(components, ridges, deviation);
                }
                if !dot(deviation, deviation).is_finite() {
                    return Err(Error::Overflow { largest: largest(deviation) });
                }
                components.transpose_times(deviation, coordinates);
                let square = components.subtract_times(coordinates, deviation);
                let seen = || deviation.iter().zip(row).filter(|(_, x)| !x.is_nan()).map(|(z, _)| z * z).sum();
                Ok(ridges.map_or(square, |_| seen()))
            }
            Place::Features { dictionary, coefficients, center, center_square, shift } => {
                let own = dictionary.row(row, &mut self.deviation)?;
                coefficients.transpose_times(&self.deviation, coordinates);
                coordinates.iter_mut().zip(shift).for_each(|(c, s)| *c -= *s);
                let square = own - 2.0 * dot(center, &self.deviation) + *center_square;
                Ok((square - dot(coordinates, coordinates)).max(0.0))
            }
        }
    }

    /// The row with these coordinates; for features, one whose features are near it (a pre-image).
    pub fn reconstruct(&mut self, coordinates: &[f64]) -> Result<Vec<f64>, Error> {
        check_row("coordinates", coordinates, self.kept())?;
        let negative: Vec<f64> = coordinates.iter().map(|c| -c).collect();
        match &mut self.place {
            Place::Plain { center, components } => {
                let mut row = center.clone();
                components.subtract_times(&negative, &mut row);
                Ok(row)
            }
            Place::Features { dictionary, .. } if dictionary.kernel().takes_items() => Err(Error::Unsupported(
                "a list of items cannot be made from coordinates: look for the best of several candidates",
            )),
            Place::Features { dictionary, coefficients, center, .. } => {
                let mut weights = center.clone();
                coefficients.subtract_times(&negative, &mut weights);
                let expansion = Expansion::new(&**dictionary, weights)?;
                let start = nearest_atom(dictionary, &expansion)?;
                let stop = Stop { steps: 200, tolerance: 1e-8 };
                let kernel = dictionary.kernel().clone();
                let found = match kernel {
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

/// Appends unit vectors, made orthogonal to the columns, until there are `kept`.
fn complete(columns: &mut Matrix, kept: usize) {
    let rows = columns.rows();
    for unit in 0..rows {
        let count = columns.columns();
        if count >= kept {
            return;
        }
        let mut vector = vec![0.0; rows];
        vector[unit] = 1.0;
        let mut coefficients = Vec::new();
        let mut square = 1.0;
        for _ in 0..2 {
            columns.transpose_times(&vector, &mut coefficients);
            square = columns.subtract_times(&coefficients, &mut vector);
        }
        // Of n unit vectors, some lies at least this far from fewer than n directions.
        if square > 0.5 / rows as f64 {
            columns.resize(rows, count + 1);
            let norm = square.sqrt();
            columns.column_mut(count).iter_mut().zip(&vector).for_each(|(c, v)| *c = v / norm);
        }
    }
}
