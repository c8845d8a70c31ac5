//! Checks that a deserialized factor is an orthogonal matrix.

use super::{Factor, FactorScratch, Source, secular_simd};
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
        ensure(self.order.len() == self.size && self.active.len() <= self.size, sentence)?;
        let (mut inputs, mut roots) = (vec![false; self.size], vec![false; self.active.len()]);
        let passed = self.order.iter().filter_map(|source| match source {
            Source::Input(j) => Some(*j),
            Source::Root(_) => None,
        });
        for j in self.active.iter().copied().chain(passed) {
            ensure(inputs.get(j) == Some(&false), sentence)?;
            inputs[j] = true;
        }
        for source in &self.order {
            if let Source::Root(i) = source {
                ensure(roots.get(*i) == Some(&false), sentence)?;
                roots[*i] = true;
            }
        }
        ensure(inputs.into_iter().chain(roots).all(|there| there), sentence)
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
