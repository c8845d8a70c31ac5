//! Orthogonalization of a vector, repeated until it is accurate.

use crate::linalg::Matrix;
use crate::num::dot;

/// Smallest share of a direction's length that must remain after the basis is projected out, to exceed rounding.
const DEPENDENT: f64 = 1e-8;

/// Makes a vector orthogonal to the columns and normalizes it. Returns false if it lies in their span.
pub(crate) fn orthonormal_to(columns: &Matrix, vector: &mut [f64]) -> bool {
    let mut overlaps = Vec::new();
    let mut whole = dot(vector, vector).sqrt();
    let first = whole;
    // Two passes are enough unless nearly everything cancels. In that case the vector is rejected before a fourth pass.
    for _ in 0..4 {
        columns.transpose_times(vector, &mut overlaps);
        let left = columns.subtract_times(&overlaps, vector).sqrt();
        if !(left > DEPENDENT * first) {
            return false;
        }
        let done = left > 0.5 * whole;
        whole = left;
        if done {
            vector.iter_mut().for_each(|x| *x /= left);
            return true;
        }
    }
    false
}
