//! Batch methods, which see all points at once: PCA, kernel PCA, kernel ridge regression with Gaussian-process
//! variances, kernel means, a two-sample test, and pre-images. Kernel methods take an empty [`Dictionary`], which
//! provides the kernel, and points of any type that the kernel accepts. A fitted model owns its dictionary.
//!
//! ```
//! use eigenhedge::batch::{Center, Pca};
//!
//! let rows = [[1.0, 1.0], [2.0, 2.1], [3.0, 2.9], [4.0, 4.2]].map(Vec::from);
//! let pca = Pca::fit(&rows, 1, Center::Mean)?;
//! assert!(pca.explained_ratio()[0] > 0.99);
//! # Ok::<(), eigenhedge::Error>(())
//! ```

mod cholesky;
mod discrepancy;
mod gram;
mod kernel_pca;
mod pca;
pub mod preimage;
mod ridge;

pub use cholesky::PivotedCholesky;
pub use discrepancy::{Discrepancy, TwoSampleTest, discrepancy, two_sample_test};
pub use kernel_pca::{KernelPca, Solver};
pub use pca::Pca;
pub use ridge::{KernelRidge, Posterior};

pub use gram::Expansion;
pub(crate) use gram::{center as center_gram, gram};
pub(crate) use pca::{of_factor, of_scatter};
pub use preimage::Differentiable;

use crate::error::{Error, require};
use crate::kernel::Dictionary;
use crate::linalg::Matrix;
use crate::state::{energy, within};
use serde::{Deserialize, Serialize};

/// Point that is subtracted before the analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Center {
    /// The origin: nothing is subtracted.
    None,
    /// The mean of the points.
    Mean,
}

fn check_kept(kept: usize, most: usize, rule: &'static str) -> Result<(), Error> {
    require((1..=most).contains(&kept), "k", rule, kept as f64).map(drop)
}

/// Largest norm of an atom's contribution to a component in a deserialized model, and weight of an atom in a mean.
const LARGEST_PART: f64 = 1e12;

/// Checks the coefficients of unit vectors over the atoms. Returns a generous bound on their products with a mean of
/// atoms.
fn check_parts<D: Dictionary>(dictionary: &D, coefficients: &Matrix) -> Result<f64, Error> {
    let mut largest = 0f64;
    for atom in 0..dictionary.len() {
        let square = dictionary.value(dictionary.atom(atom), dictionary.atom(atom));
        energy("the kernel of an atom with itself", square)?;
        largest = largest.max(square.sqrt());
        for j in 0..coefficients.columns() {
            let part = coefficients.column(j)[atom] * square.sqrt();
            within("a part of a component", part, -LARGEST_PART..=LARGEST_PART)?;
            energy("a coefficient of a component", coefficients.column(j)[atom].abs())?;
        }
    }
    Ok(LARGEST_PART * largest)
}

/// Negates the column if its entry of largest absolute value is negative, and returns the sign. Results are then
/// independent of the algorithm.
pub(crate) fn fix_sign(column: &mut [f64]) -> f64 {
    let largest = column.iter().fold(0f64, |best, x| if x.abs() > best.abs() { *x } else { best });
    if largest < 0.0 {
        column.iter_mut().for_each(|x| *x = -*x);
        return -1.0;
    }
    1.0
}

fn shares(eigenvalues: &[f64], total: f64) -> Vec<f64> {
    eigenvalues.iter().map(|value| if total > 0.0 { value / total } else { 0.0 }).collect()
}
