//! Checks of a deserialized span of plain vectors.

use super::{Ambient, Deferred};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::linalg::checks::{DRIFT, energies, matrix_entries, orthonormal, shape};
use crate::num::dot;
use crate::span::Span;
use crate::state::{State, count, energy, ensure, length, within};

/// Maximum absolute value of a coefficient in a deserialized deferred column.
const LARGEST_COEFFICIENT: f64 = 1e4;

impl State for Ambient {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        let parameters = (self.dimension, self.length) == (built.dimension, built.length);
        ensure(parameters, "the rows and the space must be those of the learner")?;
        shape("the basis", &self.columns, self.length, self.columns())?;
        ensure(self.columns() <= self.length, "the basis must have no more columns than rows have numbers")?;
        if let Some(origin) = &self.origin {
            for part in [&origin.base, &origin.way] {
                length("the center", part.len(), self.length)?;
                energy("the squared norm of the center", dot(part, part))?;
            }
        }
        count("the number of combinations", self.combinations)?;
        energies("the energy of the stored vectors", &self.columns)?;
        self.deferred.check_state(&self.columns)?;
        orthonormal("the basis", &self.vectors())
    }
}

impl Deferred {
    /// Checks the combinations, factors and inner products against the stored vectors.
    fn check_state(&self, stored: &Matrix) -> Result<(), Error> {
        let (count, all) = (self.columns(), stored.columns());
        if count == 0 {
            return length("factors of the stored vectors", self.factors.len(), 0);
        }
        ensure(count <= all, "no more columns may wait than there are")?;
        shape("the combinations of columns that wait", &self.combinations, all, count)?;
        length("factors of the stored vectors", self.factors.len(), count)?;
        let range = -LARGEST_COEFFICIENT..=LARGEST_COEFFICIENT;
        matrix_entries("combinations of columns that wait", &self.combinations, range)?;
        shape("the products of the stored vectors", &self.gram, all, count)?;
        let written = all - count;
        let factor = |i: usize| if i < written { 1.0 } else { self.factors[i - written] };
        for j in 0..count {
            let own = written + j;
            for (i, product) in self.gram.column(j)[..=own].iter().enumerate() {
                let found = factor(i) * factor(own) * dot(stored.column(i), stored.column(own));
                let deviation = found - product - if i == own { 1.0 } else { 0.0 };
                within("the deviation of a product of stored vectors", deviation, -DRIFT..=DRIFT)?;
            }
        }
        Ok(())
    }
}
