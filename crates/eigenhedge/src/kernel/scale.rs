//! Choice of the kernel parameter γ from the rows, and advice about an unsuitable γ.
//! Most kernels are functions of `γ m` of a measure m of two rows. With a kernel of distances, the kernel matrix is
//! nearly the identity if `γ m` is large for most pairs, and nearly constant if it is small. γ is one over the median
//! of the positive measures of all pairs of the first [`MOST`] rows without missing cells, or of each row with itself
//! for inner products. The kernel values then do not depend on the unit of the rows.
//! Reference: Gretton, Borgwardt, Rasch, Schölkopf and Smola, *A kernel two-sample test*, 2012, section 8.

use super::measures::Measure;
use super::{KernelParameters, VectorKernel};

const MOST: usize = 200;
/// Rows count as unrelated if the kernel value at their median distance is below this number.
const STRANGERS: f64 = 0.01;
const ALIKE: f64 = 0.999;

impl KernelParameters {
    /// Sets γ from the rows if it is `None` and the kernel with this name depends on it. A Matérn kernel with a given
    /// length scale does not depend on γ. γ stays `None` if no distance or norm of the rows is positive and finite.
    ///
    /// ```
    /// use eigenhedge::kernel::KernelParameters;
    ///
    /// let rows = [[1000.0, 0.0], [1300.0, 400.0], [1000.0, 0.0]];
    /// let parameters = KernelParameters::default().for_rows("rbf", &rows);
    /// assert_eq!(parameters.gamma, Some(1.0 / 250_000.0));
    /// ```
    #[must_use]
    pub fn for_rows<R: AsRef<[f64]>>(self, name: &str, rows: &[R]) -> Self {
        let kernel = VectorKernel::from_name(name, &Self { gamma: Some(1.0), ..self }, 1);
        let depends = kernel != VectorKernel::from_name(name, &Self { gamma: Some(2.0), ..self }, 1);
        match kernel.and_then(|kernel| kernel.measure()) {
            Some(measure) if self.gamma.is_none() && depends => {
                let gamma = median(measured(measure, rows)).map(f64::recip);
                Self { gamma: gamma.filter(|gamma| gamma.is_normal()), ..self }
            }
            _ => self,
        }
    }
}

impl VectorKernel {
    /// Returns advice if the kernel matrix of the first rows is nearly the identity or nearly constant.
    pub fn advice<R: AsRef<[f64]>>(&self, rows: &[R]) -> Option<&'static str> {
        let of_distances = [Measure::SquaredDistance, Measure::AbsoluteDistance, Measure::Discordance];
        let measure = self.measure().filter(|measure| of_distances.contains(measure))?;
        if matches!(self, Self::Kendall { .. }) {
            return None;
        }
        let distance = median(measured(measure, rows))?;
        match self.of_measures(&|_| distance) {
            value if value < STRANGERS => {
                Some("the kernel matrix is nearly the identity: most rows have nothing in common; try a smaller gamma")
            }
            value if value > ALIKE => {
                Some("the kernel matrix is nearly constant: most rows look alike; try a larger gamma")
            }
            _ => None,
        }
    }
}

fn measured<R: AsRef<[f64]>>(measure: Measure, rows: &[R]) -> Vec<f64> {
    let complete = rows.iter().map(AsRef::as_ref).filter(|row| row.iter().all(|x| x.is_finite()));
    let rows: Vec<&[f64]> = complete.take(MOST).collect();
    let mut values = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        match measure {
            Measure::Product | Measure::Cosine => values.push(Measure::Product.of(row, row)),
            _ => values.extend(rows[..i].iter().filter(|other| other.len() == row.len()).map(|o| measure.of(o, row))),
        }
    }
    values.retain(|value| *value > 0.0 && value.is_finite());
    values
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::super::KERNELS;
    use super::*;
    use crate::Random;

    fn rows(level: f64, spread: f64) -> Vec<Vec<f64>> {
        let mut random = Random::seeded(5);
        (0..60).map(|_| (0..4).map(|_| level + spread * random.normal()).collect()).collect()
    }

    #[test]
    fn with_gamma_of_the_rows_a_kernel_does_not_depend_on_their_unit() {
        for entry in KERNELS.iter().filter(|entry| entry.reads.contains(&"gamma")) {
            let value = |unit: f64| {
                let rows = rows(5.0 * unit, unit);
                let kernel = KernelParameters::default().for_rows(entry.name, &rows);
                let kernel = VectorKernel::from_name(entry.name, &kernel, 4).unwrap();
                assert_eq!(kernel.advice(&rows), None, "{}", entry.name);
                kernel.value(&rows[0], &rows[1])
            };
            let (one, thousand) = (value(1.0), value(1024.0));
            assert!((one - thousand).abs() < 1e-12 * one.abs(), "{}: {one} against {thousand}", entry.name);
        }
    }

    #[test]
    fn a_given_scale_is_kept_and_other_kernels_read_none() {
        let given = KernelParameters { gamma: Some(0.3), ..Default::default() };
        let long = KernelParameters { length_scale: Some(0.3), ..Default::default() };
        let rows = rows(0.0, 100.0);
        for entry in KERNELS {
            assert_eq!(given.for_rows(entry.name, &rows), given);
            let read = KernelParameters::default().for_rows(entry.name, &rows).gamma.is_some();
            assert_eq!(read, entry.reads.contains(&"gamma"), "{}", entry.name);
        }
        assert_eq!(long.for_rows("matern32", &rows), long);
        assert_eq!(KernelParameters::default().for_rows("rbf", &rows[..1]).gamma, None);
    }

    #[test]
    fn strangers_and_equals_are_named() {
        for (gamma, word) in [(100.0, "identity"), (1e-6, "constant")] {
            let advice = VectorKernel::Rbf { gamma }.advice(&rows(0.0, 1.0));
            assert!(advice.is_some_and(|advice| advice.contains(word)), "{gamma}: {advice:?}");
        }
        assert_eq!(VectorKernel::Rbf { gamma: 0.2 }.advice(&rows(0.0, 1.0)), None);
        assert_eq!(VectorKernel::Linear.advice(&rows(1e6, 1.0)), None);
    }
}
