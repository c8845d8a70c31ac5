//! Any learner over rows of numbers: what the registry's names build.

use super::embedding::Embedding;
use super::{BoundInputs, Comparator, Guarantee, Member, Reason, guarantee};
use crate::error::Error;
use crate::hebbian::weights::Weights;
use crate::hebbian::{self, AmbientWeights, FeatureWeights, Hebbian, Params, Rate};
use crate::kernel::{Dictionary, Vectors};
use crate::learner::{Learner, Loss, Upcoming};
use crate::linalg::{Matrix, multiply};
use crate::memory::{check_numbers, product};
use crate::portfolio::{Portfolio, auto};
use crate::random::Random;
use crate::registry::{Family, Kind, Missing, Spec};
use crate::span::{Ambient, Feature, Span};
use crate::state::{State, ensure};
use crate::subspace::{AnyRule, Instance, Learned, Rule, Scales, Subspace};
use serde::{Deserialize, Serialize};

/// A learner of any family over rows, plain or through a kernel. A subspace learner is a portfolio of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum AnyLearner {
    /// Over plain rows.
    Plain(Box<Portfolio<Ambient>>),
    /// Over features of rows.
    Kernel(Box<Portfolio<Feature<Vectors>>>),
    /// Weight vectors over plain rows.
    Hebbian(Box<Hebbian<AmbientWeights>>),
    /// Weight vectors over features of rows.
    KernelHebbian(Box<Hebbian<FeatureWeights<Vectors>>>),
}

/// Passes a call on to the learner inside.
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

/// The same, for what only portfolios have.
macro_rules! of_portfolio {
    ($self:expr, $portfolio:ident => $call:expr, $otherwise:expr) => {
        match $self {
            AnyLearner::Plain($portfolio) => $call,
            AnyLearner::Kernel($portfolio) => $call,
            AnyLearner::Hebbian(_) | AnyLearner::KernelHebbian(_) => $otherwise,
        }
    };
}

/// Most directions that are kept, so that sums and products of sizes do not overflow.
const MOST_KEPT: u64 = 1 << 32;
/// Numbers for each column of the rows that a learner holds after a few of them, at most: basis, center and scratch.
const OF_LENGTH: usize = 12;
/// Numbers for each direction kept: probabilities, coordinates and scratch.
const OF_KEPT: usize = 4;

impl AnyLearner {
    /// An error if there is no memory for what the spec names after a few rows of this length.
    pub(super) fn check_memory(spec: &Spec, length: usize) -> Result<(), Error> {
        let of_one = product(&[OF_LENGTH, length]).saturating_add(product(&[OF_KEPT, spec.kept]));
        let numbers = match spec.learner.entry().family {
            Family::Subspace => of_one,
            Family::Portfolio => of_one.saturating_mul(3),
            Family::Hebbian => of_one.saturating_add(product(&[spec.kept, length])),
        };
        check_numbers("a learner of this size", numbers)
    }

    /// Builds what the spec names, for rows of this length.
    pub fn new(spec: &Spec, length: usize) -> Result<Self, Error> {
        if spec.kept as u64 > MOST_KEPT {
            return Err(Error::Parameter { name: "k", rule: "at most 4294967296", value: spec.kept as f64 });
        }
        check_numbers("a learner over rows of this length", product(&[OF_LENGTH, length]))?;
        if length == 0 {
            return Err(Error::Parameter { name: "the dimension", rule: "at least 1", value: 0.0 });
        }
        let is_plain = spec.kernel.is_none() && spec.learner.entry().family != Family::Hebbian;
        if spec.missing == Missing::Fill && !is_plain {
            return Err(Error::Unsupported("missing cells are filled in by subspace learners over plain rows only"));
        }
        let specs = match spec.learner.entry().family {
            Family::Hebbian => return Self::hebbian(spec, length),
            Family::Portfolio => auto(spec, length),
            Family::Subspace => vec![spec.clone()],
        };
        Self::over(spec, length, specs)
    }

    /// A portfolio of these members.
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
        let rate = spec.half.map_or(params.rate, |half| Rate::Decreasing { eta, half });
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

