//! Orthonormal directions and a center, the basis of an [`Embedding`](super::Embedding).
//!
//! Subspace learners give combinations of the columns of a span. Hebbian learners give weight vectors, which need not
//! be orthonormal. Both are converted to vectors, or to coefficients over atoms.

use crate::batch::fix_sign;
use crate::hebbian::weights::Weights;
use crate::hebbian::{AmbientWeights, FeatureWeights};
use crate::kernel::{Dictionary, Vectors};
use crate::linalg::{Matrix, multiply};
use crate::num::dot;
use crate::span::{Ambient, Feature, Span};

#[derive(Debug, Clone)]
pub(super) struct EmbeddingBasis {
    /// Directions: vectors, or coefficients of the atoms in the dictionary.
    pub columns: Matrix,
    pub center: Vec<f64>,
    pub dictionary: Option<Box<Vectors>>,
    /// Inner product of each atom's features with the center. Empty for plain rows.
    pub image: Vec<f64>,
}

impl EmbeddingBasis {
    pub fn plain(columns: Matrix, center: Vec<f64>) -> Self {
        Self { columns, center, dictionary: None, image: Vec::new() }
    }

    /// `center` is the center and its image, or `None` for the origin.
    fn features(dictionary: &Vectors, columns: Matrix, center: Option<(&[f64], &[f64])>) -> Self {
        let zeros = vec![0.0; dictionary.len()];
        let (center, image) = center.unwrap_or((&zeros, &zeros));
        let dictionary = Some(Box::new(dictionary.clone()));
        Self { columns, center: center.to_vec(), dictionary, image: image.to_vec() }
    }

    /// Keeps the first `kept` directions and makes the entry of largest absolute value of each positive. Missing
    /// directions of plain rows become arbitrary orthogonal ones. Others, and those beyond the length of a row, are zero.
    pub fn first(mut self, kept: usize) -> Self {
        let Self { columns, dictionary, .. } = &mut self;
        columns.resize(columns.rows(), kept.min(columns.columns()));
        if dictionary.is_none() {
            complete(columns, kept);
        }
        columns.resize(columns.rows(), kept);
        (0..kept).for_each(|j| _ = fix_sign(columns.column_mut(j)));
        self
    }
}

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
        // Of n unit vectors, at least one has a squared distance of at least 1/n from the span of fewer than n
        // directions.
        if square > 0.5 / rows as f64 {
            append_normalised(columns, &vector, square);
        }
    }
}

fn append_normalised(columns: &mut Matrix, vector: &[f64], square: f64) {
    let (count, norm) = (columns.columns(), square.sqrt());
    columns.resize(vector.len(), count + 1);
    columns.column_mut(count).iter_mut().zip(vector).for_each(|(c, v)| *c = v / norm);
}

pub(super) trait RowSpan: Span {
    fn atoms(&self) -> Vec<&[f64]> {
        Vec::new()
    }

    /// Returns the basis of these combinations of the columns. The center of `first`, the span of the portfolio's first
    /// member, determines the point with coordinates zero.
    fn basis(&self, combinations: &Matrix, first: &Self) -> EmbeddingBasis;
}

impl RowSpan for Ambient {
    fn basis(&self, combinations: &Matrix, first: &Self) -> EmbeddingBasis {
        let columns = times(&self.vectors(), combinations, self.length());
        // The plane passes through the center of this member. Its point nearest to the center of the
        // first member has coordinates zero, whichever member is the heaviest.
        let origin = |span: &Self| span.origin().unwrap_or_else(|| vec![0.0; span.length()]);
        let (own, mut center) = (origin(self), origin(first));
        let mut outside: Vec<f64> = center.iter().zip(&own).map(|(first, own)| first - own).collect();
        if outside.iter().any(|x| *x != 0.0) {
            let mut along = Vec::new();
            columns.transpose_times(&outside, &mut along);
            columns.subtract_times(&along, &mut outside);
            // If the difference of the centers overflows, the center remains that of the first member.
            if outside.iter().all(|x| x.is_finite()) {
                center.iter_mut().zip(&outside).for_each(|(center, x)| *center -= x);
            }
        }
        EmbeddingBasis::plain(columns, center)
    }
}

impl RowSpan for Feature<Vectors> {
    fn atoms(&self) -> Vec<&[f64]> {
        atoms(self.dictionary())
    }

    fn basis(&self, combinations: &Matrix, _: &Self) -> EmbeddingBasis {
        let coefficients = times(self.coefficients(), combinations, self.dictionary().len());
        EmbeddingBasis::features(self.dictionary(), coefficients, self.origin_with_image())
    }
}

pub(super) trait RowWeights: Weights {
    fn atoms(&self) -> Vec<&[f64]> {
        Vec::new()
    }

    /// Returns the total distance by which the budget has moved the vectors, summed over the removed atoms.
    fn budget_error(&self) -> f64 {
        0.0
    }

    fn basis(&self) -> EmbeddingBasis;
}

impl RowWeights for AmbientWeights {
    fn basis(&self) -> EmbeddingBasis {
        EmbeddingBasis::plain(gram_schmidt(self.vectors(), dot), self.center())
    }
}

impl RowWeights for FeatureWeights<Vectors> {
    fn atoms(&self) -> Vec<&[f64]> {
        atoms(self.dictionary())
    }

    fn budget_error(&self) -> f64 {
        self.forgotten()
    }

    fn basis(&self) -> EmbeddingBasis {
        let mut dictionary = self.dictionary().clone();
        let atoms = dictionary.len();
        let mut vectors = Matrix::zeros(atoms, self.count());
        vectors.for_each_column(|p, vector| vector.iter_mut().zip(self.coefficients(p)).for_each(|(v, c)| *v = c));
        let mut gram = Matrix::zeros(atoms, atoms);
        let mut row = Vec::new();
        for atom in 0..atoms {
            dictionary.atom_row(atom, &mut row);
            gram.column_mut(atom).copy_from_slice(&row);
        }
        let inner = |a: &[f64], b: &[f64]| {
            let mut image = Vec::new();
            gram.transpose_times(b, &mut image);
            dot(a, &image)
        };
        EmbeddingBasis::features(&dictionary, gram_schmidt(&vectors, inner), self.center())
    }
}

fn atoms(dictionary: &Vectors) -> Vec<&[f64]> {
    (0..dictionary.len()).map(|atom| dictionary.atom(atom)).collect()
}

/// Returns the matrix product. The result has `rows` rows even if there is nothing to multiply.
fn times(columns: &Matrix, combinations: &Matrix, rows: usize) -> Matrix {
    let mut product = Matrix::zeros(rows, combinations.columns());
    if combinations.columns() > 0 {
        multiply(&mut product, columns.view(), combinations.view());
    }
    product
}

/// Orthonormalizes the vectors in order. Vectors that depend on earlier ones are left out.
fn gram_schmidt(vectors: &Matrix, inner: impl Fn(&[f64], &[f64]) -> f64) -> Matrix {
    let mut columns = Matrix::zeros(vectors.rows(), 0);
    for p in 0..vectors.columns() {
        let mut vector = vectors.column(p).to_vec();
        let before = inner(&vector, &vector);
        for _ in 0..2 {
            for j in 0..columns.columns() {
                let overlap = inner(&vector, columns.column(j));
                vector.iter_mut().zip(columns.column(j)).for_each(|(v, c)| *v -= overlap * c);
            }
        }
        let square = inner(&vector, &vector);
        if square > 1e-20 * before {
            append_normalised(&mut columns, &vector, square);
        }
    }
    columns
}
