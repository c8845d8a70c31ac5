//! The registry of learners: their names, properties and constructors.
//!
//! ```
//! use eigenhedge::Kind;
//! use eigenhedge::registry::REGISTRY;
//!
//! assert!(REGISTRY.iter().any(|entry| entry.name == "tracking" && entry.kind == Kind::Tracking));
//! assert_eq!("auto".parse(), Ok(Kind::Auto));
//! ```

pub mod defaults;
mod experts;
mod learners;
pub mod options;
mod spec;

pub use crate::experts::{ExpertKind, ExpertSpec, Experts};
pub use learners::{Entry, Family, Kind, REGISTRY};
pub use spec::{FeatureLearner, KernelLearner, Missing, PlainLearner, Spec};
