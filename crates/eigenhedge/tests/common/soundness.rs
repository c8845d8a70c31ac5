//! Laws that hold at every row, for all streams and learners. The loss is between zero and the energy of the row. The
//! loss and the squared kept coordinates add up to the energy. The columns are orthonormal.
#![allow(dead_code)]

use eigenhedge::internals::{Ambient, Feature, Span, dot};
use eigenhedge::kernel::{Dictionary, Vectors};
use eigenhedge::{Instance, Learner, Loss, Random, Subspace};

/// Maximum excess of a loss over the energy of its row, relative to the energy.
pub const EXCESS: f64 = 1e-12;
/// Maximum relative difference between the energy and the sum of the loss and the squared coordinates.
pub const DEFECT: f64 = 1e-9;
/// Maximum deviation of the Gram matrix of the columns from the identity.
pub const DRIFT: f64 = 1e-12;

/// Acceptable drift of columns in feature space. It changes losses by at most this relative amount.
const HARMLESS: f64 = 1e-6;
/// Accepted rounding error in the Gram matrix of columns, in eps times squared terms.
const ROUNDINGS: f64 = 200.0;

/// Worst measurements over some rows.
#[derive(Debug, Clone, Default)]
pub struct Soundness {
    pub rows: u64,
    pub violations: u64,
    /// Largest ratio of an expected or realized loss to the energy of its row.
    pub loss: f64,
    /// Largest relative gap between energy and loss plus squared coordinates.
    pub defect: f64,
    pub drift: f64,
    /// Index of the first row that violated a law, and the reason.
    pub first: Option<(u64, String)>,
    /// Largest rounding error of a drift so far.
    known_to: f64,
    last: Option<u64>,
}

impl Soundness {
    /// Checks a row with energy `square`, accurate to `known_to`.
    pub fn row(&mut self, square: f64, known_to: f64, loss: Loss, coordinates: &[f64]) {
        self.row_of_many(square, square, known_to, loss, coordinates);
    }

    /// Checks one row of a portfolio, whose members may have their own centers. `square` is the
    /// energy for the chosen member, and `most` is the largest energy over all members.
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

    /// Checks the drift of the columns, accurate to `known_to`. Columns whose terms have cancelled
    /// keep their rounding errors, so the largest `known_to` so far counts.
    pub fn columns(&mut self, drift: f64, known_to: f64) {
        self.known_to = self.known_to.max(known_to);
        let known_to = self.known_to;
        self.drift = largest(self.drift, drift - known_to);
        if !(drift <= DRIFT + known_to) {
            self.note(vec![format!("drift of the columns {drift:e}")]);
        }
    }

    /// Counts a rejected row as a violation, with the reason.
    pub fn refused(&mut self, reason: String) {
        self.rows += 1;
        self.note(vec![reason]);
    }

    fn note(&mut self, broken: Vec<String>) {
        let row = self.rows - 1;
        if !broken.is_empty() && self.last != Some(row) {
            self.violations += 1;
            self.last = Some(row);
            self.first.get_or_insert((row, broken.join("; ")));
        }
    }

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

/// Returns the larger number, or NaN if one of them is NaN.
fn largest(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// Span over rows of numbers, with the accuracy of its measurements.
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

/// In feature space, energy and drift are sums over atoms whose terms cancel.
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

pub fn judged<S: Measured>(
    learner: &mut Subspace<S>,
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
