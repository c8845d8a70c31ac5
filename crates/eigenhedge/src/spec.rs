//! The one registry of learners: names, what is known about them, and how to build them.
//!
//! The command line, saved files, documentation and the tests that hold for every learner all read it here.

use crate::error::Error;
use crate::kernel::{Dictionary, VectorKernel, Vectors};
use crate::matrix::Matrix;
use crate::mixing::Mixing;
use crate::random::Random;
use crate::simplex::{Complement, Multiplicity, Select};
use crate::span::{Ambient, Feature, Span};
use crate::subspace::{Additive, Anchored, Law, NormBound, Observed, Options, Perturbed, Rule, Subspace, Tracking};
use serde::{Deserialize, Serialize};

/// A subspace learner of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Mirror descent.
    Tracking,
    /// Follow the regularised leader.
    Anchored,
    /// Follow the leader.
    Leader,
    /// Follow the leader of a fading memory.
    ForgettingLeader,
    /// Follow the leader after random noise.
    PerturbedLeader,
    /// Hedge over sets of eigenvectors.
    ProductSets,
    /// Gradient descent on the expected projection.
    Additive,
}

/// What the registry says about a learner.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Which learner.
    pub kind: Kind,
    /// The name users type.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The theorem that covers it, or none.
    pub guarantee: &'static str,
    /// Time for one row.
    pub cost: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Whether the learner reads `eta`, `mixing` and `forget`.
    pub reads: Reads,
}

/// Which options a learner reads.
#[derive(Debug, Clone, Copy)]
pub struct Reads {
    /// Learning rate.
    pub eta: bool,
    /// Mixing.
    pub mixing: bool,
    /// Forgetting.
    pub forget: bool,
}

/// Every subspace learner.
pub const REGISTRY: &[Entry] = &[
    Entry {
        kind: Kind::Tracking,
        name: "tracking",
        summary: "mirror descent over subspaces; follows drift with mixing",
        guarantee: "regret (no mixing): JMLR Theorem 6",
        cost: "O(n u + u³), u ≈ k…3k",
        source: "JMLR Alg. 5, ICML Alg. 3",
        reads: Reads { eta: true, mixing: true, forget: false },
    },
    Entry {
        kind: Kind::Anchored,
        name: "anchored",
        summary: "follow the regularised leader: a smooth function of the scatter matrix of all rows",
        guarantee: "regret: JMLR Theorem 6; centered: Theorem 8, Corollary 9",
        cost: "O(w^2.5), w = min(n, rows)",
        source: "JMLR Alg. 6, ICML Alg. 6",
        reads: Reads { eta: true, mixing: false, forget: false },
    },
    Entry {
        kind: Kind::Leader,
        name: "leader",
        summary: "follow the leader: the best subspace so far",
        guarantee: "none: can be forced to n/(n-k) times the best",
        cost: "O(w^2.5), w = min(n, rows)",
        source: "JMLR §7",
        reads: Reads { eta: false, mixing: false, forget: false },
    },
    Entry {
        kind: Kind::ForgettingLeader,
        name: "forgetting-leader",
        summary: "the best subspace of a fading memory",
        guarantee: "none",
        cost: "O(w^2.5), w = min(n, rows)",
        source: "exponential windows",
        reads: Reads { eta: false, mixing: false, forget: true },
    },
    Entry {
        kind: Kind::PerturbedLeader,
        name: "perturbed-leader",
        summary: "the best subspace so far, after random noise of scale 1/eta",
        guarantee: "none: open in these papers",
        cost: "O(w³), w = min(n, rows)",
        source: "JMLR §4.1, §5.1",
        reads: Reads { eta: true, mixing: false, forget: false },
    },
    Entry {
        kind: Kind::ProductSets,
        name: "product-sets",
        summary: "Hedge over sets of eigenvectors, weighted by products; finite dimension only",
        guarantee: "none: conjectured in JMLR §5.1",
        cost: "O(w^2.5 + w k), w = min(n, rows)",
        source: "JMLR §4.1, §5.1",
        reads: Reads { eta: true, mixing: false, forget: false },
    },
    Entry {
        kind: Kind::Additive,
        name: "additive",
        summary: "gradient descent on the expected projection",
        guarantee: "none in these papers",
        cost: "O(n u + u³), u ≈ k…3k",
        source: "slides, Euclidean family",
        reads: Reads { eta: true, mixing: false, forget: false },
    },
];

