//! Online PCA and online kernel PCA with guarantees.
//!
//! Online PCA receives rows one at a time. Before each row a learner commits to k directions. The row arrives, and its
//! squared distance from the span of the directions is the loss. Then the learner updates. The [`Summary`] of a run
//! reports the total loss and the loss of the best fixed subspace in hindsight. If a theorem covers the learner and its
//! options, it also reports a bound on the total expected loss, for *every* sequence of rows within the norm bound.
//!
//! A learner draws its choice from a probability distribution over subspaces, which consists of a *span* (directions)
//! and a *spectrum* (the probability that each direction is dropped).
//!
//! | I want to | use |
//! |---|---|
//! | run a learner over rows and summarize the run | [`Model`] has an example; [`Spec`], [`Kind`] |
//! | avoid tuning | [`Kind::Auto`] |
//! | follow drift | [`Kind::Auto`]; [`Kind::Tracking`] with [`Mixing`] |
//! | subtract a running mean | [`Spec::center`] |
//! | standardize columns and apply a model to raw rows | [`Columns`], [`Model`], [`Standardize`] |
//! | compress rows, or compute anomaly scores | [`Model::ask_for_coordinates`], [`Model::coordinates`], [`Loss`]; [`Embedding`] to stop learning |
//! | compare the loss with the best subspace and the bound | [`Summary`], [`comparators`], [`bounds`] |
//! | find nonlinear features | [`Spec::kernel`](field@Spec::kernel), [`kernel::VectorKernel`] |
//! | learn from strings, sets, rankings or a Gram matrix | [`kernel`], [`Spec::features`] |
//! | stop and resume with identical results | [`Model::to_bytes`], [`Model::from_bytes`] |
//! | run one model or monitor per key | [`Fleet`], [`Fleet::of_monitors`] |
//! | merge models of parts of a table, or compute the parts on many machines | [`Model::merge`], [`Moments`] |
//! | monitor sensors: scores, limits, alarms, causes, change points | [`Monitor`], [`MonitorOptions`], [`Verdict`]; `examples/sensors.rs` |
//! | select learners and options by name | [`registry`], [`options`] |
//! | drive a learner one trial at a time | [`Learner`], [`trial`], [`trials`] |
//! | learn from covariance matrices, or from pairs of rows | [`Symmetric`], [`Pair`] |
//! | fit all rows at once: PCA, kernel PCA, ridge regression, pre-images | [`batch`] |
//! | use Oja's rule, GHA or APEX | [`hebbian`] |
//! | choose experts, or sets of experts | [`experts`], [`simplex`] |
//! | test on synthetic streams with known parameters | [`streams`] |
//! | limit threads or memory, or cancel a computation | [`set_threads`], [`set_max_memory`], [`cancellable`] |
//!
//! # A kernel
//!
//! ```
//! use eigenhedge::kernel::VectorKernel;
//! use eigenhedge::{Kind, Model, Spec, streams};
//!
//! let spec = Spec {
//!     kernel: Some(VectorKernel::Rbf { gamma: 0.5 }),
//!     center: None, // no running mean in feature space
//!     budget: Some(50), // features are combinations of at most 50 rows
//!     ..Spec::new(Kind::Tracking, 3)
//! };
//! let mut model = Model::new(spec, 20, 0)?;
//! for row in streams::three_subspaces(1).iter().take(200) {
//!     assert!(model.step(row)?.expected <= 1.0 + 1e-12); // features of this kernel have norm 1
//! }
//! # Ok::<(), eigenhedge::Error>(())
//! ```
//!
//! # A custom learner
//!
//! A [`trial`] calls the methods of a [`Learner`] in this order: check, choose, incur, update.
//!
//! ```
//! use eigenhedge::{Error, Learner, Loss, Random, trial};
//!
//! /// Keeps the column that had the largest energy so far. Its loss is the energy of the others.
//! #[derive(Default)]
//! struct LoudestColumn {
//!     energies: Vec<f64>,
//!     kept: usize,
//! }
//!
//! impl Learner<[f64]> for LoudestColumn {
//!     fn check(&mut self, row: &[f64]) -> Result<(), Error> {
//!         self.energies.resize(row.len(), 0.0);
//!         Ok(())
//!     }
//!     fn choose(&mut self, _: &mut Random) {
//!         let loudest = |a: &usize, b: &usize| self.energies[*a].total_cmp(&self.energies[*b]);
//!         self.kept = (0..self.energies.len()).max_by(loudest).unwrap_or(0);
//!     }
//!     fn incur(&mut self, row: &[f64]) -> Loss {
//!         let lost = row.iter().enumerate().filter(|(j, _)| *j != self.kept).map(|(_, x)| x * x).sum();
//!         Loss { expected: lost, realised: lost } // nothing was drawn
//!     }
//!     fn update(&mut self, row: &[f64]) {
//!         self.energies.iter_mut().zip(row).for_each(|(energy, x)| *energy += x * x);
//!     }
//! }
//!
//! let mut learner = LoudestColumn::default();
//! let mut random = Random::seeded(0);
//! let first = trial(&mut learner, &[3.0, 1.0][..], &mut random)?;
//! let second = trial(&mut learner, &[3.0, 1.0][..], &mut random)?;
//! assert_eq!((first.expected, second.expected), (9.0, 1.0));
//! # Ok::<(), Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod batch;
pub mod bounds;
mod cancel;
mod columns;
pub mod comparators;
mod error;
pub mod experts;
mod fleet;
pub mod hebbian;
mod impute;
pub mod kernel;
mod learner;
mod linalg;
mod memory;
mod mixing;
mod model;
mod moments;
mod monitor;
mod num;
#[allow(missing_docs)]
mod portfolio;
mod random;
mod recent_median;
pub mod registry;
mod row;
mod saved;
mod scratch;
pub mod simplex;
mod span;
mod standardize;
mod state;
pub mod streams;
mod subspace;
mod threads;

