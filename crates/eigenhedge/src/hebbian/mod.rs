//! Hebbian learners: weight vectors that turn towards what excites them.
//!
//! Setting: rows z, plain or features of a kernel, seen from a running center if there is one. The learner holds P weight vectors, commits before
//! each row to the subspace they span, pays `|z|² - |P z|²`, and moves the vectors by a [`Rule`] of their outputs
//! `y_p = w_p·z`. It draws nothing: the realised loss is the expected one. The first P rows that are not zero, or points
//! given beforehand, become the vectors at the start, scaled to length one.
//!
//! Update: `w_p ← keep_p w_p + push_p z_p`, `z_{p+1} = z_p - remove_p w_p` (`Step`) with
//!
//! | rule | keep | push | remove |
//! |---|---|---|---|
//! | [`Rule::Oja`], P = 1 | `1 - γ y²` | `γ y` | |
//! | [`Rule::Apex`], `ỹ = y_p + a_p·y` | `1 - γ ỹ²` | `γ ỹ` | 0 |
//! | [`Rule::Simultaneous`] | `1 - γ y²` | `γ y` | `β y` |
//!
//! The step size γ is that of the [`Rate`] over the square of the norm bound. What vectors are made of is behind
//! [`Weights`]: [`AmbientWeights`] in `R^n`, [`FeatureWeights`] over a dictionary.
//!
//! Guarantee: none on regret. With steps that decrease like 1/t on a stationary stream with distinct top eigenvalues,
//! vector p tends to component p, up to sign.
//!
//! Cost for each trial: O(nP) in `R^n`; a kernel row and O(tP) over t atoms; O(P²) for the frame of the subspace.
//!
//! Numerics: a triangular factor of the vectors follows every move, so the loss is that of the span of the vectors as they
//! are, however far they are from orthonormal. Steps up to one are safe when rows obey the norm bound; larger ones
//! can make vectors grow without limit, at the third power in each trial, and a row that would lengthen a vector beyond
//! 1e8 is refused.
//!
//! A row that is too long beside the last ones can be learned as if it were shorter; it is charged as it is.
//!
//! References: Oja 1982, 1992; Sanger 1989; Kung and Diamantaras 1990; Kashima, On-line Kernel Principal Component
//! Analysis, 2001. Kashima's shrink factors (18)–(25), (40) and (60) lack η. In (10), (11), (43) and (44) every `y^(p)` must be
//! the output with its lateral part, and the last sign of (11) and (44) must be a plus: as printed the lateral weights
//! grow without limit, and with the sign alone corrected every vector turns to the first component.

mod ambient;
mod budget;
mod feature;
mod implicit_frame;
mod rate;
mod rule;
mod step;
pub(crate) mod weights;

pub use ambient::AmbientWeights;
pub use feature::FeatureWeights;
pub use rate::Rate;
pub use rule::Rule;

use crate::error::{self, Error};
use crate::learner::{Learner, Loss};
use crate::linalg::Matrix;
use crate::linalg::checks::{matrix_entries, shape};
use crate::memory::{check_numbers, product};
use crate::num::LARGEST_TOTAL;
use crate::random::Random;
use crate::recent_median::Clip;
use crate::scratch::Scratch;
use crate::state::{self, State, energy, ensure, within};
use crate::subspace::{Instance, NEGLIGIBLE, NormBound, RunningCenter, SLACK, check_kept};
use implicit_frame::{Frame, LONGEST};
use rule::Seen;
use serde::{Deserialize, Serialize};
use step::Step;
use weights::{Change, Weights};

/// Parameters of a Hebbian learner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Number of weight vectors.
    pub components: usize,
    /// How they learn.
    pub rule: Rule,
    /// How fast.
    pub rate: Rate,
    /// The norm that step sizes are relative to; losses stay in input units.
    pub norm_bound: NormBound,
    /// The center to subtract, if any.
    pub center: Option<RunningCenter>,
    /// Learn from rows as if they were no longer than this many times the median norm of the last ones.
    pub clip: Option<f64>,
}

impl Params {
    /// The first component, by Oja's rule, with a constant step.
    pub fn oja(eta: f64) -> Self {
        let (rule, rate) = (Rule::Oja, Rate::Constant { eta });
        Self { components: 1, rule, rate, norm_bound: NormBound::Running, center: None, clip: None }
    }

