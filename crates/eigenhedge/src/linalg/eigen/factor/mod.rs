//! Eigensystem of `diag(d) + σ z zᵀ`, stored as an orthogonal factor that is multiplied out only on request.
//! Setting: eigenvalues `d` of u directions, the coordinates `z` of a new row in the eigenvectors, and a factor `σ` of
//! either sign.
//! Update: a direction whose entry of `z` is at rounding level is deflated. Of two directions with nearly equal `d`,
//! one is deflated after a rotation that makes its entry of `z` vanish. The secular equation is solved for the others,
//! and `z` is recomputed from the roots. The factor is `rotations × (Cauchy matrix ⊕ identity) × permutation`, stored
//! in O(u).
//! Cost: O(u²) to solve and to apply to a vector, and O(w u²) to rotate a `w × u` matrix.
//! Numerics: with the recomputed `z` the roots are the exact eigenvalues of a nearby matrix, so the vectors are
//! orthogonal for any gaps. Deflation is relative to the entries involved, so small eigenvalues keep their accuracy,
//! for example in a spectrum from -10⁶ to 0.
//! References: Gu & Eisenstat, *A stable and efficient algorithm for the rank-one modification of the symmetric
//! eigenproblem*, SIAM J. Matrix Anal. Appl. 15 (1994); Li, LAPACK Working Note 89 (1993).

mod cauchy_columns;
mod state;

use super::secular::{Root, SecularProblem};
use super::secular_simd;
use crate::linalg::small_product::{self, SmallProduct};
use crate::linalg::{Matrix, multiply};
use crate::scratch::{refill, zero};
use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum DirectionSource {
    Root(usize),
    /// Input direction, after the rotations, that the update leaves unchanged.
    Input(usize),
}

/// Plane rotation of two input directions that makes one entry of z vanish.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Rotation {
    deflated: usize,
    kept: usize,
    cos: f64,
    sin: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    pub(crate) size: usize,
    rotations: Vec<Rotation>,
    active: Vec<usize>,
    /// Poles, padded to a multiple of the number of lanes with poles of zero weight.
    poles: Vec<f64>,
    weights: Vec<f64>,
    origins: Vec<f64>,
    offsets: Vec<f64>,
    scales: Vec<f64>,
    order: Vec<DirectionSource>,
}

#[derive(Debug, Clone, Default)]
pub struct FactorScratch {
    sorted: Vec<usize>,
    values: Vec<f64>,
    z: Vec<f64>,
    problem: SecularProblem,
    roots: Vec<Root>,
    results: Vec<(f64, DirectionSource)>,
    deflated: Vec<usize>,
    input: Vec<f64>,
    terms: Vec<f64>,
    gathered: Matrix,
    cauchy: Matrix,
    product: Matrix,
    turned: Matrix,
    kept_roots: Vec<usize>,
    places: Vec<usize>,
}

/// Value of `|σ| z_i²`, relative to the size of the problem, up to which direction i is deflated, to avoid underflow.
const NEGLIGIBLE: f64 = 1e-50;

impl Factor {
    /// Solves the eigenvalue problem of `diag(values) + sigma·z zᵀ`. The eigenvalues replace `values`, ascending for
    /// `sigma ≥ 0` and descending otherwise, and the output directions are in the same order.
    pub fn solve(&mut self, values: &mut [f64], sigma: f64, z: &[f64], scratch: &mut FactorScratch) {
        assert_eq!(values.len(), z.len(), "one coordinate for each value");
        self.size = values.len();
        let sign = if sigma < 0.0 { -1.0 } else { 1.0 };
        refill(&mut scratch.values, values.iter().map(|v| sign * v));
        z.clone_into(&mut scratch.z);
        self.deflate(sigma.abs(), scratch);
        let scale = self.find_roots(sigma.abs(), scratch);
        scratch.results.clear();
        for (i, root) in scratch.roots.iter().enumerate() {
            // The scale is a power of two, so the scaling is exact.
            scratch.results.push(((self.poles[root.origin] + root.offset) / scale, DirectionSource::Root(i)));
        }
        for &j in &scratch.deflated {
            scratch.results.push((scratch.values[j], DirectionSource::Input(j)));
        }
        scratch.results.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        self.order.clear();
        for (value, (result, source)) in values.iter_mut().zip(&scratch.results) {
            *value = sign * result;
            self.order.push(*source);
        }
    }