pub use cancel::cancellable;
pub use columns::Columns;
pub use error::{Error, StoreError};
pub use fleet::{Fleet, FleetIndex, FleetMember, Store, checked_bytes};
pub use learner::{Learner, Loss, Upcoming, trial, trials};
pub use linalg::Matrix;
pub use memory::set_max_memory;
pub use mixing::Mixing;
pub use model::{AnyLearner, Certificate, Embedding, Filled, LinearMap, Member, Model, ShiftingBound, Summary, Totals};
pub use moments::{Moments, Principal};
pub use monitor::{
    Cause, Change, Choose, Event, Incident, Kept, Limit, MONITOR_OPTIONS, Mode, Monitor, MonitorOption, MonitorOptions,
    MonitorTotals, POOL_PARTS, Rebaseline, Sign, State, Verdict, grade,
};
pub use random::Random;
pub use registry::{FeatureLearner, KernelLearner, Kind, Missing, PlainLearner, Spec, options};
pub use saved::{Refusal, SavedKind};
pub use standardize::{Standardize, Standardizer};
pub use subspace::{Average, Instance, NormBound, Pair, PairGain, RunningCenter, Subspace, Symmetric};
pub use threads::{set_threads, threads};

/// Internal items for the tests, benchmarks, figures and Python package of this project. They change without notice.
#[doc(hidden)]
pub mod internals {
    pub use crate::hebbian::weights::Weights;
    pub use crate::linalg::symmetric_eigen;
    pub use crate::memory::{check_numbers, product};
    pub use crate::model::{Reason, bound_holds};
    pub use crate::num::dot;
    pub use crate::portfolio::{Portfolio, Trust, auto};
    pub use crate::simplex::cap::{CapScratch, Complement, cap};
    pub use crate::simplex::sample::{DrawScratch, draw};
    pub use crate::span::{Ambient, Feature, Span};
    pub use crate::subspace::AnyRule;
}

/// Runs the examples of the README as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the examples of a page of the book as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/rust.md")]
struct RustPage;
