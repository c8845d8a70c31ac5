//! Learners over subspaces: a spectrum rule over a span.
//!
//! [`Subspace`] is the one learner. It owns what all share: loading the instance, drawing a choice, charging for
//! it, centering and scaling. What differs is the [`Rule`] (how the spectrum changes) and the [`Span`] (what
//! directions are made of).

mod additive;
mod aligned;
mod anchored;
mod any_rule;
mod average;
mod center;
mod choice;
mod fill;
mod frame;
mod instance;
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

pub use additive::Additive;
pub use anchored::{Anchored, Law};
pub use any_rule::AnyRule;
pub use average::Average;
pub use center::RunningCenter;
pub(crate) use center::{check_center_memory, check_center_prior};
pub(crate) use fill::{Fill, Scales};
pub use instance::{Instance, Symmetric};
pub(crate) use merge::{Learned, LearnedScatter};
pub use pair::{Pair, PairGain};
pub use perturbed::Perturbed;
pub use rule::{Observed, Rule};
pub use tracking::Tracking;

use crate::error::{self, Error};
use crate::learner::{Learner, Loss, Upcoming};
use crate::linalg::Matrix;
use crate::num::{LARGEST_TOTAL, exp, kept};
use crate::random::Random;
use crate::recent_median::Clip;
use crate::scratch::Scratch;
use crate::simplex::{Complement, Multiplicity, Select};
use crate::span::Span;
use crate::state::{LARGEST, State, count, energy, ensure, length, within};
use aligned::Aligned;
use choice::Choice;
use serde::{Deserialize, Serialize};

/// How rows are scaled: learning rates are divided by the square of the bound, losses stay in input units.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NormBound {
    /// The largest norm seen so far.
    #[default]
    Running,
    /// A bound that rows must obey.
    Given(f64),
}

/// What a subspace learner needs besides its rule and span.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Options {
    /// Scaling.
    pub norm_bound: NormBound,
    /// How a choice is drawn.
    pub select: Select,
    /// The center to subtract, if any.
    pub center: Option<RunningCenter>,
    /// Learn from rows as if they were no longer than this many times the median norm of the last ones. They are charged
    /// as they are.
    pub clip: Option<f64>,
    /// Tunes the rate to the learner's own loss so far: with L that loss, Q the norm bound and D this number, rows are
    /// scaled by `Q √((L + Q²)/D)` in place of Q², which makes a rule's rate of one `√(D/(L + Q²))/Q`.
    pub divergence: Option<f64>,
}

/// A learner over k-dimensional subspaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Subspace<S, R> {
    kept: usize,
    options: Options,
    span: S,
    rule: R,
    /// Largest squared norm of a row that was learned from.
    largest_square: f64,
    /// Sum of the squared norms of all instances.
    energy: f64,
    trials: u64,
    /// Total weight of the rows in the center.
    center_weight: f64,
    /// Norms of the last rows, when long ones are shortened.
    clip: Clip,
    /// Total expected loss of what was learned from.
    lost: f64,
    /// What rows were divided by in the last update: the square of the norm bound unless the rate is tuned.
    scale: f64,
    /// What rows longer than all before them have cost beyond the theorem.
    surprise: f64,
    /// Rows before which directions were orthonormalised because the row did not add up.
    healed: u64,
    aligned: Aligned,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    choice: Choice,
    observed: Observed,
    columns: Vec<f64>,
    /// Probabilities of being dropped.
    dropped: Vec<f64>,
    /// Coordinates of the last point in the directions that were kept.
    kept_coordinates: Vec<f64>,
    /// Weight of the present row; 1 for instances of several.
    row_weight: f64,
    /// Energy of the instance checked last: its trace.
    energy: f64,
    /// Squared size of the instance checked last; true if the span still holds it.
    square: f64,
    is_loaded: bool,
    /// Expected loss of the present trial.
    expected: f64,
    /// Explicit directions for the span, in order, with their probabilities.
    order: Vec<usize>,
    direction: Vec<f64>,
    /// Part of the last point in the complement, with what the span does not resolve.
    beyond: Vec<f64>,
    directions: Matrix,
    importance: Vec<f64>,
}

/// Rows this much shorter than the longest one before them, with a squared norm that is no normal number, count as zero.
pub(crate) const NEGLIGIBLE: f64 = f64::EPSILON;
/// Share of a row's energy by which its parts may differ from it.
const DEFECT: f64 = 1e-11;
/// Rows may exceed a given bound by rounding.
pub(crate) const SLACK: f64 = 1e-12;

