//! Gradient descent for differentiable kernels.
//!
//! Update: `z ← z - s ∇`, where `∇` is the gradient of `k(z, z) - 2 f(z)`. The first trial value of s comes from the
//! previous change of the gradient (Barzilai and Borwein). It is halved until the objective decreases by a
//! ten-thousandth of what the slope predicts (Armijo). Near the minimum, the objective becomes constant long before the
//! gradient vanishes, so a step that changes it only by rounding is accepted if it shortens the gradient.

use super::{Preimage, Stop};
use crate::batch::Expansion;
use crate::cancel;
use crate::error::{Error, require};
use crate::kernel::{Dictionary, VectorKernel};
use crate::num::dot;
use crate::row::check_row;

const ENOUGH: f64 = 1e-4;
const HALVINGS: usize = 60;
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Finds a pre-image by gradient descent from `start`. The kernel must be that of the dictionary.
pub fn descend<K, D>(
    kernel: &K,
    dictionary: &D,
    expansion: &Expansion,
    start: &[f64],
    stop: Stop,
) -> Result<Preimage, Error>
where
    K: Differentiable,
    D: Dictionary<Point = [f64]>,
{
    expansion.check_atoms(dictionary.len())?;
    let length = if dictionary.is_empty() { start.len() } else { dictionary.atom(0).len() };
    check_row("start", start, length)?;
    let objective = Objective { kernel, dictionary, weights: &expansion.weights };
    let mut here = objective.at(start.to_vec())?;
    require(here.value.is_finite(), "k(z, z) - 2 f(z) at the start", "finite", here.value)?;
    let mut size = 1.0 / dot(&here.gradient, &here.gradient).sqrt().max(1.0);
    let (mut steps, mut converged) = (0, false);
    while steps < stop.steps && !converged {
        let Some(next) = objective.step(&here, size, stop)? else {
            converged = true;
            break;
        };
        steps += 1;
        converged = stop.reached(&here.point, &next.point);
        size = fitting_size(&here, &next, size);
        here = next;
    }
    let squared_distance = (here.value + expansion.square).max(0.0);
    Ok(Preimage { point: here.point, squared_distance, steps, converged })
}

struct Place {
    point: Vec<f64>,
    value: f64,
    terms: f64,
    gradient: Vec<f64>,
}

struct Objective<'a, K, D> {
    kernel: &'a K,
    dictionary: &'a D,
    weights: &'a [f64],
}

impl<K: Differentiable, D: Dictionary<Point = [f64]>> Objective<'_, K, D> {
    fn at(&self, point: Vec<f64>) -> Result<Place, Error> {
        cancel::check()?;
        let mut gradient = vec![0.0; point.len()];
        let mut value = self.kernel.add_gradient(&point, &point, 2.0, &mut gradient)?;
        let mut terms = value.abs();
        for (i, weight) in self.weights.iter().enumerate() {
            let scale = -2.0 * weight;
            let term = scale * self.kernel.add_gradient(self.dictionary.atom(i), &point, scale, &mut gradient)?;
            value += term;
            terms += term.abs();
        }
        Ok(Place { point, value, terms, gradient })
    }

    fn step(&self, from: &Place, mut size: f64, stop: Stop) -> Result<Option<Place>, Error> {
        let slope = dot(&from.gradient, &from.gradient);
        for _ in 0..HALVINGS {
            let point: Vec<f64> = from.point.iter().zip(&from.gradient).map(|(z, g)| z - size * g).collect();
            if stop.reached(&from.point, &point) && size * slope <= ROUNDING * from.terms {
                return Ok(None);
            }
            let to = self.at(point)?;
            let flat = (to.value - from.value).abs() <= ROUNDING * from.terms;
            let fell = to.value <= from.value - ENOUGH * size * slope;
            if fell || (flat && dot(&to.gradient, &to.gradient) < slope) {
                return Ok(Some(to));
            }
            size *= 0.5;
        }
        Ok(None)
    }
}

fn fitting_size(from: &Place, to: &Place, size: f64) -> f64 {
    let (mut moved, mut curve) = (0.0, 0.0);
    for i in 0..from.point.len() {
        let step = to.point[i] - from.point[i];
        moved += step * step;
        curve += step * (to.gradient[i] - from.gradient[i]);
    }
    let fitting = moved / curve;
    if curve > 0.0 && fitting.is_finite() && fitting > 0.0 { fitting } else { 2.0 * size }
}

