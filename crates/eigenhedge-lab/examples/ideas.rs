//! Draws the pictures of the book's page "Ideas in pictures": `cargo run --example ideas -- docs/src/figures`.

use eigenhedge::kernel::VectorKernel;
use eigenhedge::{Error, Kind, Mixing, Model, NormBound, Spec, streams};
use eigenhedge_pages::{Chart, Mark, Series, svg};
use std::f64::consts::PI;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let pictures = [
        ("idea-loss", loss()),
        ("idea-probability", probability()?),
        ("idea-drift", drift()?),
        ("idea-bound", bound()?),
        ("idea-budget", budget()?),
    ];
    for (name, chart) in pictures {
        std::fs::write(format!("{folder}/{name}.svg"), svg::chart(&chart))?;
    }
    Ok(())
}

/// Returns the settings of a learner for rows of norm at most 1.
fn learner(kind: Kind, k: usize) -> Spec {
    Spec { norm_bound: NormBound::Given(1.0), ..Spec::bare(kind, k) }
}

fn at(degrees: f64) -> [f64; 2] {
    let angle = degrees * PI / 180.0;
    [angle.cos(), angle.sin()]
}

/// Plots rows in the plane, a line, and the distances of the rows from the line.
fn loss() -> Chart {
    let direction = at(35.0);
    let (mut rows, mut distances) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for i in 0..24 {
        let along = -1.0 + f64::from(i) / 11.5;
        let across = 0.22 * (2.4 * f64::from(i)).sin();
        let row = [along * direction[0] - across * direction[1], along * direction[1] + across * direction[0]];
        rows.0.push(row[0]);
        rows.1.push(row[1]);
        distances.0.extend([row[0], along * direction[0], f64::NAN]);
        distances.1.extend([row[1], along * direction[1], f64::NAN]);
    }
    let ends = [-1.1, 1.1];
    let line = |axis: usize| ends.map(|end| end * direction[axis]);
    Chart {
        title: "Two columns, one direction kept".into(),
        x_label: "first column".into(),
        y_label: "second column".into(),
        series: vec![
            Series::line("the subspace", &line(0), &line(1)),
            Series::points("rows", &rows.0, &rows.1),
            Series::dashed("what is lost", &distances.0, &distances.1),
        ],
        ..Chart::default()
    }
}

/// Plots the probability that each direction of the plane is kept, after rows near 35 degrees and
/// then near 120 degrees.
fn probability() -> Result<Chart, Error> {
    let spec = Spec { eta: 2.0, mixing: Mixing::FixedShare { alpha: 1e-2 }, ..learner(Kind::Tracking, 1) };
    let mut run = Model::new(spec, 2, 0)?;
    let mut series = Vec::new();
    for row in 0..=130 {
        let name = match row {
            0 => "before the first row",
            3 => "after 3 rows",
            100 => "after 100 rows",
            103 => "3 rows after the change",
            130 => "30 rows after the change",
            _ => "",
        };
        if !name.is_empty() {
            series.push(directions_kept(&run, name)?);
        }
        let toward = if row < 100 { 35.0 } else { 120.0 };
        run.step(&at(toward + 8.0 * (1.7 * f64::from(row)).sin()))?;
    }
    Ok(Chart {
        title: "How surely is each direction kept?".into(),
        x_label: "direction, in degrees".into(),
        y_label: "probability".into(),
        series,
        marks: vec![Mark { x: 35.0, label: "rows 1–100".into() }, Mark { x: 120.0, label: "later rows".into() }],
        ..Chart::default()
    })
}

/// Returns the probability that a direction is kept: one minus the expected loss of a unit row along it.
fn directions_kept(run: &Model, name: &str) -> Result<Series, Error> {
    let degrees: Vec<f64> = (0..=90).map(|i| 2.0 * f64::from(i)).collect();
    let kept = degrees.iter().map(|&angle| Ok(1.0 - run.clone().step(&at(angle))?.expected));
    Ok(Series::line(name, &degrees, &kept.collect::<Result<Vec<f64>, Error>>()?))
}

/// Returns the cumulative loss after every tenth row.
fn losses_so_far(run: &mut Model, rows: &[Vec<f64>]) -> Result<Vec<f64>, Error> {
    let mut sum = 0.0;
    let mut sums = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        sum += run.step(row)?.expected;
        if (i + 1).is_multiple_of(10) {
            sums.push(sum);
        }
    }
    Ok(sums)
}