/// Rejects k = 0 and k ≥ N.
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

/// Every direction dropped with the same probability.
pub(crate) fn uniform(kept: usize, dimension: Multiplicity) -> Complement {
    match dimension {
        Multiplicity::Finite(n) => Complement::finite((-(kept as f64) / n as f64).ln_1p(), n),
        Multiplicity::Infinite => Complement::infinite(),
    }
}

/// Checks what approximations have cost, which may be too much to say.
fn price(value: f64) -> Result<(), Error> {
    ensure(value >= 0.0, "the cost of approximations must not be negative")
}

/// Checks the scale of the last update against the energy of all rows: none of them was much longer.
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
        length("the coordinates of the rule", self.rule.columns(), self.span.columns())?;
        count("the number of rows", self.trials)?;
        self.clip.check_state()?;
        let least =
            if self.trials == 0 || self.options.center.is_none() { built.center_weight } else { f64::MIN_POSITIVE };
        within("the weight of the rows in the center", self.center_weight, least..=LARGEST)?;
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
    /// Puts a rule over a span.
    pub(crate) fn new(kept: usize, span: S, rule: R, options: Options) -> Result<Self, Error> {
        check_kept(kept, span.dimension())?;
        if let NormBound::Given(bound) = options.norm_bound {
            error::norm_bound(bound)?;
        }
        options.center.map_or(Ok(()), RunningCenter::check)?;
        if let Some(clip) = options.clip {
            error::positive("clip", clip)?;
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
            clip: Clip::default(),
            lost: 0.0,
            scale: 0.0,
            surprise: 0.0,
            healed: 0,
            aligned: Aligned::default(),
            scratch: Scratch::default(),
        })
    }

    /// Number of directions kept.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// The span.
    pub fn span(&self) -> &S {
        &self.span
    }

    /// The rule.
    pub fn rule(&self) -> &R {
        &self.rule
    }

    /// Total expected loss of what was learned from.
    pub fn lost(&self) -> f64 {
        self.lost
    }

    /// Trials so far.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// Square of the norm bound: the one given, or the largest squared norm so far.
    pub fn norm_square(&self) -> f64 {
        match self.options.norm_bound {
            NormBound::Running => self.largest_square,
            NormBound::Given(bound) => bound * bound,
        }
    }

    /// What rows were divided by in the last update: [`Self::norm_square`], unless the rate is tuned.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// What rows longer than all before them have cost beyond the theorem, which takes the norm bound for known: with
    /// r the ratio of the squares of such a row and of the bound before it, `1 - 1/r` of what was lost on it.
    ///
    /// The proof gives trial t the factor `c(ηr)` with `c(h) = (1 - e^{-h})/h`, and `c(ηr) ≥ c(η)/r`.
    pub fn surprise(&self) -> f64 {
        self.surprise
    }

    /// Rows whose coordinates and residual did not add up to the row: rounding had gathered in the directions, which were
    /// orthonormalised before the row was charged.
    pub fn healed(&self) -> u64 {
        self.healed
    }

    /// Squared norm (largest eigenvalue) of the instance checked last, after centering.
    pub fn last_square(&self) -> f64 {
        self.scratch.0.square
    }

    /// Energy of the instance checked last, after centering: the squared norm of a row times its weight, summed over rows.
    pub(crate) fn last_energy(&self) -> f64 {
        self.scratch.0.energy
    }

    /// Makes no choice for this trial: only the expected loss will mean something. What the rule itself leaves to chance
    /// is drawn.
    pub(crate) fn stand_by(&mut self, random: &mut Random) {
        self.rule.perturb(random);
        self.scratch.0.choice.clear();
    }

    /// Checks an instance that another learner with the same options has just loaded.
    pub(crate) fn check_beside(&mut self, instance: &Instance<'_, S::Point>, other: &Self) -> Result<(), Error> {
        let Instance::Point(point) = instance else { return self.check(instance) };
        let square = self.or_negligible(|span| span.load_point_from(point, &other.span))?;
        (self.scratch.0.row_weight, self.scratch.0.energy) = (1.0, square);
        self.within_bound(square)?;
        self.admit(square);
        self.scratch.0.is_loaded = true;
        Ok(())
    }

    /// Explicit directions that have a chance to be kept.
    pub fn rank(&self) -> usize {
        self.rule.log_weights().iter().filter(|w| **w < 0.0).count()
    }

    /// Total probability of being kept over all directions: k, to rounding.
    pub fn trace(&self) -> f64 {
        let explicit: f64 = self.rule.log_weights().iter().map(|w| kept(*w)).sum();
        explicit + choice::complement_mass(self.rule.complement())
    }

    /// Coordinates of the last row in the directions that were kept for it, most surely kept first, padded with
    /// zeros to k.
    pub fn kept_coordinates(&self) -> &[f64] {
        &self.scratch.0.kept_coordinates
    }

    /// Explicit directions in the coordinates of the span's columns, most surely kept first, with their
    /// probabilities of being kept.
    pub fn directions(&mut self) -> (Matrix, Vec<f64>) {
        self.gather_directions(usize::MAX);
        let Working { directions, importance, .. } = &self.scratch.0;
        (directions.clone(), importance.clone())
    }

    /// Puts at most so many directions, most surely kept first, and their probabilities into the working space. Of equally
    /// sure ones, rules have those with more energy last.
    fn gather_directions(&mut self, most: usize) {
        let Working { order, direction, directions, importance, .. } = &mut self.scratch.0;
        let weights = self.rule.log_weights();
        order.clear();
        order.extend((0..weights.len()).filter(|i| weights[*i] < 0.0));
        order.sort_unstable_by(|a, b| weights[*a].total_cmp(&weights[*b]).then(b.cmp(a)));
        order.truncate(most);
        importance.clear();
        importance.extend(order.iter().map(|i| kept(weights[*i])));
        self.rule.directions(order, direction, directions);
        directions.resize(self.span.columns(), order.len());
    }

    /// Turns the basis of [`Self::aligned_coordinates`] to the k directions most surely kept now.
    pub(crate) fn align(&mut self) {
        self.gather_directions(self.kept);
        self.aligned.align(&self.scratch.0.directions, self.kept);
    }

    /// True if there is a basis to turn.
    pub(crate) fn has_basis(&self) -> bool {
        self.aligned.basis.columns() > 0
    }

    /// Takes over the basis of another learner.
    pub(crate) fn take_basis(&mut self, other: &mut Self) {
        let (theirs, kept) = (&mut other.aligned.basis, other.kept);
        theirs.resize(other.span.columns(), kept);
        self.span.transfer(&mut other.span, theirs, &mut self.aligned.basis);
        theirs.resize(0, 0);
    }

    /// The basis of another learner, in the coordinates of this one's columns.
    pub(crate) fn basis_of(&mut self, other: &mut Self) -> Matrix {
        let (mut theirs, mut basis) = (other.aligned.basis.clone(), Matrix::default());
        theirs.resize(other.span.columns(), other.kept);
        self.span.transfer(&mut other.span, &theirs, &mut basis);
        basis
    }

    /// The basis in which the next row would have coordinates, in the coordinates of the span's columns, with the probabilities
    /// of the directions that it is made of; `last` is the basis of the last row, if it is not the learner's own.
    pub(crate) fn next_basis(&mut self, last: Option<Matrix>) -> (Matrix, Vec<f64>) {
        self.gather_directions(self.kept);
        let mut aligned = self.aligned.clone();
        last.into_iter().for_each(|last| aligned.basis = last);
        aligned.align(&self.scratch.0.directions, self.kept);
        aligned.basis.resize(self.span.columns(), self.kept);
        (aligned.basis, self.scratch.0.importance.clone())
    }

    /// Coordinates in the span's columns of the way from the center of another learner to this one's.
    pub(crate) fn way_from_center_of(&mut self, other: &Self, way: &mut Vec<f64>) {
        self.span.way_from_origin_of(&other.span, way);
    }

    /// Finds the aligned coordinates of the row that was just charged, moved by an offset (in the coordinates of the span's
    /// columns).
    pub(crate) fn observe_aligned(&mut self, offset: &[f64]) {
        let Working { columns, observed, .. } = &self.scratch.0;
        self.aligned.observe(columns, observed.unit_square.sqrt(), offset);
    }

    /// Coordinates of the last row in the k directions that were most surely kept before it, in the basis nearest to that of
    /// the row before.
    pub(crate) fn aligned_coordinates(&self) -> &[f64] {
        self.aligned.coordinates()
    }

    /// True if the next row does nothing but fix the center: the first one of a learner that centers on the mean alone.
    ///
    /// The row is charged like any other, around the first origin. It is left out of everything else, of the norm bound,
    /// of rates and of accounts: where the first origin lies says nothing about the rows.
    pub fn fixes_center(&self) -> bool {
        self.options.center.is_some_and(|center| center.prior == 0.0) && self.trials == 0
    }

    /// How much of the present row is learned.
    fn centering_weight(&self) -> f64 {
        self.options.center.map_or(1.0, |center| center.learned_share(self.center_weight, self.scratch.0.row_weight))
    }

    /// Finds what rows are divided by, from the norm bound and the loss so far.
    fn rescale(&mut self) {
        let norm_square = self.norm_square();
        let scale = match self.options.divergence {
            None => norm_square,
            Some(divergence) => norm_square.sqrt() * ((self.lost + norm_square) / divergence).sqrt(),
        };
        self.scale = scale.max(f64::MIN_POSITIVE);
    }

    /// The factor on the row as it is learned, which is 1 unless it is too long.
    fn shorten(&mut self) -> f64 {
        let (times, norm) = (self.options.clip, (self.scratch.0.square / self.scratch.0.row_weight).sqrt());
        let factor = self.clip.factor(times, norm);
        self.clip.count_in(times, norm, factor);
        factor
    }

    /// Rows that were learned from a shorter copy.
    pub fn clipped(&self) -> u64 {
        self.clip.clipped()
    }

    /// Expected and realised loss, in the unit of the instance, of a point whose coordinates are in `scratch.columns`, and of
    /// what the span could not carry of it.
    fn charge(&mut self, uncarried: f64) -> Loss {
        let outside = self.observe();
        let (lost, unresolved) = if self.span.loses_residuals() { (uncarried, 0.0) } else { (0.0, uncarried) };
        let Working { choice, kept_coordinates, dropped, beyond, observed, .. } = &mut self.scratch.0;
        let coordinates = self.rule.coordinates();
        let outside_weight = self.rule.complement().log_weight.exp();
        let mut loss = Loss { expected: outside_weight * (outside + unresolved) + lost, realised: lost };
        dropped.clear();
        dropped.extend_from_slice(self.rule.log_weights());
        exp(dropped);
        for (a, probability) in coordinates.iter().zip(&*dropped) {
            loss.expected += probability * a * a;
        }
        kept_coordinates.clear();
        kept_coordinates.extend(choice.kept.iter().map(|i| coordinates[*i]));
        // Directions that became explicit after the choice were part of the complement when it was made.
        let (chosen_from, later) = coordinates.split_at(choice.explicit());
        for (a, is_kept) in chosen_from.iter().zip(choice.marks()) {
            loss.realised += if *is_kept { 0.0 } else { a * a };
        }
        let mut part = if later.is_empty() { self.rule.outside() } else { later };
        if unresolved > 0.0 {
            beyond.clear();
            if outside > 0.0 || !later.is_empty() {
                beyond.extend_from_slice(part);
            }
            beyond.push(unresolved.sqrt());
            part = beyond;
        }
        if outside + unresolved > 0.0 || !later.is_empty() {
            loss.realised += choice.reach(part, kept_coordinates);
        }
        kept_coordinates.resize(self.kept, 0.0);
        if observed.unit_square != 1.0 {
            let unit = observed.unit_square.sqrt();
            kept_coordinates.iter_mut().for_each(|c| *c *= unit);
        }
        loss
    }
}

