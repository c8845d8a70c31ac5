//! Learner over rows of numbers, of any kind in the registry.

use super::basis::{RowSpan, RowWeights};
use super::{BoundInputs, Certificate, Comparator, Embedding, Guarantee, Member, Reason, guarantee};
use crate::error::{Error, at_least_one, require};
use crate::hebbian::{self, AmbientWeights, FeatureWeights, Hebbian, Params, Rate};
use crate::kernel::Vectors;
use crate::learner::{Learner, Loss, Upcoming};
use crate::memory::{check_numbers, product};
use crate::num::kept;
use crate::portfolio::{Portfolio, auto};
use crate::random::Random;
use crate::registry::options::Setup;
use crate::registry::{Family, Kind, Missing, Spec};
use crate::simplex::Multiplicity;
use crate::span::{Ambient, Feature};
use crate::state::{State, ensure};
use crate::subspace::{Instance, Subspace};
use serde::{Deserialize, Serialize};

/// Learner of any family, over plain rows or kernel features. A single subspace learner is a portfolio with one member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum AnyLearner {
    /// Subspace learners over plain rows.
    Plain(Box<Portfolio<Ambient>>),
    /// Subspace learners over kernel features.
    Kernel(Box<Portfolio<Feature<Vectors>>>),
    /// Weight vectors over plain rows.
    Hebbian(Box<Hebbian<AmbientWeights>>),
    /// Weight vectors over kernel features.
    KernelHebbian(Box<Hebbian<FeatureWeights<Vectors>>>),
}

macro_rules! delegate {
    ($self:expr, $learner:ident => $call:expr) => {
        match $self {
            AnyLearner::Plain($learner) => $call,
            AnyLearner::Kernel($learner) => $call,
            AnyLearner::Hebbian($learner) => $call,
            AnyLearner::KernelHebbian($learner) => $call,
        }
    };
}

/// Maximum number of directions kept. It prevents overflow in sums and products of sizes.
const MOST_KEPT: u64 = 1 << 32;
pub(super) const FILLS: Error =
    Error::Unsupported("missing cells are filled in by subspace learners over plain rows only");
/// Approximate number of values that a learner stores per column: basis, center and scratch.
const OF_LENGTH: usize = 12;
/// Approximate number of values stored per direction kept: probabilities, coordinates and scratch.
const OF_KEPT: usize = 4;

impl AnyLearner {
    /// Checks options before the number of columns is known, with a learner for the shortest valid rows.
    pub fn try_out(setup: &Setup) -> Result<(), Error> {
        let kept = setup.spec.kept;
        let least = if setup.spec.learner.entry().family == Family::Hebbian { kept.saturating_add(1) } else { 1 };
        let shortest = setup.spec.start.as_ref().map_or(least, |start| start.len().max(least));
        let mut setup = setup.clone();
        let dimension = (kept as u64).saturating_add(1).max(shortest as u64);
        setup.spec.dimension.get_or_insert(Multiplicity::Finite(dimension));
        Self::new(&setup.for_rows(shortest)?.spec, shortest).map(drop)
    }

    pub(super) fn check_memory(spec: &Spec, length: usize) -> Result<(), Error> {
        let of_one = product(&[OF_LENGTH, length]).saturating_add(product(&[OF_KEPT, spec.kept]));
        let numbers = match spec.learner.entry().family {
            Family::Subspace => of_one,
            Family::Portfolio => of_one.saturating_mul(3),
            Family::Hebbian => of_one.saturating_add(product(&[spec.kept, length])),
        };
        check_numbers("a learner of this size", numbers)
    }

    /// Builds the learner of the spec for rows of `length` columns.
    pub fn new(spec: &Spec, length: usize) -> Result<Self, Error> {
        require(spec.kept as u64 <= MOST_KEPT, "k", "at most 4294967296", spec.kept as f64)?;
        check_numbers("a learner over rows of this length", product(&[OF_LENGTH, length]))?;
        at_least_one("the dimension", length)?;
        let is_plain = spec.kernel.is_none() && spec.learner.entry().family != Family::Hebbian;
        if spec.missing == Missing::Fill && !is_plain {
            return Err(FILLS);
        }
        let specs = match spec.learner.entry().family {
            Family::Hebbian => return Self::hebbian(spec, length),
            Family::Portfolio => auto(spec, length),
            Family::Subspace => vec![spec.clone()],
        };
        Self::over(spec, length, specs)
    }

    fn over(spec: &Spec, length: usize, specs: Vec<Spec>) -> Result<Self, Error> {
        Ok(match &spec.kernel {
            None => Self::Plain(Box::new(Portfolio::new(specs, || spec.ambient(length))?)),
            Some(kernel) => {
                let span = || spec.feature(Vectors::new(kernel.clone(), length)?);
                Self::Kernel(Box::new(Portfolio::new(specs, span)?))
            }
        })
    }

