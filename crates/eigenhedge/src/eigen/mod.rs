//! Symmetric eigensystems that change by signed rank-one terms.

mod columns;
mod dense;
mod factor;
mod lanes;
mod secular;
mod together;
mod turn;

pub use dense::{Eigen, symmetric_eigen, symmetric_eigenvalues};
pub use factor::{Factor, FactorScratch};