impl Kind {
    /// The registry's entry.
    pub fn entry(self) -> &'static Entry {
        REGISTRY.iter().find(|entry| entry.kind == self).unwrap_or(&REGISTRY[0])
    }

    /// The learner with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        REGISTRY.iter().find(|entry| entry.name == name).map(|entry| entry.kind)
    }
}

/// All that is needed to build a subspace learner.
///
/// ```
/// use eigenhedge::{Instance, Kind, Random, Spec, trial};
///
/// let spec = Spec { eta: 2.0, ..Spec::new(Kind::Tracking, 1) };
/// let mut learner = spec.plain(3)?;
/// let mut random = Random::seeded(1);
/// let loss = trial(&mut learner, &Instance::from(&[1.0, 0.0, 0.0][..]), &mut random)?;
/// assert!((loss.expected - 2.0 / 3.0).abs() < 1e-12); // nothing known yet: two directions of three are dropped
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Which learner.
    pub learner: Kind,
    /// Number of directions kept.
    pub kept: usize,
    /// Learning rate, for rows of norm at most one.
    pub eta: f64,
    /// Mixing.
    pub mixing: Mixing,
    /// Factor on the memory at each row.
    pub forget: f64,
    /// Center with the running mean, with this many imaginary rows at the origin.
    pub center: Option<f64>,
    /// Where the imaginary rows lie; none stands for zero.
    pub start: Option<Vec<f64>>,
    /// Scaling.
    pub norm_bound: NormBound,
    /// How a choice is drawn.
    pub select: Select,
    /// Dimension N of the space, when it is not that of the rows or of the kernel.
    pub dimension: Option<Multiplicity>,
    /// Cap the directions seen so far among themselves (anchored, ICML Algorithm 6 as printed).
    pub as_printed: bool,
    /// At most this many explicit directions; memory is then O(n times that) whatever the stream.
    pub max_rank: Option<usize>,
    /// For kernels: at most this many atoms.
    pub budget: Option<usize>,
    /// For budgets: rows whose features are within this share of their energy of the dictionary are no atoms.
    pub novelty: f64,
}

impl Spec {
    /// A learner with defaults: `eta` 1, no mixing, `forget` 0.95, no centering, running norm bound.
    pub fn new(learner: Kind, kept: usize) -> Self {
        Self {
            learner,
            kept,
            eta: 1.0,
            mixing: Mixing::None,
            forget: 0.95,
            center: None,
            start: None,
            norm_bound: NormBound::Running,
            select: Select::default(),
            dimension: None,
            as_printed: false,
            max_rank: None,
            budget: None,
            novelty: 1e-3,
        }
    }

    /// Builds the learner over rows of plain numbers.
    pub fn plain(&self, length: usize) -> Result<PlainLearner, Error> {
        let span = Ambient::new(length)?;
        let span = match self.dimension {
            Some(dimension) => span.within(dimension)?,
            None => span,
        };
        let span = match &self.start {
            Some(start) => span.with_origin(start.clone())?,
            None => span,
        };
        self.over(span)
    }

    /// Builds the learner over the features of a dictionary.
    pub fn features<D: Dictionary>(&self, dictionary: D) -> Result<Subspace<Feature<D>, AnyRule>, Error> {
        if self.start.is_some() {
            return Err(Error::Unsupported(
                "a start for the center is a row of numbers: it has no place among features",
            ));
        }
        let mut span = Feature::new(dictionary);
        if let Some(dimension) = self.dimension {
            span = span.within(dimension);
        }
        if let Some(atoms) = self.budget {
            span = span.with_budget(atoms, self.novelty)?;
        }
        self.over(span)
    }

    /// Builds the learner over the features of rows of numbers.
    pub fn kernel(&self, kernel: VectorKernel, length: usize) -> Result<KernelLearner, Error> {
        self.features(Vectors::new(kernel, length)?)
    }