    fn hebbian(spec: &Spec, length: usize) -> Result<Self, Error> {
        let (k, eta) = (spec.kept, spec.eta);
        let params = match spec.learner {
            Kind::Oja if k != 1 => {
                return Err(Error::Parameter { name: "k", rule: "1 for the learner oja", value: k as f64 });
            }
            Kind::Oja => Params::oja(eta),
            Kind::Apex => Params { rule: hebbian::Rule::Apex { stage: spec.stage }, ..Params::apex(k, eta) },
            _ => Params::simultaneous(k, eta, spec.beta),
        };
        let Spec { norm_bound, center, clip, .. } = *spec;
        let rate = spec.step_half_life.map_or(params.rate, |half| Rate::Decreasing { eta, half });
        let params = Params { norm_bound, center, clip, rate, ..params };
        Ok(match &spec.kernel {
            None => Self::Hebbian(Box::new(Hebbian::new(params, AmbientWeights::new(length))?)),
            Some(kernel) => {
                let weights = FeatureWeights::new(Vectors::new(kernel.clone(), length)?)?;
                let weights = match spec.budget {
                    Some(atoms) => weights.with_budget(atoms)?,
                    None => weights,
                };
                Self::KernelHebbian(Box::new(Hebbian::new(params, weights)?))
            }
        })
    }

    pub(super) fn set_missing(&mut self, missing: Missing) -> Result<(), Error> {
        match self {
            Self::Plain(portfolio) => portfolio.set_missing(missing),
            _ if missing == Missing::Fill => return Err(FILLS),
            Self::Kernel(portfolio) => portfolio.set_missing(missing),
            Self::Hebbian(_) | Self::KernelHebbian(_) => {}
        }
        Ok(())
    }

    /// Builds a new learner with which [`Self::check_state`] compares a deserialized one. For `auto` it has the saved
    /// members, because another version of the program may choose different ones.
    fn twin(&self, spec: &Spec, length: usize) -> Result<Self, Error> {
        if spec.learner.entry().family != Family::Portfolio {
            return Self::new(spec, length);
        }
        let shares = |member: &Spec| {
            member.learner.entry().family == Family::Subspace
                && (member.kept, &member.kernel) == (spec.kept, &spec.kernel)
                && member.center.map(|center| center.prior) == spec.center.map(|center| center.prior)
                && (member.clip, member.missing) == (spec.clip, spec.missing)
        };
        let own = self.inside().specs();
        ensure(own.len() > 1 && own.iter().all(shares), "the members of a portfolio must be learners like it")?;
        Self::over(spec, length, own.to_vec())
    }

    pub(super) fn check_state(&self, spec: &Spec, length: usize) -> Result<(), Error> {
        match (self, self.twin(spec, length)?) {
            (Self::Plain(own), Self::Plain(built)) => own.check_state(&built),
            (Self::Kernel(own), Self::Kernel(built)) => own.check_state(&built),
            (Self::Hebbian(own), Self::Hebbian(built)) => own.check_state(&built),
            (Self::KernelHebbian(own), Self::KernelHebbian(built)) => own.check_state(&built),
            _ => Err(Error::State("the learner must be of the kind that its options give")),
        }
    }

    pub(super) fn inside(&self) -> &dyn RowLearner {
        delegate!(self, learner => &**learner)
    }

    pub(super) fn inside_mut(&mut self) -> &mut dyn RowLearner {
        delegate!(self, learner => &mut **learner)
    }

    pub(super) fn plain_mut(&mut self) -> Option<&mut Portfolio<Ambient>> {
        if let Self::Plain(portfolio) = self { Some(portfolio) } else { None }
    }

    /// Returns the number of stored columns of all members, or of weight vectors.
    pub fn columns(&self) -> usize {
        self.inside().columns()
    }

    /// Returns the squared norm of the most recent row around the center of the chosen member. After a batch, returns an
    /// upper bound on the largest eigenvalue of the scatter matrix of its rows.
    pub fn last_square(&self) -> f64 {
        self.inside().last_row().square
    }

    /// Returns the members of a portfolio.
    pub fn members(&self) -> Vec<Member> {
        self.inside().members()
    }

    /// Returns the current weights of the members of a portfolio.
    pub fn member_weights(&self) -> Vec<f64> {
        self.inside().member_weights()
    }

    /// Returns the positive probabilities of keeping explicit directions of the heaviest member, in descending order.
    pub fn probabilities(&self) -> Vec<f64> {
        self.inside().probabilities()
    }

    /// Returns the `kept` directions that are currently most likely to be kept.
    pub fn embedding(&mut self, kept: usize) -> Embedding {
        self.inside_mut().embedding(kept)
    }
}

impl Learner<Instance<'_, [f64]>> for AnyLearner {
    fn check(&mut self, instance: &Instance<'_, [f64]>) -> Result<(), Error> {
        delegate!(self, learner => learner.check(instance))
    }
    fn choose(&mut self, random: &mut Random) {
        delegate!(self, learner => Learner::<Instance<'_, [f64]>>::choose(&mut **learner, random))
    }
    fn incur(&mut self, instance: &Instance<'_, [f64]>) -> Loss {
        delegate!(self, learner => learner.incur(instance))
    }
    fn update(&mut self, instance: &Instance<'_, [f64]>) {
        delegate!(self, learner => learner.update(instance));
    }
    fn prefetch(&mut self, upcoming: Upcoming<'_, Instance<'_, [f64]>>) {
        delegate!(self, learner => learner.prefetch(upcoming));
    }
}

