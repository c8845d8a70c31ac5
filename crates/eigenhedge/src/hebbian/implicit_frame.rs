//! Implicit orthonormal frame of the weight vectors.
//! Let `W = Q R` with orthonormal Q and upper triangular R. Only R is stored. The outputs `y = Wᵀz` give the
//! coordinates of a row z in the frame, `r = Qᵀz = R⁻ᵀ y`, and its distance ρ from the span, `ρ² = |z|² - |r|²`. An
//! update `W ← W T + z cᵀ` with upper triangular T becomes `R ← R T + r cᵀ` with a new last row `ρ cᵀ`. Rotations then
//! restore the triangular form, in O(P²) for P vectors.
//! Numerics: only ρ comes from a difference. A vector whose part outside the span of the earlier ones is shorter than
//! [`DEPENDENT`] times its length counts as lying in that span. Along nearly dependent directions, and when the kernel
//! is not positive definite, coordinates can be longer than the point. They are then shortened
//! ([`ImplicitFrame::shorten`]), so any R gives losses between zero and the energy of the row.

use super::rule::{VectorStep, move_column};
use crate::error::Error;
use crate::linalg::Matrix;
use crate::linalg::checks::shape;
use crate::num::dot;
use crate::scratch::{Scratch, zero};
use crate::state::ensure;
use serde::{Deserialize, Serialize};

pub(super) const LONGEST: f64 = 1e8;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ImplicitFrame {
    triangle: Matrix,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    point: Vec<f64>,
    basis: Matrix,
    inner: Vec<f64>,
}

const DEPENDENT: f64 = 1e-6;
const ROUNDING: f64 = 64.0 * f64::EPSILON;
/// Accepted relative excess of the squared coordinates over the squared norm of a point.
const UNCERTAIN: f64 = 1e-10;

impl ImplicitFrame {
    pub fn new() -> Self {
        Self { triangle: Matrix::zeros(1, 0), scratch: Scratch::default() }
    }

    pub fn check_state(&self, count: usize) -> Result<(), Error> {
        let what = "the triangle of the weight vectors";
        shape(what, &self.triangle, count + 1, count)?;
        for p in 0..count {
            let (upper, lower) = self.triangle.column(p).split_at(p + 1);
            ensure(upper[p] >= 0.0 && lower.iter().all(|r| *r == 0.0), "the weight vectors must have a triangle")?;
        }
        Ok(())
    }

    pub fn length(&self, p: usize) -> f64 {
        norm(self.triangle.column(p))
    }

    /// Computes the coordinates of a point from its inner products with the weight vectors and its squared norm.
    /// Returns its distance from the span, or exactly zero at rounding level.
    pub fn project(&mut self, products: &[f64], square: f64, coordinates: &mut Vec<f64>) -> f64 {
        coordinates.clear();
        for (p, product) in products.iter().enumerate() {
            let column = &self.triangle.column(p)[..=p];
            if !(column[p] > DEPENDENT * norm(column)) {
                self.project_dependent(products, DEPENDENT, coordinates);
                break;
            }
            coordinates.push((product - dot(&column[..p], coordinates)) / column[p]);
        }
        distance(square, coordinates)
    }

    /// Replaces coordinates whose norm exceeds that of the point, by leaving out vectors with a threshold that grows by
    /// factors of ten. Returns the distance of the point from the remaining span.
    pub fn shorten(&mut self, products: &[f64], square: f64, coordinates: &mut Vec<f64>) -> f64 {
        let mut apart = DEPENDENT;
        // NaN counts as too long.
        while !(dot(coordinates, coordinates) <= (1.0 + UNCERTAIN) * square) {
            apart *= 10.0;
            self.project_dependent(products, apart, coordinates);
        }
        distance(square, coordinates)
    }

