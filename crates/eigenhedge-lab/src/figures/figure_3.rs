//! Stream of three subspaces, which figures 4 and 5 use.

use super::KEPT;
use crate::{Claim, LabError, Outcome, Progress, Setting, Table};
use eigenhedge::batch::{Center, Pca};
use eigenhedge::internals::dot;
use eigenhedge::streams;
use eigenhedge_pages::{Chart, Series};

pub const SEGMENT: usize = 500;
const SHOWN: usize = 3;

pub fn run(setting: &Setting, _: &Progress) -> Result<Outcome, LabError> {
    let rows = streams::three_subspaces(setting.seed);
    let segments: Vec<&[Vec<f64>]> = rows.chunks(SEGMENT).collect();
    let planes = segments.iter().map(|rows| Pca::fit(rows, KEPT, Center::None)).collect::<Result<Vec<_>, _>>()?;
    let within: f64 = planes.iter().map(Pca::total_loss).sum();
    let best = Pca::fit(&rows, KEPT, Center::None)?.total_loss();
    let energy: f64 = rows.iter().map(|row| dot(row, row)).sum();
    let longest = rows.iter().map(|row| dot(row, row)).fold(0.0, f64::max).sqrt();
    let crossed = segments[1].iter().map(|row| planes[0].loss(row)).sum::<Result<f64, _>>()?;
    let second: f64 = segments[1].iter().map(|row| dot(row, row)).sum();

    let mut table = Table::new("", ["row", "segment", "x1", "x2", "x3"]);
    for (t, row) in rows.iter().enumerate() {
        table.push([t as f64, (t / SEGMENT + 1) as f64].into_iter().chain(row[..SHOWN].iter().copied()));
    }
    let view = |i: usize, j: usize| {
        let title = format!("Coordinates {} and {} of 20", i + 1, j + 1);
        let mut chart = Chart::new(title, format!("coordinate {}", i + 1), format!("coordinate {}", j + 1));
        for (s, segment) in segments.iter().enumerate() {
            let coordinate = |c: usize| segment.iter().map(|row| row[c]).collect::<Vec<_>>();
            let name = format!("rows {} to {}", s * SEGMENT + 1, (s + 1) * SEGMENT);
            chart = chart.with(Series::points(name, &coordinate(i), &coordinate(j)));
        }
        chart
    };
    let crossing = "loss of the first plane on the second segment";
    let claims = vec![
        Claim::at_most("longest row", longest, "", 1.0 + 1e-12),
        Claim::at_most("loss of the three planes, each on its own segment", within, "", 1e-9 * energy),
        Claim::at_least("loss of the best single plane", best, "a quarter of the energy of all rows", 0.25 * energy),
        Claim::at_least(crossing, crossed, "half of that segment's energy", 0.5 * second),
    ];
    let text = vec![
        "1500 rows of 20 numbers. In each third they come from a Gaussian of rank 2, so they lie in a plane; the plane \
         changes after 500 and after 1000 rows. Rows longer than one are cut to length one, which is the rim that can be \
         seen. Two of the twenty coordinates are shown at a time."
            .into(),
    ];
    Ok(Outcome { tables: vec![table], charts: vec![view(0, 1), view(0, 2)], text, claims })
}