    /// Components kept apart by lateral weights, all learning from every row, with a constant step.
    pub fn apex(components: usize, eta: f64) -> Self {
        Self { components, rule: Rule::Apex { stage: None }, ..Self::oja(eta) }
    }

    /// All components at once, with a constant step.
    pub fn simultaneous(components: usize, eta: f64, beta: f64) -> Self {
        Self { components, rule: Rule::Simultaneous { beta }, ..Self::oja(eta) }
    }

    fn check(&self) -> Result<(), Error> {
        self.rate.check()?;
        self.rule.check(self.components)?;
        if let NormBound::Given(bound) = self.norm_bound {
            error::norm_bound(bound)?;
        }
        if let Some(clip) = self.clip {
            error::positive("clip", clip)?;
        }
        self.center.map_or(Ok(()), RunningCenter::check)
    }
}

/// A Hebbian learner.
///
/// ```
/// use eigenhedge::hebbian::{FeatureWeights, Hebbian, Params};
/// use eigenhedge::kernel::{VectorKernel, Vectors};
/// use eigenhedge::{Instance, Random, streams, trial};
///
/// let dictionary = Vectors::new(VectorKernel::Rbf { gamma: 1.0 }, 4)?;
/// let weights = FeatureWeights::new(dictionary)?.with_budget(50)?;
/// let mut learner = Hebbian::new(Params::simultaneous(2, 0.1, 1.0), weights)?;
/// let mut random = Random::seeded(0);
/// for row in streams::signal_and_noise(4, 2, 0.1, 1).take(200) {
///     let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random)?;
///     assert!((0.0..=1.0).contains(&loss.expected));
/// }
/// assert_eq!(learner.outputs().len(), 2);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hebbian<W> {
    params: Params,
    weights: W,
    frame: Frame,
    /// Column p holds the lateral weights `a_p`.
    lateral: Matrix,
    /// Largest squared norm of a row that was learned from.
    largest_square: f64,
    /// Sum of the squared norms of all rows.
    energy: f64,
    /// Rows learned from since all vectors are there.
    trials: u64,
    /// Total weight of the rows in the center.
    center_weight: f64,
    clip: Clip,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    square: f64,
    outputs: Vec<f64>,
    /// Outputs of the row as it is learned.
    taught: Vec<f64>,
    /// Coordinates and residual as the frame learns from them.
    framed: Vec<f64>,
    residual: f64,
    /// Coordinates as they are charged.
    coordinates: Vec<f64>,
    step: Step,
    change: Change,
    /// Coordinates of a displacement.
    displaced: Vec<f64>,
    /// True if the above, up to `step`, belongs to the present row.
    is_loaded: bool,
}

impl<W: Weights + SavedWeights> State for Hebbian<W> {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        ensure(self.params == built.params, "the parameters of a learner must be those that its options give")?;
        let count = self.weights.count();
        ensure(count <= self.params.components, "there must be no more weight vectors than components")?;
        self.frame.check_state(count)?;
        self.weights.check_state(&built.weights, &self.frame)?;
        shape("the lateral weights", &self.lateral, built.lateral.rows(), built.lateral.columns())?;
        matrix_entries("lateral weights", &self.lateral, -LONGEST..=LONGEST)?;
        energy("the largest squared norm of a row", self.largest_square)?;
        within("the energy of all rows", self.energy, 0.0..=LARGEST_TOTAL)?;
        within("the weight of the rows in the center", self.center_weight, 0.0..=f64::MAX)?;
        ensure(
            !self.fixes_center() || count == 0,
            "there must be no weight vectors before a row has fixed the center",
        )?;
        self.clip.check_state()?;
        state::count("the number of rows", self.trials)
    }
}

/// Weight vectors that were read from bytes.
pub(crate) trait SavedWeights {
    /// Checks them against those that were built, and against the frame that they have.
    fn check_state(&self, built: &Self, frame: &Frame) -> Result<(), Error>;
}

impl<W: Weights> Hebbian<W> {
    /// Starts without vectors; the first rows become them.
    pub fn new(params: Params, weights: W) -> Result<Self, Error> {
        let components = params.components;
        check_kept(components, weights.dimension())?;
        params.check()?;
        if let Some(most) = weights.most()
            && most < components
        {
            let (name, rule) = ("budget", "at least the number of components");
            return Err(Error::Parameter { name, rule, value: most as f64 });
        }
        assert_eq!(weights.count(), 0, "weights without vectors");
        let lateral = if params.rule.is_lateral() { components } else { 0 };
        check_numbers("the lateral weights", product(&[lateral, lateral]))?;
        Ok(Self {
            params,
            weights,
            frame: Frame::new(),
            lateral: Matrix::zeros(lateral, lateral),
            largest_square: 0.0,
            energy: 0.0,
            trials: 0,
            center_weight: params.center.map_or(0.0, |center| center.prior),
            clip: Clip::default(),
            scratch: Scratch::default(),
        })
    }

