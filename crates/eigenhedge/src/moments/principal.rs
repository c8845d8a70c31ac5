//! Leading directions of moments, without the probabilities of a learner, which need all eigenvalues.

use super::Moments;
use super::finish::Asked;
use crate::batch::{of_factor, of_scatter};
use crate::comparators::BestSubspace;
use crate::model::{Embedding, Model};
use crate::subspace::LearnedScatter;

/// Smallest eigenvalue along a kept direction, as a share of the largest, for which the direction is accurate to 1e-8.
const ACCURATE: f64 = 1e-8;

/// Directions that a new model would keep after all rows, with the energy of the rows along each of them.
#[derive(Debug, Clone)]
pub struct Principal {
    /// Directions and center. The probabilities of directions are unknown, and zero here.
    pub embedding: Embedding,
    /// Energy of the rows along each direction, and in total. The field is `None` if the energies are not known exactly.
    pub energies: Option<(Vec<f64>, f64)>,
}

impl Moments {
    /// Returns the directions that a model without rows would keep after [`Self::add_to`]. Costs the k leading eigenpairs
    /// instead of all. Returns `None` if this is not accurate, because energies differ too much or are zero.
    pub fn principal(&self, model: &Model) -> Option<Principal> {
        if model.totals().rows > 0 || self.rows == 0 || model.length() != self.length {
            return None;
        }
        let (spec, centered) = (model.spec(), model.spec().center.is_some());
        let Asked { scatter, energy, .. } = self.asked(centered, false);
        let most = spec.kept.min(self.length);
        let (mut energies, directions) = match &scatter {
            LearnedScatter::Whole(scatter) => of_scatter(scatter, most),
            LearnedScatter::Factor(rows) if rows.columns() >= most => of_factor(rows, most),
            LearnedScatter::Factor(_) => return None,
        };
        if !(energies[most - 1] >= ACCURATE * energies[0] && energies[0] > 0.0 && energy.is_finite()) {
            return None;
        }
        energies.resize(spec.kept, 0.0);
        let center = self.mean().filter(|_| centered).unwrap_or_else(|| vec![0.0; self.length]);
        let is_exact = self.length <= BestSubspace::LONGEST && model.has_hindsight();
        let energies = is_exact.then_some((energies, energy));
        Some(Principal { embedding: model.embedding_in(directions, center), energies })
    }
}
