//! Moments of rows: count, mean and scatter matrix. Parts of a table are reduced to moments on any machine
//! ([`Moments::update`]), merged in any order ([`Moments::merge`]), and become one learner ([`Moments::finish`]),
//! centered or not, standardized or not. Nothing is predicted and no loss is recorded.
//!
//! Rows of up to [`BestSubspace::LONGEST`] numbers: the weight W, the mean m and the scatter matrix `C = Σ w (x - m)(x
//! - m)ᵀ` are exact. Up to n/2 rows of n numbers are stored as a factor of C. The scatter around zero is `C + W m mᵀ`,
//!
//! that of standardized rows `S⁻¹ C S⁻¹` with the standard deviations S.
//! Longer rows: a frequent-directions sketch B ([`Sketch`]) with a known error Δ, `B Bᵀ ⪯ C ⪯ B Bᵀ + Δ I`, and the
//! exact diagonal of C. The directions that the finished model keeps lose at most the upper end of [`Moments::best`] on
//! these rows, and no subspace less than the lower end. In standard units the error is `Δ S⁻²`, so columns with little
//! variance widen the interval.
//! Cost: O(n²) per row as a matrix product, or O(nℓ) for a sketch of ℓ = 8k + 16 directions, and about 8 n² or 16 nℓ
//! bytes.
//! References: Chan, Golub & LeVeque, *Algorithms for computing the sample variance*, 1983; Ghashami, Liberty, Phillips
//! & Woodruff, SIAM J. Comput. 2016.

mod finish;

use crate::columns::Columns;
use crate::comparators::{BestSubspace, Mean, RunningScatter, Sketch, retained};
use crate::error::{Error, add_square, at_least_one, every};
use crate::linalg::{Matrix, lower_square};
use crate::model::Model;
use crate::num::{LARGEST_TOTAL, dot};
use crate::registry::Missing;
use crate::row::{check_cells, check_row};
use crate::saved::{Refusal, SavedKind, framed, unframed};
use crate::standardize::{Standardize, Standardizer};
use crate::state::{TRACE, count, energy, ensure, length, within};
use crate::subspace::LearnedScatter;
pub use finish::Principal;
use serde::{Deserialize, Serialize};

/// Moments of rows: count, mean and scatter matrix.
///
/// ```
/// use eigenhedge::{Kind, Missing, Moments, options::Options, streams};
///
/// let rows = streams::three_subspaces(1);
/// let folded = |rows: &[Vec<f64>]| {
///     let mut moments = Moments::new(20, 2, Missing::Fail)?;
///     moments.update(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>(), None)?;
///     Ok::<_, eigenhedge::Error>(moments)
/// };
/// let moments = folded(&rows[..100])?.merge(folded(&rows[100..])?)?;
/// let setup = Options::new(Kind::Leader, 2).resolve(str::to_owned)?;
/// let mut model = moments.finish(&setup, false)?;
/// assert_eq!(model.totals().rows, 1500);
/// let loss: f64 = rows.iter().map(|row| model.transform(row, &mut Vec::new()).unwrap()).sum();
/// assert!((loss - moments.best(2, true, false).high()).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    length: usize,
    kept: usize,
    missing: Missing,
    columns: Columns,
    rows: u64,
    passed_over: u64,
    energy: f64,
    largest_square: f64,
    /// Largest `w |x - m|²` of a row, where m is the mean of the previous rows. For merged parts, at least `|m - m'|²`.
    largest_deviation: f64,
    held: Held,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Held {
    Exact(Box<RunningScatter>),
    /// For long rows, or for a few shorter rows, which it stores exactly.
    Sketched(Box<Sketch>),
}

/// Number of directions that the sketch retains. It stores twice as many rows exactly.
fn directions(length: usize, kept: usize) -> usize {
    if length <= BestSubspace::LONGEST { (length / 4).max(1) } else { retained(kept) }
}

const MOST_KEPT: usize = 1 << 20;

impl Moments {
    /// Creates empty moments of rows of `length` columns, for models of at most `kept` directions. Rows with missing
    /// cells (NaN) are errors or skipped. Returns `Err` for [`Missing::Fill`].
    pub fn new(length: usize, kept: usize, missing: Missing) -> Result<Self, Error> {
        at_least_one("the dimension", length)?;
        at_least_one("k", kept)?;
        if missing == Missing::Fill {
            return Err(Error::Merge("missing must be fail or skip: cells are filled in row by row".to_owned()));
        }
        let held = Held::Sketched(Box::new(Sketch::new(length, directions(length, kept), true)?));
        Ok(Self {
            length,
            kept,
            missing,
            columns: Columns::default(),
            rows: 0,
            passed_over: 0,
            energy: 0.0,
            largest_square: 0.0,
            largest_deviation: 0.0,
            held,
        })
    }