/// Kernel on vectors that is differentiable in its second argument.
pub trait Differentiable {
    /// Adds `scale · ∂k(atom, z)/∂z` at `z = point` to `gradient` and returns `k(atom, point)`. The gradient of `k(z,
    /// z)` is twice that with `atom = z`. Returns `Err` if the kernel has no gradient.
    fn add_gradient(&self, atom: &[f64], point: &[f64], scale: f64, gradient: &mut [f64]) -> Result<f64, Error>;
}

impl Differentiable for VectorKernel {
    fn add_gradient(&self, atom: &[f64], point: &[f64], scale: f64, gradient: &mut [f64]) -> Result<f64, Error> {
        let value = self.value(atom, point);
        let (of_atom, of_point) = self.slopes(atom, point, value)?;
        for ((g, a), z) in gradient.iter_mut().zip(atom).zip(point) {
            *g += scale * (of_atom * a + of_point * z);
        }
        Ok(value)
    }
}

impl VectorKernel {
    fn slopes(&self, atom: &[f64], point: &[f64], value: f64) -> Result<(f64, f64), Error> {
        // A function of the distance r has the gradient s·(point - atom) with s = k'(r)/r.
        let radial = |s: f64| (-s, s);
        let distance = || atom.iter().zip(point).map(|(a, z)| (a - z) * (a - z)).sum::<f64>().sqrt();
        Ok(match self {
            Self::Linear => (1.0, 0.0),
            Self::Polynomial { gamma, degree, coef0 } => {
                let base = gamma * dot(atom, point) + coef0;
                (gamma * f64::from(*degree) * base.powi(*degree as i32 - 1), 0.0)
            }
            Self::Rbf { gamma } => radial(-2.0 * gamma * value),
            Self::Matern32 { length_scale } => {
                let rate = 3f64.sqrt() / length_scale;
                radial(-rate * rate * (-rate * distance()).exp())
            }
            Self::Matern52 { length_scale } => {
                let rate = 5f64.sqrt() / length_scale;
                let r = distance();
                radial(-rate * rate / 3.0 * (1.0 + rate * r) * (-rate * r).exp())
            }
            Self::Sigmoid { gamma, .. } => (gamma * (1.0 - value * value), 0.0),
            Self::Cosine => {
                let norms = (dot(atom, atom) * dot(point, point)).sqrt();
                if norms == 0.0 { (0.0, 0.0) } else { (1.0 / norms, -value / dot(point, point)) }
            }
            Self::Laplacian { .. } => {
                return Err(Error::Unsupported("the Laplacian kernel has no gradient where two coordinates agree"));
            }
            Self::Kendall { .. } | Self::Mallows { .. } => {
                return Err(Error::Unsupported("kernels of rankings have no gradient"));
            }
            Self::Spectrum { .. } | Self::Intersection { .. } | Self::Jaccard { .. } => {
                return Err(Error::Unsupported("kernels of items have no gradient"));
            }
            Self::Function(_) => {
                return Err(Error::Unsupported("the gradient of a kernel that is given as a function is unknown"));
            }
            Self::Scaled { scale, kernel } => {
                let (p, q) = kernel.slopes(atom, point, value / scale)?;
                (scale * p, scale * q)
            }
            Self::Sum(parts) => parts.iter().try_fold((0.0, 0.0), |(p, q), part| {
                let slopes = part.slopes(atom, point, part.value(atom, point))?;
                Ok((p + slopes.0, q + slopes.1))
            })?,
            Self::Product(parts) => {
                let values: Vec<f64> = parts.iter().map(|part| part.value(atom, point)).collect();
                let mut slopes = (0.0, 0.0);
                for (i, part) in parts.iter().enumerate() {
                    let others: f64 = values.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, v)| v).product();
                    let (p, q) = part.slopes(atom, point, values[i])?;
                    slopes = (slopes.0 + others * p, slopes.1 + others * q);
                }
                slopes
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::batch::preimage::fixed_point;
    use crate::kernel::{VectorKernel, Vectors};

    fn atoms(kernel: &VectorKernel, t: usize, seed: u64) -> Vectors {
        let mut random = Random::seeded(seed);
        let mut dictionary = Vectors::new(kernel.clone(), 3).unwrap();
        for _ in 0..t {
            dictionary.push(&[random.normal(), random.normal(), random.normal()]);
        }
        dictionary
    }

    #[test]
    fn pre_image_of_the_features_of_a_point_is_the_point() {
        let kernels = [
            VectorKernel::Linear,
            VectorKernel::Polynomial { gamma: 0.5, degree: 2, coef0: 1.0 },
            VectorKernel::Polynomial { gamma: 1.0, degree: 3, coef0: 0.0 },
            VectorKernel::Rbf { gamma: 0.2 },
        ];
        for kernel in kernels {
            let dictionary = atoms(&kernel, 5, 7);
            let f = Expansion::new(&dictionary, vec![0.0, 0.0, 1.0, 0.0, 0.0]).unwrap();
            let x = dictionary.atom(2);
            let start: Vec<f64> = x.iter().map(|x| 0.6 * x + 0.2).collect();
            let found = descend(&kernel, &dictionary, &f, &start, Stop::default()).unwrap();
            let gap = found.point.iter().zip(x).fold(0f64, |g, (a, b)| g.max((a - b).abs()));
            assert!(found.converged && gap < 1e-9, "{kernel:?}: {found:?} against {x:?}");
        }
    }

    #[test]
    fn with_the_linear_kernel_the_pre_image_is_the_combination() {
        let kernel = VectorKernel::Linear;
        let dictionary = atoms(&kernel, 4, 8);
        let weights = vec![0.5, -1.0, 2.0, 0.25];
        let f = Expansion::new(&dictionary, weights.clone()).unwrap();
        let found = descend(&kernel, &dictionary, &f, &[0.0; 3], Stop::default()).unwrap();
        for i in 0..3 {
            let wanted: f64 = (0..4).map(|j| weights[j] * dictionary.atom(j)[i]).sum();
            assert!((found.point[i] - wanted).abs() < 1e-9);
        }
        assert!(found.squared_distance < 1e-13);
    }

    #[test]
    fn descent_and_fixed_point_agree_where_both_apply() {
        let kernel = VectorKernel::Rbf { gamma: 0.1 };
        let mut dictionary = atoms(&kernel, 10, 9);
        let mean = Expansion::mean(&dictionary).unwrap();
        let one = descend(&kernel, &dictionary, &mean, &[0.1; 3], Stop::default()).unwrap();
        let other = fixed_point(&mut dictionary, &mean, &[0.1; 3], 0, Stop::default()).unwrap();
        assert!((one.squared_distance - other.squared_distance).abs() < 1e-13);
        for (a, b) in one.point.iter().zip(&other.point) {
            assert!((a - b).abs() < 1e-7, "{a} against {b}");
        }
    }
}

#[cfg(test)]
mod gradient_tests {
    use super::*;
    use crate::Random;

    #[test]
    fn gradients_agree_with_central_differences() {
        let kernels = [
            VectorKernel::Linear,
            VectorKernel::Polynomial { gamma: 0.7, degree: 1, coef0: 0.5 },
            VectorKernel::Polynomial { gamma: 0.7, degree: 3, coef0: 0.5 },
            VectorKernel::Polynomial { gamma: 1.2, degree: 2, coef0: 0.0 },
            VectorKernel::Rbf { gamma: 0.4 },
            VectorKernel::Matern32 { length_scale: 1.3 },
            VectorKernel::Matern52 { length_scale: 0.8 },
            VectorKernel::Sigmoid { gamma: 0.3, coef0: 0.2 },
            VectorKernel::Cosine,
            VectorKernel::Rbf { gamma: 0.4 }.plus(VectorKernel::Linear).scaled(0.7),
            VectorKernel::Cosine.times(VectorKernel::Linear).times(VectorKernel::Rbf { gamma: 0.1 }),
        ];
        let mut random = Random::seeded(3);
        let mut draw = || -> Vec<f64> { (0..4).map(|_| random.normal()).collect() };
        let h = 1e-5;
        for kernel in kernels {
            let (atom, point) = (draw(), draw());
            let mut gradient = vec![0.25; 4];
            let value = kernel.add_gradient(&atom, &point, 3.0, &mut gradient).unwrap();
            assert_eq!(value, kernel.value(&atom, &point));
            for i in 0..4 {
                let moved = |step: f64| {
                    let mut z = point.clone();
                    z[i] += step;
                    kernel.value(&atom, &z)
                };
                let difference = (moved(h) - moved(-h)) / (2.0 * h);
                let found = (gradient[i] - 0.25) / 3.0;
                // The error of central differences is h²·f'''/6 plus rounding / h.
                assert!((found - difference).abs() < 1e-8 * (1.0 + found.abs()), "{kernel:?}: {found} {difference}");
            }
        }
    }
}
