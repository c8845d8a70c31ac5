//! The page of the demo: every learner on one stream.

use super::{AUTO, KEPT, Outcome};
use anyhow::{Context, Result};
use eigenhedge::Loss;
use eigenhedge::comparators::BestSubspace;
use eigenhedge::run::{AnyLearner, Ledger};
use eigenhedge_report::{Best, Curve, Downsampler, Fact, Keep, Mark, Placed, RunReport, Table, TopK};

/// Points of a curve; the stream has not many more rows.
const POINTS: usize = 750;
/// Rows between which the best so far is known.
const STRIDE: usize = 20;
/// Kept probabilities that are drawn.
const PROBABILITIES: usize = 6;

/// What is recorded of one learner.
pub struct Curves {
    totals: Downsampler,
    losses: Downsampler,
    plane: Downsampler,
    kept: Downsampler,
    weights: Downsampler,
    members: Vec<String>,
    largest: TopK,
}

impl Curves {
    /// Before the first row.
    pub fn new(learner: &AnyLearner) -> Self {
        let members: Vec<String> = learner.members().into_iter().map(|(spec, ..)| spec.label()).collect();
        Self {
            totals: Downsampler::new(Keep::First, POINTS, 1),
            losses: Downsampler::new(Keep::Largest, POINTS, 1),
            plane: Downsampler::new(Keep::First, POINTS, 2),
            kept: Downsampler::new(Keep::First, POINTS, PROBABILITIES),
            weights: Downsampler::new(Keep::First, POINTS, members.len()),
            members,
            largest: TopK::default(),
        }
    }

    /// After each row.
    pub fn enter(&mut self, ledger: &Ledger, loss: Loss, learner: &AnyLearner) {
        let row = ledger.rows - 1;
        self.totals.push(row, &[ledger.expected]);
        self.losses.push(row, &[loss.realised]);
        self.plane.push(row, learner.coordinates());
        self.kept.push(row, &learner.probabilities());
        let weights: Vec<f64> = learner.members().into_iter().map(|(_, weight, _)| weight).collect();
        self.weights.push(row, &weights);
        self.largest.offer(row, loss.realised, String::new);
    }
}

/// The page; the pictures of a single learner are those of `auto`.
pub fn page(stream: &[Vec<f64>], results: &[Outcome], seed: u64) -> Result<RunReport> {
    let best = best_so_far(stream)?;
    let auto = results.iter().find(|result| result.name == AUTO).context("auto is among the learners")?;
    let curves = &auto.curves;
    let total = best.values.last().copied().unwrap_or_default();
    let fact = |key: &str, value: f64, meaning: &str| Fact {
        key: key.into(),
        value: format!("{value:.2}"),
        explanation: meaning.into(),
    };
    let kept = (0..PROBABILITIES).map(|i| Curve::of(format!("direction {}", i + 1), &curves.kept, i));
    Ok(RunReport {
        title: "eigenhedge demo".into(),
        subtitle: format!(
            "{} rows of {} numbers in a plane that changes after 500 and 1000 rows; seed {seed}",
            stream.len(),
            stream[0].len()
        ),
        summary: vec![
            "Before each row a learner commits to a plane, then loses the squared distance of the row from it.".into(),
            format!("auto lost {:.2}, the best fixed plane {total:.2}: no fixed plane is good.", auto.ledger.expected),
            "Probabilities, weights, coordinates and losses of single rows are those of auto.".into(),
        ],
        learners: results.iter().map(|result| Curve::of(result.name, &result.curves.totals, 0)).collect(),
        regret_per_row: results.iter().map(|result| regret(result, &best)).collect(),
        best: Some(Best::Curve(best)),
        bound: None,
        kept: kept.filter(|curve| curve.values.iter().any(|value| value.is_finite())).collect(),
        weights: (0..).zip(&curves.members).map(|(i, name)| Curve::of(name, &curves.weights, i)).collect(),
        losses: Some(Curve::of("loss", &curves.losses, 0)),
        largest: curves.largest.entries().to_vec(),
        rows: Placed::of(&curves.plane),
        marks: [500.0, 1000.0].map(|x| Mark { x, label: "another plane".into() }).to_vec(),
        ledger: vec![
            fact("expected_loss", auto.ledger.expected, "what auto lost, averaged over its own draws"),
            fact("best_loss", total, "what the best fixed plane loses, chosen with all rows known"),
            fact("regret", auto.ledger.expected - total, "the first less the second"),
        ],
        members: Some(all(results, total)),
    })
}

fn best_so_far(stream: &[Vec<f64>]) -> Result<Curve> {
    let mut best = BestSubspace::new(stream[0].len(), false).context("the rows are too long to follow")?;
    let mut curve = Curve { name: "best fixed plane so far".into(), ..Curve::default() };
    for (i, row) in stream.iter().enumerate() {
        best.add(row);
        if (i + 1) % STRIDE == 0 || i + 1 == stream.len() {
            curve.rows.push(i as f64);
            curve.values.push(best.loss(KEPT));
        }
    }
    Ok(curve)
}

/// At the rows at which both are known.
fn regret(result: &Outcome, best: &Curve) -> Curve {
    let (rows, totals) = result.curves.totals.curve(0);
    let mut curve = Curve { name: result.name.into(), ..Curve::default() };
    for (row, best) in best.rows.iter().zip(&best.values) {
        // Of the rows kept, the last that is not after it.
        let at = rows.partition_point(|kept| kept <= row);
        if at > 0 {
            curve.rows.push(*row);
            curve.values.push((totals[at - 1] - best) / (row + 1.0));
        }
    }
    curve
}

fn all(results: &[Outcome], best: f64) -> Table {
    let row = |result: &Outcome| {
        let expected = result.ledger.expected;
        vec![result.name.to_owned(), format!("{expected:.2}"), format!("{:+.2}", expected - best)]
    };
    let columns = ["learner", "expected loss", "over best"].map(String::from).to_vec();
    Table { title: "All learners".into(), columns, rows: results.iter().map(row).collect() }
}
