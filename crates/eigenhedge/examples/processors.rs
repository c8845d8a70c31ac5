//! Losses and coordinates for comparing processors. `processors [ROWS [TABLE…]]` prints one line
//! per row and learner, for synthetic streams and for the first rows of tables.
//!
//! `cargo xtask processors` runs the program on this processor and on emulated ones.

#[path = "../tests/common/hard_streams.rs"]
mod hard_streams;

use eigenhedge::{Kind, Model, Random, Spec, Standardize, Standardizer, streams};
use eigenhedge_io::{Format, Layout, Source, Stream};
use std::error::Error;
use std::io::{BufWriter, Write, stdout};
use std::path::Path;

/// Generates rows in a subspace around a distant point, plus rounding errors.
fn flat(length: usize, rank: usize, count: usize) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(5);
    let directions: Vec<Vec<f64>> = (0..rank).map(|_| (0..length).map(|_| random.normal()).collect()).collect();
    let row = |_| {
        let mut row = vec![1000.0; length];
        for direction in &directions {
            let amount = random.normal();
            row.iter_mut().zip(direction).for_each(|(x, d)| *x += amount * d);
        }
        row
    };
    (0..count).map(row).collect()
}

/// Returns the first `rows` rows of a table, without text columns and label columns.
fn table(path: &str, rows: usize) -> Result<Vec<Vec<f64>>, Box<dyn Error>> {
    let mut layout = Layout::new(Format::of_path(Path::new(path)));
    layout.only_numeric = true;
    let mut stream = Stream::open(&Source::File(path.into()), &layout)?;
    let labels: Vec<bool> = stream.columns().iter().map(|name| name.starts_with("label")).collect();
    let mut table = Vec::new();
    while table.len() < rows
        && let Some(row) = stream.next_row()?
    {
        let is_label = |j: usize| labels.get(j).is_some_and(|label| *label);
        table.push(row.iter().enumerate().filter(|(j, _)| !is_label(*j)).map(|(_, x)| *x).collect());
    }
    Ok(table)
}

fn answers(name: &str, rows: &[Vec<f64>], spec: &Spec, how: Standardize) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(stdout().lock());
    let length = rows[0].len();
    let (mut run, mut scale) = (Model::new(spec.clone(), length, 1)?, Standardizer::new(how, length));
    run.ask_for_coordinates(true);
    let (mut scaled, learner) = (Vec::new(), spec.learner);
    for row in rows {
        scale.apply(row, &mut scaled).map_err(|column| format!("{name}: column {column} cannot be standardized"))?;
        scale.count_in(row);
        let loss = run.step(&scaled)?;
        write!(out, "{name},{learner},{how} {} {}", loss.expected, loss.realised)?;
        run.coordinates().iter().try_for_each(|z| write!(out, " {z}"))?;
        writeln!(out)?;
    }
    Ok(out.flush()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rows = arguments.first().map_or(Ok(300), |rows| rows.parse())?;
    let mut cases = vec![
        ("drifting".to_owned(), streams::drifting(20, 4, 0.05, rows, 1).rows),
        ("walking".to_owned(), hard_streams::random_walk(12, rows, 2)),
        ("flat".to_owned(), flat(12, 3, rows)),
        ("long".to_owned(), streams::drifting(600, 3, 0.05, rows.min(60), 3).rows),
    ];
    for path in arguments.iter().skip(1) {
        let name = Path::new(path).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        cases.push((name.replace(' ', "_"), table(path, rows)?));
    }
    for (name, rows) in &cases {
        let k = 5.min(rows[0].len() - 1);
        for how in [Standardize::None, Standardize::Running] {
            answers(name, rows, &Spec::new(Kind::Auto, k), how)?;
        }
        for kind in [Kind::Tracking, Kind::Anchored, Kind::Leader, Kind::PerturbedLeader] {
            answers(name, &rows[..rows.len().min(100)], &Spec::new(kind, k), Standardize::Running)?;
        }
    }
    Ok(())
}
