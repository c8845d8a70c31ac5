//! Laws of every row, for every stream and learner: the loss is between zero and the energy of the row, loss and kept
//! coordinates satisfy Pythagoras, and columns are orthonormal.
#![allow(dead_code)]

use eigenhedge::internals::{Ambient, AnyRule, Feature, Span, dot};
use eigenhedge::kernel::{Dictionary, Vectors};
use eigenhedge::{Instance, Learner, Loss, Random, Subspace};

/// Maximum excess of a loss over the energy of its row, relative to the energy.
pub const EXCESS: f64 = 1e-12;
/// Maximum relative difference between the energy and the sum of the loss and the squared coordinates.
pub const DEFECT: f64 = 1e-9;
/// Maximum deviation of the Gram matrix of the columns from the identity.
pub const DRIFT: f64 = 1e-12;

/// Acceptable drift of columns in feature space: it changes losses by at most this relative amount.
const HARMLESS: f64 = 1e-6;
/// Rounding errors of an atom's kernel value in an entry of the Gram matrix of columns, per unit of size.
const ROUNDINGS: f64 = 200.0;

/// Worst measurements over some rows.
#[derive(Debug, Clone, Default)]
pub struct Soundness {
    /// Number of rows measured.
    pub rows: u64,
    /// Number of rows that violated a law.
    pub violations: u64,
    /// Largest ratio of an expected or realised loss to the energy of its row.
    pub loss: f64,
    /// Largest Pythagoras defect relative to the energy.
    pub defect: f64,
    /// Largest drift of the columns.
    pub drift: f64,
    /// First row that violated a law, with the reason.
    pub first: Option<(u64, String)>,
    /// Largest rounding error of a drift so far.
    known_to: f64,
    /// Last row that violated a law.
    last: Option<u64>,
}

impl Soundness {
    /// Checks one row: its energy `square`, accurate to `known_to`, its loss, and the kept coordinates.
    pub fn row(&mut self, square: f64, known_to: f64, loss: Loss, coordinates: &[f64]) {
        self.row_of_many(square, square, known_to, loss, coordinates);
    }

    /// Checks one row of a portfolio, whose members may have their own centers: `square` is the energy for the chosen member,
    /// `most` the largest over all members.
    pub fn row_of_many(&mut self, square: f64, most: f64, known_to: f64, loss: Loss, coordinates: &[f64]) {
        let mut broken = Vec::new();
        let Loss { expected, realised } = loss;
        if !(expected >= -known_to && expected <= (1.0 + EXCESS) * most + known_to) {
            broken.push(format!("expected loss {expected:e} of the energy {most:e}"));
        }
        if !(realised >= -known_to) {
            broken.push(format!("realised loss {realised:e} of the energy {square:e}"));
        }
        for (loss, square) in [(expected, most), (realised, square)] {
            if square > 0.0 && !(loss <= known_to) {
                self.loss = largest(self.loss, loss / square);
            }
        }
        let gap = (realised + dot(coordinates, coordinates) - square).abs();
        if !(gap <= DEFECT * square + known_to) {
            broken.push(format!("loss and coordinates miss the energy {square:e} by {:e} of it", gap / square));
        }
        if square > 0.0 && !(gap <= known_to) {
            self.defect = largest(self.defect, gap / square);
        }
        self.rows += 1;
        self.note(broken);
    }

    /// Checks the drift of the columns, accurate to `known_to`. Columns whose coefficients cancel when combined keep the
    /// rounding errors of their terms.
    pub fn columns(&mut self, drift: f64, known_to: f64) {
        self.known_to = self.known_to.max(known_to);
        let known_to = self.known_to;
        self.drift = largest(self.drift, drift - known_to);
        if !(drift <= DRIFT + known_to) {
            self.note(vec![format!("drift of the columns {drift:e}")]);
        }
    }

    /// Counts a row that was rejected or has no loss.
    pub fn refused(&mut self, reason: String) {
        self.rows += 1;
        self.note(vec![reason]);
    }