/// Results of the most recent trial, of the chosen member.
pub(super) struct LastRow<'a> {
    pub coordinates: &'a [f64],
    /// Coordinates in the aligned basis, if a subspace learner was asked for them.
    pub aligned: Option<&'a [f64]>,
    pub rank: usize,
    pub square: f64,
    pub energy: f64,
}

/// Queries of a model to a learner over rows, apart from trials.
pub(super) trait RowLearner {
    fn specs(&self) -> &[Spec] {
        &[]
    }

    fn last_row(&self) -> LastRow<'_>;

    fn columns(&self) -> usize {
        self.last_row().rank
    }

    fn fixes_center(&self) -> bool;

    fn members(&self) -> Vec<Member> {
        Vec::new()
    }

    fn member_weights(&self) -> Vec<f64> {
        Vec::new()
    }

    fn probabilities(&self) -> Vec<f64> {
        vec![1.0; self.last_row().rank]
    }

    /// Returns the cost of approximations, without the counts of filled cells, and without `price` for several members.
    fn certificate(&self) -> Certificate;

    /// Returns the smallest bound over all members with a theorem, including the cost of Hedge.
    fn guarantee(&self, _inputs: &BoundInputs, _best: Comparator) -> Result<Guarantee, Reason> {
        Err(Reason::NoTheorem)
    }

    fn set_aligns(&mut self, _aligns: bool) {}

    /// Returns the indices of the nonzero cells of the most recent row, if it was learned as a sparse row.
    fn filled(&self) -> Option<&[u32]> {
        None
    }

    fn atoms(&self) -> Vec<&[f64]>;

    fn embedding(&mut self, kept: usize) -> Embedding;

    /// Returns the basis for the aligned coordinates of the next row, if there is one.
    fn aligned_embedding(&mut self, kept: usize) -> Embedding {
        self.embedding(kept)
    }
}

impl<S: RowSpan> RowLearner for Portfolio<S> {
    fn specs(&self) -> &[Spec] {
        &self.specs
    }

    fn last_row(&self) -> LastRow<'_> {
        let (chosen, aligned) = (self.chosen(), self.aligned_coordinates());
        let (coordinates, square, energy) = (chosen.kept_coordinates(), chosen.last_square(), chosen.last_energy());
        LastRow { coordinates, aligned, rank: chosen.rank(), square, energy }
    }

    fn columns(&self) -> usize {
        self.members.iter().map(|member| member.span().columns()).sum()
    }

    fn fixes_center(&self) -> bool {
        Portfolio::fixes_center(self)
    }

    fn members(&self) -> Vec<Member> {
        let members = self.specs.iter().zip(self.member_weights()).zip(&self.totals);
        members.map(|((spec, weight), total)| Member { name: spec.label(), weight, expected_loss: *total }).collect()
    }

    fn member_weights(&self) -> Vec<f64> {
        if self.specs.len() > 1 { self.trust.present_weights() } else { Vec::new() }
    }

    fn probabilities(&self) -> Vec<f64> {
        let weights = self.members[self.heaviest()].rule().log_weights();
        let mut probabilities: Vec<f64> = weights.iter().map(|w| kept(*w)).filter(|p| *p > 0.0).collect();
        probabilities.sort_by(|a, b| b.total_cmp(a));
        probabilities
    }

    fn certificate(&self) -> Certificate {
        let members = &self.members;
        Certificate {
            price: if let [member] = &members[..] { Some(member.rule().price()) } else { None },
            hedge_term: self.hedge_term(),
            budget_error: members.iter().map(|member| member.span().budget_error()).sum(),
            healed_rows: members.iter().map(|member| Subspace::healed(member)).sum(),
            clipped_rows: members.iter().map(|member| member.clipped()).max().unwrap_or(0),
            ..Certificate::default()
        }
    }

    fn guarantee(&self, inputs: &BoundInputs, best: Comparator) -> Result<Guarantee, Reason> {
        let members = self.specs.iter().zip(&self.members);
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
        self.members[0].span().filled()
    }

    fn atoms(&self) -> Vec<&[f64]> {
        self.members.iter().flat_map(|member| member.span().atoms()).collect()
    }

    fn embedding(&mut self, kept: usize) -> Embedding {
        let (directions, probabilities) = self.heaviest_mut().leading_directions(kept);
        let basis = self.members[self.heaviest()].span().basis(&directions, self.members[0].span());
        Embedding::new(basis.first(kept), probabilities)
    }

    fn aligned_embedding(&mut self, _: usize) -> Embedding {
        let (directions, probabilities) = self.next_basis();
        let basis = self.members[self.heaviest()].span().basis(&directions, self.members[0].span());
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
