//! Online PCA with guarantees.
//!
//! Rows arrive one at a time. Before each row the learner commits to a k-dimensional subspace, is charged
//! for what that subspace loses, and then learns. It never bets on one subspace: it keeps a probability
//! over all of them, as a *spectrum* (how surely is each direction dropped) over a *span* (the directions).
#![forbid(unsafe_code)]

pub mod batch;
pub mod bounds;
mod cancel;
pub mod comparators;
pub mod error;
pub mod experts;
pub mod hebbian;
pub mod kernel;
pub mod learner;
pub mod linalg;
pub mod memory;
pub mod mixing;
pub mod num;
pub mod portfolio;
pub mod random;
pub mod registry;
mod row;
pub mod run;
mod scratch;
pub mod simplex;
pub mod snapshot;
pub mod span;
mod state;
pub mod streams;
pub mod subspace;
mod threads;

pub use cancel::cancellable;
pub use error::Error;
pub use learner::{Learner, Loss, Upcoming, trial, trials};
pub use mixing::Mixing;
pub use random::Random;
pub use registry::{KernelLearner, Kind, PlainLearner, Spec, options};
pub use run::{Comparators, Run, RunSummary};
pub use subspace::{Instance, NormBound};
pub use threads::{set_threads, threads};

/// The examples of the README, so that they are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
