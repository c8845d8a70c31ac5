//! The account of a run: what was lost, what the best in hindsight would have lost, what was promised.
//!
//! - [`Ledger`]: what was lost.
//! - [`BestSubspace`]: what the best fixed subspace would have lost, exactly; [`Sketch`]: between two numbers, for long
//!   rows; [`Hindsight`]: whichever fits, with a [`Best`] for an answer.
//! - [`partition`]: what the best subspaces for stretches of the stream would have lost.
//! - [`bounds`]: the theorems; [`promise`]: which of them covers a learner; [`Verdict`]: whether the promise was kept.

mod best;
pub mod bounds;
mod comparator;
mod features;
mod ledger;
mod pairs;
pub mod partition;
mod promise;
mod sketch;
mod verdict;

pub use best::{Best, Hindsight};
pub use bounds::{Setting, uncentered};
pub use comparator::BestSubspace;
pub use features::FeatureRows;
pub use ledger::Ledger;
pub use pairs::BestPair;
pub use partition::{Blocks, Partition};
pub use promise::{Facts, Promise, promise};
pub use sketch::Sketch;
pub use verdict::{Reason, Verdict};
