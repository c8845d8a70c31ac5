//! Symmetric eigensystems that change by signed rank-one terms.

mod cauchy_columns;
mod cauchy_product;
mod dense;
mod factor;
mod secular;
mod secular_batch;
mod secular_simd;

pub use dense::{Eigen, symmetric_eigen, symmetric_eigenvalues};
pub use factor::{Factor, FactorScratch};
