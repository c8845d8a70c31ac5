//! Kernel given as a Gram matrix.

use super::Kernel;
use crate::error::Error;
use crate::linalg::Matrix;
use crate::simplex::Multiplicity;
use crate::state::length;
use serde::{Deserialize, Serialize};

/// Kernel given by its Gram matrix. Points are indices into the matrix, which must be square, finite and symmetric,
/// without negative diagonal entries. Eigenvalues are not checked, so [`Kernel::positive_definite`] returns false.
///
/// ```
/// use eigenhedge::kernel::{Dictionary, Items, Precomputed};
///
/// let mut atoms: Items<_, usize> = Items::new(Precomputed::from_rows(&[[2.0, 0.5], [0.5, 1.0]])?);
/// atoms.push(&0);
/// let mut row = Vec::new();
/// assert_eq!((atoms.row(&1, &mut row)?, row[0]), (1.0, 0.5));
/// assert!(atoms.row(&2, &mut row).is_err());
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Matrix")]
pub struct Precomputed(Matrix);

const ASYMMETRY: f64 = 1e-6;

impl Precomputed {
    /// Creates a kernel from a Gram matrix. Mirrored entries that are equal up to rounding become their mean.
    pub fn new(mut gram: Matrix) -> Result<Self, Error> {
        let size = gram.rows();
        length("row of the Gram matrix", gram.columns(), size)?;
        for i in 0..size {
            for j in 0..=i {
                check_finite(&gram, i, j)?;
                check_finite(&gram, j, i)?;
            }
            let value = gram.column(i)[i];
            if value < 0.0 {
                return Err(entry(i, i, "not negative", value));
            }
            for j in 0..i {
                let (lower, upper) = (gram.column(j)[i], gram.column(i)[j]);
                let size = gram.column(i)[i].sqrt() * gram.column(j)[j].sqrt();
                if !((lower - upper).abs() <= ASYMMETRY * size) {
                    return Err(entry(i, j, "equal to its mirror image across the diagonal", lower));
                }
                let mean = lower / 2.0 + upper / 2.0;
                gram.column_mut(j)[i] = mean;
                gram.column_mut(i)[j] = mean;
            }
        }
        Ok(Self(gram))
    }

    /// Creates a kernel from the rows of a Gram matrix, with the checks of [`Self::new`].
    pub fn from_rows(rows: &[impl AsRef<[f64]>]) -> Result<Self, Error> {
        let size = rows.len();
        let mut gram = Matrix::zeros(size, size);
        for (i, row) in rows.iter().map(AsRef::as_ref).enumerate() {
            length("row of the Gram matrix", row.len(), size)?;
            for (j, value) in row.iter().enumerate() {
                gram.column_mut(j)[i] = *value;
            }
        }
        Self::new(gram)
    }

    /// Returns the number of points.
    pub fn size(&self) -> usize {
        self.0.rows()
    }
}

impl TryFrom<Matrix> for Precomputed {
    type Error = Error;

    fn try_from(gram: Matrix) -> Result<Self, Error> {
        Self::new(gram)
    }
}

impl Kernel<usize> for Precomputed {
    fn value(&self, a: &usize, b: &usize) -> f64 {
        self.0.column(*b)[*a]
    }

    fn dimension(&self) -> Multiplicity {
        Multiplicity::Finite(self.size() as u64)
    }

    fn positive_definite(&self) -> bool {
        false
    }

    fn check(&self, point: &usize) -> Result<(), Error> {
        if *point < self.size() { Ok(()) } else { Err(Error::Index { index: *point, size: self.size() }) }
    }
}

fn check_finite(gram: &Matrix, row: usize, column: usize) -> Result<(), Error> {
    let value = gram.column(column)[row];
    if value.is_finite() { Ok(()) } else { Err(entry(row, column, "finite", value)) }
}

fn entry(row: usize, column: usize, rule: &'static str, value: f64) -> Error {
    Error::MatrixEntry { what: "Gram matrix", row, column, rule, value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Dictionary, Items};

    fn refusal(rows: &[[f64; 2]]) -> String {
        Precomputed::from_rows(rows).unwrap_err().to_string()
    }

    #[test]
    fn bad_matrices_are_refused_with_the_entry() {
        assert_eq!(refusal(&[[1.0, 0.0]]), "row of the Gram matrix must have 1 entries, got 2");
        assert_eq!(refusal(&[[1.0, f64::NAN], [0.0, 1.0]]), "entry (0, 1) of the Gram matrix must be finite, got NaN");
        assert_eq!(refusal(&[[1.0, 0.0], [0.0, -2.0]]), "entry (1, 1) of the Gram matrix must be not negative, got -2");
        assert_eq!(
            refusal(&[[1.0, 0.5], [0.25, 1.0]]),
            "entry (1, 0) of the Gram matrix must be equal to its mirror image across the diagonal, got 0.25"
        );
    }

    #[test]
    fn an_index_out_of_range_is_refused() {
        let mut atoms: Items<_, usize> = Items::new(Precomputed::from_rows(&[[1.0]]).unwrap());
        let message = atoms.row(&1, &mut Vec::new()).unwrap_err().to_string();
        assert_eq!(message, "the index must be less than 1, got 1");
    }

    #[test]
    fn a_saved_matrix_is_checked() {
        let gram = Precomputed::from_rows(&[[2.0, 0.5], [0.5, 1.0]]).unwrap();
        let text = serde_json::to_string(&gram).unwrap();
        assert_eq!(serde_json::from_str::<Precomputed>(&text).unwrap(), gram);
        assert!(serde_json::from_str::<Precomputed>(&text.replace("2.0", "-2.0")).is_err());
    }
}