    /// Sets the names of the columns, distinct and equal in all parts.
    pub fn set_names(&mut self, names: Vec<String>) -> Result<(), Error> {
        length("the names of columns", names.len(), self.length)?;
        let columns = Columns::new(Some(names), Standardizer::new(Standardize::None, 0));
        ensure(columns.names.is_some(), "each column must have a name of its own")?;
        self.columns = columns;
        Ok(())
    }

    /// Returns the names of the columns, or `None` if they are unnamed.
    pub fn names(&self) -> Option<&[String]> {
        self.columns.names.as_deref()
    }

    /// Returns `Err` for a row of the wrong length or with invalid cells. The error contains the index of the row.
    pub fn check(&self, rows: &[&[f64]]) -> Result<(), Error> {
        let check = if self.missing == Missing::Fail { check_row } else { check_cells };
        for (i, row) in rows.iter().enumerate() {
            let square = dot(row, row);
            if row.len() != self.length || !square.is_finite() {
                check("row", row, self.length).map_err(|error| error.at(i))?;
            }
        }
        Ok(())
    }

    /// Adds rows. A row of weight w counts w times. On an error nothing changes, and the error contains the index of
    /// the row.
    pub fn update(&mut self, rows: &[&[f64]], weights: Option<&[f64]>) -> Result<(), Error> {
        if let Some(weights) = weights {
            length("the weights of the rows", weights.len(), rows.len())?;
            every("weights of the rows", weights, "finite and not negative", |w| w >= 0.0 && w.is_finite())?;
        }
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        self.check(rows)?;
        let squares: Vec<f64> = rows.iter().enumerate().map(|(i, row)| weight(i) * dot(row, row)).collect();
        let seen = squares.iter().enumerate().filter(|(_, square)| !square.is_nan());
        let add = |total: f64, (i, square): (usize, &f64)| add_square(total, *square).map_err(|error| error.at(i));
        self.energy = seen.clone().try_fold(self.energy, add)?;
        for (i, (row, square)) in rows.iter().zip(squares).enumerate() {
            if square.is_nan() {
                self.passed_over += 1;
            } else if weight(i) > 0.0 {
                self.add(row, weight(i), square);
            }
        }
        Ok(())
    }

    /// Creates empty moments for rows in the standard units of a model, to which [`Self::add_to`] adds them later.
    pub fn for_model(model: &Model) -> Result<Self, Error> {
        let spec = model.spec();
        Self::new(model.length(), spec.kept, spec.missing)
    }

    /// Scales rows to the standard units of the model and adds them. On an error nothing changes.
    pub fn update_for(&mut self, model: &Model, rows: &[&[f64]]) -> Result<(), Error> {
        let columns = model.columns();
        if columns.standardizer.how() == Standardize::None {
            return self.update(rows, None);
        }
        let mut scaled = vec![Vec::new(); rows.len()];
        for (i, (row, to)) in rows.iter().zip(&mut scaled).enumerate() {
            columns.scaled(row, self.length, to).map_err(|error| error.at(i))?;
        }
        self.update(&scaled.iter().map(Vec::as_slice).collect::<Vec<_>>(), None)
    }

    /// Replaces stored rows by their scatter matrix, unless there is room for `more`. Long rows keep their sketch.
    fn make_room(&mut self, more: usize) {
        if let Held::Sketched(sketch) = &self.held
            && self.length <= BestSubspace::LONGEST
            && sketch.buffer.columns().saturating_add(more) > 2 * directions(self.length, self.kept)
        {
            let scatter = lower_square(sketch.buffer.view());
            self.held = Held::Exact(Box::new(RunningScatter::of(sketch.mean.clone(), scatter)));
        }
    }

    fn add(&mut self, row: &[f64], weight: f64, square: f64) {
        self.make_room(1);
        let before = self.weight();
        let grown = match &mut self.held {
            Held::Exact(scatter) => scatter.add_weighted(row, weight),
            Held::Sketched(sketch) => sketch.add_weighted(row, weight),
        };
        self.rows += 1;
        self.largest_square = self.largest_square.max(square);
        if before > 0.0 {
            self.largest_deviation = self.largest_deviation.max(grown * ((before + weight) / before));
        }
    }

