//! Fixed-point iteration for RBF kernels.
//!
//! Setting: `k(x, z) = exp(-γ|x - z|²)`, so `k(z, z) = 1`, and the task is to maximize `f(z) = Σ_i α_i k(x_i, z)`.
//! Update: `z ← Σ_i w_i x_i / Σ_i w_i` with `w_i = α_i k(x_i, z)`, the point where the gradient would vanish for
//! constant weights. The denominator is f(z).
//! Safeguards: where `f(z) > 0` the step is an ascent direction, and it is halved until f does not decrease. Where f(z)
//! is not positive beyond rounding, for example far from every atom, the iteration stops. If f(z) is not positive at
//! all, it restarts at the atom with the largest f. If that is not positive either, it has not converged.
//! Cost: one kernel row and one combination of atoms per step, as products of matrices for several searches at once.

use super::{Preimage, Stop};
use crate::batch::Expansion;
use crate::cancel;
use crate::error::Error;
use crate::kernel::{Dictionary, VectorKernel, Vectors};
use crate::linalg::{Matrix, multiply};
use crate::num::dot;
use crate::row::check_row;
use crate::scratch::refill;

const HALVINGS: usize = 30;
const TOGETHER: usize = 64;

/// Returns the best pre-image found from `start` and from the `restarts` atoms with the largest values of the
/// expansion. Returns `Err` unless the kernel is RBF.
pub fn fixed_point(
    dictionary: &mut Vectors,
    expansion: &Expansion,
    start: &[f64],
    restarts: usize,
    stop: Stop,
) -> Result<Preimage, Error> {
    check_kernel(dictionary)?;
    expansion.check_atoms(dictionary.len())?;
    let mut best = search(dictionary, &[&expansion.weights], &[start], stop)?.swap_remove(0);
    let stuck = !(best.value > 0.0);
    if restarts > 0 || stuck {
        let atoms = best_atoms(dictionary, &expansion.weights, restarts.max(1))?;
        let starts: Vec<&[f64]> = atoms.iter().map(Vec::as_slice).collect();
        for found in search(dictionary, &vec![&expansion.weights[..]; starts.len()], &starts, stop)? {
            if found.value > best.value {
                best = found;
            }
        }
    }
    Ok(best.preimage(expansion))
}

/// Finds a pre-image of each expansion from its own start, without restarts.
pub(super) fn fixed_points<R: AsRef<[f64]>>(
    dictionary: &mut Vectors,
    expansions: &[Expansion],
    starts: &[R],
    stop: Stop,
) -> Result<Vec<Preimage>, Error> {
    check_kernel(dictionary)?;
    let mut found = Vec::with_capacity(starts.len());
    for (expansions, starts) in expansions.chunks(TOGETHER).zip(starts.chunks(TOGETHER)) {
        let weights: Vec<&[f64]> = expansions.iter().map(|expansion| &expansion.weights[..]).collect();
        let starts: Vec<&[f64]> = starts.iter().map(AsRef::as_ref).collect();
        for (i, search) in search(dictionary, &weights, &starts, stop)?.into_iter().enumerate() {
            found.push(match search.value > 0.0 {
                true => search.preimage(&expansions[i]),
                false => fixed_point(dictionary, &expansions[i], starts[i], 0, stop)?,
            });
        }
    }
    Ok(found)
}

fn check_kernel(dictionary: &Vectors) -> Result<(), Error> {
    match dictionary.kernel() {
        VectorKernel::Rbf { .. } => Ok(()),
        _ => Err(Error::Unsupported("fixed-point pre-images need an RBF kernel")),
    }
}

struct Search<'a> {
    weights: &'a [f64],
    point: Vec<f64>,
    value: f64,
    target: Vec<f64>,
    next: Vec<f64>,
    size: f64,
    halvings: usize,
    steps: usize,
    converged: bool,
    done: bool,
}

impl<'a> Search<'a> {
    fn new(weights: &'a [f64], start: &[f64]) -> Self {
        let (point, next) = (start.to_vec(), start.to_vec());
        let (value, target) = (f64::NAN, Vec::new());
        Self { weights, point, value, target, next, size: 1.0, halvings: 0, steps: 0, converged: false, done: false }
    }

