//! Parameters of a learner, and its construction.

use super::{Family, Kind};
use crate::bounds;
use crate::error::{self, Error};
use crate::kernel::{Dictionary, VectorKernel, Vectors};
use crate::mixing::Mixing;
use crate::num::dot;
use crate::simplex::{Multiplicity, Select};
use crate::span::{Ambient, Feature, Span};
use crate::state::{LARGEST, energy, entries};
use crate::subspace::{
    Additive, Anchored, AnyRule, Law, NormBound, Options, Perturbed, RunningCenter, Subspace, Tracking,
};
use serde::{Deserialize, Serialize};

pub(super) const ALPHA: f64 = 1e-3;
/// The default is larger for k ≥ 32, because the time per row grows with the cube of the number of explicit directions.
pub(super) fn default_merge(kept: usize) -> f64 {
    if kept < 32 { 0.25 } else { 1.0 }
}

const HEBBIAN_ETA: f64 = 0.05;

/// Handling of rows with missing cells (NaN).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Missing {
    /// Rejects the row with an error.
    #[default]
    Fail,
    /// Skips the row.
    Skip,
    /// Fills in the missing cells. The loss covers only the observed cells. A row without any value is skipped.
    Fill,
}

impl Missing {
    pub(crate) fn passes_over(self, row: &[f64]) -> bool {
        match self {
            Self::Fail => false,
            Self::Skip => row.iter().any(|x| x.is_nan()),
            Self::Fill => row.iter().all(|x| x.is_nan()),
        }
    }
}

error::by_name!(Missing, "missing", 3, Fail => "fail", Skip => "skip", Fill => "fill");

/// Parameters of a learner.
///
/// ```
/// use eigenhedge::{Instance, Kind, Random, Spec, trial};
///
/// let spec = Spec { eta: 2.0, ..Spec::bare(Kind::Tracking, 1) };
/// let mut learner = spec.plain(3)?;
/// let mut random = Random::seeded(1);
/// let loss = trial(&mut learner, &Instance::from(&[1.0, 0.0, 0.0][..]), &mut random)?;
/// assert!((loss.expected - 2.0 / 3.0).abs() < 1e-12); // nothing known yet: two directions of three are dropped
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Learner to build.
    pub learner: Kind,
    /// Number of directions kept, k.
    pub kept: usize,
    /// Learning rate, for rows of norm at most 1.
    pub eta: f64,
    /// True to tune the learning rate to the loss so far. `eta` then has no effect.
    pub self_confident: bool,
    /// Mixing of the weights after each row, for tracking only.
    pub mixing: Mixing,
    /// Factor by which each row multiplies the weight of earlier rows, for the forgetting leader.
    pub forget: f64,
    /// Center to subtract. `None` means no centering.
    pub center: Option<RunningCenter>,
    /// Limit on the norm of learned rows, as a multiple of the median norm of recent rows.
    pub clip: Option<f64>,
    /// Initial center, which counts as the prior rows of [`RunningCenter::prior`]. `None` means the origin.
    pub start: Option<Vec<f64>>,
    /// Kernel of the features. `None` means that the learner uses the rows themselves.
    pub kernel: Option<VectorKernel>,
    /// Bound on the norms of rows, given or estimated.
    pub norm_bound: NormBound,
    /// Method for drawing the kept directions.
    pub select: Select,
    /// Dimension N of the space. `None` means the dimension of the rows or of the kernel features.
    pub dimension: Option<Multiplicity>,
    /// True to cap only the directions seen so far, as printed in ICML Algorithm 6. Only for anchored.
    pub as_printed: bool,
    /// Maximum number r of explicit directions, which limits memory to O(n r) for rows of n columns.
    pub max_rank: Option<usize>,
    /// Maximum number of atoms of a kernel learner, and of each member of `auto`. `None` means no limit. The comparison
    /// with the best fixed subspace stores additional rows, unless it is turned off.
    pub budget: Option<usize>,
    /// Novelty threshold of kernel learners with a budget: a row becomes an atom only if every single atom leaves a larger
    /// share of the energy of its features unexplained.
    pub novelty: f64,
    /// Maximum cost of merging similar directions, relative to the cost of fixed share. 0 means no merging.
    pub merge: f64,
    /// Handling of rows with missing cells in a [`Model`](crate::Model).
    pub missing: Missing,
    /// Deflation weight β of gha: factor with which the parts of a row along earlier vectors are subtracted.
    pub beta: f64,
    /// Number of rows after which apex starts its next vector. `None` means that every row updates all vectors.
    pub stage: Option<u64>,
    /// Number of rows until the decreasing step of a Hebbian learner has halved. `None` means a constant step.
    pub step_half_life: Option<f64>,
}

