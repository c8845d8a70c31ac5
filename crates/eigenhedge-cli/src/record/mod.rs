//! The data of a page of a run, recorded on the way in bounded memory.
//!
//! Curves are thinned to a fixed number of points. What costs more than a few operations (probabilities, weights) is asked
//! for only at the rows that a curve keeps. The best in hindsight and the bound cost a few products with a matrix of n × n
//! numbers on the way ([`LeadingDirections`]): they are asked for at no more than [`CHECKPOINTS`] rows at a time, evenly
//! spaced and at least n rows apart, and not on the way in the space of a kernel. At the end they are those of the
//! summary. Directions are looked at in the same way, at [`LOOKS`] rows at most.
//!
//! The record depends on the rows alone, no clock among them, and can be saved: the page of a run that was stopped
//! and resumed is the same bytes.

mod ledger;
mod page;

pub use page::{Heading, page};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use eigenhedge::comparators::LeadingDirections;
use eigenhedge::{AnyLearner, Loss, Member, Model, Summary};
use eigenhedge_report::{Curve, Downsampler, Keep, TopK};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Points of a curve.
const POINTS: usize = 750;
/// Points of a curve that is one of many.
const FEWER_POINTS: usize = 400;
/// Kept probabilities that are drawn.
const PROBABILITIES: usize = 10;
/// Most rows at which the best in hindsight is known.
const CHECKPOINTS: usize = 64;
/// Fewest rows between two checkpoints: the comparator takes in rows by as many.
const CLOSEST: u64 = 64;
/// Most looks at the directions on the way.
const LOOKS: usize = 40;
/// Most numbers of the directions at a look: with more of them, those at the end alone are shown.
const NUMBERS: usize = 2048;

/// Records a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorder {
    totals: Downsampler,
    losses: Downsampler,
    plane: Downsampler,
    kept: Downsampler,
    /// Present weights of the members of a portfolio.
    weights: Option<Downsampler>,
    largest: TopK,
    checkpoints: Vec<Checkpoint>,
    /// The directions most surely kept, now and then.
    looks: Vec<Look>,
    /// Rows between looks; none when there are none on the way.
    look_stride: Option<u64>,
    /// Rows between checkpoints; none when there are none on the way.
    stride: Option<u64>,
    /// For the best in hindsight on the way.
    leading: LeadingDirections,
    /// Time of each row, in seconds since 1970.
    times: Option<Downsampler>,
    /// False once a row was earlier than the one before: rows are then the axis.
    is_in_order: bool,
    /// Time of the row before.
    last_time: f64,
}

/// How the run stood after some row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Checkpoint {
    /// Number of the row in its table.
    row: u64,
    /// Rows charged.
    rows: u64,
    expected_loss: f64,
    low: f64,
    high: f64,
    bound: Option<f64>,
}

/// The directions most surely kept after some row, one behind the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Look {
    /// Number of the row in its table.
    row: u64,
    /// Rows charged.
    rows: u64,
    numbers: Vec<f32>,
}

impl Recorder {
    /// For a run that has not begun.
    pub fn new(run: &Model, has_time: bool) -> Self {
        let members = run.learner().member_weights().len();
        Self {
            totals: Downsampler::new(Keep::First, POINTS, 2),
            losses: Downsampler::new(Keep::Largest, POINTS, 1),
            plane: Downsampler::new(Keep::First, POINTS, 2),
            kept: Downsampler::new(Keep::First, FEWER_POINTS, PROBABILITIES),
            weights: (members > 0).then(|| Downsampler::new(Keep::First, FEWER_POINTS, members)),
            largest: TopK::default(),
            checkpoints: Vec::new(),
            looks: Vec::new(),
            look_stride: (run.spec().kernel.is_none() && run.length() * run.spec().kept <= NUMBERS).then_some(CLOSEST),
            // A checkpoint costs O(n²) for each direction, a row O(n).
            stride: run.spec().kernel.is_none().then(|| (run.length() as u64).next_power_of_two().max(CLOSEST)),
            leading: LeadingDirections::default(),
            times: has_time.then(|| Downsampler::new(Keep::First, POINTS, 1)),
            is_in_order: true,
            last_time: f64::NEG_INFINITY,
        }
    }

