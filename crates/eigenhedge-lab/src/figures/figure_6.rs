//! Long-term memory: six segments of three persons, of whom some come back.

use super::{ALPHA, tracking};
use crate::curves::{cumulated, learner, row_numbers};
use crate::{Claim, LabError, Outcome, Progress, Setting, Table, faces};
use eigenhedge::batch::{Center, Pca};
use eigenhedge::{Mixing, Random, streams, trial};
use eigenhedge_report::{Chart, Mark, Series};

const PATTERN: [usize; 6] = [1, 2, 1, 3, 2, 1];
/// Segments that show something new.
const NEW: [usize; 3] = [0, 1, 3];
/// Segments that show something again.
const AGAIN: [usize; 3] = [2, 4, 5];
const SEGMENT: usize = 200;
const PERSONS: usize = 3;
const FACES_KEPT: usize = 5;
const NAMES: [&str; 3] = ["past average", "fixed share", "no mixing"];

/// Rows, how many directions are kept, and what the rows are.
struct Source {
    rows: Vec<Vec<f64>>,
    kept: usize,
    what: String,
    name: &'static str,
}

pub fn run(setting: &Setting, progress: &Progress) -> Result<Outcome, LabError> {
    let source = source(setting)?;
    let best = best_of_segments(&source)?;
    let mut regrets = Vec::new();
    for (i, mixing) in
        [Mixing::PastAverage { alpha: ALPHA }, Mixing::FixedShare { alpha: ALPHA }, Mixing::None].iter().enumerate()
    {
        let mut learner = learner(&tracking(*mixing, source.kept), source.rows[0].len())?;
        let mut random = Random::seeded(setting.seed);
        let mut regret = Vec::new();
        for (t, (row, best)) in source.rows.iter().zip(&best).enumerate() {
            regret.push(trial(&mut learner, &(&row[..]).into(), &mut random)?.expected - best);
            if t % 50 == 0 {
                progress((i as f64 + t as f64 / source.rows.len() as f64) / NAMES.len() as f64);
            }
        }
        regrets.push(regret);
    }
    let bumps: Vec<Vec<f64>> =
        regrets.iter().map(|regret| regret.chunks(SEGMENT).map(|part| part.iter().sum()).collect()).collect();
    Ok(Outcome {
        tables: tables(&regrets, &bumps),
        charts: charts(&regrets, &source),
        text: text(&source, &bumps),
        claims: claims(&bumps, source.name),
    })
}

/// Faces when they are there, a recurring stream otherwise.
fn source(setting: &Setting) -> Result<Source, LabError> {
    let Some(folder) = setting.data.as_ref().filter(|folder| faces::present(folder)) else {
        let stream = streams::recurring(100, 2, &PATTERN, SEGMENT, setting.seed);
        let what = "Rows of 100 numbers from three Gaussians of rank 2 in place of faces of three persons (faces are used when \
                    --data names a folder that has them); 2 directions are kept.";
        return Ok(Source { rows: stream.rows, kept: 2, what: what.into(), name: "synthetic stream" });
    };
    let persons = faces::of_persons(folder, PERSONS)?;
    let mut random = Random::seeded(setting.seed);
    let draw = |person: &usize| {
        let images = &persons[person - 1];
        (0..SEGMENT).map(|_| images[random.below(images.len())].clone()).collect::<Vec<_>>()
    };
    let rows = PATTERN.iter().flat_map(draw).collect();
    let what = format!(
        "Faces of the extended Yale B data, 32 × 32 pixels, drawn with repetition; {FACES_KEPT} directions are kept."
    );
    Ok(Source { rows, kept: FACES_KEPT, what, name: "faces" })
}

/// For each row, what the best subspace of its segment loses on it.
fn best_of_segments(source: &Source) -> Result<Vec<f64>, LabError> {
    let mut losses = Vec::new();
    for segment in source.rows.chunks(SEGMENT) {
        let best = Pca::fit(segment, source.kept, Center::None)?;
        for row in segment {
            losses.push(best.loss(row)?);
        }
    }
    Ok(losses)
}

fn sum_over(bumps: &[f64], segments: [usize; 3]) -> f64 {
    segments.iter().map(|s| bumps[*s]).sum()
}

fn claims(bumps: &[Vec<f64>], name: &str) -> Vec<Claim> {
    let [past, share, none] = bumps else { return Vec::new() };
    let again = &format!("{name}: regret of past average in the segments that come back (3, 5, 6)");
    let mut claims = vec![
        Claim::less(
            again,
            sum_over(past, AGAIN),
            "0.8 × that of fixed share in the same ones",
            0.8 * sum_over(share, AGAIN),
        ),
        Claim::less(again, sum_over(past, AGAIN), "0.8 × its own in new segments (1, 2, 4)", 0.8 * sum_over(past, NEW)),
        Claim::less(
            &format!("{name}: regret of fixed share"),
            share.iter().sum(),
            "that of no mixing",
            none.iter().sum(),
        ),
    ];
    for s in AGAIN {
        let what = format!("{name}: regret of past average in segment {}", s + 1);
        claims.push(Claim::less(&what, past[s], "that of fixed share", share[s]));
    }
    claims
}

fn tables(regrets: &[Vec<f64>], bumps: &[Vec<f64>]) -> Vec<Table> {
    let columns = NAMES.map(|name| name.replace(' ', "_"));
    let mut rows = Table::new("", ["row", "person"].map(String::from).into_iter().chain(columns.iter().cloned()));
    for t in 0..regrets[0].len() {
        let person = PATTERN[t / SEGMENT] as f64;
        rows.push([t as f64, person].into_iter().chain(regrets.iter().map(|regret| regret[t])));
    }
    let mut segments = Table::new("segments", ["segment", "person"].map(String::from).into_iter().chain(columns));
    for (s, person) in PATTERN.iter().enumerate() {
        segments.push([s as f64 + 1.0, *person as f64].into_iter().chain(bumps.iter().map(|bumps| bumps[s])));
    }
    vec![rows, segments]
}

fn charts(regrets: &[Vec<f64>], source: &Source) -> Vec<Chart> {
    let x = row_numbers(source.rows.len());
    let marks: Vec<Mark> = PATTERN
        .iter()
        .enumerate()
        .map(|(s, person)| Mark { x: (s * SEGMENT) as f64 + 1.0, label: format!("person {person}") })
        .collect();
    let chart = |title: &str, shown: &[usize]| {
        let mut chart = Chart::new(title, "rows", "regret to the best subspace of each segment");
        for i in shown {
            chart = chart.with(Series::line(NAMES[*i], &x, &cumulated(&regrets[*i])));
        }
        Chart { marks: marks.clone(), ..chart }
    };
    vec![chart("Regret with and without memory of the past", &[0, 1])]
}

fn text(source: &Source, bumps: &[Vec<f64>]) -> Vec<String> {
    let again: Vec<f64> = bumps.iter().map(|bumps| sum_over(bumps, AGAIN)).collect();
    vec![
        format!("{} Segments of {SEGMENT} rows show persons 1, 2, 1, 3, 2, 1.", source.what),
        format!(
            "Both learners are tracking with rate 1 and a share of {ALPHA}. What is mixed in differs: the uniform distribution, or \
             the average of all earlier ones. The average remembers which directions were ever kept, so a person who comes \
             back is found again sooner. The regret in segments 3, 5 and 6 is {:.2} with the average, {:.2} with the fixed \
             share, and {:.2} without mixing, which is not drawn.",
            again[0], again[1], again[2]
        ),
    ]
}
