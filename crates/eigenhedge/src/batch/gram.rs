//! Kernel matrix of a set of points.

use crate::cancel;
use crate::error::{Error, at_least_one, every, not_negative};
use crate::kernel::Dictionary;
use crate::linalg::Matrix;
use std::borrow::Borrow;

/// Returns an error if there are no points or the dictionary is not empty.
pub(super) fn check_fresh<D: Dictionary>(dictionary: &D, points: usize) -> Result<(), Error> {
    at_least_one("the number of points", points)?;
    if !dictionary.is_empty() {
        let value = dictionary.len() as f64;
        return Err(Error::Parameter { name: "the number of atoms before fitting", rule: "0", value });
    }
    Ok(())
}

/// Returns an error if `k(x, x)` underflows to zero for all points although some point is not zero.
pub(super) fn check_trace<D, P>(dictionary: &D, points: &[P], trace: f64) -> Result<(), Error>
where
    D: Dictionary,
    P: Borrow<D::Point>,
{
    if trace >= f64::MIN_POSITIVE {
        return Ok(());
    }
    let largest = points.iter().map(|point| dictionary.largest_entry(point.borrow())).fold(0f64, f64::max);
    if largest > 0.0 { Err(Error::Underflow { largest }) } else { Ok(()) }
}

/// Computes the kernel row of a point and checks its values. Returns `k(x, x)`.
pub(super) fn checked_row<D: Dictionary>(
    dictionary: &mut D,
    point: &D::Point,
    row: &mut Vec<f64>,
) -> Result<f64, Error> {
    cancel::check()?;
    let own = not_negative("k(x, x)", dictionary.row(point, row)?)?;
    every("kernel row", row, "finite", f64::is_finite)?;
    Ok(own)
}

/// Adds every point to the dictionary and returns the kernel matrix, with both triangles. Each pair is evaluated once.
/// The row of a point is computed and checked before the point becomes an atom, so an invalid point is never added.
pub(crate) fn gram<D, P>(dictionary: &mut D, points: &[P]) -> Result<Matrix, Error>
where
    D: Dictionary,
    P: Borrow<D::Point>,
{
    check_fresh(dictionary, points.len())?;
    let mut gram = Matrix::zeros(points.len(), points.len());
    let mut row = Vec::new();
    for (i, point) in points.iter().enumerate() {
        let own = checked_row(dictionary, point.borrow(), &mut row).map_err(|error| error.at(i))?;
        let column = gram.column_mut(i);
        column[..i].copy_from_slice(&row);
        column[i] = own;
        dictionary.push(point.borrow());
    }
    check_trace(dictionary, points, trace(&gram))?;
    for j in 1..points.len() {
        for i in 0..j {
            let value = gram.column(j)[i];
            gram.column_mut(i)[j] = value;
        }
    }
    Ok(gram)
}

/// Returns the sum of the diagonal.
pub(super) fn trace(matrix: &Matrix) -> f64 {
    (0..matrix.columns()).map(|i| matrix.column(i)[i]).sum()
}

/// Computes `K ← (I - 11ᵀ/t) K (I - 11ᵀ/t)`. Returns the means of the original rows, `<φ(x_i), μ>`.
pub(crate) fn center(gram: &mut Matrix) -> Vec<f64> {
    let t = gram.columns() as f64;
    let means: Vec<f64> = (0..gram.columns()).map(|j| gram.column(j).iter().sum::<f64>() / t).collect();
    let whole = means.iter().sum::<f64>() / t;
    for (j, own) in means.iter().enumerate() {
        gram.column_mut(j).iter_mut().zip(&means).for_each(|(value, mean)| *value = *value - mean - own + whole);
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{VectorKernel, Vectors};

    #[test]
    fn centered_kernel_matrix_is_the_kernel_matrix_of_centered_rows() {
        let rows = [vec![1.0, 2.0], vec![-3.0, 0.5], vec![4.0, 1.0], vec![0.0, 7.0]];
        let mut kernel = gram(&mut Vectors::new(VectorKernel::Linear, 2).unwrap(), &rows).unwrap();
        center(&mut kernel);
        let mean = [0.5, 2.625];
        for (j, a) in rows.iter().enumerate() {
            for (i, b) in rows.iter().enumerate() {
                let product = (a[0] - mean[0]) * (b[0] - mean[0]) + (a[1] - mean[1]) * (b[1] - mean[1]);
                assert!((kernel.column(j)[i] - product).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn the_bad_point_is_named() {
        let rows = [vec![1.0, 2.0], vec![f64::NAN, 0.5]];
        let error = gram(&mut Vectors::new(VectorKernel::Linear, 2).unwrap(), &rows).unwrap_err();
        assert_eq!(error.to_string(), "point 1: entry 0 of the row must be finite, got NaN");
        let none: [Vec<f64>; 0] = [];
        let error = gram(&mut Vectors::new(VectorKernel::Linear, 2).unwrap(), &none).unwrap_err();
        assert_eq!(error.to_string(), "the number of points must be at least 1, got 0");
    }
}
