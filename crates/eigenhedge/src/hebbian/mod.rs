//! Hebbian learners: Oja's rule, GHA and APEX.
//!
//! Setting: rows z, plain or kernel features, relative to a running center if there is one. Before each row, the
//! learner commits to the span of its P weight vectors. It then incurs the loss `|z|² - |Πz|²`, where Π is the
//! projection onto this span, and moves the vectors by a [`Rule`] that depends on their outputs `y_p = w_p·z`. Nothing
//! is drawn. The first P nonzero rows, or given points, scaled to length 1, are the initial vectors.
//!
//! Update: `w_p ← keep_p w_p + push_p z_p`, `z_{p+1} = z_p - remove_p w_p` with the step size γ, the [`Rate`] divided
//! by the squared norm bound:
//!
//! | rule | keep | push | remove |
//! |---|---|---|---|
//! | [`Rule::Oja`], P = 1 | `1 - γ y²` | `γ y` | |
//! | [`Rule::Apex`], `ỹ = y_p + a_p·y` | `1 - γ ỹ²` | `γ ỹ` | 0 |
//! | [`Rule::Simultaneous`] | `1 - γ y²` | `γ y` | `β y` |
//!
//! Guarantee: no regret bound. On a stationary stream with distinct top eigenvalues, steps that decrease like 1/t, and
//! β ≥ 1 for [`Rule::Simultaneous`], vector p converges to component p, up to sign.
//!
//! Cost per trial: O(nP) in `R^n`; a kernel row and O(tP) over t atoms; O(P²) for the frame of the span.
//!
//! Numerics: a triangular factor follows every update, so the loss is that of the exact span of the vectors even if
//! they are far from orthonormal. Steps up to 1 are safe if rows obey the norm bound. A row that would lengthen a
//! vector beyond 1e8 is rejected. Rows much longer than recent ones can be clipped for learning; the loss is still that
//! of the original row.
//!
//! References: Oja 1982, 1992; Sanger 1989; Kung and Diamantaras 1990; Kashima, On-line Kernel Principal Component
//! Analysis, 2001. Kashima's shrink factors (18)–(25), (40) and (60) lack η. In (10), (11), (43) and (44) every `y^(p)`
//! must be the output with its lateral part, and the last sign of (11) and (44) must be a plus.

mod ambient;
mod budget;
mod feature;
mod implicit_frame;
mod rule;
pub(crate) mod weights;

use crate::error::{self, Error, require};
use crate::learner::{Learner, Loss};
use crate::linalg::Matrix;
use crate::linalg::checks::shape;
use crate::memory::{check_numbers, product};
use crate::num::LARGEST_TOTAL;
use crate::random::Random;
use crate::recent_median::Clip;
use crate::scratch::{Scratch, refill, zero};
use crate::state::{self, State, energy, ensure, within};
use crate::subspace::{Instance, NEGLIGIBLE, NormBound, RunningCenter, SLACK, check_kept};
pub use ambient::AmbientWeights;
pub use feature::FeatureWeights;
use implicit_frame::{ImplicitFrame, LONGEST};
pub use rule::{Rate, Rule};
use rule::{RuleInputs, VectorStep};
use serde::{Deserialize, Serialize};
use weights::{Change, Weights};

/// Parameters of a Hebbian learner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Number of weight vectors.
    pub components: usize,
    /// Learning rule.
    pub rule: Rule,
    /// Step size.
    pub rate: Rate,
    /// Bound on the norms of rows: given, or the largest norm so far.
    pub norm_bound: NormBound,
    /// Center to subtract. `None` means no centering.
    pub center: Option<RunningCenter>,
    /// Limit on the norm of learned rows, as a multiple of the median norm of recent rows. `None` means no limit.
    pub clip: Option<f64>,
}

impl Params {
    /// Creates parameters for Oja's rule with one component and the constant step `eta`.
    pub fn oja(eta: f64) -> Self {
        let (rule, rate) = (Rule::Oja, Rate::Constant { eta });
        Self { components: 1, rule, rate, norm_bound: NormBound::Running, center: None, clip: None }
    }

    /// Creates parameters for APEX with the constant step `eta` and without stages.
    pub fn apex(components: usize, eta: f64) -> Self {
        Self { components, rule: Rule::Apex { stage: None }, ..Self::oja(eta) }
    }

    /// Creates parameters for the simultaneous rule with the constant step `eta` (GHA: `beta` 1).
    pub fn simultaneous(components: usize, eta: f64, beta: f64) -> Self {
        Self { components, rule: Rule::Simultaneous { beta }, ..Self::oja(eta) }
    }

    fn check(&self) -> Result<(), Error> {
        self.rate.check()?;
        self.rule.check(self.components)?;
        self.norm_bound.check()?;
        if let Some(clip) = self.clip {
            error::positive("clip", clip)?;
        }
        if self.center.is_some_and(|center| center.learned) {
            return Err(Error::Unsupported("a learned center needs a learner over subspaces, which this one is not"));
        }
        self.center.map_or(Ok(()), RunningCenter::check)
    }
}

/// Hebbian learner of principal components, with weight vectors stored in `W`.
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
    frame: ImplicitFrame,
    lateral: Matrix,
    largest_square: f64,
    energy: f64,
    trials: u64,
    center_weight: f64,
    clip: Clip,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    square: f64,
    outputs: Vec<f64>,
    taught: Vec<f64>,
    framed: Vec<f64>,
    residual: f64,
    coordinates: Vec<f64>,
    step: VectorStep,
    change: Change,
    displaced: Vec<f64>,
    /// True if `square`, `outputs`, `taught` and `step` describe the current row.
    is_loaded: bool,
}

