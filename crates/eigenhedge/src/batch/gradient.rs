//! Gradients of kernels on vectors.

use crate::error::Error;
use crate::kernel::VectorKernel;
use crate::num::dot;

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
