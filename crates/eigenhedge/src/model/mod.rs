//! The model: a learner, its generator and its summary over a stream of rows, with the names and the scale of their columns.

mod any;
mod basis;
mod batch;
mod embedding;
mod guarantee;
mod matrix;
mod merge;
mod missing;
mod row_learner;
mod step;
mod summary;
mod totals;

pub use any::AnyLearner;
pub use embedding::{Embedding, LinearMap};
use guarantee::{BoundInputs, Comparator, Guarantee, guarantee};
pub use guarantee::{Reason, bound_holds};
pub use summary::{Certificate, Member, ShiftingBound, Summary};
pub use totals::Totals;

use crate::columns::Columns;
use crate::comparators::{Best, BestMethod, Hindsight, LeadingDirections, Partitions};
use crate::error::Error;
use crate::kernel::VectorKernel;
use crate::random::Random;
use crate::registry::options::{AUTO_SEGMENTS, Coordinates, Setup};
use crate::registry::{Missing, Spec};
use crate::saved::{Refusal, SavedKind, framed, unframed};
use crate::scratch::Scratch;
use crate::state::ensure;
use crate::subspace::Average;
use serde::{Deserialize, Serialize};

/// A learner over a stream of rows, with all that is saved of it: options, state, summary, names and scale of the columns.
///
/// ```
/// use eigenhedge::{Kind, Model, Spec, streams};
///
/// let mut model = Model::new(Spec::new(Kind::Auto, 2), 20, 0)?;
/// for row in streams::three_subspaces(1) {
///     let loss = model.step(&row)?;
///     assert!(loss.expected <= 4.0); // rows of norm 1, around their running mean
/// }
/// let summary = model.summary();
/// assert!(summary.expected_loss < 10.0); // followed the changes ...
/// assert!(summary.best_loss.unwrap().low() > 500.0); // ... as no fixed subspace can
/// # Ok::<(), eigenhedge::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    spec: Spec,
    length: usize,
    learner: AnyLearner,
    random: Random,
    totals: Totals,
    hindsight: Option<Hindsight>,
    partitions: Option<Partitions>,
    segments: usize,
    coordinates: Coordinates,
    /// Columns that no row has had a cell of, when cells may be missing and the first one fixes the center.
    unseen: Vec<usize>,
    columns: Columns,
    /// What the program around the model has to remember, in a form of its own; empty for none. It ends with the next row.
    pub resume_state: Vec<u8>,
    /// The last row with its missing cells filled in.
    #[serde(skip)]
    filled: Scratch<Vec<f64>>,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    /// True if aligned coordinates are found for every row.
    aligns: bool,
    /// Coordinates of the last row.
    coordinates: Vec<f64>,
    /// True if the projection of every row is found.
    reconstructs: bool,
    reconstruction: Vec<f64>,
    /// The row in standard units, and those of a block.
    scaled: Vec<f64>,
    block: Vec<Vec<f64>>,
    /// What has been learned until the next row.
    frozen: Option<Box<Embedding>>,
}

/// What a model compares itself with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Comparators {
    /// Follow the best fixed subspace, at the price of O(n²) for each row while rows are short, O(nk) when they are long.
    pub hindsight: bool,
    /// How the best fixed subspace of plain rows is followed.
    pub best: BestMethod,
    /// Follow the best partitions into up to this many segments; 0 for none. Rows are remembered ([`Partitions`]).
    pub segments: usize,
}

impl Comparators {
    /// As many segments, up to 12, as make the bound for a comparator that changes least.
    pub const AUTO: usize = AUTO_SEGMENTS;

    /// The best fixed subspace, if `hindsight`, and the best partitions into up to this many segments; 0 for none.
    pub fn new(hindsight: bool, segments: usize) -> Self {
        Self { hindsight, segments, ..Self::default() }
    }
}

impl Default for Comparators {
    fn default() -> Self {
        Self { hindsight: true, best: BestMethod::Auto, segments: 0 }
    }
}

/// Longest rows that a saved model may claim without numbers to show for them.
const LONGEST: usize = 1 << 20;
/// Most directions that a saved model may keep.
const MOST_KEPT: usize = 1 << 20;

impl Model {
    /// Builds the learner of the spec for rows of this length, and follows the best fixed subspace.
    pub fn new(spec: Spec, length: usize, seed: u64) -> Result<Self, Error> {
        Self::with_comparators(spec, length, seed, Comparators::default())
    }

    /// The model that options describe; with `hindsight`, it follows the best subspace.
    pub fn of(setup: &Setup, length: usize, hindsight: bool) -> Result<Self, Error> {
        let comparators = Comparators { hindsight, best: setup.best, segments: setup.segments };
        let model = Self::with_comparators(setup.for_rows(length)?.spec, length, setup.seed.unwrap_or(0), comparators)?;
        Ok(Self { coordinates: setup.coordinates, ..model })
    }