    /// Builds a twin of a learner that was read from bytes. The members of `auto` are those of the program that saved it,
    /// which may have had others than this one: they must be learners that could be members, over the same space.
    fn twin(&self, spec: &Spec, length: usize) -> Result<Self, Error> {
        let own = match self {
            Self::Plain(own) => own.specs(),
            Self::Kernel(own) => own.specs(),
            Self::Hebbian(_) | Self::KernelHebbian(_) => &[],
        };
        if spec.learner.entry().family != Family::Portfolio {
            return Self::new(spec, length);
        }
        let shares = |member: &Spec| {
            member.learner.entry().family == Family::Subspace
                && (member.kept, &member.kernel) == (spec.kept, &spec.kernel)
                && member.center.map(|center| center.prior) == spec.center.map(|center| center.prior)
                && (member.clip, member.missing) == (spec.clip, spec.missing)
        };
        ensure(own.len() > 1 && own.iter().all(shares), "the members of a portfolio must be learners like it")?;
        Self::over(spec, length, own.to_vec())
    }

    /// Checks what was read from bytes against what the spec gives.
    pub(super) fn check_state(&self, spec: &Spec, length: usize) -> Result<(), Error> {
        match (self, self.twin(spec, length)?) {
            (Self::Plain(own), Self::Plain(built)) => own.check_state(&built),
            (Self::Kernel(own), Self::Kernel(built)) => own.check_state(&built),
            (Self::Hebbian(own), Self::Hebbian(built)) => own.check_state(&built),
            (Self::KernelHebbian(own), Self::KernelHebbian(built)) => own.check_state(&built),
            _ => Err(Error::State("the learner must be of the kind that its options give")),
        }
    }

    /// Adds what another learner with the same options has learned from other rows.
    pub(super) fn merge(&mut self, other: Self, cost: f64) -> Result<(), Error> {
        match (self, other) {
            (Self::Plain(own), Self::Plain(other)) => own.merge(*other, cost),
            _ => Err(Error::Merge("the learners must be over plain rows".to_owned())),
        }
    }

    /// Begins with rows that were gathered elsewhere.
    pub(super) fn begin_with(&mut self, rows: Learned<'_>) -> Result<(), Error> {
        match self {
            Self::Plain(own) => own.heaviest_mut().begin_with(rows),
            _ => Err(Error::Merge("the learner must be over plain rows".to_owned())),
        }
    }

    /// Coordinates of the last row in the directions that were kept for it.
    pub fn coordinates(&self) -> &[f64] {
        match self {
            Self::Plain(portfolio) => portfolio.chosen().kept_coordinates(),
            Self::Kernel(portfolio) => portfolio.chosen().kept_coordinates(),
            Self::Hebbian(learner) => learner.coordinates(),
            Self::KernelHebbian(learner) => learner.coordinates(),
        }
    }

    /// Asks for the aligned coordinates of the rows that follow, or for none.
    pub(super) fn set_aligns(&mut self, aligns: bool) {
        of_portfolio!(self, portfolio => portfolio.set_aligns(aligns), ());
    }

    /// Aligned coordinates of the last row; none for Hebbian learners, and if they were not asked for.
    pub(super) fn aligned_coordinates(&self) -> Option<&[f64]> {
        of_portfolio!(self, portfolio => portfolio.aligned_coordinates(), None)
    }

    /// Projects the row that was just charged on the subspace that was drawn for it; plain rows only.
    pub(super) fn reconstruct(&mut self, row: &[f64], out: &mut Vec<f64>) {
        match self {
            Self::Plain(portfolio) => portfolio.reconstruct(row, out),
            _ => out.clear(),
        }
    }

    /// The atoms of all members; none for plain rows.
    pub(super) fn atoms(&self) -> Vec<&[f64]> {
        fn of(dictionary: &Vectors) -> impl Iterator<Item = &[f64]> {
            (0..dictionary.len()).map(|atom| dictionary.atom(atom))
        }
        match self {
            Self::Kernel(portfolio) => {
                portfolio.members().iter().flat_map(|member| of(member.span().dictionary())).collect()
            }
            Self::KernelHebbian(learner) => of(learner.weights().dictionary()).collect(),
            Self::Plain(_) | Self::Hebbian(_) => Vec::new(),
        }
    }

