//! Kernels: inner products in a space of features, and the dictionaries that feature vectors are written in.
//!
//! A [`Kernel`] is a function of two points of any type. A [`Dictionary`] holds points (*atoms*) and answers the one
//! question that everything else is made of: the kernel row of a point against all atoms.

mod items;
mod vector;

pub use items::Items;
pub use vector::{VectorKernel, Vectors};

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
}

/// Points in whose features everything is expressed.
pub trait Dictionary {
    /// What is stored.
    type Point: ?Sized;

    /// Number of atoms.
    fn len(&self) -> usize;

    /// Whether there are no atoms.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Dimension N of the space of features.
    fn dimension(&self) -> Multiplicity;

    /// Kernel of the point with every atom, in order, and with itself. Rejects a bad point or a kernel value that is
    /// not finite, and `k(x, x) < 0`; changes nothing but scratch space.
    fn row(&mut self, point: &Self::Point, row: &mut Vec<f64>) -> Result<f64, Error>;

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

    /// One atom.
    fn atom(&self, atom: usize) -> &Self::Point;
}