    /// Records the violations of the last row.
    fn note(&mut self, broken: Vec<String>) {
        let row = self.rows - 1;
        if !broken.is_empty() && self.last != Some(row) {
            self.violations += 1;
            self.last = Some(row);
            self.first.get_or_insert((row, broken.join("; ")));
        }
    }

    /// Adds other measurements.
    pub fn join(&mut self, other: &Self) {
        self.rows += other.rows;
        self.violations += other.violations;
        self.loss = largest(self.loss, other.loss);
        self.defect = largest(self.defect, other.defect);
        self.drift = largest(self.drift, other.drift);
        if self.first.is_none() {
            self.first.clone_from(&other.first);
        }
    }
}

/// Returns the larger number; NaN counts as largest.
fn largest(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// A span over rows of numbers, with the accuracy of its measurements.
pub trait Measured: Span<Point = [f64]> {
    /// Returns the rounding error of the energy of a row, for a centered learner.
    fn energy_known_to(&self, row: &[f64]) -> f64;
    /// Recomputes the drift of the columns.
    fn true_drift(&self) -> f64;
    /// Returns the rounding error of the drift.
    fn drift_known_to(&self) -> f64;
}

impl Measured for Ambient {
    fn energy_known_to(&self, _: &[f64]) -> f64 {
        0.0
    }
    fn true_drift(&self) -> f64 {
        self.drift()
    }
    fn drift_known_to(&self) -> f64 {
        0.0
    }
}

/// In feature space both are sums over atoms that cancel: a column for a small residual has large coefficients.
impl Measured for Feature<Vectors> {
    fn energy_known_to(&self, row: &[f64]) -> f64 {
        if self.origin().is_some() { 1e-13 * self.dictionary().kernel().value(row, row) } else { 0.0 }
    }

    fn true_drift(&self) -> f64 {
        let mut dictionary = self.dictionary().clone();
        let (coefficients, mut row, mut products) = (self.coefficients(), Vec::new(), Vec::new());
        let columns = coefficients.columns();
        let mut gram = vec![0.0; columns * columns];
        for atom in 0..dictionary.len() {
            dictionary.atom_row(atom, &mut row);
            coefficients.transpose_times(&row, &mut products);
            for j in 0..columns {
                let a = coefficients.column(j)[atom];
                gram[j * columns..][..columns].iter_mut().zip(&products).for_each(|(entry, image)| *entry += a * image);
            }
        }
        let target = |place: usize| f64::from(u8::from(place / columns == place % columns));
        gram.iter().enumerate().map(|(place, entry)| (entry - target(place)).abs()).fold(0.0, largest)
    }

    fn drift_known_to(&self) -> f64 {
        let (dictionary, coefficients) = (self.dictionary(), self.coefficients());
        let square = |i| dictionary.kernel().value(dictionary.atom(i), dictionary.atom(i));
        let squares: Vec<f64> = (0..dictionary.len()).map(square).collect();
        let size = |j| coefficients.column(j).iter().zip(&squares).map(|(a, square)| a * a * square).sum::<f64>();
        HARMLESS + ROUNDINGS * f64::EPSILON * (0..coefficients.columns()).map(size).fold(0.0, f64::max)
    }
}

/// Runs and checks one trial of a subspace learner.
pub fn judged<S: Measured>(
    learner: &mut Subspace<S, AnyRule>,
    row: &[f64],
    with_drift: bool,
    random: &mut Random,
    soundness: &mut Soundness,
) {
    let instance = Instance::from(row);
    let known_to = learner.span().energy_known_to(row);
    if let Err(error) = learner.check(&instance) {
        return soundness.refused(error.to_string());
    }
    learner.choose(random);
    let loss = learner.incur(&instance);
    soundness.row(learner.last_square(), known_to, loss, learner.kept_coordinates());
    learner.update(&instance);
    if with_drift {
        soundness.columns(learner.span().true_drift(), learner.span().drift_known_to());
    }
}