    /// Starts from these points, one for each vector, as if they had been the first rows.
    pub fn starting_from(mut self, points: &[&W::Point]) -> Result<Self, Error> {
        let (expected, found) = (self.params.components - self.weights.count(), points.len());
        if expected != found {
            return Err(Error::Length { what: "the list of initial points", expected, found });
        }
        for point in points {
            self.load_point(point)?;
            let square = self.scratch.0.square;
            if square == 0.0 {
                let (name, rule) = ("the squared norm of an initial point", "positive");
                return Err(Error::Parameter { name, rule, value: square });
            }
            self.project();
            self.learn(point);
            self.follow(point);
        }
        Ok(self)
    }

    /// Parameters of the learner.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The weight vectors.
    pub fn weights(&self) -> &W {
        &self.weights
    }

    /// Rows learned from, not counting those that became vectors.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// True if the next row does nothing but fix the center: the first one of a learner that centers on the mean alone.
    pub fn fixes_center(&self) -> bool {
        self.params.center.is_some() && self.center_weight == 0.0
    }

    /// Rows that were learned from a shorter copy.
    pub fn clipped(&self) -> u64 {
        self.clip.clipped()
    }

    /// Squared norm of the row checked last, after centering.
    pub fn last_square(&self) -> f64 {
        self.scratch.0.square
    }

    /// Inner products of the last row with the weight vectors it met.
    pub fn outputs(&self) -> &[f64] {
        &self.scratch.0.outputs
    }

    /// Coordinates of the last row in the orthonormal frame of the weight vectors it met: vector p lies in the span
    /// of the first p directions of the frame, with a positive coordinate in the last of them.
    pub fn coordinates(&self) -> &[f64] {
        &self.scratch.0.coordinates
    }

    /// The same coordinates, of a point that is not learned from.
    pub fn embed(&mut self, point: &W::Point) -> Result<&[f64], Error> {
        self.meet(point)?;
        self.project();
        self.charge();
        Ok(self.coordinates())
    }

    /// Finds the outputs and the squared norm of a point: zero when the latter is no normal number and the point is nothing
    /// beside earlier ones.
    fn meet(&mut self, point: &W::Point) -> Result<(), Error> {
        let Working { outputs, square, is_loaded, .. } = &mut self.scratch.0;
        *is_loaded = false;
        *square = match self.weights.load_point(point, outputs) {
            Err(Error::Underflow { largest }) if largest <= NEGLIGIBLE * self.largest_square.sqrt() => {
                outputs.clear();
                outputs.resize(self.weights.count(), 0.0);
                0.0
            }
            other => other?,
        };
        Ok(())
    }

    /// Looks at a point and plans the move; refuses what must not be learned from.
    fn load_point(&mut self, point: &W::Point) -> Result<(), Error> {
        self.meet(point)?;
        let Working { outputs, taught, square, step, .. } = &mut self.scratch.0;
        error::add_square(self.energy, *square)?;
        step.clear();
        step.scale = self.clip.factor(self.params.clip, square.sqrt());
        taught.clear();
        taught.extend(outputs.iter().map(|y| step.scale * y));
        let scale = match self.params.norm_bound {
            NormBound::Running => self.largest_square.max(*square * step.scale * step.scale),
            NormBound::Given(bound) if *square > bound * bound * (1.0 + SLACK) => {
                return Err(Error::Norm { norm: square.sqrt(), bound });
            }
            NormBound::Given(bound) => bound * bound,
        };
        if taught.len() == self.params.components && *square > 0.0 {
            let seen = Seen { outputs: taught, lateral: &self.lateral };
            self.params.rule.plan(&self.params.rate, self.trials + 1, scale, seen, step);
            self.check_growth()?;
        }
        self.scratch.0.is_loaded = true;
        Ok(())
    }

