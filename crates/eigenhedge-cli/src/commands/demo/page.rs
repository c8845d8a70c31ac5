//! The page of the demo: every learner on one stream.

use super::{AUTO, KEPT, Outcome};
use crate::record::{self, Heading};
use anyhow::{Context, Result};
use eigenhedge::comparators::BestSubspace;
use eigenhedge_report::{Best, Curve, Fact, Mark, RunReport, Table};

/// Rows between which the best so far is known.
const STRIDE: usize = 20;

/// The page; the pictures of a single learner are those of `auto`.
pub fn page(stream: &[Vec<f64>], best: Curve, results: &[Outcome], seed: u64) -> Result<RunReport> {
    let auto = results.iter().find(|result| result.name == AUTO).context("auto is among the learners")?;
    let total = best.values.last().copied().unwrap_or_default();
    let fact = |key: &str, value: f64, meaning: &str| Fact {
        key: key.into(),
        value: format!("{value:.2}"),
        explanation: meaning.into(),
    };
    let summary = vec![
        "Before each row a learner commits to a plane, then loses the squared distance of the row from it.".into(),
        format!("auto lost {:.2}, the best fixed plane {total:.2}: no fixed plane is good.", auto.expected_loss()),
        "Probabilities, weights, coordinates and losses of single rows are those of auto.".into(),
    ];
    let heading = Heading { source: String::new(), summary };
    Ok(RunReport {
        title: "eigenhedge demo".into(),
        subtitle: format!(
            "{} rows of {} numbers in a plane that changes after 500 and 1000 rows; seed {seed}",
            stream.len(),
            stream[0].len()
        ),
        learners: results.iter().map(|result| result.recorder.totals(result.name)).collect(),
        regret_per_row: results.iter().map(|result| regret(result, &best)).collect(),
        best: Some(Best::Curve(best)),
        marks: [500.0, 1000.0].map(|x| Mark { x, label: "another plane".into() }).to_vec(),
        ledger: vec![
            fact("expected_loss", auto.expected_loss(), "what auto lost, averaged over its own draws"),
            fact("best_loss", total, "what the best fixed plane loses, chosen with all rows known"),
            fact("regret", auto.expected_loss() - total, "the first less the second"),
        ],
        members: Some(all(results, total)),
        ..record::page(heading, &auto.recorder, &auto.run, &auto.run.summary())
    })
}

/// Loss of the best fixed plane, now and then and at the end.
pub fn best_so_far(stream: &[Vec<f64>]) -> Result<Curve> {
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
    let Curve { name, rows, values: totals } = result.recorder.totals(result.name);
    let mut curve = Curve { name, ..Curve::default() };
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
        let expected = result.expected_loss();
        vec![result.name.to_owned(), format!("{expected:.2}"), format!("{:+.2}", expected - best)]
    };
    let columns = ["learner", "expected loss", "over best"].map(String::from).to_vec();
    Table { title: "All learners".into(), columns, rows: results.iter().map(row).collect() }
}
