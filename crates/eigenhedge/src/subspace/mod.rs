//! Subspace learners: a rule for the probabilities of directions, and a span that contains the directions.
//!
//! [`Subspace`] implements the common parts: loading the instance, drawing a choice, computing its
//! loss, centering and scaling. The [`Rule`] determines how the probabilities change. The [`Span`]
//! determines how directions are represented.

mod additive;
mod align;
mod aligned;
mod anchored;
mod any_rule;
mod average;
mod center;
mod choice;
mod fill;
mod frame;
mod frozen_center;
mod instance;
mod learned_center;
mod learned_trial;
mod load;
mod merge;
mod pair;
mod past_average;
mod perturbed;
mod product_weights;
mod reconstruct;
mod rule;
mod scatter;
mod tracking;
mod trial;

use crate::error::{self, Error};
use crate::learner::Learner;
use crate::linalg::Matrix;
use crate::num::{LARGEST_TOTAL, kept};
use crate::random::Random;
use crate::recent_median::Clip;
use crate::scratch::{Scratch, refill};
use crate::simplex::{Complement, Multiplicity, Select};
use crate::span::Span;
use crate::state::{LARGEST, State, count, energy, ensure, length, within};
pub use additive::Additive;
use aligned::Aligned;
pub use anchored::{Anchored, Law};
pub use any_rule::AnyRule;
pub use average::Average;
pub use center::RunningCenter;
pub(crate) use center::{check_center_memory, check_center_prior};
use choice::{DrawnDirections, Outside};
pub(crate) use fill::{Fill, Scales};
pub(crate) use frozen_center::{Frozen, Lot};
pub use instance::{Instance, Symmetric};
use learned_center::LearnedCenter;
pub(crate) use merge::{Learned, LearnedScatter};
pub use pair::{Pair, PairGain};
pub use perturbed::Perturbed;
pub use rule::{Directions, Observed, Rule};
use serde::{Deserialize, Serialize};
pub use tracking::Tracking;
pub(crate) use trial::{Drawn, Trace};

/// Bound Q on the norms of rows. Fixed learning rates are divided by Q². Losses are not: they are in squared units of
/// the input.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NormBound {
    /// Largest norm of the rows so far, after centering and clipping.
    #[default]
    Running,
    /// Given bound. A row whose norm after centering exceeds it is an error.
    Given(f64),
}