    /// Refuses a move that could make a vector or a lateral weight too long.
    fn check_growth(&self) -> Result<(), Error> {
        let Working { taught, square, step, .. } = &self.scratch.0;
        let mut longest_point = step.scale * square.sqrt();
        let mut bounded = true;
        for p in 0..taught.len() {
            let (length, push) = (self.frame.length(p), step.push[p].abs());
            bounded &= step.keep[p].abs() * length + push * longest_point < LONGEST;
            longest_point += step.remove[p].abs() * length;
            if self.params.rule.is_lateral() {
                let pairs = self.lateral.column(p)[..p].iter().zip(taught);
                bounded &= pairs.map(|(a, y)| step.keep[p] * a - step.push[p] * y).all(|a| a.abs() < LONGEST);
            }
        }
        let rule = "small enough for the weight vectors to stay bounded";
        if bounded { Ok(()) } else { Err(Error::Parameter { name: "eta", rule, value: self.params.rate.eta() }) }
    }

    /// Coordinates and residual of the loaded point.
    fn project(&mut self) {
        let Working { outputs, square, framed, residual, .. } = &mut self.scratch.0;
        *residual = self.frame.project(outputs, *square, framed);
    }

    /// Loss of the point projected.
    fn charge(&mut self) -> f64 {
        let Working { outputs, square, framed, coordinates, .. } = &mut self.scratch.0;
        coordinates.clone_from(framed);
        self.frame.shorten(outputs, *square, coordinates).powi(2)
    }

    /// Makes the point a vector while some are missing, and moves the vectors otherwise.
    fn learn(&mut self, point: &W::Point) {
        let Working { taught, square, framed, residual, step, .. } = &mut self.scratch.0;
        self.largest_square = self.largest_square.max(*square * step.scale * step.scale);
        self.energy += *square;
        self.clip.count_in(self.params.clip, square.sqrt(), step.scale);
        if taught.len() < self.params.components {
            if *square > 0.0 {
                let scale = 1.0 / square.sqrt();
                self.weights.begin(point, scale);
                self.frame.append(framed, *residual, scale);
            }
            return;
        }
        self.trials += 1;
        if step.is_still() {
            return;
        }
        self.weights.learn(point, step);
        framed.iter_mut().for_each(|r| *r *= step.scale);
        self.frame.advance(step, framed, step.scale * *residual);
        for p in 0..self.lateral.columns() {
            let column = &mut self.lateral.column_mut(p)[..p];
            column.iter_mut().zip(&*taught).for_each(|(a, y)| *a = step.keep[p] * *a - step.push[p] * y);
        }
    }

    /// Moves the center, and makes room if the row has taken too much.
    fn follow(&mut self, point: &W::Point) {
        let Working { change, displaced, square, step, is_loaded, .. } = &mut self.scratch.0;
        *is_loaded = false;
        if let Some(center) = self.params.center {
            if *square > 0.0 {
                self.weights.shift_center(point, step.scale * center.step(self.center_weight, 1.0));
            }
            self.center_weight = center.next_weight(self.center_weight, 1.0);
        }
        while self.weights.trim(change) {
            let residual = self.frame.project(&change.products, change.square, displaced);
            self.frame.absorb(&change.amounts, displaced, residual);
        }
    }
}

/// The point of an instance.
fn point_of<'a, P: ?Sized>(instance: &Instance<'a, P>) -> Result<&'a P, Error> {
    match instance {
        Instance::Point(point) => Ok(point),
        Instance::Dyads(_) => Err(Error::Unsupported("a Hebbian learner takes points, not symmetric matrices")),
    }
}

impl<'a, W: Weights> Learner<Instance<'a, W::Point>> for Hebbian<W>
where
    W::Point: 'a,
{
    fn check(&mut self, instance: &Instance<'a, W::Point>) -> Result<(), Error> {
        self.load_point(point_of(instance)?)
    }

    fn choose(&mut self, _: &mut Random) {}

    fn incur(&mut self, instance: &Instance<'a, W::Point>) -> Loss {
        if !self.scratch.0.is_loaded && self.check(instance).is_err() {
            unreachable!("the instance was checked");
        }
        self.project();
        let loss = self.charge();
        Loss { expected: loss, realised: loss }
    }

    fn update(&mut self, instance: &Instance<'a, W::Point>) {
        if !self.scratch.0.is_loaded {
            self.incur(instance);
        }
        let Instance::Point(point) = instance else { return };
        if self.fixes_center() {
            self.weights.begin_at(point);
            self.center_weight = 1.0;
            self.scratch.0.is_loaded = false;
            return;
        }
        self.learn(point);
        self.follow(point);
    }
}