    fn deflate(&mut self, sigma: f64, scratch: &mut FactorScratch) {
        let FactorScratch { sorted, values, z, deflated, .. } = scratch;
        refill(sorted, 0..values.len());
        sorted.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
        self.rotations.clear();
        self.active.clear();
        deflated.clear();
        let energy: f64 = z.iter().map(|x| x * x).sum();
        // Relative to `size`, a change below NEGLIGIBLE is ignored. Its inverse could overflow.
        let size = match (sorted.first(), sorted.last()) {
            (Some(&a), Some(&b)) => (values[b] - values[a]).max(values[a].abs()).max(values[b].abs()),
            _ => 0.0,
        };
        let size = size.max(sigma * energy);
        let mut pending: Option<usize> = None;
        for &j in sorted.iter() {
            let tiny = z[j] * z[j] <= f64::EPSILON * f64::EPSILON * energy;
            if tiny || !(sigma * z[j] * z[j] > NEGLIGIBLE * size) {
                deflated.push(j);
                continue;
            }
            if let Some(p) = pending {
                let gap = values[j] - values[p];
                let near = 4.0 * f64::EPSILON * values[p].abs().max(values[j].abs()) + NEGLIGIBLE * size;
                // If neither holds, `gap·|cos·sin|` exceeds `near`, because `norm² ≤ energy`.
                let (norm, cos, sin) = if 0.5 * gap <= near || gap * (z[p] * z[j]).abs() <= near * energy {
                    let norm = z[p].hypot(z[j]);
                    (norm, z[j] / norm, z[p] / norm)
                } else {
                    (0.0, 1.0, 1.0)
                };
                if gap * (cos * sin).abs() <= near {
                    self.rotations.push(Rotation { deflated: p, kept: j, cos, sin });
                    (z[p], z[j]) = (0.0, norm);
                    // Both values move toward each other by `gap·sin²`, or they swap and move by `gap·cos²`. The
                    // smaller displacement is more precise and keeps the value of `j` above all active ones.
                    let (low, high) = (values[p], values[j]);
                    (values[p], values[j]) = if sin * sin <= 0.5 {
                        (low + gap * sin * sin, high - gap * sin * sin)
                    } else {
                        (high - gap * cos * cos, low + gap * cos * cos)
                    };
                    deflated.push(p);
                } else {
                    self.active.push(p);
                }
            }
            pending = Some(j);
        }
        self.active.extend(pending);
    }

    /// Computes the roots, z and the inverse column norms. Returns the scale factor of the poles.
    fn find_roots(&mut self, sigma: f64, scratch: &mut FactorScratch) -> f64 {
        scratch.roots.clear();
        self.poles.clear();
        let (Some(&first), Some(&last)) = (self.active.first(), self.active.last()) else {
            self.origins.clear();
            self.offsets.clear();
            self.weights.clear();
            self.scales.clear();
            return 1.0;
        };
        let (values, z) = (&scratch.values, &scratch.z);
        let energy: f64 = self.active.iter().map(|&j| sigma * z[j] * z[j]).sum();
        let size = (values[last] - values[first]).max(energy);
        // At most 2^1023, because the inverse of a subnormal size would be infinite.
        let scale = (-size.log2().floor()).min(1023.0).exp2();
        self.poles.extend(self.active.iter().map(|&j| values[j] * scale));
        scratch.problem.set(&self.poles, self.active.iter().map(|&j| (sigma * scale) * (z[j] * z[j])));
        refill(&mut self.weights, self.active.iter().map(|&j| 1f64.copysign(z[j])));
        secular_simd::fill_up(&mut self.poles);
        Arch::new().dispatch(Solve { factor: self, problem: &scratch.problem, roots: &mut scratch.roots });
        scale
    }

    /// Computes `out = Eᵀ y` for this factor E, from old to new directions.
    pub fn apply_transpose(&self, y: &[f64], out: &mut [f64], scratch: &mut FactorScratch) {
        let (input, terms) = (&mut scratch.input, &mut scratch.terms);
        y.clone_into(input);
        for r in &self.rotations {
            let (a, b) = (input[r.deflated], input[r.kept]);
            input[r.deflated] = r.cos * a - r.sin * b;
            input[r.kept] = r.sin * a + r.cos * b;
        }
        refill(terms, self.active.iter().zip(&self.weights).map(|(&j, w)| w * input[j]));
        terms.resize(self.poles.len(), 0.0);
        self.cauchy_rows(input, terms, out);
    }