    /// After each row; `number` is that of the row in its table, and `moment` its time and the text of it. A first row that only fixes the center is in no picture:
    /// where it lies says nothing about the others.
    pub fn enter(&mut self, number: u64, moment: Option<(f64, &str)>, loss: Loss, run: &Model) {
        let totals = run.totals();
        if totals.charged() == 0 {
            return;
        }
        self.totals.push(number, &[totals.expected_loss, totals.loss + totals.kept_energy]);
        self.losses.push(number, &[loss.realised]);
        let z = run.coordinates();
        self.plane.push(number, &[z.first().copied().unwrap_or(0.0), z.get(1).copied().unwrap_or(0.0)]);
        self.largest.offer(number, loss.realised, || moment.map_or(String::new(), |(_, text)| text.to_owned()));
        if let (Some(times), Some((time, _))) = (&mut self.times, moment) {
            times.push(number, &[time]);
            self.is_in_order &= time >= self.last_time;
            self.last_time = time;
        }
        if self.kept.would_keep(number) {
            self.sample(number, run.learner());
        }
        if self.stride.is_some_and(|stride| totals.charged().is_multiple_of(stride)) {
            let summary = run.approximate_summary(&mut self.leading);
            self.check(number, &summary);
            self.thin_checkpoints();
        }
        if self.look_stride.is_some_and(|stride| totals.charged().is_multiple_of(stride)) {
            self.look(number, run);
        }
    }

    fn sample(&mut self, number: u64, learner: &AnyLearner) {
        self.kept.push(number, &learner.probabilities());
        if let Some(weights) = &mut self.weights {
            weights.push(number, &learner.member_weights());
        }
    }

    fn check(&mut self, number: u64, summary: &Summary) {
        let Some(best) = summary.best_loss else { return };
        self.checkpoints.pop_if(|last| last.rows == summary.rows);
        self.checkpoints.push(Checkpoint {
            row: number,
            rows: summary.rows,
            expected_loss: summary.expected_loss,
            low: best.low(),
            high: best.high(),
            bound: summary.bound,
        });
    }

    /// Finding directions is no part of learning: a copy of the learner does it. Every other look goes when there are too many.
    fn look(&mut self, number: u64, run: &Model) {
        let (kept, rows) = (run.spec().kept, run.totals().charged());
        if let Some(matrix) = run.learner().clone().embedding(kept).components() {
            let numbers = (0..kept).flat_map(|j| matrix.column(j)).map(|x| *x as f32).collect();
            self.looks.push(Look { row: number, rows, numbers });
        }
        if self.looks.len() >= LOOKS
            && let Some(stride) = &mut self.look_stride
        {
            *stride *= 2;
            self.looks.retain(|look| look.rows.is_multiple_of(*stride));
        }
    }

    /// Every other one goes when there are too many.
    fn thin_checkpoints(&mut self) {
        if self.checkpoints.len() >= CHECKPOINTS
            && let Some(stride) = &mut self.stride
        {
            *stride *= 2;
            let mut number = 0;
            self.checkpoints.retain(|_| {
                number += 1;
                number % 2 == 0
            });
        }
    }

    /// The account so far, at the cost of a few products; the best loss is known between two numbers.
    pub fn interim_summary(&mut self, run: &Model) -> Summary {
        run.approximate_summary(&mut self.leading)
    }

    /// After the last row: what must be known of it in any case. Recording does not go on after that.
    pub fn close(&mut self, number: u64, run: &Model, summary: &Summary) {
        self.sample(number, run.learner());
        self.check(number, summary);
    }

    /// Total expected loss after each row.
    pub fn totals(&self, name: &str) -> Curve {
        Curve::of(name, &self.totals, 0)
    }

    /// Weights of these members.
    pub fn weights(&self, members: &[Member]) -> Vec<Curve> {
        let weights = self.weights.as_ref();
        (0..).zip(members).filter_map(|(i, member)| Some(Curve::of(&member.name, weights?, i))).collect()
    }

    /// As text, for a snapshot.
    pub fn to_text(&self) -> String {
        to_text(self)
    }

    /// Reads the output of [`Self::to_text`], if it fits the run.
    pub fn from_text(text: &str, run: &Model) -> Option<Self> {
        from_text(text).filter(|recorder: &Self| recorder.fits(run))
    }

