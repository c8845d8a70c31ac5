//! Symmetric eigensystems under signed rank-one updates.

mod cauchy_columns;
mod cauchy_product;
mod dense;
mod factor;
mod largest_pairs;
mod root;
mod secular;
mod secular_batch;
mod secular_simd;

pub(crate) use dense::symmetric_eigenvalues;
pub use dense::{Eigen, symmetric_eigen};
pub(crate) use factor::{Factor, FactorScratch};
pub(crate) use largest_pairs::{largest_pairs, largest_sum, orthonormal_to, separate_pairs, top};
