//! Queries to a learner over rows between its trials: a portfolio, or Hebbian weight vectors.

use super::basis::{RowSpan, RowWeights};
use super::{BoundInputs, Certificate, Comparator, Embedding, Guarantee, Member, Reason, guarantee};
use crate::hebbian::Hebbian;
use crate::num::kept;
use crate::portfolio::Portfolio;
use crate::registry::Spec;
use crate::subspace::{Rule, Subspace};

/// Results of the most recent trial. For a portfolio, these are the results of the chosen member.
pub(super) struct LastRow<'a> {
    pub coordinates: &'a [f64],
    /// Aligned coordinates. The field is `None` for Hebbian learners, and if aligned coordinates were not requested.
    pub aligned: Option<&'a [f64]>,
    pub rank: usize,
    pub square: f64,
    pub energy: f64,
}

/// Queries that a model makes to a learner over rows, apart from the trials themselves.
pub(super) trait RowLearner {
    /// Returns the parameters of the members of a portfolio. The list is empty for Hebbian learners.
    fn specs(&self) -> &[Spec] {
        &[]
    }

    fn last_row(&self) -> LastRow<'_>;

    /// Returns the total number of columns in the spans of all members, or of weight vectors.
    fn columns(&self) -> usize {
        self.last_row().rank
    }

    /// Returns true if the next row only sets the center ([`Subspace::fixes_center`]).
    fn fixes_center(&self) -> bool;

    /// Returns the members of a portfolio. The list is empty for a single learner.
    fn members(&self) -> Vec<Member> {
        Vec::new()
    }

    fn member_weights(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Returns the probabilities that the explicit directions of the heaviest member are kept, descending.
    fn probabilities(&self) -> Vec<f64> {
        vec![1.0; self.last_row().rank]
    }

    /// Returns the cost of approximations, without missing cells. The field `price` is `None` for several members.
    fn certificate(&self) -> Certificate;

    /// Returns the smallest bound on the loss relative to `best`, over all members for which a theorem holds. The bound
    /// includes the cost of Hedge. Returns `Err` with the reason if no bound applies.
    fn guarantee(&self, _inputs: &BoundInputs, _best: Comparator) -> Result<Guarantee, Reason> {
        Err(Reason::NoTheorem)
    }

    fn set_aligns(&mut self, _aligns: bool) {}

    /// Returns the positions of the filled cells of the most recent row, or `None` unless these are known to be few.
    fn filled(&self) -> Option<&[u32]> {
        None
    }

    fn atoms(&self) -> Vec<&[f64]>;

    /// Returns the k directions that are currently most likely to be kept.
    fn embedding(&mut self, kept: usize) -> Embedding;

    /// Returns the basis for the aligned coordinates of the next row. Hebbian learners return [`Self::embedding`].
    fn aligned_embedding(&mut self, kept: usize) -> Embedding {
        self.embedding(kept)
    }
}

impl<S: RowSpan> RowLearner for Portfolio<S> {
    fn specs(&self) -> &[Spec] {
        Portfolio::specs(self)
    }

    fn last_row(&self) -> LastRow<'_> {
        let (chosen, aligned) = (self.chosen(), self.aligned_coordinates());
        let (coordinates, square, energy) = (chosen.kept_coordinates(), chosen.last_square(), chosen.last_energy());
        LastRow { coordinates, aligned, rank: chosen.rank(), square, energy }
    }

    fn columns(&self) -> usize {
        Portfolio::members(self).iter().map(|member| member.span().columns()).sum()
    }

    fn fixes_center(&self) -> bool {
        Portfolio::fixes_center(self)
    }

    fn members(&self) -> Vec<Member> {
        let members = Portfolio::specs(self).iter().zip(self.member_weights()).zip(self.totals());
        members.map(|((spec, weight), total)| Member { name: spec.label(), weight, expected_loss: *total }).collect()
    }

    fn member_weights(&self) -> Vec<f64> {
        if Portfolio::specs(self).len() > 1 { self.trust().present_weights() } else { Vec::new() }
    }

    fn probabilities(&self) -> Vec<f64> {
        let weights = Portfolio::members(self)[self.heaviest()].rule().log_weights();
        let mut probabilities: Vec<f64> = weights.iter().map(|w| kept(*w)).filter(|p| *p > 0.0).collect();
        probabilities.sort_by(|a, b| b.total_cmp(a));
        probabilities
    }

    fn certificate(&self) -> Certificate {
        let members = Portfolio::members(self);
        Certificate {
            price: if let [member] = members { Some(member.rule().price()) } else { None },
            hedge_term: self.hedge_term(),
            budget_error: members.iter().map(|member| member.span().budget_error()).sum(),
            healed_rows: members.iter().map(|member| Subspace::healed(member)).sum(),
            clipped_rows: members.iter().map(|member| member.clipped()).max().unwrap_or(0),
            ..Certificate::default()
        }
    }

    fn guarantee(&self, inputs: &BoundInputs, best: Comparator) -> Result<Guarantee, Reason> {
        let members = Portfolio::specs(self).iter().zip(Portfolio::members(self));
        let guarantees = members.map(|(spec, member)| guarantee(spec, member, inputs, best));
        let least = guarantees.reduce(|a, b| match (a, b) {
            (Ok(a), Ok(b)) => Ok(if b.bound < a.bound { b } else { a }),
            (Err(_), Ok(found)) | (Ok(found), Err(_)) => Ok(found),
            (Err(Reason::NoTheorem), Err(reason)) | (Err(reason), Err(_)) => Err(reason),
        });
        let least = least.unwrap_or(Err(Reason::NoTheorem))?;
        Ok(Guarantee { bound: least.bound + self.hedge_term(), ..least })
    }

    fn set_aligns(&mut self, aligns: bool) {
        Portfolio::set_aligns(self, aligns);
    }

    fn filled(&self) -> Option<&[u32]> {
        Portfolio::members(self)[0].span().filled()
    }

    fn atoms(&self) -> Vec<&[f64]> {
        Portfolio::members(self).iter().flat_map(|member| member.span().atoms()).collect()
    }

    fn embedding(&mut self, kept: usize) -> Embedding {
        let (directions, probabilities) = self.heaviest_mut().leading_directions(kept);
        let members = Portfolio::members(self);
        let basis = members[self.heaviest()].span().basis(&directions, members[0].span());
        Embedding::new(basis.first(kept), probabilities)
    }

    fn aligned_embedding(&mut self, _: usize) -> Embedding {
        let (directions, probabilities) = self.next_basis();
        let members = Portfolio::members(self);
        let basis = members[self.heaviest()].span().basis(&directions, members[0].span());
        Embedding::new(basis, probabilities)
    }
}

impl<W: RowWeights> RowLearner for Hebbian<W> {
    fn last_row(&self) -> LastRow<'_> {
        let (coordinates, square) = (self.coordinates(), self.last_square());
        LastRow { coordinates, aligned: None, rank: coordinates.len(), square, energy: square }
    }

    fn fixes_center(&self) -> bool {
        Hebbian::fixes_center(self)
    }

    fn certificate(&self) -> Certificate {
        let (budget_error, clipped_rows) = (self.weights().budget_error(), self.clipped());
        Certificate { price: Some(0.0), budget_error, clipped_rows, ..Certificate::default() }
    }

    fn atoms(&self) -> Vec<&[f64]> {
        self.weights().atoms()
    }

    fn embedding(&mut self, kept: usize) -> Embedding {
        let basis = self.weights().basis();
        let probabilities = vec![1.0; basis.columns.columns()];
        Embedding::new(basis.first(kept), probabilities)
    }
}
