//! Subspace learners: a [`Rule`] for the probabilities of directions, and a [`Span`] that represents the directions.
//! [`Subspace`] loads the instance, draws a choice, computes its loss, centers and scales.

mod additive;
mod align;
mod aligned;
mod anchored;
#[allow(missing_docs)]
mod any_rule;
mod average;
mod center;
mod choice;
mod fill;
mod frame;
mod frozen_center;
mod learned_trial;
mod load;
mod merge;
mod pair;
mod perturbed;
mod reconstruct;
#[allow(missing_docs)]
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
use center::LearnedCenter;
pub use center::RunningCenter;
pub(crate) use center::{check_center_memory, check_center_prior};
use choice::{DrawnDirections, Outside};
pub(crate) use fill::{Fill, Scales};
pub(crate) use frozen_center::{Frozen, Lot};
pub use load::{Instance, Symmetric};
pub(crate) use merge::{Learned, LearnedScatter};
pub use pair::{Pair, PairGain};
pub use perturbed::Perturbed;
pub use rule::{Directions, Observed, Rule};
use serde::{Deserialize, Serialize};
pub use tracking::Tracking;
pub(crate) use trial::{Drawn, Trace};

/// Bound Q on the norms of rows. Fixed learning rates are divided by Q². Losses stay in squared units of the input.
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
    /// Limit on the norm of learned rows, as a multiple of the median norm of recent rows. Losses are of the original
    /// rows.
    pub clip: Option<f64>,
    /// Divergence D for a self-confident rate, divided by `Q √((L + Q²)/D)` instead of Q², with the loss L so far.
    pub divergence: Option<f64>,
}

/// Learner over k-dimensional subspaces: a rule `R` over a span `S`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subspace<S> {
    kept: usize,
    options: Options,
    span: S,
    rule: AnyRule,
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
    dropped: Vec<f64>,
    kept_coordinates: Vec<f64>,
    row_weight: f64,
    energy: f64,
    square: f64,
    is_loaded: bool,
    expected: f64,
    order: Vec<usize>,
    outside: Outside,
    directions: Matrix,
    importance: Vec<f64>,
}

/// Share of the largest norm below which a row whose square underflows counts as zero.
pub(crate) const NEGLIGIBLE: f64 = f64::EPSILON;
const DEFECT: f64 = 1e-11;
/// Share by which a squared norm may exceed a given bound, for rounding.
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

pub(crate) fn uniform(kept: usize, dimension: Multiplicity) -> Complement {
    match dimension {
        Multiplicity::Finite(n) => Complement::finite((-(kept as f64) / n as f64).ln_1p(), n),
        Multiplicity::Infinite => Complement::infinite(),
    }
}

fn price(value: f64) -> Result<(), Error> {
    ensure(value >= 0.0, "the cost of approximations must not be negative")
}

fn check_scale(norm_square: f64, trace: f64) -> Result<(), Error> {
    within("the scale of the rows", norm_square, f64::MIN_POSITIVE..=LARGEST)?;
    ensure(trace / norm_square <= 1e60, "the scatter matrix must be within the scale of the rows")
}

impl<S: Span + State> State for Subspace<S> {
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

impl<S: Span> Subspace<S> {
    pub(crate) fn new(kept: usize, mut span: S, rule: AnyRule, options: Options) -> Result<Self, Error> {
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
    pub fn rule(&self) -> &AnyRule {
        &self.rule
    }

    pub(crate) fn announce_filled(&mut self, filled: Option<&[u32]>) {
        self.span.announce_filled(filled);
    }

    /// Returns the total expected loss of the rows, each times the factor with which it was learned.
    pub fn lost(&self) -> f64 {
        self.lost
    }

    /// Returns the number of trials. A batch around one center counts each of its rows.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// Returns the squared norm bound, given or running.
    pub fn norm_square(&self) -> f64 {
        match self.options.norm_bound {
            NormBound::Running => self.largest_square,
            NormBound::Given(bound) => bound * bound,
        }
    }

    /// Returns the divisor of the rate in the most recent update.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Returns the cost of rows beyond the running norm bound, which adds to the regret bound, because the theorem
    /// assumes a known norm bound. If such a row multiplies the squared bound by r, its cost is `1 - 1/r` times its
    /// loss in [`Self::lost`]: in the proof, with `c(h) = (1 - e^{-h})/h`, the loss has the factor `c(ηr) ≥ c(η)/r`.
    pub fn surprise(&self) -> f64 {
        self.surprise
    }

    /// Returns how often the parts of a row did not add up to its energy, because rounding errors had accumulated. The
    /// directions were orthonormalized first.
    pub fn healed(&self) -> u64 {
        self.healed
    }

    /// Returns the squared norm (the largest eigenvalue) of the most recently checked instance.
    pub fn last_square(&self) -> f64 {
        self.scratch.0.square
    }

    pub(crate) fn last_energy(&self) -> f64 {
        self.scratch.0.energy
    }

    /// Returns true if every row of moderate numbers is valid and the rule has no noise.
    pub(crate) fn accepts_any_row(&self, least_square: f64, largest_energy: f64) -> bool {
        self.options.norm_bound == NormBound::Running
            && !matches!(self.rule, AnyRule::Perturbed(_))
            && !self.fixes_center()
            && self.largest_square >= least_square
            && self.energy <= largest_energy
    }

    /// Starts a trial without a choice, for its expected loss alone. The rule still draws its own noise.
    pub(crate) fn stand_by(&mut self, random: &mut Random) {
        self.rule.perturb(random);
        self.scratch.0.choice.clear();
    }

    /// Checks an instance that `other`, a learner over the same rows, has just checked, and reuses its work.
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

    /// Returns the sum of the probabilities of being kept: k, or at most k in infinite dimension.
    pub fn trace(&self) -> f64 {
        let explicit: f64 = self.rule.log_weights().iter().map(|w| kept(*w)).sum();
        explicit + choice::complement_mass(self.rule.complement())
    }

    /// Returns the coordinates of the most recent row in the directions kept for it, by probability, then zeros up to
    /// k.
    pub fn kept_coordinates(&self) -> &[f64] {
        &self.scratch.0.kept_coordinates
    }

    /// Returns the explicit directions that may be kept, in coordinates of the columns, and descending probabilities.
    pub fn directions(&mut self) -> (Matrix, Vec<f64>) {
        self.leading_directions(usize::MAX)
    }

    pub(crate) fn leading_directions(&mut self, most: usize) -> (Matrix, Vec<f64>) {
        self.gather_directions(most);
        let Working { directions, importance, .. } = &self.scratch.0;
        (directions.clone(), importance.clone())
    }

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

    /// Returns true if the next row, the first of a center without prior, only sets the center. Its loss is relative to
    /// the arbitrary initial origin, so it does not affect the norm bound, rates or summaries.
    pub fn fixes_center(&self) -> bool {
        self.options.center.is_some_and(|center| center.prior == 0.0) && self.trials == 0
    }

    /// Returns the number of rows shortened before they were learned.
    pub fn clipped(&self) -> u64 {
        self.clip.clipped
    }
}