impl<W: Weights + State> State for Hebbian<W> {
    fn check_state(&self, built: &Self) -> Result<(), Error> {
        ensure(self.params == built.params, "the parameters of a learner must be those that its options give")?;
        let count = self.weights.count();
        ensure(count <= self.params.components, "there must be no more weight vectors than components")?;
        self.frame.check_state(count)?;
        self.weights.check_state(&built.weights)?;
        shape("the lateral weights", &self.lateral, built.lateral.rows(), built.lateral.columns())?;
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

impl<W: Weights> Hebbian<W> {
    /// Creates a learner without vectors. The first nonzero rows become its weight vectors.
    pub fn new(params: Params, weights: W) -> Result<Self, Error> {
        let components = params.components;
        check_kept(components, weights.dimension())?;
        params.check()?;
        if let Some(most) = weights.most() {
            require(most >= components, "budget", "at least the number of components", most as f64)?;
        }
        assert_eq!(weights.count(), 0, "weights without vectors");
        let lateral = if params.rule.is_lateral() { components } else { 0 };
        check_numbers("the lateral weights", product(&[lateral, lateral]))?;
        Ok(Self {
            params,
            weights,
            frame: ImplicitFrame::new(),
            lateral: Matrix::zeros(lateral, lateral),
            largest_square: 0.0,
            energy: 0.0,
            trials: 0,
            center_weight: params.center.map_or(0.0, |center| center.prior),
            clip: Clip::default(),
            scratch: Scratch::default(),
        })
    }

    /// Initializes each missing weight vector with a nonzero point, as if it were one of the first rows.
    pub fn starting_from(mut self, points: &[&W::Point]) -> Result<Self, Error> {
        let missing = self.params.components - self.weights.count();
        state::length("the list of initial points", points.len(), missing)?;
        for point in points {
            self.load_point(point)?;
            let square = self.scratch.0.square;
            require(square != 0.0, "the squared norm of an initial point", "positive", square)?;
            self.project();
            self.learn(point);
            self.follow(point);
        }
        Ok(self)
    }

    /// Returns the parameters of the learner.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Returns the weight vectors.
    pub fn weights(&self) -> &W {
        &self.weights
    }

    /// Returns the number of rows learned, without those that became initial vectors or only set the center.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// Returns true if the next row only sets the center: the first row of a learner that centers without a prior.
    pub fn fixes_center(&self) -> bool {
        self.params.center.is_some() && self.center_weight == 0.0
    }

    /// Returns the number of clipped rows.
    pub fn clipped(&self) -> u64 {
        self.clip.clipped
    }

    /// Returns the squared norm of the most recently checked row, after centering.
    pub fn last_square(&self) -> f64 {
        self.scratch.0.square
    }

    /// Returns the inner products of the most recent row with the weight vectors, as they were before the update.
    pub fn outputs(&self) -> &[f64] {
        &self.scratch.0.outputs
    }

    /// Returns the coordinates of the most recent row in the orthonormal frame of the weight vectors before the update.
    pub fn coordinates(&self) -> &[f64] {
        &self.scratch.0.coordinates
    }

    /// Returns the coordinates of a point without learning from it.
    pub fn embed(&mut self, point: &W::Point) -> Result<&[f64], Error> {
        self.meet(point)?;
        self.project();
        self.charge();
        Ok(self.coordinates())
    }

    /// Loads a point. One whose square underflows counts as zero if it is negligible beside earlier ones.
    fn meet(&mut self, point: &W::Point) -> Result<(), Error> {
        let Working { outputs, square, is_loaded, .. } = &mut self.scratch.0;
        *is_loaded = false;
        *square = match self.weights.load_point(point, outputs) {
            Err(Error::Underflow { largest }) if largest <= NEGLIGIBLE * self.largest_square.sqrt() => {
                zero(outputs, self.weights.count());
                0.0
            }
            other => other?,
        };
        error::every("outputs of the weight vectors", outputs, "finite", f64::is_finite)
    }

    fn load_point(&mut self, point: &W::Point) -> Result<(), Error> {
        self.meet(point)?;
        let fixes_center = self.fixes_center();
        let Working { outputs, taught, square, step, .. } = &mut self.scratch.0;
        error::add_square(self.energy, *square)?;
        step.clear();
        step.scale = self.clip.factor(self.params.clip, square.sqrt());
        refill(taught, outputs.iter().map(|y| step.scale * y));
        let scale = match self.params.norm_bound {
            NormBound::Running => self.largest_square.max(*square * step.scale * step.scale),
            // A first row that only sets the center is not learned.
            NormBound::Given(bound) if *square > bound * bound * (1.0 + SLACK) && !fixes_center => {
                return Err(Error::Norm { norm: square.sqrt(), bound });
            }
            NormBound::Given(bound) => bound * bound,
        };
        if taught.len() == self.params.components && *square > 0.0 {
            let seen = RuleInputs { outputs: taught, lateral: &self.lateral };
            self.params.rule.plan(&self.params.rate, self.trials + 1, scale, seen, step);
            self.check_growth()?;
        }
        self.scratch.0.is_loaded = true;
        Ok(())
    }

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
        require(bounded, "eta", rule, self.params.rate.eta()).map(drop)
    }

    fn project(&mut self) {
        let Working { outputs, square, framed, residual, .. } = &mut self.scratch.0;
        *residual = self.frame.project(outputs, *square, framed);
    }

    fn charge(&mut self) -> f64 {
        let Working { outputs, square, framed, coordinates, .. } = &mut self.scratch.0;
        coordinates.clone_from(framed);
        self.frame.shorten(outputs, *square, coordinates).powi(2)
    }

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
