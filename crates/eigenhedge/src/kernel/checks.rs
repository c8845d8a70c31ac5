//! Checks of kernel values.

use crate::error::Error;
use pulp::{Arch, Simd, WithSimd};

/// Returns `Err` if a kernel value is not finite or the kernel of the point with itself is negative.
pub(super) fn check_values(itself: f64, row: &[f64]) -> Result<(), Error> {
    if !(itself >= 0.0 && itself.is_finite()) {
        return Err(Error::KernelValue { atom: None, rule: "finite and not negative", value: itself });
    }
    if all_finite(row) {
        return Ok(());
    }
    match row.iter().position(|value| !value.is_finite()) {
        Some(atom) => Err(Error::KernelValue { atom: Some(atom), rule: "finite", value: row[atom] }),
        None => Ok(()),
    }
}

fn all_finite(values: &[f64]) -> bool {
    Arch::new().dispatch(AllFinite(values))
}

struct AllFinite<'a>(&'a [f64]);

impl WithSimd for AllFinite<'_> {
    type Output = bool;
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        // Without an early exit the loop vectorizes.
        self.0.iter().fold(true, |finite, value| finite & value.is_finite())
    }
}