    /// Merges the moments of two parts with equal row lengths, k, treatment of missing cells and, if any, names.
    pub fn merge(mut self, other: Self) -> Result<Self, Error> {
        length("a row of the other part", other.length, self.length)?;
        if self.kept != other.kept {
            let sentence = format!("k must be {} as in the first part, got {}", self.kept, other.kept);
            return Err(Error::Merge(sentence));
        }
        if self.missing != other.missing {
            let name = |part: &Self| if part.missing == Missing::Fail { "fail" } else { "skip" };
            let sentence = format!("missing must be {} as in the first part, got {}", name(&self), name(&other));
            return Err(Error::Merge(sentence));
        }
        self.columns.agree(&other.columns)?;
        self.energy = add_square(self.energy, other.energy)?;
        self.rows += other.rows;
        self.passed_over += other.passed_over;
        count("the number of rows", self.rows)?;
        count("the number of rows passed over", self.passed_over)?;
        self.largest_square = self.largest_square.max(other.largest_square);
        let (here, there) = (self.weight(), other.weight());
        let between = self.mean_parts().between(other.mean_parts()).map_or(0.0, |way| dot(&way, &way));
        let apart = if between > 0.0 { between * ((here + there) / here / there) } else { 0.0 };
        self.largest_deviation = self.largest_deviation.max(other.largest_deviation).max(apart);
        self.make_room(match &other.held {
            Held::Exact(_) => usize::MAX,
            Held::Sketched(sketch) => sketch.buffer.columns() + 1,
        });
        self.held = match (self.held, other.held) {
            (Held::Exact(mut own), Held::Exact(other)) => {
                own.merge(&other);
                Held::Exact(own)
            }
            (Held::Sketched(own), Held::Sketched(other)) => Held::Sketched(Box::new(own.merge(*other)?)),
            (Held::Exact(mut own), Held::Sketched(other)) => {
                own.merge_rows(other.mean.as_ref(), &other.buffer);
                Held::Exact(own)
            }
            _ => return Err(Error::State("moments of one length must be held in one way")),
        };
        Ok(self)
    }

    /// Returns the number of columns.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the maximum number of directions of models that use these moments.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Returns the number of rows added. Rows of weight zero are not counted.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of rows skipped because of missing cells.
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }

    /// Returns the total weight of the rows.
    pub fn weight(&self) -> f64 {
        self.mean_parts().weight
    }

    /// Returns the mean of the rows, or `None` before the first row.
    pub fn mean(&self) -> Option<Vec<f64>> {
        self.mean_parts().value()
    }

    /// Returns the scatter matrix `Σ w (x - m)(x - m)ᵀ`, or `None` for long rows, for which only a sketch is stored.
    pub fn scatter(&self) -> Option<Matrix> {
        match self.asked(true, false).scatter {
            LearnedScatter::Whole(mut scatter) => {
                scatter.mirror();
                Some(scatter)
            }
            LearnedScatter::Factor(rows) if self.length <= BestSubspace::LONGEST => {
                let mut scatter = lower_square(rows.view());
                scatter.mirror();
                Some(scatter)
            }
            LearnedScatter::Factor(_) => None,
        }
    }

    fn mean_parts(&self) -> &Mean {
        const NONE: &Mean = &Mean::NONE;
        match &self.held {
            Held::Exact(scatter) => scatter.mean.as_ref(),
            Held::Sketched(sketch) => sketch.mean.as_ref(),
        }
        .unwrap_or(NONE)
    }

    /// Serializes the moments in the format of saved files.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        framed(SavedKind::Moments, self).map_err(|_| Error::State("moments must have a form as bytes"))
    }

    /// Reads moments written by [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let (moments, length) = unframed::<Self>(SavedKind::Moments, bytes)?;
        moments.check_state(length).map_err(Refusal::State)?;
        Ok(moments)
    }

    fn check_state(&self, bytes: usize) -> Result<(), Error> {
        let justified = self.length > 0 && self.length <= bytes / size_of::<f64>();
        ensure(justified, "the rows must have a number, and no more than the bytes can have seen")?;
        ensure(
            (1..=MOST_KEPT).contains(&self.kept),
            "the number of directions kept must be at least 1 and at most 2^20",
        )?;
        ensure(self.missing != Missing::Fill, "missing cells must not be filled in")?;
        if let Some(names) = &self.columns.names {
            length("the names of columns", names.len(), self.length)?;
        }
        ensure(self.columns.standardizer == Columns::default().standardizer, "the columns must have no scale yet")?;
        count("the number of rows", self.rows)?;
        count("the number of rows passed over", self.passed_over)?;
        within("the energy of all rows", self.energy, 0.0..=LARGEST_TOTAL)?;
        energy("the largest squared norm of a row", self.largest_square)?;
        energy("the largest squared deviation of a row", self.largest_deviation)?;
        ensure((self.rows > 0) == (self.weight() > 0.0), "rows must have a weight")?;
        let deviations = match &self.held {
            Held::Exact(scatter) => {
                ensure(self.length <= BestSubspace::LONGEST, "long rows must be held as a sketch")?;
                scatter.check_state(self.length, true)?;
                scatter.whole().trace()
            }
            Held::Sketched(sketch) => {
                sketch.check_state(self.length, directions(self.length, self.kept), true)?;
                let is_whole = self.length > BestSubspace::LONGEST || sketch.shrinkage == 0.0;
                ensure(is_whole, "short rows must be held exactly")?;
                sketch.energy()
            }
        };
        let found: f64 = deviations + self.mean().map_or(0.0, |mean| self.weight() * dot(&mean, &mean));
        let slack = TRACE * self.energy;
        within("the energy of mean and scatter", found, self.energy - slack..=self.energy + slack)
    }
}