impl NormBound {
    pub(crate) fn check(self) -> Result<(), Error> {
        if let Self::Given(bound) = self { error::norm_bound(bound).map(drop) } else { Ok(()) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Options {
    pub norm_bound: NormBound,
    pub select: Select,
    /// Center to subtract from rows. `None` means no centering.
    pub center: Option<RunningCenter>,
    /// Limit on the norm of learned rows, as a multiple of the median norm of recent rows. Longer rows are shortened
    /// before they are learned, but their loss is that of the original row. `None` means no limit.
    pub clip: Option<f64>,
    /// Divergence D for a self-confident rate. `None` means a fixed rate. With the loss L so far and the norm bound Q,
    /// the rate is divided by `Q √((L + Q²)/D)` instead of Q², so that a rate of 1 becomes `√(D/(L + Q²))/Q`.
    pub divergence: Option<f64>,
}

/// Learner over k-dimensional subspaces. The rule `R` updates the probabilities of its directions,
/// and the span `S` represents the directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subspace<S, R> {
    kept: usize,
    options: Options,
    span: S,
    rule: R,
    largest_square: f64,
    energy: f64,
    trials: u64,
    center_weight: f64,
    learned: Option<Box<LearnedCenter>>,
    clip: Clip,
    lost: f64,
    scale: f64,
    surprise: f64,
    healed: u64,
    aligned: Aligned,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    choice: DrawnDirections,
    observed: Observed,
    columns: Vec<f64>,
    /// Probability that each explicit direction is dropped.
    dropped: Vec<f64>,
    kept_coordinates: Vec<f64>,
    /// Weight of the current row, or 1 for an instance of several rows.
    row_weight: f64,
    energy: f64,
    /// Largest eigenvalue of the most recently checked instance.
    square: f64,
    is_loaded: bool,
    expected: f64,
    /// Indices of explicit directions in descending order of probability.
    order: Vec<usize>,
    direction: Vec<f64>,
    /// Squared lengths of the parts of the most recent point outside the explicit directions.
    outside: Outside,
    directions: Matrix,
    importance: Vec<f64>,
}

/// Share of the largest norm below which a row whose squared norm underflows counts as zero.
pub(crate) const NEGLIGIBLE: f64 = f64::EPSILON;
/// Maximum difference between the energy of a row and the sum of its parts, as a share of the energy.
const DEFECT: f64 = 1e-11;
/// Share by which a squared norm may exceed the square of a given norm bound, to allow for rounding.
pub(crate) const SLACK: f64 = 1e-12;

pub(crate) fn check_kept(kept: usize, dimension: Multiplicity) -> Result<(), Error> {
    let too_many = matches!(dimension, Multiplicity::Finite(n) if kept as u64 >= n);
    if kept == 0 || too_many {
        let dimension = match dimension {
            Multiplicity::Finite(n) => n as usize,
            Multiplicity::Infinite => usize::MAX,
        };
        return Err(Error::Kept { kept, dimension });
    }
    Ok(())
}

/// Returns the initial spectrum: a complement of all directions, each dropped with probability `1 - k/N`.
pub(crate) fn uniform(kept: usize, dimension: Multiplicity) -> Complement {
    match dimension {
        Multiplicity::Finite(n) => Complement::finite((-(kept as f64) / n as f64).ln_1p(), n),
        Multiplicity::Infinite => Complement::infinite(),
    }
}

/// Checks a deserialized [`Rule::price`], which may be infinite.
fn price(value: f64) -> Result<(), Error> {
    ensure(value >= 0.0, "the cost of approximations must not be negative")
}

fn check_scale(norm_square: f64, trace: f64) -> Result<(), Error> {
    within("the scale of the rows", norm_square, f64::MIN_POSITIVE..=LARGEST)?;
    ensure(trace / norm_square <= 1e60, "the scatter matrix must be within the scale of the rows")
}

impl<S: Span + State> State for Subspace<S, AnyRule> {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        let parameters = (self.kept, self.options) == (built.kept, built.options);
        ensure(parameters, "the parameters of a learner must be those that its options give")?;
        self.span.check_state(&built.span)?;
        self.rule.check_state(&built.rule)?;
        self.aligned.check_state(self.kept, self.span.columns())?;
        length("the coordinates of the rule", self.rule.directions().columns(), self.span.columns())?;
        count("the number of rows", self.trials)?;
        self.clip.check_state()?;
        let least =
            if self.trials == 0 || self.options.center.is_none() { built.center_weight } else { f64::MIN_POSITIVE };
        within("the weight of the rows in the center", self.center_weight, least..=LARGEST)?;
        ensure(self.learned.is_some() == built.learned.is_some(), "only a learned center has coefficients")?;
        self.learned.as_ref().map_or(Ok(()), |learned| learned.check_state())?;
        count("the number of rows that were healed", self.healed)?;
        energy("the largest squared norm of a row", self.largest_square)?;
        within("the energy of all rows", self.energy, 0.0..=LARGEST_TOTAL)?;
        let begins = !self.fixes_center() || self.span.columns() == 0;
        ensure(begins, "a learner must have no directions before a row has fixed its center")?;
        energy("the loss of a learner", self.lost)?;
        energy("the scale of the rows", self.scale)?;
        energy("the cost of rows longer than all before them", self.surprise)
    }
}

impl<S: Span, R: Rule> Subspace<S, R> {
    pub(crate) fn new(kept: usize, mut span: S, rule: R, options: Options) -> Result<Self, Error> {
        check_kept(kept, span.dimension())?;
        options.norm_bound.check()?;
        options.center.map_or(Ok(()), RunningCenter::check)?;
        if let Some(clip) = options.clip {
            error::positive("clip", clip)?;
        }
        let learns_center = options.center.is_some_and(|center| center.learned);
        if learns_center {
            span.learn_origin()?;
        }
        Ok(Self {
            kept,
            options,
            span,
            rule,
            largest_square: 0.0,
            energy: 0.0,
            trials: 0,
            center_weight: options.center.map_or(0.0, |center| center.prior),
            learned: learns_center.then(Box::default),
            clip: Clip::default(),
            lost: 0.0,
            scale: 0.0,
            surprise: 0.0,
            healed: 0,
            aligned: Aligned::default(),
            scratch: Scratch::default(),
        })
    }

    /// Returns the number k of directions kept.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Returns the span, which represents the directions.
    pub fn span(&self) -> &S {
        &self.span
    }

    /// Returns the rule, which updates the probabilities of the directions.
    pub fn rule(&self) -> &R {
        &self.rule
    }

    pub(crate) fn announce_filled(&mut self, filled: Option<&[u32]>) {
        self.span.announce_filled(filled);
    }

    /// Returns the total expected loss of the learned rows. The loss of each row is multiplied by
    /// the factor with which the row was learned.
    pub fn lost(&self) -> f64 {
        self.lost
    }

    /// Returns the number of trials. A batch around one center counts each of its rows.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// Returns the squared norm bound: the square of the given bound, or the largest squared norm
    /// of the rows learned so far.
    pub fn norm_square(&self) -> f64 {
        match self.options.norm_bound {
            NormBound::Running => self.largest_square,
            NormBound::Given(bound) => bound * bound,
        }
    }

