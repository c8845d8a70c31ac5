//! Dictionaries of points of any type that has a kernel.

use super::values::check_values;
use super::{Dictionary, Kernel};
use crate::error::Error;
use crate::scratch::refill;
use crate::simplex::Multiplicity;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::marker::PhantomData;

/// Dictionary of points of any type. A kernel row costs one kernel evaluation per atom. The [module](super) has an
/// example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(
    serialize = "K: Serialize, X::Owned: Serialize",
    deserialize = "K: Deserialize<'de>, X::Owned: Deserialize<'de>"
))]
pub struct Items<K, X: ?Sized + ToOwned> {
    kernel: K,
    atoms: Vec<X::Owned>,
    #[serde(skip)]
    points: PhantomData<fn(&X)>,
}

impl<K: Kernel<X>, X: ?Sized + ToOwned> Items<K, X> {
    /// Creates an empty dictionary.
    pub fn new(kernel: K) -> Self {
        Self { kernel, atoms: Vec::new(), points: PhantomData }
    }

    /// Returns the kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }
}

impl<K: Kernel<X>, X: ?Sized + ToOwned> Dictionary for Items<K, X> {
    type Point = X;

    fn len(&self) -> usize {
        self.atoms.len()
    }

    fn dimension(&self) -> Multiplicity {
        self.kernel.dimension()
    }

    fn row(&mut self, point: &X, row: &mut Vec<f64>) -> Result<f64, Error> {
        self.kernel.check(point)?;
        refill(row, self.atoms.iter().map(|atom| self.kernel.value(atom.borrow(), point)));
        let itself = self.kernel.value(point, point);
        check_values(itself, row)?;
        Ok(itself)
    }

    fn value(&self, a: &X, b: &X) -> f64 {
        self.kernel.value(a, b)
    }

    fn push(&mut self, point: &X) {
        self.atoms.push(point.to_owned());
    }

    fn swap_remove(&mut self, atom: usize) {
        self.atoms.swap_remove(atom);
    }

    fn atom(&self, atom: usize) -> &X {
        self.atoms[atom].borrow()
    }
}