impl Spec {
    /// Returns true if the first observed cell of each column sets its center, because cells of the first row may be
    /// missing.
    pub(crate) fn begins_by_column(&self) -> bool {
        self.missing == Missing::Fill && self.center.is_some_and(|center| center.prior == 0.0)
    }

    /// Creates parameters with the defaults of the command line and of Python.
    pub fn new(learner: Kind, kept: usize) -> Self {
        let (mixing, merge) = match learner {
            Kind::Tracking => (Mixing::FixedShare { alpha: ALPHA }, default_merge(kept)),
            _ => (Mixing::None, 0.0),
        };
        Self {
            eta: if learner.entry().family == Family::Hebbian { HEBBIAN_ETA } else { 1.0 },
            self_confident: learner == Kind::Anchored,
            mixing,
            merge,
            center: learner.reads("center").then_some(RunningCenter::MEAN),
            ..Self::bare(learner, kept)
        }
    }

    /// Creates plain parameters, without mixing, merging or a center.
    pub fn bare(learner: Kind, kept: usize) -> Self {
        Self {
            learner,
            kept,
            eta: 1.0,
            self_confident: false,
            mixing: Mixing::None,
            forget: 0.95,
            center: None,
            clip: None,
            start: None,
            kernel: None,
            norm_bound: NormBound::Running,
            select: Select::default(),
            dimension: None,
            as_printed: false,
            max_rank: None,
            budget: None,
            novelty: 1e-3,
            merge: 0.0,
            missing: Missing::Fail,
            beta: 1.0,
            stage: None,
            step_half_life: None,
        }
    }

    /// Checks numbers, even those without effect here. Building the learner checks the rest.
    pub(crate) fn check_state(&self) -> Result<(), Error> {
        let (prior, memory) = self.center.map_or((0.0, 0.0), |center| (center.prior, center.forget));
        let clip = self.clip.unwrap_or(0.0);
        let (half, beta) = (self.step_half_life.unwrap_or(1.0), self.beta);
        let numbers =
            [self.eta, self.forget, self.novelty, self.merge, prior, memory, clip, self.mixing.alpha(), half, beta];
        entries("options", &numbers, -LARGEST..=LARGEST)?;
        let start = self.start.as_deref().unwrap_or(&[]);
        energy("the squared norm of the start", dot(start, start))
    }

    /// Returns `Err` if rows cannot be reconstructed: with a kernel, with a `dimension`, or for Hebbian learners.
    pub fn check_reconstructions(&self) -> Result<(), Error> {
        match self {
            _ if self.learner.entry().family == Family::Hebbian => {
                Err(Error::Unsupported("projections of rows need a learner over subspaces, which this one is not"))
            }
            Self { kernel: Some(_), .. } => Err(Error::Unsupported(
                "projections of rows need plain rows; those of features have pre-images, which a saved model finds",
            )),
            Self { dimension: Some(_), .. } => {
                Err(Error::Unsupported("projections of rows need the space of the rows, not a larger one"))
            }
            _ => Ok(()),
        }
    }

    /// Sets `eta` for a best loss of at most `ceiling`, for rows of `length` columns (JMLR (3), ICML (6)).
    pub fn tuned(mut self, ceiling: f64, length: usize) -> Result<Self, Error> {
        let NormBound::Given(bound) = self.norm_bound else {
            return Err(Error::Unsupported("a rate for a given best loss needs a given norm bound"));
        };
        let ceiling = error::positive("ceiling", ceiling)?;
        let divergence = bounds::divergence(self.kept, self.space(length))
            .ok_or(Error::Unsupported("a rate for a given best loss needs a dimension that is greater than k"))?;
        if let Some(eta) = bounds::tuned_rate(divergence, ceiling, bound * bound) {
            self.eta = eta;
        }
        Ok(self)
    }

    /// Returns the name and the main parameters, e.g. `tracking eta 4, fixed share 0.001`.
    pub fn label(&self) -> String {
        let entry = self.learner.entry();
        let mut label = entry.name.to_owned();
        if self.self_confident && self.learner.reads("eta") {
            label += " eta auto";
        } else if self.learner.reads("eta") {
            label += &format!(" eta {}", self.eta);
        }
        match self.mixing {
            Mixing::None => {}
            Mixing::FixedShare { alpha } => label += &format!(", fixed share {alpha}"),
            Mixing::PastAverage { alpha } => label += &format!(", past average {alpha}"),
        }
        if self.learner.reads("forget") {
            label += &format!(" {}", self.forget);
        }
        if let Some(center) = self.center.filter(|center| !center.is_mean()) {
            label += &match center {
                RunningCenter { learned: true, .. } => ", center learned".to_owned(),
                RunningCenter { forget: 0.0, .. } => ", center last".to_owned(),
                RunningCenter { forget, .. } => format!(", center {forget}"),
            };
        }
        if let Some(most) = self.max_rank.filter(|_| self.learner.reads("max-rank")) {
            label += &format!(", rank {most}");
        }
        label
    }

