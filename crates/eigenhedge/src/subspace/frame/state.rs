//! Checks of a deserialized frame.

use super::Frame;
use crate::error::Error;
use crate::linalg::checks::{orthonormal, shape};
use crate::simplex::others;
use crate::state::{LARGEST, State, count, ensure, entries};

impl State for Frame {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        ensure(self.dimension == built.dimension, "the directions must lie in the space of the learner")?;
        others(self.dimension, self.columns)?;
        shape("the basis of the directions", &self.rotation, self.columns, self.values.len())?;
        entries("values of the directions", &self.values, -LARGEST..=LARGEST)?;
        count("the number of changes", self.changes)?;
        orthonormal("the basis of the directions", &self.rotation)
    }
}
