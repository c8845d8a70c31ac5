//! Implementation of the commands. A file contains one command or a few related ones.

mod batch;
mod compare;
mod demo;
mod make;
mod merge;
mod model;
mod monitor;
mod pair;
mod reproduce;
mod run;
mod scree;
#[cfg(feature = "serve")]
mod serve;
mod session;

pub use batch::{kernel_pca, kernel_ridge, mmd, pca, preimage};
pub use compare::compare;
pub use demo::demo;
pub use make::make;
pub use merge::merge;
pub use model::{export, inspect, reconstruct, transform};
pub use monitor::{Alarmed, monitor};
pub use pair::{experts, pair};
pub use reproduce::reproduce;
pub use run::run;
pub use scree::scree;
#[cfg(feature = "serve")]
pub use serve::serve;