    /// Returns the dimension of the space of rows of `length` columns or of their features.
    pub fn space(&self, length: usize) -> Multiplicity {
        let natural = || match &self.kernel {
            Some(kernel) => kernel.dimension(length),
            None => Multiplicity::Finite(length as u64),
        };
        self.dimension.unwrap_or_else(natural)
    }

    /// Builds the learner over rows of `length` numbers, without a kernel.
    pub fn plain(&self, length: usize) -> Result<PlainLearner, Error> {
        self.over(self.ambient(length)?)
    }

    pub(crate) fn ambient(&self, length: usize) -> Result<Ambient, Error> {
        let span = Ambient::new(length)?;
        let span = match self.dimension {
            Some(dimension) => span.within(dimension)?,
            None => span,
        };
        match &self.start {
            Some(start) => span.with_origin(start.clone()),
            None => Ok(span),
        }
    }

    /// Builds the learner over the features of a dictionary.
    pub fn features<D: Dictionary>(&self, dictionary: D) -> Result<FeatureLearner<D>, Error> {
        self.over(self.feature(dictionary)?)
    }

    pub(crate) fn feature<D: Dictionary>(&self, dictionary: D) -> Result<Feature<D>, Error> {
        if self.start.is_some() {
            return Err(Error::Unsupported(
                "a start for the center is a row of numbers and cannot be used with a kernel",
            ));
        }
        let mut span = Feature::new(dictionary);
        if let Some(dimension) = self.dimension {
            span = span.within(dimension);
        }
        if let Some(atoms) = self.budget {
            error::require(atoms >= self.kept, "budget", "at least k", atoms as f64)?;
            span = span.with_budget(atoms, self.novelty)?;
        }
        Ok(span)
    }

    /// Builds the learner over the features of rows of `length` numbers.
    pub fn kernel(&self, kernel: VectorKernel, length: usize) -> Result<KernelLearner, Error> {
        self.features(Vectors::new(kernel, length)?)
    }

    /// Builds the learner over any span.
    pub fn over<S: Span>(&self, span: S) -> Result<Subspace<S>, Error> {
        let dimension = span.dimension();
        if self.as_printed && self.learner != Kind::Anchored {
            return Err(Error::Unsupported("as-printed is for the anchored learner"));
        }
        let rule = match self.learner {
            Kind::Auto | Kind::Oja | Kind::Gha | Kind::Apex => {
                return Err(Error::Unsupported("this learner is not a rule over a span"));
            }
            Kind::Tracking => {
                let rule = Tracking::new(self.rate(), self.mixing, self.kept, dimension, self.max_rank, self.merge)?;
                AnyRule::Tracking(Box::new(rule))
            }
            Kind::Anchored => self.anchored(Law::Exponential { eta: self.rate() }, 1.0, dimension)?,
            Kind::Leader => self.anchored(Law::Leader, 1.0, dimension)?,
            Kind::ForgettingLeader => self.anchored(Law::Leader, self.forget, dimension)?,
            Kind::PerturbedLeader => {
                self.without_mixing()?;
                AnyRule::Perturbed(Box::new(Perturbed::new(self.rate(), self.kept, dimension)?))
            }
            Kind::ProductSets => self.anchored(Law::ProductSets { eta: self.rate() }, 1.0, dimension)?,
            Kind::Additive => {
                self.without_mixing()?;
                AnyRule::Additive(Box::new(Additive::new(self.rate(), self.kept, dimension)?))
            }
        };
        let options = Options {
            norm_bound: self.norm_bound,
            select: self.select,
            center: self.center,
            clip: self.clip,
            divergence: self.self_confident.then(|| bounds::divergence(self.kept, dimension).unwrap_or(1.0)),
        };
        Subspace::new(self.kept, span, rule, options)
    }

    /// A self-confident learner scales the rows instead.
    fn rate(&self) -> f64 {
        if self.self_confident { 1.0 } else { self.eta }
    }

    fn without_mixing(&self) -> Result<(), Error> {
        match self.mixing {
            Mixing::None => Ok(()),
            _ => Err(Error::Unsupported("mixing is for the tracking learner: the others keep no weights to mix")),
        }
    }

    fn anchored(&self, law: Law, forget: f64, dimension: Multiplicity) -> Result<AnyRule, Error> {
        self.without_mixing()?;
        let rule = Anchored::new(law, forget, self.kept, dimension, self.max_rank, self.as_printed)?;
        Ok(AnyRule::Anchored(Box::new(rule)))
    }
}

/// Learner over rows of plain numbers.
pub type PlainLearner = Subspace<Ambient>;

/// Kernel learner over rows of numbers.
pub type KernelLearner = FeatureLearner<Vectors>;

/// Kernel learner over the points of a dictionary.
pub type FeatureLearner<D> = Subspace<Feature<D>>;
