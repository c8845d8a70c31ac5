//! The account of a run: what was lost, what the best in hindsight would have lost, what was promised.

mod bounds;
mod comparator;
mod ledger;
mod pairs;

pub use bounds::uncentered;
pub use comparator::BestSubspace;
pub use ledger::Ledger;
pub use pairs::BestPair;
