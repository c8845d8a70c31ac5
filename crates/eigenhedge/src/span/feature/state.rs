//! Checks of a deserialized span of kernel features.

use super::{Feature, Origin};
use crate::error::Error;
use crate::kernel::{Dictionary, Vectors};
use crate::linalg::checks::{matrix_entries, shape};
use crate::num::dot;
use crate::simplex::others;
use crate::span::{Beside, Span};
use crate::state::{LARGEST, State, count, ensure, entries, length, within};

/// Number of atoms whose kernel rows are recomputed for the check.
const PROBED: usize = 64;
/// Allowed deviation of stored values from recomputed ones. It is multiplied by the reach of the combination, because
/// rounding errors of a kernel are multiplied by the coefficients.
const SLACK: f64 = 1e-6;
const ROUNDING: f64 = 1e-11;
/// Maximum reach of a unit vector: the sum of the lengths of its terms. A larger reach means too much cancellation.
const LARGEST_REACH: f64 = 1e8;

impl State for Feature<Vectors> {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        self.dictionary.check_state(&built.dictionary)?;
        ensure(self.dimension == built.dimension, "the space must be that of the learner")?;
        let (atoms, columns) = (self.dictionary.len(), self.columns());
        others(self.dimension, columns)?;
        shape("the coefficients of the basis", &self.coefficients, atoms, columns)?;
        shape("the images of the basis", &self.images, atoms, columns)?;
        matrix_entries("coefficients of the basis", &self.coefficients, -LARGEST..=LARGEST)?;
        matrix_entries("images of the basis", &self.images, -LARGEST..=LARGEST)?;
        self.accuracy.check_state(columns)?;
        if let Some(origin) = &self.origin {
            length("the coefficients of the center", origin.coefficients.len(), atoms)?;
            length("the image of the center", origin.image.len(), atoms)?;
            entries("coefficients of the center", &origin.coefficients, -LARGEST..=LARGEST)?;
            entries("image of the center", &origin.image, -LARGEST..=LARGEST)?;
            within("the error of the image of the center", origin.error, 0.0..=LARGEST)?;
        }
        match (&self.budget, &built.budget) {
            (None, None) => {}
            (Some(budget), Some(built)) => budget.check_state(built, atoms)?,
            _ => return Err(Error::State("the budget must be that of the learner")),
        }
        count("the number of rows", self.trials)?;
        self.check_images()
    }
}

impl Feature<Vectors> {
    /// Compares the Gram matrix of the columns with the identity, and the images of the columns and of the origin with
    /// recomputed ones for a few atoms.
    fn check_images(&self) -> Result<(), Error> {
        let (atoms, mut dictionary) = (self.dictionary.len(), self.dictionary.clone());
        let atom_square = |atom: usize| dictionary.value_between(atom, &dictionary, atom);
        let lengths: Vec<f64> = (0..atoms).map(|atom| atom_square(atom).sqrt()).collect();
        // Reach: the length that a combination of atoms would have if no terms cancelled.
        let reach = |part: &[f64]| part.iter().zip(&lengths).map(|(a, length)| (a * length).abs()).sum::<f64>();
        let slack = |reach: f64, other: f64| SLACK * (1.0 + reach.min(other)) + ROUNDING * reach * other;
        let near = |name, found: f64, wanted: f64, slack: f64| within(name, found - wanted, -slack..=slack);
        let columns: Vec<f64> = (0..self.columns()).map(|j| reach(self.coefficients.column(j))).collect();
        for (j, column) in columns.iter().enumerate() {
            for (i, other) in columns[..=j].iter().enumerate() {
                let product = dot(self.coefficients.column(i), self.images.column(j));
                let wanted = f64::from(u8::from(i == j));
                near("the deviation of a product of columns", product, wanted, slack(*column, *other))?;
            }
        }
        let center = self.origin.as_ref().map_or(0.0, |origin| reach(&origin.coefficients));
        entries("reaches of the columns", &columns, 0.0..=LARGEST_REACH)?;
        // An outlier can move the center far beyond the atoms.
        within("the reach of the center", center, 0.0..=LARGEST)?;
        let (mut row, mut fresh) = (Vec::new(), Vec::new());
        for atom in (0..atoms).step_by(atoms.div_ceil(PROBED).max(1)) {
            dictionary.atom_row(atom, &mut row);
            self.coefficients.transpose_times(&row, &mut fresh);
            for (j, value) in fresh.iter().enumerate() {
                let slack = lengths[atom] * slack(columns[j], columns[j]);
                near("the deviation of an image of the basis", self.images.column(j)[atom], *value, slack)?;
            }
            if let Some(Origin { coefficients, image, .. }) = &self.origin {
                let slack = lengths[atom] * slack(center, center);
                near("the deviation of an image of the center", image[atom], dot(coefficients, &row), slack)?;
            }
        }
        let Some(Origin { coefficients, image, square, .. }) = &self.origin else { return Ok(()) };
        let (value, slack) = (dot(coefficients, image), center.max(1.0) * slack(center, center));
        near("the deviation of the squared norm of the center", *square, value, slack)
    }
}

impl Beside for Feature<Vectors> {
    fn check_beside(&self, first: &Self) -> Result<(), Error> {
        let same = (self.lineage, self.trials) == (first.lineage, first.trials);
        let sentence = "members with one history must have the same atoms";
        ensure(!same || self.dictionary == first.dictionary, sentence)
    }
}
