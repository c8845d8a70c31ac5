//! Model: a learner over a stream of rows, with its random generator, its summary, and the names and scale of columns.

mod any;
mod basis;
mod batch;
mod embedding;
mod guarantee;
mod merge;
mod missing;
#[cfg(test)]
mod sparse_laws;
mod step;
mod summary;
mod totals;

pub use any::AnyLearner;
use basis::EmbeddingBasis;
pub use embedding::{Embedding, LinearMap};
use guarantee::{BoundInputs, Comparator, Guarantee, guarantee};
pub use guarantee::{Reason, bound_holds};
pub use missing::Filled;
pub use summary::{Certificate, Member, ShiftingBound, Summary};
pub use totals::Totals;

use crate::columns::Columns;
use crate::comparators::{Best, BestMethod, Hindsight, LeadingDirections, Partitions};
use crate::error::Error;
use crate::kernel::VectorKernel;
use crate::linalg::Matrix;
use crate::random::Random;
use crate::registry::options::{Coordinates, Setup};
use crate::registry::{Missing, Spec};
use crate::saved::{Refusal, SavedKind, framed, unframed};
use crate::scratch::Scratch;
use crate::state::{ensure, no_limit};
use crate::subspace::Average;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Learner over a stream of rows, with its options and summary and the names and scale of the columns, all saved.
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
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Model {
    spec: Spec,
    length: usize,
    learner: AnyLearner,
    random: Random,
    totals: Totals,
    hindsight: Option<Hindsight>,
    partitions: Option<Partitions>,
    #[serde(with = "no_limit")]
    segments: usize,
    coordinates: Coordinates,
    /// Columns without an observed cell so far, if the first cell of each column sets its center.
    unseen: Vec<usize>,
    columns: Columns,
    /// Bytes that the calling program saves with the model. The next row clears them.
    pub resume_state: Vec<u8>,
    #[serde(skip)]
    scratch: Scratch<Working>,
}

#[derive(Debug, Clone, Default)]
struct Working {
    aligns: bool,
    coordinates: Vec<f64>,
    reconstructs: bool,
    reconstruction: Vec<f64>,
    scaled: Vec<f64>,
    fill: Filled,
    block: Vec<Vec<f64>>,
    frozen: Option<Box<Embedding>>,
}

/// Maximum row length of a saved model, unless the file is large enough for a longer row.
const LONGEST: usize = 1 << 20;
/// Maximum number of directions in a saved model.
const MOST_KEPT: usize = 1 << 20;

impl fmt::Debug for Model {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { spec, length, totals, .. } = self;
        let mut out = out.debug_struct("Model");
        out.field("learner", &spec.learner).field("k", &spec.kept).field("length", length).field("totals", totals);
        out.finish_non_exhaustive()
    }
}

impl Model {
    /// Creates a model for rows of `length` columns that follows the best fixed subspace in hindsight.
    pub fn new(spec: Spec, length: usize, seed: u64) -> Result<Self, Error> {
        Self::with_comparators(spec, length, seed, BestMethod::Auto, 0)
    }

    /// Creates the model of a setup for rows of `length` columns.
    pub fn of(setup: &Setup, length: usize) -> Result<Self, Error> {
        let (spec, seed) = (setup.for_rows(length)?.spec, setup.seed.unwrap_or(0));
        let model = Self::with_comparators(spec, length, seed, setup.best, setup.segments)?;
        Ok(Self { coordinates: setup.coordinates, ..model })
    }

    /// Creates a model for rows of `length` columns. `best` is the method for the best fixed subspace in hindsight,
    /// which costs O(n²) per row of n columns, or O(n k) for a sketch. If `segments` is positive, rows are stored for
    /// the best partitions into at most so many segments ([`Partitions`]).
    pub fn with_comparators(
        spec: Spec,
        length: usize,
        seed: u64,
        best: BestMethod,
        segments: usize,
    ) -> Result<Self, Error> {
        let learner = AnyLearner::new(&spec, length)?;
        AnyLearner::check_memory(&spec, length)?;
        let centered = spec.center.is_some();
        let hindsight = match &spec.kernel {
            _ if best == BestMethod::None => None,
            None => Hindsight::by(best, length, centered, spec.kept)?,
            Some(kernel) => Some(Hindsight::of_features(kernel.clone(), length, centered)),
        };
        if segments > 0 && spec.kernel.as_ref().is_some_and(VectorKernel::takes_items) {
            return Err(Error::Unsupported(
                "the best partition is followed for rows of numbers, not for texts and sets",
            ));
        }
        let partitions = (segments > 0).then(|| match &spec.kernel {
            None => Partitions::new(length, centered),
            Some(kernel) => Partitions::of_features(kernel.clone(), length, centered),
        });
        Ok(Self {
            unseen: if spec.begins_by_column() { (0..length).collect() } else { Vec::new() },
            columns: Columns::default(),
            resume_state: Vec::new(),
            spec,
            length,
            learner,
            random: Random::seeded(seed),
            totals: Totals::default(),
            hindsight,
            partitions,
            segments,
            coordinates: Coordinates::default(),
            scratch: Scratch::default(),
        })
    }

