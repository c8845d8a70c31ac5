//! Symmetric eigensystems under signed rank-one updates.

mod cauchy_columns;
mod cauchy_product;
mod dense;
mod factor;
mod largest_pairs;
mod orthonormal;
mod root;
mod secular;
mod secular_batch;
mod secular_simd;
mod tridiagonal;

pub(crate) use dense::symmetric_eigenvalues;
pub use dense::{Eigen, symmetric_eigen};
pub(crate) use factor::{Factor, FactorScratch};
pub(crate) use largest_pairs::{largest_pairs, largest_sum, separate_pairs, top};
pub(crate) use orthonormal::orthonormal_to;
pub(crate) use tridiagonal::{largest_value, reduced_pairs};