    /// The same, with a choice of what to follow.
    pub fn with_comparators(spec: Spec, length: usize, seed: u64, comparators: Comparators) -> Result<Self, Error> {
        let learner = AnyLearner::new(&spec, length)?;
        AnyLearner::check_memory(&spec, length)?;
        let centered = spec.center.is_some();
        let hindsight = match &spec.kernel {
            _ if !comparators.hindsight || comparators.best == BestMethod::None => None,
            None => Hindsight::by(comparators.best, length, centered, spec.kept)?,
            Some(kernel) => Some(Hindsight::of_features(kernel.clone(), length, centered)),
        };
        if comparators.segments > 0 && spec.kernel.as_ref().is_some_and(VectorKernel::takes_items) {
            return Err(Error::Unsupported(
                "the best partition is followed for rows of numbers, not for texts and sets",
            ));
        }
        let partitions = (comparators.segments > 0).then(|| match &spec.kernel {
            None => Partitions::new(length, centered),
            Some(kernel) => Partitions::of_features(kernel.clone(), length, centered),
        });
        let begins_by_column = spec.missing == Missing::Fill && spec.center.is_some_and(|center| center.prior == 0.0);
        Ok(Self {
            unseen: if begins_by_column { (0..length).collect() } else { Vec::new() },
            filled: Scratch::default(),
            columns: Columns::default(),
            resume_state: Vec::new(),
            spec,
            length,
            learner,
            random: Random::seeded(seed),
            totals: Totals::default(),
            hindsight,
            partitions,
            segments: comparators.segments,
            coordinates: Coordinates::default(),
            scratch: Scratch::default(),
        })
    }

    /// The same over columns with these names and this scale, before its first row.
    #[must_use]
    pub fn with_columns(mut self, columns: Columns) -> Self {
        self.columns = columns;
        self
    }

    /// The columns of its rows.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Gives the columns these names; names of which one stands for two columns are no names.
    pub fn set_names(&mut self, names: Option<Vec<String>>) {
        self.columns = Columns::new(names, self.columns.standardizer.clone());
    }

    /// Takes the scale of a warm-up from rows before any of them is learned from ([`Columns::warm_up`]).
    pub fn warm_up<R: AsRef<[f64]>>(&mut self, rows: impl IntoIterator<Item = R>) -> Result<bool, (usize, Error)> {
        self.columns.warm_up(rows, self.length, self.spec.missing)
    }

    /// Ends a warm-up with the rows that it has had.
    pub fn settle(&mut self) {
        self.columns.standardizer.settle();
    }

    /// Says if [`Self::coordinates`] is read behind the rows that follow. Aligned coordinates cost O(u k²) for each row, with u
    /// explicit directions; they are found only while somebody asks for them.
    pub fn ask_for_coordinates(&mut self, asked: bool) {
        self.scratch.0.aligns = asked && self.coordinates == Coordinates::Aligned;
    }

    /// Says if [`Self::reconstruction`] is read behind the rows that follow, at the price of O(n u) for each. An error if the
    /// learner has none ([`Spec::check_reconstructions`]).
    pub fn ask_for_reconstructions(&mut self, asked: bool) -> Result<(), Error> {
        if asked {
            self.spec.check_reconstructions()?;
        }
        self.scratch.0.reconstructs = asked;
        Ok(())
    }