    /// Builds the learner over any span.
    pub fn over<S: Span>(&self, span: S) -> Result<Subspace<S, AnyRule>, Error> {
        let dimension = span.dimension();
        if self.as_printed && self.learner != Kind::Anchored {
            return Err(Error::Unsupported("as-printed is for the anchored learner"));
        }
        let rule = match self.learner {
            Kind::Tracking => {
                let rule = Tracking::new(self.eta, self.mixing, self.kept, dimension)?;
                let rule = match self.max_rank {
                    Some(max_rank) => rule.with_max_rank(max_rank)?,
                    None => rule,
                };
                AnyRule::Tracking(Box::new(rule))
            }
            Kind::Anchored => self.anchored(Law::Exponential { eta: self.eta }, 1.0, dimension)?,
            Kind::Leader => self.anchored(Law::Leader, 1.0, dimension)?,
            Kind::ForgettingLeader => self.anchored(Law::Leader, self.forget, dimension)?,
            Kind::PerturbedLeader => {
                self.without_mixing()?;
                AnyRule::Perturbed(Box::new(Perturbed::new(self.eta, self.kept, dimension)?))
            }
            Kind::ProductSets => self.anchored(Law::ProductSets { eta: self.eta }, 1.0, dimension)?,
            Kind::Additive => {
                self.without_mixing()?;
                AnyRule::Additive(Box::new(Additive::new(self.eta, self.kept, dimension)?))
            }
        };
        let options = Options { norm_bound: self.norm_bound, select: self.select, center: self.center };
        Subspace::new(self.kept, span, rule, options)
    }

    fn without_mixing(&self) -> Result<(), Error> {
        match self.mixing {
            Mixing::None => Ok(()),
            _ => Err(Error::Unsupported("mixing is for the tracking learner: the others keep no weights to mix")),
        }
    }

    fn anchored(&self, law: Law, forget: f64, dimension: Multiplicity) -> Result<AnyRule, Error> {
        self.without_mixing()?;
        let rule = Anchored::new(law, forget, self.kept, dimension)?;
        let rule = match self.max_rank {
            Some(max_rank) => rule.with_max_rank(max_rank)?,
            None => rule,
        };
        Ok(AnyRule::Anchored(Box::new(if self.as_printed { rule.as_printed()? } else { rule })))
    }
}

/// A learner over rows of plain numbers.
pub type PlainLearner = Subspace<Ambient, AnyRule>;

/// A learner over the features of rows of numbers.
pub type KernelLearner = Subspace<Feature<Vectors>, AnyRule>;

/// Any rule of the registry, so that learners of all kinds have one type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AnyRule {
    /// Mirror descent.
    Tracking(Box<Tracking>),
    /// Functions of the scatter matrix.
    Anchored(Box<Anchored>),
    /// Gradient descent.
    Additive(Box<Additive>),
    /// The leader after noise.
    Perturbed(Box<Perturbed>),
}

/// Passes a call on to the rule inside.
macro_rules! delegate {
    ($self:expr, $rule:ident => $call:expr) => {
        match $self {
            AnyRule::Tracking($rule) => $call,
            AnyRule::Anchored($rule) => $call,
            AnyRule::Additive($rule) => $call,
            AnyRule::Perturbed($rule) => $call,
        }
    };
}

impl Rule for AnyRule {
    fn grow(&mut self, columns: usize) {
        delegate!(self, rule => rule.grow(columns))
    }
    fn perturb(&mut self, random: &mut Random) {
        delegate!(self, rule => rule.perturb(random))
    }
    fn log_weights(&self) -> &[f64] {
        delegate!(self, rule => rule.log_weights())
    }
    fn complement(&self) -> &Complement {
        delegate!(self, rule => rule.complement())
    }
    fn observe(&mut self, columns: &[f64]) -> f64 {
        delegate!(self, rule => rule.observe(columns))
    }
    fn coordinates(&self) -> &[f64] {
        delegate!(self, rule => rule.coordinates())
    }
    fn outside(&self) -> &[f64] {
        delegate!(self, rule => rule.outside())
    }
    fn direction(&mut self, i: usize, out: &mut Vec<f64>) {
        delegate!(self, rule => rule.direction(i, out))
    }
    fn update(&mut self, instance: &Observed, norm_square: f64) {
        delegate!(self, rule => rule.update(instance, norm_square))
    }
    fn rotation(&mut self) -> Option<&Matrix> {
        delegate!(self, rule => rule.rotation())
    }
    fn rotated(&mut self) {
        delegate!(self, rule => rule.rotated())
    }
    fn price(&self) -> f64 {
        delegate!(self, rule => rule.price())
    }
    fn reduce(&mut self, rotation: &Matrix) {
        delegate!(self, rule => rule.reduce(rotation))
    }
}
