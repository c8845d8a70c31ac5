//! Kernels: inner products in a space of features, and the dictionaries that feature vectors are written in.
//!
//! A [`Kernel`] is a function of two points of any type. A [`Dictionary`] holds points (*atoms*) and answers the one
//! question that everything else is made of: the kernel row of a point against all atoms.
//!
//! | points | kernels | dictionary |
//! |---|---|---|
//! | vectors of numbers | [`VectorKernel`] | [`Vectors`], vectorised |
//! | rankings: vectors of distinct numbers, whose order counts | `Kendall`, `Mallows` of [`VectorKernel`] | [`Vectors`] |
//! | texts and sets, as lists of the numbers of their items | `Spectrum`, `Jaccard`, `Intersection` of [`VectorKernel`] | [`Vectors`] |
//! | lists of numbers that mean what you like | [`Function`] | [`Vectors`] |
//! | indices into a Gram matrix | [`Precomputed`] | [`Items`] |
//! | anything else | a [`Kernel`] of your own | [`Items`] |
//!
//! ```
//! use eigenhedge::kernel::{Items, Kernel};
//! use eigenhedge::{Instance, Kind, Random, Spec, trial};
//!
//! /// Two words are alike in the letters that they share.
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
mod items;
#[cfg(test)]
mod laws;
mod precomputed;
mod registry;
mod rows;
mod vector_dictionary;
mod vector_kernels;

pub use item_dictionary::Items;
pub use items::{Function, TextItems, item_number};
pub use precomputed::Precomputed;
pub use registry::{KERNELS, KernelEntry, KernelParameters};
pub use vector_dictionary::Vectors;
pub use vector_kernels::VectorKernel;

use rows::Measure;

use crate::error::Error;
use crate::simplex::Multiplicity;

/// An inner product of features of two points.
pub trait Kernel<X: ?Sized> {
    /// `k(a, b)`, symmetric in its arguments.
    fn value(&self, a: &X, b: &X) -> f64;

    /// Dimension N of the space of features, when it is known to be finite.
    fn dimension(&self) -> Multiplicity {
        Multiplicity::Infinite
    }

    /// True if Gram matrices are known to have no negative eigenvalues, as those of inner products do.
    fn positive_definite(&self) -> bool {
        true
    }

    /// Rejects a point that the kernel is not defined on.
    fn check(&self, point: &X) -> Result<(), Error> {
        let _ = point;
        Ok(())
    }
}

/// Points in whose features everything is expressed.
pub trait Dictionary {
    /// Type of a point.
    type Point: ?Sized;

    /// Number of atoms.
    fn len(&self) -> usize;

    /// True if there are no atoms.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Dimension N of the space of features.
    fn dimension(&self) -> Multiplicity;

    /// Kernel of the point with every atom, in order, and with itself. Rejects a bad point or a kernel value that is
    /// not finite, and `k(x, x) < 0`; changes nothing but scratch space.
    fn row(&mut self, point: &Self::Point, row: &mut Vec<f64>) -> Result<f64, Error>;

    /// Largest absolute entry of a point; zero when points have no entries.
    fn largest_entry(&self, _point: &Self::Point) -> f64 {
        0.0
    }

    /// Kernel of two points that are no atoms.
    fn value(&self, a: &Self::Point, b: &Self::Point) -> f64;

    /// Makes a point an atom.
    fn push(&mut self, point: &Self::Point);

    /// Drops an atom; the last one takes its place.
    fn swap_remove(&mut self, atom: usize);

    /// Kernel of an atom with every atom, in order.
    fn atom_row(&mut self, atom: usize, row: &mut Vec<f64>) {
        row.clear();
        row.extend((0..self.len()).map(|other| self.value(self.atom(atom), self.atom(other))));
    }

    /// Kernel of an atom with an atom of another dictionary.
    fn value_between(&self, atom: usize, other: &Self, of_other: usize) -> f64 {
        self.value(self.atom(atom), other.atom(of_other))
    }

    /// One atom.
    fn atom(&self, atom: usize) -> &Self::Point;
}

/// Rejects kernel values of a row that no inner product can have.
fn check_values(itself: f64, row: &[f64]) -> Result<(), Error> {
    if !(itself >= 0.0 && itself.is_finite()) {
        return Err(Error::KernelValue { atom: None, rule: "finite and not negative", value: itself });
    }
    if rows::all_finite(row) {
        return Ok(());
    }
    match row.iter().position(|value| !value.is_finite()) {
        Some(atom) => Err(Error::KernelValue { atom: Some(atom), rule: "finite", value: row[atom] }),
        None => Ok(()),
    }
}