    /// True if it is what a recorder of this run can have become.
    fn fits(&self, run: &Model) -> bool {
        let built = &Self::new(run, self.times.is_some());
        let curves = |recorder: &Self| {
            let Self { totals, losses, plane, kept, weights, times, .. } = recorder.clone();
            [Some(totals), Some(losses), Some(plane), Some(kept), weights, times]
        };
        let alike = curves(self).iter().zip(&curves(built)).all(|pair| match pair {
            (Some(own), Some(built)) => own.is_like(built),
            (own, built) => own.is_none() && built.is_none(),
        });
        let doubled = |own: Option<u64>, first: Option<u64>| match (own, first) {
            (Some(own), Some(first)) => own.is_power_of_two() && (first..1 << 53).contains(&own),
            (own, first) => own == first,
        };
        let strides = doubled(self.stride, built.stride) && doubled(self.look_stride, built.look_stride);
        let numbers = run.length() * run.spec().kept;
        let seen = |look: &Look| look.numbers.len() == numbers && look.numbers.iter().all(|x| x.abs() <= 2.0);
        let told = |checkpoint: &Checkpoint| {
            let Checkpoint { rows, expected_loss, low, high, bound, .. } = checkpoint;
            *rows > 0 && [*expected_loss, *low, *high, bound.unwrap_or(0.0)].iter().all(|x| !x.is_nan())
        };
        alike
            && strides
            && self.leading.check_state(run.length(), run.spec().kept).is_ok()
            && self.largest.capacity() == built.largest.capacity()
            && self.looks.len() <= LOOKS
            && self.looks.iter().all(seen)
            && self.looks.is_sorted_by(|a, b| a.rows < b.rows && a.row < b.row)
            && self.checkpoints.len() <= CHECKPOINTS
            && self.checkpoints.iter().all(told)
            && self.checkpoints.is_sorted_by(|a, b| a.rows < b.rows && a.row < b.row)
    }
}

/// A record as text. Its numbers may be infinite or missing, which JSON has no words for.
pub fn to_text(record: &impl Serialize) -> String {
    let bytes = postcard::to_allocvec(record).unwrap_or_default();
    BASE64_STANDARD.encode(bytes)
}

/// Reads the output of [`to_text`].
pub fn from_text<T: DeserializeOwned>(text: &str) -> Option<T> {
    postcard::from_bytes(&BASE64_STANDARD.decode(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenhedge::{Kind, Spec, streams};

    fn recorded(rows: usize, cut: Option<usize>) -> (Model, Recorder) {
        let mut run =
            Model::new(Spec { center: Some(eigenhedge::RunningCenter::MEAN), ..Spec::bare(Kind::Auto, 2) }, 20, 1)
                .unwrap();
        let mut recorder = Recorder::new(&run, true);
        for (i, row) in streams::three_subspaces(1).iter().cycle().take(rows).enumerate() {
            let loss = run.step(row).unwrap();
            recorder.enter(i as u64, Some((60.0 * i as f64, "")), loss, &run);
            if cut == Some(i) {
                recorder = Recorder::from_text(&recorder.to_text(), &run).unwrap();
            }
        }
        (run, recorder)
    }

    #[test]
    fn saving_and_restoring_changes_nothing() {
        let text = |cut| recorded(700, cut).1.to_text();
        for cut in [0, 1, 63, 512, 699] {
            assert_eq!(text(None), text(Some(cut)), "{cut}");
        }
    }

    #[test]
    fn memory_does_not_grow_with_the_stream_and_checkpoints_stay_even() {
        let (_, short) = recorded(1500, None);
        let (_, long) = recorded(6000, None);
        assert!(long.to_text().len() < 2 * short.to_text().len());
        assert!((CHECKPOINTS / 2 - 1..CHECKPOINTS).contains(&long.checkpoints.len()), "{}", long.checkpoints.len());
        let gaps: Vec<u64> = long.checkpoints.windows(2).map(|pair| pair[1].rows - pair[0].rows).collect();
        assert!(gaps.iter().all(|gap| *gap == gaps[0]), "{gaps:?}");
        let gaps: Vec<u64> = long.looks.windows(2).map(|pair| pair[1].rows - pair[0].rows).collect();
        assert!(gaps.len() >= LOOKS / 2 - 2 && gaps.iter().all(|gap| *gap == gaps[0]), "{gaps:?}");
    }

    #[test]
    fn what_fits_another_run_is_refused() {
        let (_, recorder) = recorded(10, None);
        let single = Model::new(Spec::bare(Kind::Leader, 2), 20, 1).unwrap();
        assert_eq!(Recorder::from_text(&recorder.to_text(), &single), None);
        assert_eq!(Recorder::from_text("0g", &single), None);
        assert_eq!(Recorder::from_text("123", &single), None);
    }
}
