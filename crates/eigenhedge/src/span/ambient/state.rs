//! Checks of a deserialized span of plain vectors.

use super::sparse::Sparse;
use super::{Ambient, Deferred};
use crate::error::Error;
use crate::linalg::checks::{DRIFT, energies, matrix_entries, orthonormal, shape};
use crate::linalg::{Matrix, STREAK};
use crate::num::dot;
use crate::span::Span;
use crate::state::{LARGEST, State, count, energy, ensure, entries, length, within};

const LARGEST_COEFFICIENT: f64 = 1e4;

impl State for Ambient {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        let parameters = (self.dimension, self.length) == (built.dimension, built.length);
        ensure(parameters, "the rows and the space must be those of the learner")?;
        shape("the basis", &self.columns, self.length, self.columns.columns())?;
        ensure(self.columns() <= self.length, "the basis must have no more columns than rows have numbers")?;
        if let Some(origin) = &self.origin {
            for part in [&origin.base, &origin.way] {
                length("the center", part.len(), self.length)?;
                energy("the squared norm of the center", dot(part, part))?;
            }
        }
        let sources = (&self.sources, &built.sources);
        ensure(sources.0.is_some() == sources.1.is_some(), "only a learned center has sources")?;
        if let Some(sources) = sources.0 {
            sources.check_state(self.length, self.columns())?;
            ensure(self.sparse.is_none(), "a learned center must have dense rows")?;
        }
        count("the number of combinations", self.combinations)?;
        energies("the energy of the stored vectors", &self.columns)?;
        self.deferred.check_state(&self.columns)?;
        ensure(self.sparse_streak <= STREAK, "the number of sparse rows must be counted up to its limit")?;
        if let Some(sparse) = &self.sparse {
            sparse.check_state(&self.columns, self.origin.is_some())?;
            ensure(self.deferred.columns() == 0, "no columns may wait between sparse rows")?;
        }
        ensure(
            !self.standard || are_unit_vectors(&self.columns),
            "the columns must be unit vectors if they count as such",
        )?;
        orthonormal("the basis", &self.vectors())
    }
}

fn are_unit_vectors(columns: &Matrix) -> bool {
    let is_unit = |j: usize| columns.column(j).iter().enumerate().all(|(i, x)| *x == f64::from(u8::from(i == j)));
    columns.rows() == columns.columns() && (0..columns.columns()).all(is_unit)
}

impl Deferred {
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

impl Sparse {
    fn check_state(&self, dense: &Matrix, has_origin: bool) -> Result<(), Error> {
        self.columns.check_state(dense, LARGEST_COEFFICIENT)?;
        let vectors = self.columns.vectors();
        length("the coefficients of the center", self.origin.len(), vectors)?;
        length("the products of the center", self.origin_products.len(), vectors)?;
        ensure(self.written <= dense.columns(), "no more vectors may be written out than there are")?;
        count("the number of rows that are not sparse", self.dense_streak as u64)?;
        ensure(has_origin || self.origin.iter().all(|a| *a == 0.0), "only a center that moves has coefficients")?;
        entries("coefficients of the center", &self.origin, -LARGEST..=LARGEST)?;
        let (mut center, mut products) = (vec![0.0; dense.rows()], Vec::new());
        self.columns.add_to(dense, &self.origin, &mut center);
        let square = dot(&center, &center);
        energy("the squared norm of the center", square)?;
        self.columns.times_dense(dense, &center, &mut products);
        for (i, product) in products.iter().enumerate() {
            let bound = (square * self.columns.squares[i]).sqrt().max(f64::MIN_POSITIVE);
            let deviation = (product - self.origin_products[i]) / bound;
            within("the deviation of a product of the center", deviation, -DRIFT..=DRIFT)?;
        }
        Ok(())
    }
}