    /// Continues after an evaluation at `next`: the value, the sum of its absolute terms w_i, and `Σ_i w_i x_i`.
    fn advance(&mut self, reached: f64, sizes: f64, combined: &[f64], stop: Stop) {
        if !self.value.is_nan() {
            let arrived = stop.reached(&self.point, &self.next);
            self.halvings += 1;
            if !(reached >= self.value || arrived) && self.halvings < HALVINGS {
                self.size *= 0.5;
                return self.propose();
            }
            self.steps += 1;
            self.converged = arrived;
            if !(reached >= self.value) {
                // Rounding level: no step of any length increases f.
                (self.converged, self.done) = (true, true);
                return;
            }
        }
        self.point.clone_from(&self.next);
        self.value = reached;
        // The step is meaningless if f is at the level of its rounding error.
        let means_something = reached > 16.0 * f64::EPSILON * sizes && reached >= f64::MIN_POSITIVE;
        self.done = self.converged || self.steps >= stop.steps || !means_something;
        refill(&mut self.target, combined.iter().map(|sum| sum / reached));
        (self.size, self.halvings) = (1.0, 0);
        self.propose();
    }

    /// Halves the way to the target, which may be infinite, while an entry of the next point overflows.
    fn propose(&mut self) {
        loop {
            refill(&mut self.next, self.point.iter().zip(&self.target).map(|(z, t)| z + self.size * (t - z)));
            if self.done || self.next.iter().all(|x| x.is_finite()) {
                return;
            }
            self.size *= 0.5;
            self.halvings += 1;
            if self.halvings >= HALVINGS {
                (self.converged, self.done) = (true, true);
                self.steps += 1;
            }
        }
    }

    fn preimage(self, expansion: &Expansion) -> Preimage {
        let squared_distance = (expansion.square - 2.0 * self.value + 1.0).max(0.0);
        Preimage { point: self.point, squared_distance, steps: self.steps, converged: self.converged }
    }
}

fn search<'a>(
    dictionary: &mut Vectors,
    weights: &[&'a [f64]],
    starts: &[&[f64]],
    stop: Stop,
) -> Result<Vec<Search<'a>>, Error> {
    for start in starts {
        check_row("start", start, dictionary.length())?;
    }
    let mut searches: Vec<Search<'a>> = weights.iter().zip(starts).map(|(w, start)| Search::new(w, start)).collect();
    let (mut rows, mut own, mut combined) = (Matrix::default(), Vec::new(), Matrix::default());
    loop {
        cancel::check()?;
        let open: Vec<usize> = (0..searches.len()).filter(|i| !searches[*i].done).collect();
        if open.is_empty() {
            return Ok(searches);
        }
        let points: Vec<&[f64]> = open.iter().map(|i| &searches[*i].next[..]).collect();
        dictionary.rows(&points, &mut rows, &mut own).map_err(|(_, error)| error)?;
        for (j, i) in open.iter().enumerate() {
            rows.column_mut(j).iter_mut().zip(searches[*i].weights).for_each(|(kernel, weight)| *kernel *= weight);
        }
        multiply(&mut combined, dictionary.atoms.view(), rows.view());
        for (j, i) in open.into_iter().enumerate() {
            let (value, sizes) = rows.column(j).iter().fold((0.0, 0.0), |(sum, sizes), x| (sum + x, sizes + x.abs()));
            searches[i].advance(value, sizes, combined.column(j), stop);
        }
    }
}