fn every_tenth(sums: &[f64]) -> Vec<f64> {
    (1..=sums.len()).map(|i| 10.0 * i as f64).collect()
}

/// Plots the losses of the leader, of tracking and of `auto` on a stream whose plane changes twice.
fn drift() -> Result<Chart, Error> {
    let rows = streams::three_subspaces(1);
    let mut series = Vec::new();
    let share = Mixing::FixedShare { alpha: 1e-3 };
    let tracking = Spec { eta: 4.0, mixing: share, ..learner(Kind::Tracking, 2) };
    let learners =
        [("follow the leader", learner(Kind::Leader, 2)), ("tracking", tracking), ("auto", learner(Kind::Auto, 2))];
    let mut best = 0.0;
    for (name, spec) in learners {
        let mut run = Model::new(spec, 20, 0)?;
        let sums = losses_so_far(&mut run, &rows)?;
        series.push(Series::line(name, &every_tenth(&sums), &sums));
        best = run.summary().best_loss.map_or(best, |best| best.low());
    }
    series.push(Series::dashed("total of the best fixed plane", &[0.0, rows.len() as f64], &[best, best]));
    Ok(Chart {
        title: "The plane changes at rows 500 and 1000".into(),
        x_label: "row".into(),
        y_label: "lost so far".into(),
        series,
        marks: [500.0, 1000.0].map(|x| Mark { x, label: "change".into() }).to_vec(),
        ..Chart::default()
    })
}

/// Plots the loss, the best loss in hindsight and the bound against the number of rows.
fn bound() -> Result<Chart, Error> {
    let rows = streams::iid(20, 3, 0.3, 3000, 1).rows;
    let mut run = Model::new(Spec { self_confident: true, ..learner(Kind::Anchored, 3) }, 20, 0)?;
    let (mut at, mut lost, mut best, mut bounds) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (i, row) in rows.iter().enumerate() {
        run.step(row)?;
        if (i + 1).is_multiple_of(50) {
            let summary = run.summary();
            at.push((i + 1) as f64);
            lost.push(summary.expected_loss);
            best.push(summary.best_loss.map_or(f64::NAN, |best| best.low()));
            bounds.push(summary.bound.unwrap_or(f64::NAN));
        }
    }
    Ok(Chart {
        title: "Lost, best in hindsight, and the promise".into(),
        x_label: "rows so far".into(),
        y_label: "squared distance, total".into(),
        series: vec![
            Series::dashed("promised for every sequence", &at, &bounds),
            Series::line("lost", &at, &lost),
            Series::line("best fixed subspace", &at, &best),
        ],
        ..Chart::default()
    })
}

/// Plots the loss of a kernel learner against its budget of stored rows.
fn budget() -> Result<Chart, Error> {
    let circle = |i: usize| {
        let [x, y] = at(137.5 * i as f64);
        let radius = if i.is_multiple_of(2) { 1.0 } else { 2.0 };
        vec![radius * x + 0.05 * (3.1 * i as f64).sin(), radius * y + 0.05 * (4.3 * i as f64).cos()]
    };
    let rows: Vec<Vec<f64>> = (0..600).map(circle).collect();
    let share = |budget: Option<usize>| -> Result<f64, Error> {
        let kernel = Some(VectorKernel::Rbf { gamma: 0.5 });
        let mut run = Model::new(Spec { kernel, budget, ..Spec::bare(Kind::Leader, 6) }, 2, 0)?;
        let sums = losses_so_far(&mut run, &rows)?;
        Ok(100.0 * sums.last().copied().unwrap_or(0.0) / rows.len() as f64)
    };
    let budgets = [8.0, 10.0, 15.0, 20.0, 30.0, 40.0, 60.0, 80.0, 100.0];
    let lost: Vec<f64> = budgets.iter().map(|&budget| share(Some(budget as usize))).collect::<Result<_, _>>()?;
    let unlimited = share(None)?;
    Ok(Chart {
        title: "Two rings, kernel RBF, six directions".into(),
        x_label: "rows that may be remembered".into(),
        y_label: "lost, % of the energy".into(),
        series: vec![
            Series::line("with this budget", &budgets, &lost),
            Series::dashed("without one", &[8.0, 100.0], &[unlimited; 2]),
        ],
        ..Chart::default()
    })
}
