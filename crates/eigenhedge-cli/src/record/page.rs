//! The page of a run, out of what was recorded.

use super::{Checkpoint, PROBABILITIES, Recorder, ledger};
use eigenhedge::{Run, RunSummary};
use eigenhedge_report::{Best, Curve, Mark, Placed, RunReport};

/// The text above the pictures.
pub struct Heading {
    /// Where the rows came from.
    pub source: String,
    /// The sentences below the title.
    pub summary: Vec<String>,
}

/// The page of a run with this summary.
pub fn page(heading: Heading, recorder: &Recorder, run: &Run, summary: &RunSummary) -> RunReport {
    let name = run.spec().learner.entry().name;
    let weights = recorder.weights.as_ref();
    let cuts = summary.partitions.last().into_iter().flat_map(|partition| &partition.cuts);
    RunReport {
        title: format!("eigenhedge run: {}", heading.source),
        subtitle: format!("{name}, {} directions kept", run.spec().kept),
        summary: heading.summary,
        learners: vec![recorder.totals(name)],
        best: best(&recorder.checkpoints),
        bound: bound(&recorder.checkpoints),
        regret_per_row: regret(&recorder.checkpoints),
        kept: kept(recorder),
        weights: (0..).zip(&summary.members).filter_map(|(i, m)| Some(Curve::of(&m.name, weights?, i))).collect(),
        losses: Some(Curve::of("loss", &recorder.losses, 0)),
        largest: recorder.largest.entries().to_vec(),
        rows: if run.spec().kept > 1 { Placed::of(&recorder.plane) } else { Vec::new() },
        marks: cuts.map(|row| Mark { x: *row as f64, label: "new segment".into() }).collect(),
        ledger: ledger::facts(summary),
        members: ledger::members(&summary.members),
        times: recorder.times.as_ref().filter(|_| recorder.is_in_order).map(|times| Curve::of("time", times, 0)),
    }
}

fn curve(name: &str, checkpoints: &[Checkpoint], value: impl Fn(&Checkpoint) -> Option<f64>) -> Curve {
    let points = checkpoints.iter().filter_map(|checkpoint| Some((checkpoint.row as f64, value(checkpoint)?)));
    let (rows, values) = points.unzip();
    Curve { name: name.into(), rows, values }
}

/// True if no picture would show the difference between the ends.
fn is_exact(checkpoints: &[Checkpoint]) -> bool {
    const PIXEL: f64 = 2e-3;
    checkpoints.iter().all(|checkpoint| checkpoint.high - checkpoint.low <= PIXEL * checkpoint.high)
}

fn best(checkpoints: &[Checkpoint]) -> Option<Best> {
    const NAME: &str = "best in hindsight";
    match checkpoints {
        [] => None,
        [_] => Some(Best::Points(curve(NAME, checkpoints, |checkpoint| Some(checkpoint.high)))),
        _ if is_exact(checkpoints) => Some(Best::Curve(curve(NAME, checkpoints, |checkpoint| Some(checkpoint.high)))),
        _ => {
            let low = curve(NAME, checkpoints, |checkpoint| Some(checkpoint.low));
            let high = curve(NAME, checkpoints, |checkpoint| Some(checkpoint.high));
            Some(Best::Bracket { name: low.name, rows: low.rows, low: low.values, high: high.values })
        }
    }
}

fn bound(checkpoints: &[Checkpoint]) -> Option<Curve> {
    Some(curve("bound", checkpoints, |checkpoint| checkpoint.bound)).filter(|curve| !curve.rows.is_empty())
}

fn regret(checkpoints: &[Checkpoint]) -> Vec<Curve> {
    let against = |best: fn(&Checkpoint) -> f64| {
        move |checkpoint: &Checkpoint| Some((checkpoint.expected_loss - best(checkpoint)) / checkpoint.rows as f64)
    };
    if is_exact(checkpoints) {
        return vec![curve("regret per row", checkpoints, against(|checkpoint| checkpoint.high))];
    }
    vec![
        curve("at least", checkpoints, against(|checkpoint| checkpoint.high)),
        curve("at most", checkpoints, against(|checkpoint| checkpoint.low)),
    ]
}

/// Directions that were ever explicit, from the surest.
fn kept(recorder: &Recorder) -> Vec<Curve> {
    let curves = (0..PROBABILITIES).map(|i| Curve::of(format!("direction {}", i + 1), &recorder.kept, i));
    curves.filter(|curve| curve.values.iter().any(|value| value.is_finite())).collect()
}
