//! Checks that a deserialized factor is an orthogonal matrix.

use super::{DirectionSource, Factor, FactorScratch, secular_simd};
use crate::error::Error;
use crate::linalg::checks::DRIFT;
use crate::num::dot;
use crate::state::{LARGEST, ensure, list, within};

impl Factor {
    pub(crate) fn check_state(&self) -> Result<(), Error> {
        self.check_places()?;
        let full = self.active.len().next_multiple_of(secular_simd::LANES);
        for numbers in [&self.poles, &self.weights, &self.origins, &self.offsets, &self.scales] {
            list("numbers of a change", numbers, full, -LARGEST..=LARGEST)?;
        }
        self.check_norms()?;
        self.check_isometry()
    }

    fn check_places(&self) -> Result<(), Error> {
        let sentence = "a change must lead from all directions to all directions";
        for rotation in &self.rotations {
            let places = rotation.deflated.max(rotation.kept) < self.size && rotation.deflated != rotation.kept;
            ensure(places, sentence)?;
            let square = rotation.cos * rotation.cos + rotation.sin * rotation.sin;
            within("the squared length of a rotation", square, 1.0 - DRIFT..=1.0 + DRIFT)?;
        }
        // Each input is either active or passed through, exactly once.
        let (mut inputs, mut roots) = (self.active.clone(), Vec::new());
        self.order.iter().for_each(|source| match source {
            DirectionSource::Input(j) => inputs.push(*j),
            DirectionSource::Root(i) => roots.push(*i),
        });
        inputs.sort_unstable();
        roots.sort_unstable();
        ensure(inputs.into_iter().eq(0..self.size) && roots.into_iter().eq(0..self.active.len()), sentence)
    }

    fn check_norms(&self) -> Result<(), Error> {
        for i in 0..self.active.len() {
            let entry = |(pole, weight): (&f64, &f64)| {
                let distance = (pole - self.origins[i]) - self.offsets[i];
                self.scales[i] * weight / distance
            };
            let square: f64 = self.poles.iter().zip(&self.weights).map(entry).map(|x| x * x).sum();
            within("the squared length of an eigenvector", square, 1.0 - DRIFT..=1.0 + DRIFT)?;
        }
        Ok(())
    }

    fn check_isometry(&self) -> Result<(), Error> {
        let probe: Vec<f64> = (1..=self.size).map(|i| (i as f64 * 0.754_877_666_246_692_8).fract() - 0.3).collect();
        let mut image = vec![0.0; self.size];
        self.apply_transpose(&probe, &mut image, &mut FactorScratch::default());
        let (before, after) = (dot(&probe, &probe), dot(&image, &image));
        within("the length of a vector after a change", after, before * (1.0 - DRIFT)..=before * (1.0 + DRIFT))
    }
}
