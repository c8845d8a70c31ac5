//! Checks of a deserialized span of kernel features.

use super::Feature;
use crate::error::Error;
use crate::kernel::{Dictionary, Vectors};
use crate::linalg::checks::shape;
use crate::simplex::others;
use crate::span::Span;
use crate::state::{LARGEST, State, count, ensure, length, within};

/// Largest accepted `|a_i| √k(x_i, x_i)` for the coefficient a_i of an atom x_i. Learned ones are far smaller.
const LARGEST_PART: f64 = 1e30;

impl State for Feature<Vectors> {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        self.dictionary.check_state(&built.dictionary)?;
        ensure(self.dimension == built.dimension, "the space must be that of the learner")?;
        let (atoms, columns) = (self.dictionary.len(), self.columns());
        others(self.dimension, columns)?;
        shape("the coefficients of the basis", &self.coefficients, atoms, columns)?;
        shape("the images of the basis", &self.images, atoms, columns)?;
        self.accuracy.check_state(columns)?;
        if let Some(origin) = &self.origin {
            length("the coefficients of the center", origin.coefficients.len(), atoms)?;
            length("the image of the center", origin.image.len(), atoms)?;
            within("the squared norm of the center", origin.square, -LARGEST..=LARGEST)?;
            within("the error of the image of the center", origin.error, 0.0..=LARGEST)?;
        }
        match (&self.budget, &built.budget) {
            (None, None) => {}
            (Some(budget), Some(built)) => budget.check_state(built, atoms)?,
            _ => return Err(Error::State("the budget must be that of the learner")),
        }
        count("the number of rows", self.trials)?;
        self.check_sizes()
    }

    fn check_beside(&self, first: &Self) -> Result<(), Error> {
        let same = (self.lineage, self.trials) == (first.lineage, first.trials);
        let sentence = "members with one history must have the same atoms";
        ensure(!same || self.dictionary == first.dictionary, sentence)
    }
}

impl Feature<Vectors> {
    fn check_sizes(&self) -> Result<(), Error> {
        let center = self.origin.iter().map(|center| (&center.coefficients[..], &center.image[..], LARGEST.sqrt()));
        let columns = (0..self.columns()).map(|j| (self.coefficients.column(j), self.images.column(j), LARGEST_PART));
        let parts: Vec<_> = center.chain(columns).collect();
        for atom in 0..self.dictionary.len() {
            let length = self.dictionary.value_between(atom, &self.dictionary, atom).sqrt();
            for (coefficients, image, most) in &parts {
                within("a part of the basis or the center", coefficients[atom] * length, -most..=*most)?;
                let most = most * length;
                within("an image of the basis or the center", image[atom], -most..=most)?;
            }
        }
        Ok(())
    }
}