    /// Computes `X ← E X` for this factor E and the first `size` rows of X, in one matrix product.
    pub fn apply_to_columns(&self, x: &mut Matrix, scratch: &mut FactorScratch) {
        let FactorScratch { gathered, cauchy, turned, kept_roots, places, input: image, .. } = scratch;
        self.place(|_| true, kept_roots, places);
        gathered.resize(places.len(), x.columns());
        turned.resize(self.active.len(), x.columns());
        if !places.is_empty() {
            for c in 0..x.columns() {
                let column = x.column(c);
                gathered.column_mut(c).iter_mut().zip(&*places).for_each(|(entry, place)| *entry = column[*place]);
            }
            self.cauchy_columns(kept_roots, cauchy);
            multiply(turned, cauchy.view().subrows(0, self.active.len()), gathered.view());
        }
        image.resize(self.order.len(), 0.0);
        for c in 0..x.columns() {
            let column = &mut x.column_mut(c)[..self.order.len()];
            for (value, source) in column.iter().zip(&self.order) {
                if let DirectionSource::Input(j) = *source {
                    image[j] = *value;
                }
            }
            self.active.iter().zip(turned.column(c)).for_each(|(j, value)| image[*j] = *value);
            self.turn_back(image);
            column.copy_from_slice(image);
        }
    }

    fn turn_back(&self, x: &mut [f64]) {
        for r in self.rotations.iter().rev() {
            let (a, b) = (x[r.deflated], x[r.kept]);
            x[r.deflated] = r.cos * a + r.sin * b;
            x[r.kept] = r.cos * b - r.sin * a;
        }
    }

    /// Computes `Q ← Q E` for this factor E. Drops the output directions for which `keep` is false.
    pub fn rotate(&self, q: &mut Matrix, keep: &[bool], scratch: &mut FactorScratch) {
        let FactorScratch { gathered, cauchy, product, turned, kept_roots, places, .. } = scratch;
        for r in &self.rotations {
            let (deflated, kept) = q.column_pair_mut(r.deflated, r.kept);
            for (a, b) in deflated.iter_mut().zip(kept) {
                (*a, *b) = (r.cos * *a - r.sin * *b, r.sin * *a + r.cos * *b);
            }
        }
        self.place(|place| keep[place], kept_roots, places);
        self.cauchy_columns(kept_roots, cauchy);
        let directions = keep.iter().filter(|keep| **keep).count();
        product.resize(q.rows(), directions);
        let outputs = self.order.iter().zip(keep).filter(|(_, keep)| **keep);
        for (out, (source, _)) in outputs.enumerate() {
            if let DirectionSource::Input(j) = source {
                product.column_mut(out).copy_from_slice(q.column(*j));
            }
        }
        if self.active.len() <= small_product::MOST {
            Arch::new().dispatch(SmallProduct { a: q, from: &self.active, b: cauchy, to: places, out: product });
        } else {
            gathered.resize(q.rows(), self.active.len());
            for (p, &j) in self.active.iter().enumerate() {
                gathered.column_mut(p).copy_from_slice(q.column(j));
            }
            multiply(turned, gathered.view(), cauchy.view().subrows(0, self.active.len()));
            for (i, &out) in places.iter().enumerate() {
                product.column_mut(out).copy_from_slice(turned.column(i));
            }
        }
        std::mem::swap(q, product);
    }

    fn place(&self, keep: impl Fn(usize) -> bool, roots: &mut Vec<usize>, places: &mut Vec<usize>) {
        roots.clear();
        places.clear();
        let kept = self.order.iter().enumerate().filter(|(place, _)| keep(*place));
        for (out, (_, source)) in kept.enumerate() {
            if let DirectionSource::Root(i) = source {
                roots.push(*i);
                places.push(out);
            }
        }
    }
}

struct Solve<'a> {
    factor: &'a mut Factor,
    problem: &'a SecularProblem,
    roots: &'a mut Vec<Root>,
}

impl WithSimd for Solve<'_> {
    type Output = ();
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { factor, problem, roots } = self;
        problem.solve(simd, roots);
        let full = factor.poles.len();
        factor.origins.clear();
        factor.offsets.clear();
        for root in roots.iter() {
            factor.origins.push(factor.poles[root.origin]);
            factor.offsets.push(root.offset);
        }
        // Padding roots are far from all poles, so the values in their lanes are finite.
        factor.origins.resize(full, factor.poles[full - 1]);
        factor.offsets.resize(full, 4.0);
        factor.weights.resize(full, 0.0);
        zero(&mut factor.scales, full);
        factor.recompute_weights(simd);
        factor.inverse_norms(simd);
    }
}

#[cfg(test)]
mod tests;