impl<S: Span, R: Rule> Subspace<S, R> {
    /// Loss of the row that fixes the center: it lies outside all directions, of which none is explicit.
    fn charge_first(&mut self) -> Loss {
        let Working { choice, kept_coordinates, observed, square, .. } = &mut self.scratch.0;
        let (unit_square, unit) = (observed.unit_square, observed.unit_square.sqrt());
        let part = square.sqrt() / unit;
        kept_coordinates.clear();
        let realised = choice.reach(&[part], kept_coordinates) * unit_square;
        kept_coordinates.resize(self.kept, 0.0);
        kept_coordinates.iter_mut().for_each(|c| *c *= unit);
        Loss { expected: self.rule.complement().log_weight.exp() * *square, realised }
    }
}

impl<S: Span, R: Rule> Learner<Instance<'_, S::Point>> for Subspace<S, R> {
    fn check(&mut self, instance: &Instance<'_, S::Point>) -> Result<(), Error> {
        let square = self.instance_square(instance)?;
        self.within_bound(square)?;
        self.admit(square);
        self.scratch.0.is_loaded = matches!(instance, Instance::Point(_));
        Ok(())
    }

    fn choose(&mut self, random: &mut Random) {
        let Self { scratch, rule, options, .. } = self;
        rule.perturb(random);
        scratch.0.choice.draw(options.select, rule.log_weights(), rule.complement(), random);
    }

    fn incur(&mut self, instance: &Instance<'_, S::Point>) -> Loss {
        self.scratch.0.observed.weights.clear();
        self.scratch.0.observed.coordinates.resize(0, 0);
        let single;
        let dyads = match instance {
            Instance::Point(point) => {
                single = [(1.0, *point)];
                &single[..]
            }
            Instance::Dyads(dyads) => dyads,
        };
        if self.fixes_center() {
            return self.charge_first();
        }
        let mut total = Loss::default();
        for (weight, point) in dyads {
            let mut square = self.scratch.0.square;
            if !self.scratch.0.is_loaded {
                let loaded = self.or_negligible(|span| span.load_point(point));
                square = loaded.unwrap_or_else(|_| unreachable!("the instance was checked"));
            }
            self.scratch.0.is_loaded = false;
            let residual = self.project(point, square);
            let uncarried = self.append(residual, point);
            let to_unit = self.to_unit();
            if to_unit != 1.0 {
                self.scratch.0.columns.iter_mut().for_each(|c| *c *= to_unit);
            }
            let loss = self.charge(uncarried);
            total.expected += weight * loss.expected;
            total.realised += weight * loss.realised;
            let Working { observed, columns, .. } = &mut self.scratch.0;
            let j = observed.weights.len();
            observed.coordinates.resize(columns.len(), j + 1);
            observed.coordinates.column_mut(j).copy_from_slice(columns);
            observed.weights.push(*weight);
        }
        let unit_square = self.scratch.0.observed.unit_square;
        let total = Loss { expected: total.expected * unit_square, realised: total.realised * unit_square };
        self.scratch.0.expected = total.expected;
        total
    }

    fn update(&mut self, instance: &Instance<'_, S::Point>) {
        if self.fixes_center() {
            let point = match instance {
                Instance::Point(point) => point,
                Instance::Dyads(dyads) => dyads[0].1,
            };
            self.span.begin_at(point);
            self.trials += 1;
            self.center_weight = self.scratch.0.row_weight;
            let lost = self.span.end_trial();
            assert!(lost.is_none(), "there are no columns to lose");
            return;
        }
        let shortening = self.shorten();
        let mut weight = self.centering_weight() * shortening * shortening;
        if weight > 0.0 {
            let (before, now) = (self.largest_square, self.scratch.0.square * shortening * shortening);
            if self.options.norm_bound == NormBound::Running && now > before && before > 0.0 {
                self.surprise += (1.0 - before / now) * weight * self.scratch.0.expected;
            }
            self.largest_square = before.max(now);
        }
        self.lost += weight * self.scratch.0.expected;
        self.rescale();
        self.energy += self.scratch.0.square;
        if self.scratch.0.square == 0.0 {
            weight = 0.0;
        }
        self.scratch.0.observed.weights.iter_mut().for_each(|w| *w *= weight);
        self.rule.update(&self.scratch.0.observed, self.scale);
        self.trials += 1;
        if let Some(center) = self.options.center {
            let own = self.scratch.0.row_weight;
            self.span.shift_origin(shortening * center.step(self.center_weight, own));
            self.center_weight = center.next_weight(self.center_weight, own);
        }
        if let Some(rotation) = self.rule.rotation(self.span.max_pending_columns()) {
            self.span.combine(rotation);
            self.aligned.follow(rotation);
            self.rule.rotated();
        }
        while self.span.over_budget() {
            self.gather_directions(usize::MAX);
            let Working { directions, importance, .. } = &self.scratch.0;
            if let Some(rotation) = self.span.evict(directions, importance) {
                self.rule.reduce(rotation);
                self.aligned.follow(rotation);
            }
        }
        if let Some(rotation) = self.span.end_trial() {
            self.rule.reduce(rotation);
            self.aligned.follow(rotation);
        }
    }

    fn prefetch(&mut self, upcoming: Upcoming<'_, Instance<'_, S::Point>>) {
        let mut points = upcoming.instances().iter().map_while(|instance| match instance {
            Instance::Point(point) => Some(*point),
            Instance::Dyads(_) => None,
        });
        let weight = self.center_weight;
        match self.options.center {
            None => self.span.prefetch(&mut points, None),
            // How far the center moves depends on the rows.
            Some(_) if self.options.clip.is_some() => {}
            Some(center) => self.span.prefetch(&mut points, Some(&|later| center.later_step(weight, later))),
        }
    }
}