    /// Explicit directions in use: of the member that was chosen last, for a portfolio.
    pub fn rank(&self) -> usize {
        match self {
            Self::Plain(portfolio) => portfolio.chosen().rank(),
            Self::Kernel(portfolio) => portfolio.chosen().rank(),
            Self::Hebbian(learner) => learner.coordinates().len(),
            Self::KernelHebbian(learner) => learner.coordinates().len(),
        }
    }

    /// Columns of the spans of all members, or weight vectors.
    pub fn columns(&self) -> usize {
        match self {
            Self::Plain(portfolio) => portfolio.members().iter().map(|member| member.span().columns()).sum(),
            Self::Kernel(portfolio) => portfolio.members().iter().map(|member| member.span().columns()).sum(),
            Self::Hebbian(learner) => learner.coordinates().len(),
            Self::KernelHebbian(learner) => learner.coordinates().len(),
        }
    }

    /// True if the next row does nothing but fix the center ([`Subspace::fixes_center`]).
    pub fn fixes_center(&self) -> bool {
        delegate!(self, learner => learner.fixes_center())
    }

    /// Squared norm of the last row, after centering: of the member that was chosen, for a portfolio.
    pub fn last_square(&self) -> f64 {
        match self {
            Self::Plain(portfolio) => portfolio.chosen().last_square(),
            Self::Kernel(portfolio) => portfolio.chosen().last_square(),
            Self::Hebbian(learner) => learner.last_square(),
            Self::KernelHebbian(learner) => learner.last_square(),
        }
    }

    /// Energy of the last instance, after centering: of the member that was chosen, for a portfolio.
    pub(super) fn last_energy(&self) -> f64 {
        of_portfolio!(self, portfolio => portfolio.chosen().last_energy(), self.last_square())
    }

    /// The members of a portfolio of several.
    pub fn members(&self) -> Vec<Member> {
        of_portfolio!(self, portfolio => {
            let specs = portfolio.specs();
            if specs.len() < 2 {
                return Vec::new();
            }
            let numbers = portfolio.trust().present_weights().into_iter().zip(portfolio.totals());
            let member = |(spec, (weight, total)): (&Spec, (f64, &f64))| {
                Member { name: spec.label(), weight, expected_loss: *total }
            };
            specs.iter().zip(numbers).map(member).collect()
        }, Vec::new())
    }

    /// Probabilities of being kept of the explicit directions of the heaviest member, largest first.
    pub fn probabilities(&self) -> Vec<f64> {
        let sorted = |weights: &[f64]| {
            let mut kept: Vec<f64> = weights.iter().map(|w| crate::num::kept(*w)).filter(|p| *p > 0.0).collect();
            kept.sort_by(|a, b| b.total_cmp(a));
            kept
        };
        of_portfolio!(self, portfolio => sorted(portfolio.members()[portfolio.heaviest()].rule().log_weights()), {
            vec![1.0; self.coordinates().len()]
        })
    }

    /// What Hedge may have added to the loss of the best member.
    pub fn hedge_term(&self) -> f64 {
        of_portfolio!(self, portfolio => portfolio.hedge_term(), 0.0)
    }

    /// What approximations have added to the constant of the theorem of a single learner; none for a portfolio of several.
    pub(super) fn price(&self) -> Option<f64> {
        of_portfolio!(self, portfolio => match portfolio.members() {
            [member] => Some(member.rule().price()),
            _ => None,
        }, Some(0.0))
    }

    /// Rows before which a learner's directions were orthonormalised, because the parts of the row did not add up to it;
    /// summed over members.
    pub fn healed(&self) -> u64 {
        match self {
            Self::Plain(portfolio) => portfolio.members().iter().map(Subspace::healed).sum(),
            Self::Kernel(portfolio) => portfolio.members().iter().map(Subspace::healed).sum(),
            Self::Hebbian(_) | Self::KernelHebbian(_) => 0,
        }
    }

    /// Rows that were learned from a shorter copy: the most of any member.
    pub fn clipped(&self) -> u64 {
        delegate!(self, learner => learner.clipped())
    }

    /// What a budget has cost: the norms of all the parts of directions that were given up, summed over members.
    pub fn budget_error(&self) -> f64 {
        match self {
            Self::Kernel(portfolio) => portfolio.members().iter().map(|member| member.span().budget_error()).sum(),
            Self::KernelHebbian(learner) => learner.weights().forgotten(),
            Self::Plain(_) | Self::Hebbian(_) => 0.0,
        }
    }

