//! Symmetric eigensystems that change by signed rank-one terms.

mod dense;
mod factor;
mod lanes;
mod secular;

pub use dense::{Eigen, symmetric_eigen, symmetric_eigenvalues};
pub use factor::{Factor, FactorScratch};
