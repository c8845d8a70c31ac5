//! Symmetric eigenproblems: full decompositions, largest eigenpairs, and signed rank-one updates of eigensystems.

mod dense;
mod factor;
mod largest_pairs;
mod secular;
mod secular_simd;
mod tridiagonal;

pub use dense::{Eigen, symmetric_eigen};
pub(crate) use dense::{orthonormal_to, symmetric_eigenvalues};
pub(crate) use factor::{Factor, FactorScratch};
pub(crate) use largest_pairs::{largest_pairs, largest_sum, separate_pairs, top};
pub(crate) use tridiagonal::{largest_value, reduced_pairs};
