//! Data for the page of a run, recorded in bounded memory.
//!
//! For n columns, the best fixed subspace in hindsight costs a few products with an n × n matrix
//! ([`LeadingDirections`]). It is computed at most `CHECKPOINTS` times, at least n rows apart, and for kernels only at
//! the end. Directions are recorded at most `LOOKS` times, and not for kernels. The record depends only on the rows,
//! not on the clock.

mod charts;
mod directions;
mod ledger;
mod page;
mod summary;

pub use page::{page, page_so_far};
pub use summary::{json, text};

use crate::chart::Curve;
use crate::downsample::{Downsampler, Keep};
use crate::top_k::TopK;
use eigenhedge::comparators::LeadingDirections;
use eigenhedge::{AnyLearner, Loss, Model, Summary};
use serde::{Deserialize, Serialize};

const POINTS: usize = 750;
const FEWER_POINTS: usize = 400;
const PROBABILITIES: usize = 10;
const CHECKPOINTS: usize = 64;
/// Minimum number of rows between checkpoints: the comparator adds rows in blocks.
const CLOSEST: u64 = 64;
const LOOKS: usize = 40;
/// Larger sets of directions are not recorded.
const NUMBERS: usize = 2048;
const LARGEST: usize = 10;
const ROW: &str = "row";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorder {
    totals: Downsampler,
    losses: Downsampler,
    plane: Downsampler,
    kept: Downsampler,
    weights: Option<Downsampler>,
    largest: TopK,
    checkpoints: Vec<Checkpoint>,
    looks: Vec<RunLook>,
    /// Rows between recorded directions, or `None` if there are none.
    look_stride: Option<u64>,
    /// Rows between checkpoints, or `None` if there are none during the run.
    stride: Option<u64>,
    leading: LeadingDirections,
    times: Option<Downsampler>,
    is_in_order: bool,
    last_time: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Checkpoint {
    row: u64,
    rows: u64,
    expected_loss: f64,
    /// Bounds on the loss of the best fixed subspace in hindsight.
    low: f64,
    high: f64,
    bound: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RunLook {
    row: u64,
    rows: u64,
    numbers: Vec<f32>,
}

impl Recorder {
    pub fn new(run: &Model, has_time: bool) -> Self {
        let members = run.learner().member_weights().len();
        Self {
            totals: Downsampler::new(Keep::First, POINTS, 2),
            losses: Downsampler::new(Keep::Largest, POINTS, 1),
            plane: Downsampler::new(Keep::First, POINTS, 2),
            kept: Downsampler::new(Keep::First, FEWER_POINTS, PROBABILITIES),
            weights: (members > 0).then(|| Downsampler::new(Keep::First, FEWER_POINTS, members)),
            largest: TopK::new(LARGEST),
            checkpoints: Vec::new(),
            looks: Vec::new(),
            look_stride: (run.spec().kernel.is_none() && run.length() * run.spec().kept <= NUMBERS).then_some(CLOSEST),
            // With n columns, a checkpoint costs O(n²) per direction, and a row O(n).
            stride: run.spec().kernel.is_none().then(|| (run.length() as u64).next_power_of_two().max(CLOSEST)),
            leading: LeadingDirections::default(),
            times: has_time.then(|| Downsampler::new(Keep::First, POINTS, 1)),
            is_in_order: true,
            last_time: f64::NEG_INFINITY,
        }
    }

    /// A first row that only sets the center is not recorded.
    pub fn enter(&mut self, number: u64, moment: Option<(f64, &str)>, loss: Loss, run: &Model) {
        let totals = run.totals();
        if totals.charged() == 0 {
            return;
        }
        self.totals.push(number, &[totals.expected_loss, totals.loss + totals.kept_energy]);
        self.losses.push(number, &[loss.realised]);
        let z = run.coordinates();
        if self.wants_coordinates(number) {
            self.plane.push(number, &[z.first().copied().unwrap_or(0.0), z.get(1).copied().unwrap_or(0.0)]);
        }
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
            thin(&mut self.checkpoints, &mut self.stride, CHECKPOINTS);
        }
        if self.look_stride.is_some_and(|stride| totals.charged().is_multiple_of(stride)) {
            self.look(number, run);
        }
    }

    pub fn wants_coordinates(&self, number: u64) -> bool {
        self.plane.would_keep(number)
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

    fn look(&mut self, number: u64, run: &Model) {
        let (kept, rows) = (run.spec().kept, run.totals().charged());
        if let Some(matrix) = run.learner().clone().embedding(kept).components() {
            let numbers = (0..kept).flat_map(|j| matrix.column(j)).map(|x| *x as f32).collect();
            self.looks.push(RunLook { row: number, rows, numbers });
        }
        thin(&mut self.looks, &mut self.look_stride, LOOKS);
    }

    /// Records the values after the last row.
    pub fn close(&mut self, number: u64, run: &Model, summary: &Summary) {
        self.sample(number, run.learner());
        self.check(number, summary);
    }

    pub fn totals(&self, name: &str) -> Curve {
        self.totals.curve(name, 0)
    }

    fn curves(&self) -> [Option<&Downsampler>; 6] {
        let Self { totals, losses, plane, kept, weights, times, .. } = self;
        [Some(totals), Some(losses), Some(plane), Some(kept), weights.as_ref(), times.as_ref()]
    }

    /// Returns false for the record of another run and for a damaged record.
    pub fn fits(&self, run: &Model) -> bool {
        let built = Self::new(run, self.times.is_some());
        let alike = self.curves().into_iter().zip(built.curves()).all(|pair| match pair {
            (Some(own), Some(built)) => own.is_like(built),
            (own, built) => own.is_none() && built.is_none(),
        });
        let doubled = |own: Option<u64>, first: Option<u64>| match (own, first) {
            (Some(own), Some(first)) => own.is_power_of_two() && (first..1 << 53).contains(&own),
            (own, first) => own == first,
        };
        let strides = doubled(self.stride, built.stride) && doubled(self.look_stride, built.look_stride);
        let numbers = run.length() * run.spec().kept;
        let seen = |look: &RunLook| look.numbers.len() == numbers && look.numbers.iter().all(|x| x.abs() <= 2.0);
        let told = |checkpoint: &Checkpoint| {
            let Checkpoint { rows, expected_loss, low, high, bound, .. } = checkpoint;
            *rows > 0 && [*expected_loss, *low, *high, bound.unwrap_or(0.0)].iter().all(|x| !x.is_nan())
        };
        alike
            && strides
            && self.leading.check_state(run.length(), run.spec().kept).is_ok()
            && self.largest.capacity == LARGEST
            && self.largest.is_sound()
            && self.looks.len() <= LOOKS
            && self.looks.iter().all(seen)
            && self.looks.is_sorted_by(|a, b| a.rows < b.rows && a.row < b.row)
            && self.checkpoints.len() <= CHECKPOINTS
            && self.checkpoints.iter().all(told)
            && self.checkpoints.is_sorted_by(|a, b| a.rows < b.rows && a.row < b.row)
    }
}

/// If there are `most` records, doubles the stride and removes every second record.
fn thin<T>(records: &mut Vec<T>, stride: &mut Option<u64>, most: usize) {
    if records.len() >= most
        && let Some(stride) = stride
    {
        *stride *= 2;
        let mut number = 0;
        records.retain(|_| {
            number += 1;
            number % 2 == 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::saved::{from_text, to_text};
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
                recorder = from_text(&to_text(&recorder)).unwrap();
            }
        }
        (run, recorder)
    }

    #[test]
    fn saving_and_restoring_changes_nothing() {
        let text = |cut| to_text(&recorded(700, cut).1);
        for cut in [0, 1, 63, 512, 699] {
            assert_eq!(text(None), text(Some(cut)), "{cut}");
        }
    }

    #[test]
    fn memory_does_not_grow_with_the_stream_and_checkpoints_stay_even() {
        let (_, short) = recorded(1500, None);
        let (_, long) = recorded(6000, None);
        assert!(to_text(&long).len() < 2 * to_text(&short).len());
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
        assert!(!recorder.fits(&single));
        assert_eq!(from_text::<Recorder>("0g"), None);
        assert_eq!(from_text::<Recorder>("123"), None);
    }
}