    /// Computes the coordinates without each vector whose part outside the span of the earlier ones is shorter than
    /// `apart` times its length, by Gram–Schmidt on the columns of R, twice per column.
    fn project_dependent(&mut self, products: &[f64], apart: f64, coordinates: &mut Vec<f64>) {
        let Self { triangle, scratch: Scratch(Working { basis, inner, .. }) } = self;
        let rows = triangle.rows();
        zero(coordinates, triangle.columns());
        basis.resize(rows, 0);
        inner.clear();
        for (p, product) in products.iter().enumerate() {
            let count = basis.columns();
            basis.push_column(triangle.column(p));
            let mut rest = *product;
            for _ in 0..2 {
                for i in 0..count {
                    let (earlier, column) = basis.column_pair_mut(i, count);
                    let overlap = dot(earlier, column);
                    column.iter_mut().zip(earlier).for_each(|(c, e)| *c -= overlap * *e);
                    rest -= overlap * inner[i];
                }
            }
            let column = basis.column_mut(count);
            let length = norm(column);
            if !(length > apart * norm(triangle.column(p))) {
                basis.resize(rows, count);
                continue;
            }
            column.iter_mut().for_each(|c| *c /= length);
            inner.push(rest / length);
            let coordinate = rest / length;
            coordinates.iter_mut().zip(column).for_each(|(r, b)| *r += coordinate * *b);
        }
    }

    /// Appends a weight vector: `scale` times the most recently projected point.
    pub fn append(&mut self, coordinates: &[f64], residual: f64, scale: f64) {
        let count = coordinates.len();
        self.triangle.resize(count + 2, count + 1);
        let column = self.triangle.column_mut(count);
        column.iter_mut().zip(coordinates).for_each(|(r, c)| *r = scale * c);
        column[count] = scale * residual;
    }

    pub fn advance(&mut self, step: &VectorStep, coordinates: &[f64], residual: f64) {
        let Self { triangle, scratch: Scratch(Working { point, .. }) } = self;
        zero(point, triangle.rows());
        for p in 0..triangle.columns() {
            let column = &mut triangle.column_mut(p)[..=p];
            move_column(column, point, step.keep[p], step.push[p], step.remove[p]);
        }
        self.absorb(&step.push, coordinates, residual);
    }

    /// Adds `amounts[p]` times the most recently projected point to each vector p.
    pub fn absorb(&mut self, amounts: &[f64], coordinates: &[f64], residual: f64) {
        let Self { triangle, scratch: Scratch(Working { point, .. }) } = self;
        let count = triangle.columns();
        coordinates.clone_into(point);
        point.push(residual);
        // Rotations from below move the point into the first direction of the frame.
        for row in (0..count).rev() {
            let (cosine, sine, length) = rotation(point[row], point[row + 1]);
            point[row] = length;
            (row..count).for_each(|j| rotate(triangle.column_mut(j), row, cosine, sine));
        }
        for (j, amount) in amounts.iter().enumerate() {
            triangle.column_mut(j)[0] += amount * point[0];
        }
        // Rotations from above clear the entries under the diagonal.
        for row in 0..count {
            let column = triangle.column_mut(row);
            let (cosine, sine, length) = rotation(column[row], column[row + 1]);
            (column[row], column[row + 1]) = (length, 0.0);
            (row + 1..count).for_each(|j| rotate(triangle.column_mut(j), row, cosine, sine));
        }
    }
}

fn distance(square: f64, coordinates: &[f64]) -> f64 {
    let outside = square - dot(coordinates, coordinates);
    if outside > ROUNDING * square { outside.sqrt() } else { 0.0 }
}

fn rotation(a: f64, b: f64) -> (f64, f64, f64) {
    let length = a.hypot(b);
    if length == 0.0 { (1.0, 0.0, 0.0) } else { (a / length, b / length, length) }
}

fn rotate(column: &mut [f64], row: usize, cosine: f64, sine: f64) {
    let (a, b) = (column[row], column[row + 1]);
    (column[row], column[row + 1]) = (cosine * a + sine * b, cosine * b - sine * a);
}

