//! Learner over pairs of rows. It finds directions of one stream that correlate with directions of another.
//!
//! Setting: pairs x in `R^n`, y in `R^m` with `|x| |y| ≤ Q²`, and `M = x yᵀ`. The dilation `D = [0 M; Mᵀ 0]` is
//! symmetric, of dimension `N = n + m`, with the eigenvalues `±|x| |y|` and 0. The learner keeps k directions of `R^N`
//! and gains `tr(P D)` with the projection P on them. For a kept direction `(u; v)/√2` the gain is `(u·x)(v·y)`.
//! Without centering, the directions of independent streams are their means.
//! Update: tracking on the dilation, `log V ← cap(log V - η/(2Q²) D)`, then mixing. Scaled to equal norms, `(x; y)` and
//! `(x; -y)` are the eigenvectors of D, and D is half the difference of their dyads: two signed rank-one updates.
//! Directions with a negative gain stay explicit until the complement is capped too.
//! Guarantee: capping ignores multiples of I, so this is tracking with the instance `(I + D/Q²)/2`, whose eigenvalues
//! are in `[0, 1]` and whose loss is `(d - gain/Q²)/2`, with `d = N - k`. Without mixing, by JMLR Theorem 6, the
//! expected gain G of T trials and the best G* in hindsight satisfy `d T - G/Q² ≤ (η (d T - G*/Q²) + 2 d log(N/d)) / (1
//! - e^{-η})`.
//!
//! References: Warmuth & Kuzmin, JMLR 2008, section 9.

use super::{Instance, NormBound, Options, Subspace, Tracking};
use crate::error::{self, Error};
use crate::learner::Learner;
use crate::linalg::{Matrix, multiplied};
use crate::mixing::Mixing;
use crate::num::{dot, largest};
use crate::random::Random;
use crate::row::check_row;
use crate::scratch::{Scratch, refill};
use crate::simplex::Select;
use crate::span::{Ambient, Span};
use serde::{Deserialize, Serialize};

/// Gain of one pair of rows x and y, between `-|x| |y|` and `|x| |y|`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct PairGain {
    /// Expected gain over the learner's own randomness.
    pub expected: f64,
    /// Gain of the choice that was drawn.
    pub realised: f64,
}

/// Learner over pairs of rows from two streams. It keeps directions along which the streams correlate.
///
/// ```
/// use eigenhedge::{Mixing, Pair, Random};
///
/// let mut pair = Pair::new(2, 3, 1, 1.0, Mixing::None)?;
/// let mut random = Random::seeded(1);
/// let first = pair.step(&[1.0, 0.0], &[0.0, 1.0, 0.0], &mut random)?;
/// let second = pair.step(&[1.0, 0.0], &[0.0, 1.0, 0.0], &mut random)?;
/// assert!(first.expected.abs() < 1e-15 && second.expected > 0.1);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    lengths: (usize, usize),
    learner: Subspace<Ambient, Tracking>,
    centers: Option<Centers>,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Centers {
    rows: f64,
    /// Means of the left and the right rows. They are empty before the first pair.
    means: [Vec<f64>; 2],
}

#[derive(Debug, Clone, Default)]
struct Working {
    rows: [Vec<f64>; 2],
    next: [Vec<f64>; 2],
    plus: Vec<f64>,
    minus: Vec<f64>,
}

impl Pair {
    /// Creates a learner of `kept` directions for pairs of rows of lengths `left` and `right`. The bound on `|x| |y|`
    /// is the largest value so far.
    pub fn new(left: usize, right: usize, kept: usize, eta: f64, mixing: Mixing) -> Result<Self, Error> {
        error::at_least_one("the length of the left rows", left)?;
        error::at_least_one("the length of the right rows", right)?;
        let span = Ambient::new(left + right)?;
        // Divided by Q², the eigenvalues of a dilation are in [-1, 1], twice the range of a dyad.
        let rule = Tracking::new(error::positive("eta", eta)? / 2.0, mixing, kept, span.dimension())?;
        let learner = Subspace::new(kept, span, rule, Options::default())?;
        Ok(Self { lengths: (left, right), learner, centers: None, scratch: Scratch::default() })
    }

    /// Subtracts the mean of the previous rows of each stream. The first row of each stream is its own center.
    #[must_use]
    pub fn centered(self) -> Self {
        Self { centers: Some(Centers::default()), ..self }
    }

    /// Sets the bound `|x| |y| ≤ Q²`, either to a given Q or to the largest value so far.
    pub fn with_norm_bound(mut self, norm_bound: NormBound) -> Result<Self, Error> {
        norm_bound.check()?;
        self.learner.options.norm_bound = norm_bound;
        Ok(self)
    }