    /// Sets the names and scale of the columns. Must be called before the first row.
    #[must_use]
    pub fn with_columns(mut self, columns: Columns) -> Self {
        self.columns = columns;
        self
    }

    /// Returns the names and scale of the columns.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Sets the names of the columns. They become unnamed if a name occurs twice.
    pub fn set_names(&mut self, names: Option<Vec<String>>) {
        self.columns = Columns::new(names, self.columns.standardizer.clone());
    }

    /// Estimates the scale of the columns as [`Columns::warm_up`]. Returns true if more rows are needed.
    pub fn warm_up<R: AsRef<[f64]>>(&mut self, rows: impl IntoIterator<Item = R>) -> Result<bool, (usize, Error)> {
        self.columns.warm_up(rows, self.length, self.spec.missing)
    }

    /// Ends the warm-up and computes the scale from the rows so far.
    pub fn settle(&mut self) {
        self.columns.standardizer.settle();
    }

    /// Sets whether aligned coordinates of the following rows are computed, at O(u k²) per row with u explicit
    /// directions. Without a request, or with [`Coordinates::Drawn`], coordinates are in the drawn directions.
    pub fn ask_for_coordinates(&mut self, asked: bool) {
        self.scratch.0.aligns = asked && self.coordinates == Coordinates::Aligned;
    }

    /// Sets whether the following rows are reconstructed ([`Self::reconstruction`]), at O(n u) per row of n columns with
    /// u explicit directions. Returns `Err` if the learner cannot do this ([`Spec::check_reconstructions`]).
    pub fn ask_for_reconstructions(&mut self, asked: bool) -> Result<(), Error> {
        if asked {
            self.spec.check_reconstructions()?;
        }
        self.scratch.0.reconstructs = asked;
        Ok(())
    }