    /// The bytes of a file; an error if the kernel is a function, of which bytes cannot tell.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        framed(SavedKind::Model, self)
            .map_err(|_| Error::Unsupported("a learner whose kernel is a function cannot be saved"))
    }

    /// Reads what [`Self::to_bytes`] has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let (model, length) = unframed::<Self>(SavedKind::Model, bytes)?;
        model.check_state(length).map_err(Refusal::State)?;
        Ok(model)
    }

    /// Checks what was read from so many bytes: all of it is what a run can have come to.
    pub(crate) fn check_state(&self, bytes: usize) -> Result<(), Error> {
        let justified = self.length <= LONGEST.max(bytes / size_of::<f64>());
        ensure(self.length > 0 && justified, "the rows must have a number, and no more than the file can have seen")?;
        ensure(self.spec.kept <= MOST_KEPT, "the number of directions kept must be at most 2^20")?;
        self.spec.check_state()?;
        self.learner.check_state(&self.spec, self.length)?;
        self.totals.check_state()?;
        self.columns.check_state(self.length, self.totals.rows > 0)?;
        self.check_unseen()?;
        if let Some(hindsight) = &self.hindsight {
            let Spec { kernel, center, kept, .. } = &self.spec;
            hindsight.check_state(kernel.as_ref(), self.length, center.is_some(), *kept)?;
        }
        match &self.partitions {
            Some(partitions) if self.segments > 0 => {
                let Spec { kernel, center, .. } = &self.spec;
                partitions.check_state(kernel.as_ref(), self.length, center.is_some())
            }
            None if self.segments == 0 => Ok(()),
            _ => Err(Error::State("partitions must be followed if segments are asked for")),
        }
    }

    /// What the learner was built from.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The options in effect.
    pub fn setup(&self) -> Setup {
        let mut setup = Setup::of(self.spec.clone(), self.segments);
        setup.coordinates = self.coordinates;
        setup.best = self.hindsight.as_ref().map_or(BestMethod::None, |hindsight| hindsight.method(self.length));
        setup
    }

    /// Length of a row.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The learner.
    pub fn learner(&self) -> &AnyLearner {
        &self.learner
    }

    /// Totals so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Adds what the learner holds now to an average ([`Average`]): one learner over subspaces of plain rows.
    pub fn add_to(&mut self, average: &mut Average) -> Result<(), Error> {
        match &mut self.learner {
            AnyLearner::Plain(portfolio) if portfolio.members().len() == 1 => average.add(portfolio.heaviest_mut()),
            _ => Err(Error::Unsupported("an average is one of a single learner over subspaces of plain rows")),
        }
    }

    /// Rows that a run with a kernel still holds: the atoms of its learner, and rows to compare with.
    pub fn held_rows(&self) -> Vec<&[f64]> {
        let mut rows = self.learner.inside().atoms();
        if let Some(Hindsight::Features(features)) = &self.hindsight {
            rows.extend(features.rows());
        }
        rows
    }

    /// Coordinates of the last row, padded with zeros: in the directions that were drawn for it, unless aligned ones were
    /// asked for ([`Self::ask_for_coordinates`], [`Coordinates`]).
    pub fn coordinates(&self) -> &[f64] {
        &self.scratch.0.coordinates
    }

    /// The projection of the last row on the subspace that was drawn for it: its squared distance from the row is the loss of
    /// the row. Empty unless it was asked for.
    pub fn reconstruction(&self) -> &[f64] {
        &self.scratch.0.reconstruction
    }

    /// Coordinates of a row in the directions most surely kept now, and the squared length of what they leave out. Nothing is
    /// learned.
    pub fn transform(&mut self, row: &[f64], coordinates: &mut Vec<f64>) -> Result<f64, Error> {
        self.frozen().transform(row, coordinates)
    }

    /// The row with these coordinates in the directions most surely kept now; through a kernel, one whose features are near it.
    pub fn reconstruct(&mut self, coordinates: &[f64]) -> Result<Vec<f64>, Error> {
        self.frozen().reconstruct(coordinates)
    }

    /// The directions most surely kept now; found once after each row.
    pub fn frozen(&mut self) -> &mut Embedding {
        let found = self.scratch.0.frozen.take();
        let embedding = found.unwrap_or_else(|| Box::new(self.embedding()));
        self.scratch.0.frozen.insert(embedding)
    }

    /// The k directions most surely kept now, to use without learning.
    pub fn embedding(&mut self) -> Embedding {
        let embedding = self.learner.embedding(self.spec.kept).with_scale(&self.columns.standardizer);
        match self.spec.missing {
            Missing::Fill => embedding.filling(self.ridges()),
            Missing::Fail | Missing::Skip => embedding,
        }
    }

    /// The basis in which the next row would have coordinates if they were asked for, to use without learning: the aligned one,
    /// unless coordinates are to be those of the draw, which has not been made.
    pub fn next_embedding(&mut self) -> Embedding {
        let embedding = match self.coordinates {
            Coordinates::Aligned if self.spec.missing == Missing::Fill => {
                // The basis is turned against the directions: all of it is trusted alike.
                let least = self.ridges().into_iter().fold(f64::INFINITY, f64::min);
                self.learner.inside_mut().aligned_embedding(self.spec.kept).filling(vec![least; self.spec.kept])
            }
            Coordinates::Aligned => self.learner.inside_mut().aligned_embedding(self.spec.kept),
            Coordinates::Drawn => self.embedding(),
        };
        embedding.with_scale(&self.columns.standardizer)
    }

    /// Energy of all rows, as they were filled in if cells were missing, along each direction of an embedding, and in all; none
    /// when it is not known exactly. Costs O(n² k).
    pub fn energies(&self, embedding: &Embedding) -> Option<(Vec<f64>, f64)> {
        self.hindsight.as_ref()?.energies(embedding.components()?)
    }

    /// The account so far. Costs an eigendecomposition or two.
    pub fn summary(&self) -> Summary {
        Summary::of(self, self.best(), self.segments)
    }

    /// The account without partitions, which cost many eigendecompositions: for progress on the way.
    pub fn interim_summary(&self) -> Summary {
        Summary::of(self, self.best(), 0)
    }

    /// The same at the cost of a few products: the best loss between two numbers, found from the directions of the look
    /// before; unknown in a feature space. Cheapest when the rows charged are a multiple of 64, or 256 for rows of more numbers than
    /// that.
    pub fn approximate_summary(&self, leading: &mut LeadingDirections) -> Summary {
        let best = |hindsight: &Hindsight| hindsight.best_on_the_way(self.spec.kept, leading);
        Summary::of(self, self.comparator().and_then(best), 0)
    }

    /// The comparator, unless rows were filled in: it would have to be judged by the cells that were seen.
    fn comparator(&self) -> Option<&Hindsight> {
        self.hindsight.as_ref().filter(|_| self.totals.filled_rows == 0)
    }

    fn best(&self) -> Option<Best> {
        self.comparator()?.best(self.spec.kept)
    }
}