    /// The least that is promised beside a comparator: of all members with a theorem, plus the Hedge term.
    pub(super) fn guarantee(&self, inputs: &BoundInputs, best: Comparator) -> Result<Guarantee, Reason> {
        fn least<S: Span>(
            portfolio: &Portfolio<S>,
            inputs: &BoundInputs,
            best: Comparator,
        ) -> Result<Guarantee, Reason> {
            let guarantees = portfolio.specs().iter().zip(portfolio.members());
            let least =
                guarantees.map(|(spec, member)| guarantee(spec, member, inputs, best)).reduce(|a, b| match (a, b) {
                    (Ok(a), Ok(b)) => Ok(if b.bound < a.bound { b } else { a }),
                    (Err(_), Ok(found)) | (Ok(found), Err(_)) => Ok(found),
                    (Err(Reason::NoTheorem), Err(reason)) | (Err(reason), Err(_)) => Err(reason),
                });
            let least = least.unwrap_or(Err(Reason::NoTheorem))?;
            Ok(Guarantee { bound: least.bound + portfolio.hedge_term(), ..least })
        }
        of_portfolio!(self, portfolio => least(portfolio, inputs, best), Err(Reason::NoTheorem))
    }

    /// The basis in which the next row would have aligned coordinates; [`Self::embedding`] for Hebbian learners.
    pub fn aligned_embedding(&mut self, kept: usize) -> Embedding {
        match self {
            Self::Plain(portfolio) => {
                let (basis, inclusion) = portfolio.next_basis();
                let center = plain_center(portfolio.members()[0].span());
                let span = portfolio.heaviest_mut().span();
                Embedding::plain_basis(times(&span.vectors(), &basis, span.length()), inclusion, center)
            }
            Self::Kernel(portfolio) => {
                let (basis, inclusion) = portfolio.next_basis();
                let span = portfolio.heaviest_mut().span();
                let coefficients = times(span.coefficients(), &basis, span.dictionary().len());
                Embedding::feature_basis(
                    span.dictionary().clone(),
                    coefficients,
                    inclusion,
                    center_or_origin(span.origin_with_image(), span.dictionary().len()),
                )
            }
            Self::Hebbian(_) | Self::KernelHebbian(_) => self.embedding(kept),
        }
    }

    /// Fixes the center of a column that no row has had a cell of before.
    pub(super) fn begin_column(&mut self, column: usize, value: f64) {
        if let Self::Plain(portfolio) = self {
            portfolio.begin_column(column, value);
        }
    }

    /// Fills the missing cells of a row in, and prepares the trial of that row.
    pub(super) fn fill(&mut self, row: &[f64], scales: Scales, filled: &mut Vec<f64>) {
        if let Self::Plain(portfolio) = self {
            portfolio.fill(row, scales, filled);
        }
    }

    /// The trial that was prepared is over, or does not come.
    pub(super) fn cancel_fill(&mut self) {
        if let Self::Plain(portfolio) = self {
            portfolio.cancel_fill();
        }
    }

    /// Factors on the squared coordinates in the directions of [`Self::embedding`], to fill missing cells in.
    pub(super) fn ridges(&mut self, scales: Scales) -> Vec<f64> {
        match self {
            Self::Plain(portfolio) => portfolio.heaviest_mut().direction_ridges(scales),
            _ => Vec::new(),
        }
    }