    /// Sets the method that draws the kept directions.
    pub fn with_select(mut self, select: Select) -> Self {
        self.learner.options.select = select;
        self
    }

    /// Returns the subspace learner over the dilations.
    pub fn learner(&self) -> &Subspace<Ambient, Tracking> {
        &self.learner
    }

    /// Runs one trial: checks the rows, draws a subspace, computes its gain and learns the pair. An error changes
    /// nothing.
    pub fn step(&mut self, x: &[f64], y: &[f64], random: &mut Random) -> Result<PairGain, Error> {
        check_row("left row", x, self.lengths.0)?;
        check_row("right row", y, self.lengths.1)?;
        let mut rows = std::mem::take(&mut self.scratch.0.next);
        rows.iter_mut().zip([x, y]).for_each(|(row, given)| given.clone_into(row));
        if let Some(Centers { means, rows: count }) = &self.centers {
            let means = if *count > 0.0 { [&means[0][..], &means[1]] } else { [x, y] };
            rows.iter_mut().zip(means).for_each(|(row, mean)| row.iter_mut().zip(mean).for_each(|(x, m)| *x -= m));
        }
        let size = self.check(&rows[0], &rows[1])?;
        if let Some(Centers { means, rows: count }) = &mut self.centers {
            *count += 1.0;
            if *count == 1.0 {
                *means = [x.to_vec(), y.to_vec()];
            }
            means.iter_mut().flatten().zip(rows.iter().flatten()).for_each(|(mean, x)| *mean += x / *count);
        }
        self.scratch.0.next = std::mem::replace(&mut self.scratch.0.rows, rows);
        let Self { learner, scratch, .. } = self;
        let Working { plus, minus, .. } = &scratch.0;
        let dyads = [(0.5, &plus[..]), (-0.5, &minus[..])];
        let instance = Instance::Dyads(&dyads);
        learner.admit(size);
        learner.choose(random);
        // The dilation has trace zero, so the loss of the dropped directions is minus the gain of the kept ones.
        let loss = learner.incur(&instance);
        learner.update(&instance);
        Ok(PairGain { expected: -loss.expected, realised: -loss.realised })
    }

    /// Returns the most recent pair as it was learned, relative to the centers. Empty before the first pair.
    pub fn last_pair(&self) -> (&[f64], &[f64]) {
        let [x, y] = &self.scratch.0.rows;
        (x, y)
    }

    /// Returns the left and right parts of the explicit directions and their probabilities, in descending order. If
    /// both parts have norm `1/√2`, they are a pair of singular directions.
    pub fn directions(&mut self) -> (Matrix, Matrix, Vec<f64>) {
        let (directions, probabilities) = self.learner.directions();
        let vectors = multiplied(self.learner.span.vectors().view(), directions.view());
        let (mut left, mut right) = (Matrix::zeros(self.lengths.0, 0), Matrix::zeros(self.lengths.1, 0));
        for j in 0..vectors.columns() {
            let (u, v) = vectors.column(j).split_at(self.lengths.0);
            left.push_column(u);
            right.push_column(v);
        }
        (left, right, probabilities)
    }

    fn check(&mut self, x: &[f64], y: &[f64]) -> Result<f64, Error> {
        let squares = (dot(x, x), dot(y, y));
        for (row, square) in [(x, squares.0), (y, squares.1)] {
            if !square.is_finite() {
                return Err(Error::Overflow { largest: largest(row) });
            }
            if square < f64::MIN_POSITIVE && largest(row) > 0.0 {
                return Err(Error::Underflow { largest: largest(row) });
            }
        }
        let (left, right) = (squares.0.sqrt(), squares.1.sqrt());
        let size = left * right;
        self.learner.within_bound(size).map_err(|error| match error {
            Error::Norm { .. } => Error::Parameter {
                name: "the product of the norms of a pair",
                rule: "at most the square of the norm bound",
                value: size,
            },
            other => other,
        })?;
        let Working { plus, minus, .. } = &mut self.scratch.0;
        // Both parts are scaled to the norm √(|x| |y|), for any norms of the rows.
        let scale = |own: f64, other: f64| if size > 0.0 { (other / own).sqrt() } else { 0.0 };
        let (left, right) = (scale(left, right), scale(right, left));
        refill(plus, x.iter().map(|x| left * x).chain(y.iter().map(|y| right * y)));
        refill(minus, x.iter().map(|x| left * x).chain(y.iter().map(|y| -right * y)));
        Ok(size)
    }
}