    /// Serializes the model in the format of saved files. Returns `Err` if the kernel is a function.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        framed(SavedKind::Model, self)
            .map_err(|_| Error::Unsupported("a learner whose kernel is a function cannot be saved"))
    }

    /// Reads a model written by [`Self::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refusal> {
        let (model, length) = unframed::<Self>(SavedKind::Model, bytes)?;
        model.check_state(length).map_err(Refusal::State)?;
        Ok(model)
    }

    /// Checks a state that was read from this number of bytes.
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

    /// Returns the parameters of the learner.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns the options in effect.
    pub fn setup(&self) -> Setup {
        let mut setup = Setup::of(self.spec.clone(), self.segments);
        setup.coordinates = self.coordinates;
        setup.best = self.hindsight.as_ref().map_or(BestMethod::None, |hindsight| hindsight.method(self.length));
        setup
    }

    /// Returns the number of columns.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Returns the learner.
    pub fn learner(&self) -> &AnyLearner {
        &self.learner
    }

    /// Returns the sums of losses and counts over the rows so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Adds the distribution of a single subspace learner over plain rows to an [`Average`].
    pub fn add_to(&mut self, average: &mut Average) -> Result<(), Error> {
        match &mut self.learner {
            AnyLearner::Plain(portfolio) if portfolio.members.len() == 1 => average.add(portfolio.heaviest_mut()),
            _ => Err(Error::Unsupported("an average is one of a single learner over subspaces of plain rows")),
        }
    }

    /// Returns the rows that a kernel model stores as atoms of its learner and for the best subspace in hindsight.
    pub fn held_rows(&self) -> Vec<&[f64]> {
        let mut rows = self.learner.inside().atoms();
        if let Some(Hindsight::Features(features)) = &self.hindsight {
            rows.extend(features.rows());
        }
        rows
    }

    /// Returns the coordinates of the most recent row, padded with zeros to k numbers, in the directions drawn for the
    /// row, or in the aligned basis if requested ([`Self::ask_for_coordinates`]).
    pub fn coordinates(&self) -> &[f64] {
        &self.scratch.0.coordinates
    }

    /// Returns the projection of the most recent row on the subspace drawn for it, in units of the input, if requested
    /// ([`Self::ask_for_reconstructions`]).
    pub fn reconstruction(&self) -> &[f64] {
        &self.scratch.0.reconstruction
    }

    /// Computes the coordinates of a row in the directions most likely to be kept, without learning. Returns the
    /// squared reconstruction error of the observed cells.
    pub fn transform(&mut self, row: &[f64], coordinates: &mut Vec<f64>) -> Result<f64, Error> {
        self.frozen().transform(row, coordinates)
    }

    /// Returns the row with these coordinates in the directions most likely to be kept, or a pre-image for a kernel
    /// model.
    pub fn reconstruct(&mut self, coordinates: &[f64]) -> Result<Vec<f64>, Error> {
        self.frozen().reconstruct(coordinates)
    }

    /// Returns [`Self::embedding`], cached until the next row.
    pub fn frozen(&mut self) -> &mut Embedding {
        let found = self.scratch.0.frozen.take();
        let embedding = found.unwrap_or_else(|| Box::new(self.embedding()));
        self.scratch.0.frozen.insert(embedding)
    }

    /// Returns the k directions that are currently most likely to be kept, for use without learning.
    pub fn embedding(&mut self) -> Embedding {
        let embedding = self.learner.embedding(self.spec.kept).with_scale(&self.columns.standardizer);
        match self.spec.missing {
            Missing::Fill => embedding.filling(self.ridges()),
            Missing::Fail | Missing::Skip => embedding,
        }
    }

    pub(crate) fn embedding_in(&self, directions: Matrix, center: Vec<f64>) -> Embedding {
        let basis = EmbeddingBasis::plain(directions, center).first(self.spec.kept);
        Embedding::new(basis, Vec::new()).with_scale(&self.columns.standardizer)
    }

    pub(crate) fn has_hindsight(&self) -> bool {
        self.hindsight.is_some()
    }

    /// Returns the aligned basis of the next row, for use without learning, or [`Self::embedding`] if coordinates are in
    /// drawn directions, because the next draw is unknown.
    pub fn next_embedding(&mut self) -> Embedding {
        let embedding = match self.coordinates {
            Coordinates::Aligned if self.spec.missing == Missing::Fill => {
                // The basis is rotated. All its vectors get the smallest ridge factor of the directions.
                let least = self.ridges().into_iter().fold(f64::INFINITY, f64::min);
                self.learner.inside_mut().aligned_embedding(self.spec.kept).filling(vec![least; self.spec.kept])
            }
            Coordinates::Aligned => self.learner.inside_mut().aligned_embedding(self.spec.kept),
            Coordinates::Drawn => self.embedding(),
        };
        embedding.with_scale(&self.columns.standardizer)
    }

    /// Returns the energy of all rows, including filled cells, along each direction of an embedding and in total, at the
    /// cost of O(n² k). Returns `None` if the energies are not known exactly.
    pub fn energies(&self, embedding: &Embedding) -> Option<(Vec<f64>, f64)> {
        self.hindsight.as_ref()?.energies(embedding.components()?)
    }

    /// Returns the summary of the rows so far. It costs one or two eigendecompositions, and many more with partitions.
    pub fn summary(&self) -> Summary {
        Summary::of(self, self.best(), self.segments)
    }

    /// Returns the summary without partitions, for progress reports.
    pub fn interim_summary(&self) -> Summary {
        Summary::of(self, self.best(), 0)
    }

    /// Returns the summary with lower and upper bounds on the best loss of plain rows, at the cost of a few matrix
    /// products from the directions of the previous call in `leading`. The call is cheapest when the number of counted
    /// rows is a multiple of 64, or of 256 for rows of more than 256 numbers.
    pub fn approximate_summary(&self, leading: &mut LeadingDirections) -> Summary {
        let best = |hindsight: &Hindsight| hindsight.best_on_the_way(self.spec.kept, leading);
        Summary::of(self, self.comparator().and_then(best), 0)
    }

    /// Returns `None` if cells were filled in, because the loss then covers only the observed cells.
    fn comparator(&self) -> Option<&Hindsight> {
        self.hindsight.as_ref().filter(|_| self.totals.filled_rows == 0)
    }

    fn best(&self) -> Option<Best> {
        let comparator = self.comparator()?;
        if self.is_unpredicted() {
            return comparator.best_unpredicted(self.spec.kept);
        }
        comparator.best(self.spec.kept)
    }
}