    /// The k directions most surely kept now.
    pub fn embedding(&mut self, kept: usize) -> Embedding {
        match self {
            Self::Plain(portfolio) => {
                let (directions, inclusion) = first_directions(portfolio.heaviest_mut(), kept);
                // A center that follows the last rows is none for rows to come: that of the first member is the mean.
                let center = plain_center(portfolio.members()[0].span());
                let span = portfolio.heaviest_mut().span();
                let components = times(&span.vectors(), &directions, span.length());
                Embedding::plain(components, inclusion, center, kept)
            }
            Self::Kernel(portfolio) => {
                let (directions, inclusion) = first_directions(portfolio.heaviest_mut(), kept);
                let span = portfolio.heaviest_mut().span();
                let coefficients = times(span.coefficients(), &directions, span.dictionary().len());
                Embedding::features(
                    span.dictionary().clone(),
                    coefficients,
                    inclusion,
                    center_or_origin(span.origin_with_image(), span.dictionary().len()),
                    kept,
                )
            }
            Self::Hebbian(learner) => {
                let (vectors, center) = (learner.weights().vectors(), learner.weights().center());
                let inner = |a: &[f64], b: &[f64]| crate::num::dot(a, b);
                let columns = gram_schmidt(vectors, inner);
                let inclusion = vec![1.0; columns.columns()];
                Embedding::plain(columns, inclusion, center, kept)
            }
            Self::KernelHebbian(learner) => {
                let weights = learner.weights();
                let mut dictionary = weights.dictionary().clone();
                let atoms = dictionary.len();
                let count = Weights::count(weights);
                let mut vectors = Matrix::zeros(atoms, count);
                for p in 0..count {
                    vectors.column_mut(p).iter_mut().zip(weights.coefficients(p)).for_each(|(v, c)| *v = c);
                }
                let mut gram = Matrix::zeros(atoms, atoms);
                let mut row = Vec::new();
                for atom in 0..atoms {
                    dictionary.atom_row(atom, &mut row);
                    gram.column_mut(atom).copy_from_slice(&row);
                }
                let inner = |a: &[f64], b: &[f64]| {
                    let mut image = Vec::new();
                    gram.transpose_times(b, &mut image);
                    crate::num::dot(a, &image)
                };
                let columns = gram_schmidt(&vectors, inner);
                let inclusion = vec![1.0; columns.columns()];
                Embedding::features(dictionary, columns, inclusion, center_or_origin(weights.center(), atoms), kept)
            }
        }
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
        delegate!(self, learner => learner.update(instance))
    }
    fn prefetch(&mut self, upcoming: Upcoming<'_, Instance<'_, [f64]>>) {
        delegate!(self, learner => learner.prefetch(upcoming))
    }
}

/// The center of a learner over plain rows.
fn plain_center(span: &Ambient) -> Vec<f64> {
    span.origin().unwrap_or_else(|| vec![0.0; span.length()])
}

/// At most `kept` directions in the coordinates of the span's columns, most surely kept first.
fn first_directions<S: Span>(learner: &mut Subspace<S, AnyRule>, kept: usize) -> (Matrix, Vec<f64>) {
    let (mut directions, mut probabilities) = learner.directions();
    directions.resize(directions.rows(), kept.min(directions.columns()));
    probabilities.truncate(kept);
    (directions, probabilities)
}

/// Coefficients of a center over so many atoms, and its image; zeros if there is none.
fn center_or_origin(center: Option<(&[f64], &[f64])>, atoms: usize) -> (Vec<f64>, Vec<f64>) {
    let zeros = || (vec![0.0; atoms], vec![0.0; atoms]);
    center.map_or_else(zeros, |(center, image)| (center.to_vec(), image.to_vec()))
}

/// The product, with the right number of rows when there is nothing to multiply.
fn times(columns: &Matrix, directions: &Matrix, rows: usize) -> Matrix {
    let mut product = Matrix::zeros(rows, directions.columns());
    if directions.columns() > 0 {
        multiply(&mut product, columns.view(), directions.view());
    }
    product
}

/// Orthonormal columns, column p in the span of the first p vectors; vectors that add nothing are left out.
fn gram_schmidt(vectors: &Matrix, inner: impl Fn(&[f64], &[f64]) -> f64) -> Matrix {
    let mut columns = Matrix::zeros(vectors.rows(), 0);
    for p in 0..vectors.columns() {
        let mut vector = vectors.column(p).to_vec();
        let before = inner(&vector, &vector);
        for _ in 0..2 {
            for j in 0..columns.columns() {
                let overlap = inner(&vector, columns.column(j));
                vector.iter_mut().zip(columns.column(j)).for_each(|(v, c)| *v -= overlap * c);
            }
        }
        let square = inner(&vector, &vector);
        if square > 1e-20 * before {
            let count = columns.columns();
            columns.resize(vectors.rows(), count + 1);
            let norm = square.sqrt();
            columns.column_mut(count).iter_mut().zip(&vector).for_each(|(c, v)| *c = v / norm);
        }
    }
    columns
}