fn best_atoms(dictionary: &mut Vectors, weights: &[f64], count: usize) -> Result<Vec<Vec<f64>>, Error> {
    let mut values = Vec::with_capacity(dictionary.len());
    let mut row = Vec::new();
    for i in 0..dictionary.len() {
        cancel::check()?;
        dictionary.atom_row(i, &mut row);
        values.push(dot(weights, &row));
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]));
    Ok(order.into_iter().take(count).map(|i| dictionary.atom(i).to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    fn dictionary(gamma: f64, atoms: &[Vec<f64>]) -> Vectors {
        let mut dictionary = Vectors::new(VectorKernel::Rbf { gamma }, atoms[0].len()).unwrap();
        atoms.iter().for_each(|atom| dictionary.push(atom));
        dictionary
    }

    fn gap(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn pre_image_of_the_features_of_a_point_is_the_point() {
        let atoms = [vec![0.3, -1.0, 2.0], vec![1.0, 0.0, 0.0], vec![-1.0, 2.0, 0.5]];
        let mut dictionary = dictionary(0.4, &atoms);
        for i in 0..3 {
            let weights = (0..3).map(|j| f64::from(u8::from(i == j))).collect();
            let f = Expansion::new(&dictionary, weights).unwrap();
            // From the second start, all kernel values underflow. The restart finds the atom.
            for start in [vec![0.0; 3], vec![1e3; 3]] {
                let found = fixed_point(&mut dictionary, &f, &start, 0, Stop::default()).unwrap();
                assert!(found.converged && gap(&found.point, &atoms[i]) < 1e-9, "{found:?}");
                assert!(found.squared_distance < 1e-14);
            }
        }
    }

    #[test]
    fn result_is_stationary_and_never_worse_than_the_start() {
        let mut random = Random::seeded(5);
        for _ in 0..50 {
            let atoms: Vec<Vec<f64>> = (0..8).map(|_| (0..2).map(|_| 2.0 * random.normal()).collect()).collect();
            let mut dictionary = dictionary(0.5, &atoms);
            let f = Expansion::new(&dictionary, (0..8).map(|_| random.normal()).collect()).unwrap();
            let start: Vec<f64> = (0..2).map(|_| random.normal()).collect();
            let before = f.squared_distance(&mut dictionary, &start).unwrap();
            let found = fixed_point(&mut dictionary, &f, &start, 0, Stop::default()).unwrap();
            assert!(found.squared_distance <= before + 1e-14);
            let many = fixed_point(&mut dictionary, &f, &start, 8, Stop::default()).unwrap();
            assert!(many.squared_distance <= found.squared_distance);
            let again = f.squared_distance(&mut dictionary, &many.point).unwrap();
            assert!((again - many.squared_distance).abs() < 1e-13);
            if many.converged {
                let mut gradient = [0.0; 2];
                for (atom, weight) in atoms.iter().zip(&f.weights) {
                    dictionary.kernel().add_gradient(atom, &many.point, *weight, &mut gradient).unwrap();
                }
                assert!(dot(&gradient, &gradient).sqrt() < 1e-6, "{gradient:?} where {many:?}");
            }
        }
    }

    #[test]
    fn searches_together_find_what_each_finds_alone() {
        let mut random = Random::seeded(8);
        let mut row = || -> Vec<f64> { (0..3).map(|_| random.normal()).collect() };
        let atoms: Vec<Vec<f64>> = (0..30).map(|_| row()).collect();
        let mut dictionary = dictionary(0.3, &atoms);
        let starts: Vec<Vec<f64>> = (0..150).map(|i| if i == 70 { vec![1e3; 3] } else { row() }).collect();
        let mut random = Random::seeded(9);
        let mut weights = || (0..30).map(|_| random.normal() + 0.3).collect();
        let expansions: Vec<_> = starts.iter().map(|_| Expansion::new(&dictionary, weights()).unwrap()).collect();
        let together = fixed_points(&mut dictionary, &expansions, &starts, Stop::default()).unwrap();
        for ((expansion, start), found) in expansions.iter().zip(&starts).zip(&together) {
            let alone = fixed_point(&mut dictionary, expansion, start, 0, Stop::default()).unwrap();
            assert!(gap(&alone.point, &found.point) < 1e-6, "{alone:?} {found:?}");
            assert!((alone.squared_distance - found.squared_distance).abs() < 1e-12);
        }
    }

    #[test]
    fn nothing_uphill_is_reported_as_not_converged() {
        let mut dictionary = dictionary(0.5, &[vec![1.0]]);
        let f = Expansion::new(&dictionary, vec![-1.0]).unwrap();
        let found = fixed_point(&mut dictionary, &f, &[0.0], 3, Stop::default()).unwrap();
        assert!(!found.converged && found.steps == 0);
    }

    #[test]
    fn other_kernels_are_refused() {
        let mut dictionary = Vectors::new(VectorKernel::Linear, 1).unwrap();
        dictionary.push(&[1.0]);
        let f = Expansion::new(&dictionary, vec![1.0]).unwrap();
        assert!(matches!(fixed_point(&mut dictionary, &f, &[0.0], 0, Stop::default()), Err(Error::Unsupported(_))));
    }
}