fn norm(column: &[f64]) -> f64 {
    dot(column, column).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn gram(columns: &Matrix) -> Vec<f64> {
        let p = columns.columns();
        (0..p * p).map(|at| dot(columns.column(at / p), columns.column(at % p))).collect()
    }

    struct Pair {
        vectors: Matrix,
        frame: ImplicitFrame,
        coordinates: Vec<f64>,
    }

    impl Pair {
        fn new(n: usize) -> Self {
            Self { vectors: Matrix::zeros(n, 0), frame: ImplicitFrame::new(), coordinates: Vec::new() }
        }

        fn project(&mut self, point: &[f64]) -> f64 {
            let mut products = Vec::new();
            self.vectors.transpose_times(point, &mut products);
            self.frame.project(&products, dot(point, point), &mut self.coordinates)
        }

        fn append(&mut self, point: &[f64], scale: f64) {
            let residual = self.project(point);
            self.frame.append(&self.coordinates, residual, scale);
            let p = self.vectors.columns();
            self.vectors.resize(point.len(), p + 1);
            self.vectors.column_mut(p).iter_mut().zip(point).for_each(|(w, x)| *w = scale * x);
        }

        fn advance(&mut self, step: &VectorStep, point: &[f64]) {
            let residual = self.project(point);
            self.frame.advance(step, &self.coordinates, residual);
            let mut point = point.to_vec();
            for p in 0..self.vectors.columns() {
                move_column(self.vectors.column_mut(p), &mut point, step.keep[p], step.push[p], step.remove[p]);
            }
        }

        fn gap(&self) -> f64 {
            let pairs = gram(&self.vectors).into_iter().zip(gram(&self.frame.triangle));
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        }
    }

    fn gaussian(n: usize, random: &mut Random) -> Vec<f64> {
        (0..n).map(|_| random.normal()).collect()
    }

    #[test]
    fn moves_keep_the_factor_of_the_vectors() {
        let (n, mut random) = (9, Random::seeded(1));
        let mut pair = Pair::new(n);
        for _ in 0..4 {
            pair.append(&gaussian(n, &mut random), 0.3);
        }
        for _ in 0..200 {
            let mut draw = |center: f64, size: f64| (0..4).map(|_| center + size * random.normal()).collect();
            let step = VectorStep { scale: 1.0, keep: draw(0.8, 0.1), push: draw(0.0, 0.3), remove: draw(0.0, 0.1) };
            pair.advance(&step, &gaussian(n, &mut random));
            assert!(pair.gap() <= 1e-12, "{}", pair.gap());
            for p in 0..4 {
                let column = pair.frame.triangle.column(p);
                assert!(column[p] >= 0.0 && column[p + 1..].iter().all(|r| *r == 0.0));
            }
        }
    }

    #[test]
    fn vectors_in_the_span_of_earlier_ones_are_left_out_of_a_projection() {
        let (n, mut random) = (7, Random::seeded(2));
        let (a, b) = (gaussian(n, &mut random), gaussian(n, &mut random));
        let mut pair = Pair::new(n);
        let mut plane = Pair::new(n);
        for point in [&a, &b] {
            plane.append(point, 1.0);
        }
        for (point, scale) in [(&a, 1.0), (&a, -2.0), (&b, 0.5), (&b, 0.0)] {
            pair.append(point, scale);
        }
        for trial in 0..50 {
            let z = gaussian(n, &mut random);
            assert!((pair.project(&z) - plane.project(&z)).abs() <= 1e-12);
            assert!((pair.project(&a)).abs() <= 1e-6, "a lies in the span");
            // Updates inside the plane keep the span and the dependence of the vectors.
            let step = VectorStep {
                scale: 1.0,
                keep: vec![0.9, 0.99, 0.8, 0.9],
                push: vec![0.1, 0.0, 0.3, 0.2],
                remove: vec![0.1; 4],
            };
            pair.advance(&step, if trial % 2 == 0 { &a } else { &b });
            assert!(pair.gap() <= 1e-12, "{}", pair.gap());
        }
    }
}