    /// Returns the divisor of the rate in the most recent update: the squared norm bound, or a
    /// function of this bound and the loss so far if the rate is self-confident.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Returns the cost of rows that exceeded the running norm bound. The cost is added to the regret bound, because
    /// the theorem assumes a known norm bound. If r is the ratio of the squared norm of such a row to the previous
    /// squared bound, the cost is `1 - 1/r` times the loss of the row in [`Self::lost`].
    ///
    /// In the proof, the loss of the row has the factor `c(ηr)` with `c(h) = (1 - e^{-h})/h`, and `c(ηr) ≥ c(η)/r`.
    pub fn surprise(&self) -> f64 {
        self.surprise
    }

    /// Returns the number of times that the parts of a row did not add up to its energy, because rounding errors had
    /// accumulated. The directions were orthonormalized before the loss of the row was computed.
    pub fn healed(&self) -> u64 {
        self.healed
    }

    /// Returns the squared norm (the largest eigenvalue) of the most recently checked instance, after centering.
    pub fn last_square(&self) -> f64 {
        self.scratch.0.square
    }

    /// Returns the energy of the instance after centering: the sum over its rows of squared norm times weight.
    pub(crate) fn last_energy(&self) -> f64 {
        self.scratch.0.energy
    }

    /// Returns true if every row of moderate numbers is valid and the rule has no noise. This
    /// requires that the norm bound is running, the center is set, the largest squared norm is at
    /// least `least_square`, and the energy is at most `largest_energy`.
    pub(crate) fn accepts_any_row(&self, least_square: f64, largest_energy: f64) -> bool {
        self.options.norm_bound == NormBound::Running
            && !self.rule.is_noisy()
            && !self.fixes_center()
            && self.largest_square >= least_square
            && self.energy <= largest_energy
    }

    /// Starts a trial without a choice, for its expected loss alone. The rule still draws its own noise.
    pub(crate) fn stand_by(&mut self, random: &mut Random) {
        self.rule.perturb(random);
        self.scratch.0.choice.clear();
    }

    /// Checks an instance that `other`, a learner over the same rows, has just checked. Reuses the
    /// work of `other` if possible.
    pub(crate) fn check_beside(&mut self, instance: &Instance<'_, S::Point>, other: &Self) -> Result<(), Error> {
        let Instance::Point(point) = instance else { return self.check(instance) };
        let square = self.or_negligible(|span| span.load_point_from(point, &other.span))?;
        (self.scratch.0.row_weight, self.scratch.0.energy) = (1.0, square);
        self.within_bound(square)?;
        self.admit(square);
        self.scratch.0.is_loaded = true;
        Ok(())
    }

    /// Returns the number of explicit directions with a positive probability of being kept.
    pub fn rank(&self) -> usize {
        self.rule.log_weights().iter().filter(|w| **w < 0.0).count()
    }

    /// Returns the sum of the probabilities of being kept: k up to rounding, or at most k in infinite dimension.
    pub fn trace(&self) -> f64 {
        let explicit: f64 = self.rule.log_weights().iter().map(|w| kept(*w)).sum();
        explicit + choice::complement_mass(self.rule.complement())
    }

    /// Returns the coordinates of the most recent row in the directions kept for it, in descending
    /// order of probability, padded with zeros to length k.
    pub fn kept_coordinates(&self) -> &[f64] {
        &self.scratch.0.kept_coordinates
    }

    /// Returns the explicit directions with a positive probability of being kept, one per column, and these
    /// probabilities in descending order. The directions are in coordinates of the span's columns.
    pub fn directions(&mut self) -> (Matrix, Vec<f64>) {
        self.leading_directions(usize::MAX)
    }

    /// Returns at most `most` of the [`Self::directions`] with the highest probabilities, at a lower cost.
    pub(crate) fn leading_directions(&mut self, most: usize) -> (Matrix, Vec<f64>) {
        self.gather_directions(most);
        let Working { directions, importance, .. } = &self.scratch.0;
        (directions.clone(), importance.clone())
    }

    /// Copies at most `most` directions to the scratch space, in descending order of probability, then of index.
    fn gather_directions(&mut self, most: usize) {
        let Working { order, directions, importance, .. } = &mut self.scratch.0;
        let weights = self.rule.log_weights();
        refill(order, (0..weights.len()).filter(|i| weights[*i] < 0.0));
        order.sort_unstable_by(|a, b| weights[*a].total_cmp(&weights[*b]).then(b.cmp(a)));
        order.truncate(most);
        refill(importance, order.iter().map(|i| kept(weights[*i])));
        self.rule.directions_mut().select(order, directions);
        directions.resize(self.span.columns(), order.len());
    }

    /// Returns true if the next row only sets the center. This is the first row of a learner whose center has no prior.
    ///
    /// The loss of the row is computed as usual, relative to the initial origin. The row does not affect the
    /// norm bound, rates or summaries, because the initial origin is arbitrary.
    pub fn fixes_center(&self) -> bool {
        self.options.center.is_some_and(|center| center.prior == 0.0) && self.trials == 0
    }

    /// Returns the number of rows that were clipped: shortened before they were learned.
    pub fn clipped(&self) -> u64 {
        self.clip.clipped
    }
}
