//! Kept subspace after the first change in the stream of three subspaces.

use super::figure_3::SEGMENT;
use super::{ALPHA, KEPT, tracking};
use crate::curves::Inspected;
use crate::textbook::Textbook;
use crate::{Claim, LabError, Outcome, Progress, Setting, Table};
use eigenhedge::{AnyLearner, Matrix, Mixing, Random, streams, trial};
use eigenhedge_pages::{Chart, Mark, Series, Tint};

/// Share of the new subspace that a learner must keep to count as switched.
const TURNED: f64 = 0.9;
const BEFORE: usize = 20;
/// Numbers of rows after the change at which the most probable subspace is plotted.
const MOMENTS: [usize; 5] = [0, 15, 30, 45, 60];

struct Transition {
    /// Shares of the new and of the old subspace that are kept, from [`BEFORE`] rows before the change on.
    new: Vec<f64>,
    old: Vec<f64>,
    /// Most probable subspaces at [`MOMENTS`].
    planes: Vec<Matrix>,
}

impl Transition {
    /// Returns the number of rows until the learner has switched, or else the length of a segment.
    fn rows(&self) -> f64 {
        self.new[BEFORE..].iter().position(|share| *share >= TURNED).unwrap_or(SEGMENT) as f64
    }
}

pub fn run(setting: &Setting, progress: &Progress) -> Result<Outcome, LabError> {
    let stream = streams::recurring(20, KEPT, &[0, 1], SEGMENT, setting.seed);
    let exact = watch(AnyLearner::new(&tracking(Mixing::None, KEPT), 20)?, &stream)?;
    progress(0.3);
    let textbook = watch(Textbook::tracking(20, KEPT, 1.0), &stream)?;
    progress(0.7);
    let share = watch(AnyLearner::new(&tracking(Mixing::FixedShare { alpha: ALPHA }, KEPT), 20)?, &stream)?;
    let named = [("exact", &exact), ("textbook", &textbook), ("fixed share", &share)];

    let names =
        named.iter().flat_map(|(name, _)| ["new", "old"].map(|which| format!("{}_{which}", name.replace(' ', "_"))));
    let mut table = Table::new("", std::iter::once("rows_after_the_change".to_owned()).chain(names));
    for t in 0..exact.new.len() {
        let cells = named.iter().flat_map(|(_, seen)| [seen.new[t], seen.old[t]]);
        table.push(std::iter::once(t as f64 - BEFORE as f64).chain(cells));
    }
    let until = "rows until 90 % of the new subspace is kept:";
    let claims = vec![
        Claim::at_least(&format!("{until} textbook"), textbook.rows(), "", 15.0),
        Claim::at_most(&format!("{until} textbook"), textbook.rows(), "twice the 60 of the paper", 120.0),
        Claim::less(&format!("{until} fixed share"), share.rows(), "textbook", textbook.rows()),
        Claim::at_least(&format!("{until} exact"), exact.rows(), "3 × textbook", 3.0 * textbook.rows()),
        Claim::at_least("exact: share of the old subspace that is kept at the change", exact.old[BEFORE], "", 0.999),
        Claim::at_most(
            "share of the old subspace that fixed share keeps at the end, beyond what lies in the new one",
            share.old.last().copied().unwrap_or(1.0) - overlap(&stream.subspaces[0], &stream.subspaces[1]),
            "",
            0.05,
        ),
    ];
    let charts = vec![shares(&named), ellipses("Textbook: the plane most surely kept", &textbook)];
    let text = vec![
        format!(
            "The first change of the stream of three subspaces. The share of a plane that is kept is the mean squared length \
             that its unit vectors keep. The usual program in double precision needs {} rows to keep nine tenths of the new plane, the \
             paper speaks of about 60; the exact algorithm needs {}, because it remembers how surely it knew the old one. \
             With a fixed share of {ALPHA} it takes {} rows.",
            textbook.rows(),
            if exact.rows() >= SEGMENT as f64 { "more rows than the segment has".into() } else { format!("{} rows", exact.rows()) },
            share.rows()
        ),
        "An ellipse is the unit circle of the plane that the usual program most surely keeps, seen in the first two of the twenty coordinates, at 0, 15, \
         30, 45 and 60 rows after the change."
            .into(),
    ];
    Ok(Outcome { tables: vec![table], charts, text, claims })
}

fn watch(mut learner: impl Inspected, stream: &streams::Stream) -> Result<Transition, LabError> {
    let mut random = Random::seeded(0);
    let mut seen = Transition { new: Vec::new(), old: Vec::new(), planes: Vec::new() };
    for t in 0..=stream.rows.len() {
        if t + BEFORE >= SEGMENT {
            seen.old.push(kept(&learner, &stream.subspaces[0])?);
            seen.new.push(kept(&learner, &stream.subspaces[1])?);
        }
        if MOMENTS.iter().any(|moment| t == SEGMENT + moment) {
            seen.planes.push(learner.most_surely_kept(KEPT));
        }
        if let Some(row) = stream.rows.get(t) {
            trial(&mut learner, &(&row[..]).into(), &mut random)?;
        }
    }
    Ok(seen)
}

/// Returns the mean kept squared length of the basis vectors.
fn kept(learner: &impl Inspected, subspace: &Matrix) -> Result<f64, LabError> {
    let shares = (0..subspace.columns()).map(|j| learner.kept_of(subspace.column(j)));
    Ok(shares.sum::<Result<f64, _>>()? / subspace.columns() as f64)
}

/// Returns the mean projected squared length of the basis vectors of the first subspace.
fn overlap(one: &Matrix, other: &Matrix) -> f64 {
    let mut coordinates = Vec::new();
    let mut square = |j: usize| {
        other.transpose_times(one.column(j), &mut coordinates);
        coordinates.iter().map(|c| c * c).sum::<f64>()
    };
    (0..one.columns()).map(&mut square).sum::<f64>() / one.columns() as f64
}

fn shares(named: &[(&str, &Transition)]) -> Chart {
    let mut chart = Chart::new("How much of the new plane is kept", "rows after the change", "share that is kept");
    for (slot, (name, seen)) in named.iter().enumerate() {
        let x: Vec<f64> = (0..seen.new.len()).map(|t| t as f64 - BEFORE as f64).collect();
        chart = chart.with(Series::line(*name, &x, &seen.new).with_tint(Tint::Slot(slot)));
    }
    chart.marks = vec![Mark { x: 0.0, label: "the plane changes".into() }];
    chart
}

fn ellipses(title: &str, seen: &Transition) -> Chart {
    let mut chart = Chart::new(title, "coordinate 1", "coordinate 2");
    for (step, (plane, moment)) in seen.planes.iter().zip(MOMENTS).enumerate() {
        let angles = (0..72).map(|i| f64::from(i) * std::f64::consts::TAU / 72.0);
        let points = angles.map(|angle| {
            let (sin, cos) = angle.sin_cos();
            let place = |i: usize| cos * plane.column(0)[i] + sin * plane.column(1)[i];
            (place(0), place(1))
        });
        let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
        chart = chart.with(Series::points(format!("after {moment} rows"), &x, &y).with_tint(Tint::Time(step)));
    }
    chart
}
