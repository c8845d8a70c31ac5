//! Linear algebra: storage, products, eigensystems and their rank-one updates, polar decompositions.

pub(crate) mod checks;
mod eigen;
mod matrix;
mod polar;
mod small_product;
mod sparse;

pub use eigen::{Eigen, symmetric_eigen};
pub(crate) use eigen::{
    Factor, FactorScratch, largest_pairs, largest_sum, largest_value, orthonormal_to, reduced_pairs, separate_pairs,
    symmetric_eigenvalues, top,
};
pub use matrix::Matrix;
pub(crate) use matrix::{
    Incoming, Intake, WINDOW, add_lower_square, add_product, lower_square, multiplied, multiply, symmetric_times,
};
pub(crate) use polar::Polar;
pub(crate) use small_product::multiply_small;
pub(crate) use sparse::{CANCELLED, Cells, Combinations, STREAK, add_multiple, filled_cells};
