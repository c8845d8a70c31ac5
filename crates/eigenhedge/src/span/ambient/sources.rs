//! Sources of a learned origin: recent rows and forgetting means, relative to the mean of all rows.
//! Setting: the mean m of all rows and the sources c_0 … c_4: the last row, the row before it, and three forgetting
//! means. The origin is `m + Σ b_j d_j` with the offsets `d_j = c_j - m`. The learner chooses the coefficients b.
//! Update: for a row x with `y = x - m` and the step s of the mean, an offset becomes `(1 - s_j) d_j + (g s_j - s) y`,
//! where s_j is the step of its source, and g is 1, or less for a clipped row. d_1 becomes `d_0 - s y`. Coordinates and
//! inner products of the offsets are updated by the same combinations, and recomputed whenever the columns are combined
//! and every [`RENEWED`] rows.
//! Cost: two passes over five vectors of n numbers per row, and products with the columns for recomputed coordinates.

use super::{Ambient, Place, Working};
use crate::error::Error;
use crate::num::dot;
use crate::scratch::Scratch;
use crate::span::Span;
use crate::state::{LARGEST, ensure, list};
use pulp::Arch;
use serde::{Deserialize, Serialize};

pub(crate) const SOURCES: usize = 5;
const RENEWED: u32 = 16;
/// Relative length of a residual below which dividing by it would amplify rounding errors too much.
const SHORT: f64 = 1e-5;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sources {
    mean: Vec<f64>,
    offsets: [Vec<f64>; SOURCES],
    coordinates: [Vec<f64>; SOURCES],
    pub(crate) gram: [[f64; SOURCES]; SOURCES],
    age: u32,
    /// Inner products of the loaded point with the offsets, and its squared norm.
    #[serde(skip)]
    along: Scratch<([f64; SOURCES], f64)>,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SourceMove {
    /// Factor by which the row's deviation from the mean is shortened for the sources, 1 unless the row is clipped.
    pub shortening: f64,
    pub mean_step: f64,
    /// Shares by which the sources move toward the row. The share of the second source has no effect.
    pub steps: [f64; SOURCES],
    pub before: [f64; SOURCES],
    pub after: [f64; SOURCES],
}

impl SourceMove {
    /// Returns the factors of the old offset (that with index 0 for `j` = 1) and of the row's deviation in the new
    /// offset `j`.
    fn factors(&self, j: usize) -> (f64, f64) {
        match j {
            1 => (1.0, -self.mean_step),
            _ => (1.0 - self.steps[j], self.shortening * self.steps[j] - self.mean_step),
        }
    }
}

fn combination(factors: &[f64; SOURCES], values: &[f64; SOURCES]) -> f64 {
    factors.iter().zip(values).map(|(factor, value)| factor * value).sum()
}

/// Returns the inner products of the vectors with a point, in one pass.
fn products(vectors: &[Vec<f64>; SOURCES], point: &[f64]) -> [f64; SOURCES] {
    const LANES: usize = 4;
    let whole = point.len() / LANES * LANES;
    Arch::new().dispatch(|| {
        let mut sums = [[0.0; LANES]; SOURCES];
        let [a, b, c, d, e] = vectors.each_ref().map(|vector| &vector[..point.len()]);
        for i in (0..whole).step_by(LANES) {
            for lane in 0..LANES {
                let x = point[i + lane];
                sums[0][lane] += a[i + lane] * x;
                sums[1][lane] += b[i + lane] * x;
                sums[2][lane] += c[i + lane] * x;
                sums[3][lane] += d[i + lane] * x;
                sums[4][lane] += e[i + lane] * x;
            }
        }
        let rest = |j: usize| dot(&vectors[j][whole..point.len()], &point[whole..]);
        std::array::from_fn(|j| sums[j].iter().sum::<f64>() + rest(j))
    })
}

impl Sources {
    pub(crate) fn coordinates(&self, j: usize) -> &[f64] {
        &self.coordinates[j]
    }

    /// Returns the inner products of the row minus the mean with the offsets, and the squared norm of this difference.
    pub(crate) fn with_row(&self, coefficients: &[f64; SOURCES]) -> ([f64; SOURCES], f64) {
        let (along, square) = &self.along.0;
        let own = self.gram.map(|row| combination(coefficients, &row));
        let products = std::array::from_fn(|j| along[j] + own[j]);
        let square = square + 2.0 * combination(coefficients, along) + combination(coefficients, &own);
        (products, square.max(0.0))
    }

    fn move_gram(&mut self, change: &SourceMove) {
        let (with_row, square) = self.with_row(&change.before);
        let from = |j: usize| if j == 1 { 0 } else { j };
        let old = self.gram;
        for i in 0..SOURCES {
            for j in 0..SOURCES {
                let ((own, row), (other, other_row)) = (change.factors(i), change.factors(j));
                let cross = own * other_row * with_row[from(i)] + row * other * with_row[from(j)];
                self.gram[i][j] = own * other * old[from(i)][from(j)] + cross + row * other_row * square;
            }
        }
    }

    fn move_coordinates(&mut self, change: &SourceMove, columns: &[f64], unit: f64) {
        let factors: [(f64, f64); SOURCES] = std::array::from_fn(|j| change.factors(j));
        for (i, c) in columns.iter().enumerate() {
            let old: [f64; SOURCES] = std::array::from_fn(|j| self.coordinates[j][i]);
            let row = unit * c + combination(&change.before, &old);
            for (j, (own, more)) in factors.iter().enumerate() {
                self.coordinates[j][i] = own * old[if j == 1 { 0 } else { j }] + more * row;
            }
        }
    }

    /// Moves the sources toward the point. Writes the displacement of the new origin from its fixed point to `way`.
    fn move_offsets(&mut self, change: &SourceMove, point: &[f64], unit: f64, way: &mut [f64]) {
        let n = point.len();
        let step = change.mean_step;
        let ([b0, b1, b2, b3, b4], [a0, a1, a2, a3, a4]) = (change.before, change.after);
        let [(_, y0), _, (o2, y2), (o3, y3), (o4, y4)] = std::array::from_fn(|j| change.factors(j));
        let [last, earlier, fast, middle, slow] = &mut self.offsets;
        let (last, earlier, fast) = (&mut last[..n], &mut earlier[..n], &mut fast[..n]);
        let (middle, slow, mean, way) = (&mut middle[..n], &mut slow[..n], &mut self.mean[..n], &mut way[..n]);
        Arch::new().dispatch(|| {
            for i in 0..n {
                let explained = b0 * last[i] + b1 * earlier[i] + b2 * fast[i] + b3 * middle[i] + b4 * slow[i];
                let y = unit * point[i] + explained;
                earlier[i] = last[i] - step * y;
                last[i] = y0 * y;
                fast[i] = o2 * fast[i] + y2 * y;
                middle[i] = o3 * middle[i] + y3 * y;
                slow[i] = o4 * slow[i] + y4 * y;
                mean[i] += step * y;
                let moved = a0 * last[i] + a1 * earlier[i] + a2 * fast[i] + a3 * middle[i] + a4 * slow[i];
                way[i] = mean[i] + moved;
            }
        });
    }

    pub(super) fn check_state(&self, row_length: usize, columns: usize) -> Result<(), Error> {
        for vector in self.offsets.iter().chain([&self.mean]) {
            list("the sources of the center", vector, row_length, -LARGEST..=LARGEST)?;
        }
        for (coordinates, row) in self.coordinates.iter().zip(&self.gram) {
            list("the coordinates of the sources", coordinates, columns, -LARGEST..=LARGEST)?;
            ensure(row.iter().all(|x| x.is_finite()), "the products of the sources must be finite")?;
        }
        ensure(self.age < RENEWED, "the products of the sources must be recent")
    }
}

impl Ambient {
    pub(super) fn begin_sources(&mut self) {
        let zeros = || vec![0.0; self.length];
        let offsets = std::array::from_fn(|_| zeros());
        self.sources = Some(Box::new(Sources { mean: zeros(), offsets, ..Sources::default() }));
    }

    pub(super) fn loaded_point(&mut self) -> &[f64] {
        let Working { point, place, .. } = &self.scratch.0;
        match place {
            Place::Apart => point,
            Place::Behind => self.columns.spare(),
            Place::Stored => self.columns.column(self.columns.columns() - 1),
            Place::Cells => unreachable!("only a span of sparse rows has a point in this place"),
        }
    }

    pub(crate) fn renew_sources(&mut self) {
        let Some(mut sources) = self.sources.take() else { return };
        sources.age = 0;
        let Sources { offsets, coordinates, gram, .. } = &mut *sources;
        for (i, (offset, coordinates)) in offsets.iter().zip(coordinates).enumerate() {
            if self.standard {
                coordinates.clone_from(offset);
            } else {
                self.coordinates_of(offset, coordinates);
            }
            for (j, other) in offsets.iter().enumerate().take(i + 1) {
                gram[i][j] = dot(offset, other);
                gram[j][i] = gram[i][j];
            }
        }
        self.sources = Some(sources);
    }

    pub(super) fn project_on_sources(&mut self, columns: &[f64], unit: f64) {
        let Some(mut sources) = self.sources.take() else { return };
        let own_unit = self.unit();
        let point = self.loaded_point();
        let along = products(&sources.offsets, point).map(|product| own_unit * product);
        let square = self.scratch.0.square * own_unit * own_unit;
        sources.along.0 = (along, square);
        let known = sources.coordinates[0].len();
        let mut is_short = false;
        if let Some(residual) = columns.get(known).map(|c| c * unit) {
            is_short = residual.powi(2) < SHORT * SHORT * square;
            for (coordinates, along) in sources.coordinates.iter_mut().zip(along) {
                coordinates.push((along - unit * dot(&columns[..known], coordinates)) / residual);
            }
        }
        self.sources = Some(sources);
        if is_short {
            self.renew_sources();
        }
    }

    pub(super) fn move_along_sources(&mut self, change: &SourceMove, columns: &[f64], unit: f64) {
        let (Some(mut sources), Some(mut origin)) = (self.sources.take(), self.origin.take()) else { return };
        sources.move_gram(change);
        sources.move_coordinates(change, columns, unit);
        let own_unit = self.unit();
        sources.move_offsets(change, self.loaded_point(), own_unit, &mut origin.way);
        sources.age += 1;
        let is_due = sources.age >= RENEWED;
        (self.sources, self.origin) = (Some(sources), Some(origin));
        if is_due {
            self.renew_sources();
        }
    }
}
