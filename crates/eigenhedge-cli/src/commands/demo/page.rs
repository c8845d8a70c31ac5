//! HTML page of the demo, for readers who do not know the program.

use super::learners::{AUTO, KEPT, Outcome};
use anyhow::{Context, Result};
use eigenhedge::batch::{Center, Pca};
use eigenhedge::comparators::BestSubspace;
use eigenhedge::{Kind, Model, Random, Spec};
use eigenhedge_pages::{Block, Curve, Multiples, Page, Steps, Table, Tile};

const STRIDE: usize = 20;
const PART: usize = 80;

pub fn page(stream: &[Vec<f64>], best: Curve, results: &[Outcome], seed: u64) -> Result<Page> {
    let auto = results.iter().find(|result| result.name == AUTO).context("auto is among the learners")?;
    let total = best.values.last().copied().unwrap_or_default();
    let steps = steps(seed)?;
    let (follows, fixed) = steps.lost.last().copied().unwrap_or_default();
    let mut ordered: Vec<&Outcome> = results.iter().collect();
    ordered.sort_by(|a, b| a.expected_loss().total_cmp(&b.expected_loss()));
    let tile = |value: String, label: &str| Tile { value, label: label.into(), ..Tile::default() };
    let tiles = vec![
        tile(format!("{follows:.1}"), "loss of the line that follows the points"),
        tile(format!("{fixed:.1}"), "loss of the best fixed line, chosen with all rows known"),
        tile(
            format!("{:+.1}", follows - fixed),
            "regret: the first minus the second; negative if following was better",
        ),
    ];
    let mut blocks = vec![Block::Steps(steps), Block::Tiles(tiles)];
    blocks.push(Block::Text("The same with real tables".into(), IN_TABLES.map(String::from).to_vec()));
    blocks.push(Block::Multiples(multiples(stream, &ordered, &best)));
    blocks.push(Block::HeatMap(auto.recorder.weights(&auto.run.summary().members)));
    blocks.push(Block::Table(all(&ordered, total)));
    blocks.push(Block::Text("What comes next".into(), NEXT.map(String::from).to_vec()));
    Ok(Page {
        title: "What eigenhedge does".into(),
        subtitle: format!("eigenhedge demo, seed {seed}"),
        summary: IN_SHORT.map(String::from).to_vec(),
        blocks,
    })
}

fn steps(seed: u64) -> Result<Steps> {
    let mut random = Random::seeded(seed);
    let rows: Vec<[f64; 2]> = (0..3 * PART)
        .map(|t| {
            let turned = (t as f64 / PART as f64 - 1.0).clamp(0.0, 1.0);
            let (sin, cos) = (0.4 + 1.4 * turned).sin_cos();
            let (along, beside) = ((0.5 * random.normal()).clamp(-0.95, 0.95), 0.05 * random.normal());
            [along * cos - beside * sin, along * sin + beside * cos]
        })
        .collect();
    // The plot is centered at the origin, so the learner must not subtract a mean.
    let spec = Spec { center: None, ..Spec::new(Kind::Auto, 1) };
    let mut run = Model::new(spec, 2, seed)?;
    let best = Pca::fit(&rows, 1, Center::None)?;
    let angle = |direction: &[f64]| direction[1].atan2(direction[0]);
    let mut steps = Steps {
        title: "A line that follows the data".into(),
        caption: STEPS.into(),
        fixed: angle(best.components.column(0)),
        ..Steps::default()
    };
    let (mut lost, mut fixed) = (0.0, 0.0);
    for row in &rows {
        let chosen = run.embedding();
        steps.angles.push(chosen.components().map_or(0.0, |directions| angle(directions.column(0))));
        lost += run.step(row)?.expected;
        fixed += best.loss(row)?;
        steps.points.push((row[0], row[1]));
        steps.lost.push((lost, fixed));
    }
    Ok(steps)
}

/// A point every [`STRIDE`] rows and after the last. The loss of the first row does not count.
pub fn best_so_far(stream: &[Vec<f64>]) -> Result<Curve> {
    let mut best = BestSubspace::new(stream[0].len(), true).context("the rows are too long to follow")?;
    let mut curve = Curve { name: "best fixed plane so far".into(), ..Curve::default() };
    for (i, row) in stream.iter().enumerate().skip(1) {
        best.add(row);
        if (i + 1) % STRIDE == 0 || i + 1 == stream.len() {
            curve.rows.push(i as f64);
            curve.values.push(best.loss(KEPT));
        }
    }
    Ok(curve)
}

fn multiples(stream: &[Vec<f64>], ordered: &[&Outcome], best: &Curve) -> Multiples {
    let total = best.values.last().copied().unwrap_or_default();
    let curve =
        |result: &&Outcome| result.recorder.totals(&format!("{}: lost {:.1}", result.name, result.expected_loss()));
    let curves: Vec<Curve> = ordered.iter().map(curve).collect();
    Multiples {
        title: "Every learner on a stream that changes twice".into(),
        charts: Multiples::of_curves(&curves, Some(best), 1.2 * total),
        caption: format!(
            "{} rows of {} numbers lie in a plane, and the plane changes after 500 and after 1000 rows. Each plot shows the \
             cumulative loss of one learner, smallest first, with the others in the background. Dashed: the best fixed plane, chosen with \
             all rows up to that point known.",
            stream.len(),
            stream[0].len()
        ),
    }
}

fn all(ordered: &[&Outcome], best: f64) -> Table {
    let row = |name: &str, lost: f64| vec![name.to_owned(), format!("{lost:.2}"), format!("{:+.2}", lost - best)];
    let mut rows = vec![row("best plane that stays", best)];
    rows.extend(ordered.iter().map(|result| row(result.name, result.expected_loss())));
    let columns = ["learner", "expected loss", "regret"].map(String::from).to_vec();
    Table { title: "In numbers".into(), columns, rows, ..Table::default() }
}

const IN_SHORT: [&str; 2] = [
    "Rows of numbers arrive one at a time. Before each row, eigenhedge chooses a few directions. Its loss is the squared distance \
     of the row from them. Then it learns from the row.",
    "If a row has two numbers and one direction is kept, the direction is a line among points in the plane. Press play.",
];
const STEPS: &str = "Each point is a row, and the newest point is the largest. Its squared distance from the blue line is its loss. The \
                     blue line was chosen before the point was seen. The orange line is the best fixed line, which was chosen \
                     afterwards, with all points known.";
const IN_TABLES: [&str; 2] = [
    "A table of sensors has more columns, but a few directions contain most of the variation. Directions that are learned row \
     by row need only one pass over the data, follow it when it changes, and show at once which rows do not fit.",
    "eigenhedge reports its loss, the loss of the best fixed directions and, for many learners, a bound \
     that holds for every stream. auto runs several learners in parallel and gives more weight to those with smaller losses.",
];
const NEXT: [&str; 1] = [
    "eigenhedge run YOUR.csv -k 2 --report report.html draws such a page for your own rows; eigenhedge monitor YOUR.csv finds rows \
     that do not fit.",
];
