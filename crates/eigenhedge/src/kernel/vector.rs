//! Kernels on vectors of numbers, and dictionaries of vectors.

use super::Dictionary;
use crate::error::Error;
use crate::matrix::Matrix;
use crate::num::dot;
use crate::simplex::Multiplicity;
use crate::span::check_row;
use serde::{Deserialize, Serialize};

/// A kernel on vectors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VectorKernel {
    /// `a·b`.
    Linear,
    /// `(γ a·b + c)^degree`.
    Polynomial {
        /// γ.
        gamma: f64,
        /// Degree, at least 1.
        degree: u32,
        /// c, not negative.
        coef0: f64,
    },
    /// `exp(-γ |a - b|²)`.
    Rbf {
        /// γ.
        gamma: f64,
    },
}

impl VectorKernel {
    /// The kernel itself when its parameters obey their rules.
    pub fn checked(self) -> Result<Self, Error> {
        Ok(self)
    }

    /// `k(a, b)`.
    pub fn value(&self, a: &[f64], b: &[f64]) -> f64 {
        self.of_products(dot(a, b), dot(a, a), dot(b, b))
    }

    /// Dimension N of the features of vectors of this length.
    pub fn dimension(&self, length: usize) -> Multiplicity {
        match self {
            Self::Linear => Multiplicity::Finite(length as u64),
            Self::Polynomial { degree: 2, coef0: 0.0, .. } => Multiplicity::Finite((length * (length + 1) / 2) as u64),
            _ => Multiplicity::Infinite,
        }
    }

    fn of_products(&self, product: f64, a: f64, b: f64) -> f64 {
        match self {
            Self::Linear => product,
            Self::Polynomial { gamma, degree, coef0 } => (gamma * product + coef0).powi(*degree as i32),
            Self::Rbf { gamma } => (-gamma * (a + b - 2.0 * product).max(0.0)).exp(),
        }
    }
}

/// A dictionary of vectors of one length.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vectors {
    kernel: VectorKernel,
    length: usize,
    atoms: Matrix,
    squares: Vec<f64>,
}

impl Vectors {
    /// No atoms yet.
    pub fn new(kernel: VectorKernel, length: usize) -> Result<Self, Error> {
        let kernel = kernel.checked()?;
        Ok(Self { kernel, length, atoms: Matrix::zeros(length, 0), squares: Vec::new() })
    }

    /// The kernel.
    pub fn kernel(&self) -> &VectorKernel {
        &self.kernel
    }

    /// Length of a vector.
    pub fn length(&self) -> usize {
        self.length
    }
}

impl Dictionary for Vectors {
    type Point = [f64];

    fn len(&self) -> usize {
        self.squares.len()
    }

    fn dimension(&self) -> Multiplicity {
        self.kernel.dimension(self.length)
    }

    fn row(&mut self, point: &[f64], row: &mut Vec<f64>) -> Result<f64, Error> {
        check_row("row", point, self.length)?;
        let square = dot(point, point);
        self.atoms.transpose_times(point, row);
        for (value, atom) in row.iter_mut().zip(&self.squares) {
            *value = self.kernel.of_products(*value, square, *atom);
        }
        Ok(self.kernel.of_products(square, square, square))
    }

    fn value(&self, a: &[f64], b: &[f64]) -> f64 {
        self.kernel.value(a, b)
    }

    fn push(&mut self, point: &[f64]) {
        let atoms = self.atoms.columns();
        self.atoms.resize(self.length, atoms + 1);
        self.atoms.column_mut(atoms).copy_from_slice(point);
        self.squares.push(dot(point, point));
    }

    fn swap_remove(&mut self, atom: usize) {
        let last = self.atoms.columns() - 1;
        if atom != last {
            let (to, from) = self.atoms.column_pair_mut(atom, last);
            to.copy_from_slice(from);
        }
        self.atoms.resize(self.length, last);
        self.squares.swap_remove(atom);
    }

    fn atom(&self, atom: usize) -> &[f64] {
        self.atoms.column(atom)
    }
}
