//! Kernels: inner products in a feature space, and dictionaries of atoms.
//!
//! A [`Kernel`] is a function of two points of any type. A [`Dictionary`] stores points (*atoms*) and computes the
//! *kernel row* of a point: its kernel values with all atoms.
//!
//! | points | kernels | dictionary |
//! |---|---|---|
//! | vectors of numbers | [`VectorKernel`] | [`Vectors`], vectorized |
//! | rankings: vectors of distinct numbers, compared by their order | `Kendall`, `Mallows` of [`VectorKernel`] | [`Vectors`] |
//! | texts and sets, as lists of item numbers | `Spectrum`, `Jaccard`, `Intersection` of [`VectorKernel`] | [`Vectors`] |
//! | lists of numbers with any meaning | [`Function`] | [`Vectors`] |
//! | indices into a Gram matrix | [`Precomputed`] | [`Items`] |
//! | any other type | a custom [`Kernel`] | [`Items`] |
//!
//! ```
//! use eigenhedge::kernel::{Items, Kernel};
//! use eigenhedge::{Instance, Kind, Random, Spec, trial};
//!
//! /// Counts the letters that occur in both words.
//! struct Letters;
//! impl Kernel<str> for Letters {
//!     fn value(&self, a: &str, b: &str) -> f64 {
//!         ('a'..='z').filter(|letter| a.contains(*letter) && b.contains(*letter)).count() as f64
//!     }
//! }
//!
//! let mut learner = Spec::bare(Kind::Tracking, 2).features(Items::<_, str>::new(Letters))?;
//! let mut random = Random::seeded(0);
//! for word in ["pressure", "measure", "pleasure", "pressure"] {
//!     let loss = trial(&mut learner, &Instance::from(word), &mut random)?;
//!     assert!(loss.expected <= Letters.value(word, word) + 1e-9);
//! }
//! # Ok::<(), eigenhedge::Error>(())
//! ```

mod item_dictionary;
mod item_rows;
mod items;
#[cfg(test)]
mod laws;
mod measures;
mod precomputed;
mod registry;
mod scale;
mod values;
mod vector_dictionary;
mod vector_kernels;

pub use item_dictionary::Items;
pub(crate) use items::mix;
pub use items::{Function, TextItems, item_number};
pub use precomputed::Precomputed;
pub use registry::{KERNELS, KernelEntry};
pub use vector_dictionary::Vectors;
pub use vector_kernels::{KernelParameters, VectorKernel};

use crate::error::Error;
use crate::linalg::Matrix;
use crate::scratch::refill;
use crate::simplex::Multiplicity;

/// Kernel function: the inner product of the feature vectors of two points.
pub trait Kernel<X: ?Sized> {
    /// Returns `k(a, b)`, which must equal `k(b, a)`.
    fn value(&self, a: &X, b: &X) -> f64;

    /// Returns the dimension N of the feature space. The default is infinite.
    fn dimension(&self) -> Multiplicity {
        Multiplicity::Infinite
    }

    /// Returns true (the default) if no Gram matrix can have a negative eigenvalue.
    fn positive_definite(&self) -> bool {
        true
    }

    /// Returns `Err` if the kernel is undefined for the point. The default accepts every point.
    fn check(&self, point: &X) -> Result<(), Error> {
        let _ = point;
        Ok(())
    }
}

/// Dictionary of stored points, called atoms. Vectors in the feature space are combinations of the atoms' features.
pub trait Dictionary {
    /// Type of a point.
    type Point: ?Sized;

    /// Returns the number of atoms.
    fn len(&self) -> usize;

    /// Returns true if there are no atoms.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the dimension N of the feature space.
    fn dimension(&self) -> Multiplicity;

    /// Writes the kernel values of the point with all atoms to `row`. Returns the kernel of the point with itself, or
    /// `Err` for an invalid point, a non-finite kernel value or `k(x, x) < 0`.
    fn row(&mut self, point: &Self::Point, row: &mut Vec<f64>) -> Result<f64, Error>;

    /// Computes kernel rows of several points: column j of `rows`, and the kernel with itself in `own`. Values may
    /// differ from those of [`Self::row`] by rounding. An error contains the index of the point that caused it.
    fn rows(&mut self, points: &[&Self::Point], rows: &mut Matrix, own: &mut Vec<f64>) -> Result<(), (usize, Error)> {
        rows_one_by_one(self, points, rows, own)
    }

    /// Returns the largest absolute entry of a point, or zero if points are not vectors.
    fn largest_entry(&self, _point: &Self::Point) -> f64 {
        0.0
    }

    /// Returns the kernel of two points, which need not be atoms.
    fn value(&self, a: &Self::Point, b: &Self::Point) -> f64;

    /// Adds a point as the last atom.
    fn push(&mut self, point: &Self::Point);

    /// Removes the atom with index `atom` and moves the last atom to that index.
    fn swap_remove(&mut self, atom: usize);

    /// Writes the kernel values of an atom with all atoms, by index, to `row`.
    fn atom_row(&mut self, atom: usize, row: &mut Vec<f64>) {
        refill(row, (0..self.len()).map(|other| self.value(self.atom(atom), self.atom(other))));
    }

    /// Returns the kernel of atom `atom` of this dictionary with atom `of_other` of `other`.
    fn value_between(&self, atom: usize, other: &Self, of_other: usize) -> f64 {
        self.value(self.atom(atom), other.atom(of_other))
    }

    /// Returns the atom with index `atom`.
    fn atom(&self, atom: usize) -> &Self::Point;
}

fn rows_one_by_one<D: Dictionary + ?Sized>(
    dictionary: &mut D,
    points: &[&D::Point],
    rows: &mut Matrix,
    own: &mut Vec<f64>,
) -> Result<(), (usize, Error)> {
    let mut row = Vec::new();
    own.clear();
    rows.resize(dictionary.len(), points.len());
    for (j, point) in points.iter().enumerate() {
        own.push(dictionary.row(point, &mut row).map_err(|error| (j, error))?);
        rows.column_mut(j).copy_from_slice(&row);
    }
    Ok(())
}
