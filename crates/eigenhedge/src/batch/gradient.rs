//! Kernels on vectors that have a gradient.

use crate::error::Error;
use crate::kernel::VectorKernel;
use crate::num::dot;

/// A kernel on vectors with a derivative in its second argument.
pub trait Differentiable {
    /// Adds `scale · ∂k(atom, z)/∂z` at `z = point` to `gradient`, and returns `k(atom, point)`.
    ///
    /// The derivative of `k(z, z)` is twice this at `atom = z`, because kernels are symmetric. An error says that the
    /// kernel has no gradient.
    fn add_gradient(&self, atom: &[f64], point: &[f64], scale: f64, gradient: &mut [f64]) -> Result<f64, Error>;
}

impl Differentiable for VectorKernel {
    fn add_gradient(&self, atom: &[f64], point: &[f64], scale: f64, gradient: &mut [f64]) -> Result<f64, Error> {
        let value = self.value(atom, point);
        // All of these have the form p·atom + q·point.
        let (of_atom, of_point) = match self {
            Self::Linear => (1.0, 0.0),
            Self::Polynomial { gamma, degree, coef0 } => {
                let base = gamma * dot(atom, point) + coef0;
                (gamma * f64::from(*degree) * base.powi(*degree as i32 - 1), 0.0)
            }
            Self::Rbf { gamma } => (2.0 * gamma * value, -2.0 * gamma * value),
        };
        for ((g, a), z) in gradient.iter_mut().zip(atom).zip(point) {
            *g += scale * (of_atom * a + of_point * z);
        }
        Ok(value)
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
                // Central differences err by h²·f'''/6 and by rounding / h.
                assert!((found - difference).abs() < 1e-8 * (1.0 + found.abs()), "{kernel:?}: {found} {difference}");
            }
        }
    }
}
