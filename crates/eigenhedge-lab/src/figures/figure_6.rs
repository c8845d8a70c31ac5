//! Long-term memory: six segments of a stream, each with one of three persons, some of whom recur.

use super::{ALPHA, tracking};
use crate::curves::{cumulated, expected_losses, row_numbers};
use crate::{Claim, LabError, Outcome, Progress, Setting, Table, faces};
use eigenhedge::batch::{Center, Pca};
use eigenhedge::{AnyLearner, Instance, Mixing, Random, streams};
use eigenhedge_pages::{Chart, Mark, Series};

const PATTERN: [usize; 6] = [1, 2, 1, 3, 2, 1];
/// Segments in which a new person appears after another one, and in which a person returns.
const NEW: [usize; 2] = [1, 3];
const AGAIN: [usize; 3] = [2, 4, 5];
const SEGMENT: usize = 200;
const PERSONS: usize = 3;
const FACES_KEPT: usize = 5;
const NAMES: [&str; 3] = ["past average", "fixed share", "no mixing"];

struct Source {
    rows: Vec<Vec<f64>>,
    kept: usize,
    what: String,
    name: &'static str,
    faces: bool,
}

pub fn run(setting: &Setting, progress: &Progress) -> Result<Outcome, LabError> {
    let source = source(setting)?;
    let best = best_of_segments(&source)?;
    let mut regrets = Vec::new();
    for (i, mixing) in
        [Mixing::PastAverage { alpha: ALPHA }, Mixing::FixedShare { alpha: ALPHA }, Mixing::None].iter().enumerate()
    {
        let mut learner = AnyLearner::new(&tracking(*mixing, source.kept), source.rows[0].len())?;
        let instances = source.rows.iter().map(|row| Instance::from(&row[..]));
        let part = |done: f64| progress((i as f64 + done) / NAMES.len() as f64);
        let losses = expected_losses(&mut learner, instances, &part)?;
        regrets.push(losses.iter().zip(&best).map(|(loss, best)| loss - best).collect::<Vec<f64>>());
    }
    let bumps: Vec<Vec<f64>> =
        regrets.iter().map(|regret| regret.chunks(SEGMENT).map(|part| part.iter().sum()).collect()).collect();
    Ok(Outcome {
        tables: tables(&regrets, &bumps),
        charts: vec![chart(&regrets, &source)],
        text: text(&source, &bumps),
        claims: claims(&bumps, &source),
    })
}

fn source(setting: &Setting) -> Result<Source, LabError> {
    let Some(folder) = setting.data.as_ref().filter(|folder| faces::present(folder)) else {
        let stream = streams::recurring(100, 2, &PATTERN, SEGMENT, setting.seed);
        let what = "Rows of 100 numbers from three Gaussians of rank 2 in place of faces of three persons (faces are used when \
                    --data names a folder that has them); 2 directions are kept.";
        return Ok(Source { rows: stream.rows, kept: 2, what: what.into(), name: "synthetic stream", faces: false });
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
    Ok(Source { rows, kept: FACES_KEPT, what, name: "faces", faces: true })
}

fn best_of_segments(source: &Source) -> Result<Vec<f64>, LabError> {
    let mut losses = Vec::new();
    for segment in source.rows.chunks(SEGMENT) {
        let best = Pca::fit(segment, source.kept, Center::None)?;
        segment.iter().try_for_each(|row| best.loss(row).map(|loss| losses.push(loss)))?;
    }
    Ok(losses)
}

fn mean_over(bumps: &[f64], segments: &[usize]) -> f64 {
    segments.iter().map(|s| bumps[*s]).sum::<f64>() / segments.len() as f64
}

fn claims(bumps: &[Vec<f64>], source: &Source) -> Vec<Claim> {
    let [past, share, none] = bumps else { return Vec::new() };
    let what = &format!("{}: regret of past average", source.name);
    let again = mean_over(past, &AGAIN);
    let mut claims = vec![Claim::less(
        &format!("{what}, mean of the segments that come back (3, 5, 6)"),
        again,
        "0.9 × that of the new ones after a change (2, 4)",
        0.9 * mean_over(past, &NEW),
    )];
    let back = format!("{what} in segments that come back");
    let total = |regrets: &[f64]| regrets.iter().sum::<f64>();
    if source.faces {
        for s in AGAIN {
            claims.push(Claim::less(&format!("{what} in segment {}", s + 1), past[s], "that of fixed share", share[s]));
        }
        claims.push(Claim::less(&back, again, "0.8 × that of fixed share", 0.8 * mean_over(share, &AGAIN)));
        claims.push(Claim::less(&format!("{what} in all"), total(past), "that without mixing", total(none)));
    } else {
        claims.push(Claim::at_most(&back, again, "1.1 × that of fixed share", 1.1 * mean_over(share, &AGAIN)));
        claims.push(Claim::less(what, total(past), "a quarter of that without mixing", 0.25 * total(none)));
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

fn chart(regrets: &[Vec<f64>], source: &Source) -> Chart {
    let x = row_numbers(source.rows.len());
    let mut chart =
        Chart::new("Regret with and without memory of the past", "rows", "regret to the best subspace of each segment");
    // On the synthetic stream, the regret without mixing would dwarf the others, so it is not plotted.
    for i in 0..if source.faces { 3 } else { 2 } {
        chart = chart.with(Series::line(NAMES[i], &x, &cumulated(&regrets[i])));
    }
    let mark = |(s, person)| Mark { x: (s * SEGMENT) as f64 + 1.0, label: format!("person {person}") };
    chart.marks = PATTERN.into_iter().enumerate().map(mark).collect();
    chart
}

fn text(source: &Source, bumps: &[Vec<f64>]) -> Vec<String> {
    let of = |i: usize, segments: &[usize]| mean_over(&bumps[i], segments);
    let mut text = vec![
        format!("{} Segments of {SEGMENT} rows show persons 1, 2, 1, 3, 2, 1.", source.what),
        format!(
            "The learners are tracking with rate 1 and a share of {ALPHA} of the uniform distribution, or of the average of all \
             earlier ones, which remembers the directions that were ever kept. With the average, a segment that shows somebody \
             new after somebody else (2, 4) costs a regret of {:.2}, and one that shows somebody again (3, 5, 6) only {:.2}: the long-term \
             memory of the paper.",
            of(0, &NEW),
            of(0, &AGAIN)
        ),
    ];
    text.push(if source.faces {
        format!(
            "The fixed share pays {:.2} in a segment that comes back, because it must keep up every direction against what it mixes \
             in. Without mixing it is {:.2}: in 200 rows of little energy no weight sinks so low that it could not come back. But \
             somebody new then costs {:.2}, and in all the average of the past loses least.",
            of(1, &AGAIN),
            of(2, &AGAIN),
            of(2, &NEW)
        )
    } else {
        format!(
            "The fixed share pays {:.2} in a segment that comes back, no more than the average does, and less in a new one ({:.2}). \
             What takes time after a change is to let go of the old plane, whose weight is about the share in both cases; the \
             small parts that the fixed share gave to all idle directions fall to the first of them that carries energy, known \
             or not. Without mixing it is {:.2}.",
            of(1, &AGAIN),
            of(1, &NEW),
            of(2, &AGAIN)
        )
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_are_used_when_they_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let setting = Setting { data: Some(folder.path().to_path_buf()), quick: true, seed: 1 };
        assert_eq!(source(&setting).unwrap().name, "synthetic stream");
        faces::tests::made_up(folder.path());
        let outcome = run(&setting, &|_| {}).unwrap();
        assert!(outcome.claims.iter().all(|claim| claim.statement.starts_with("faces: ")));
        assert_eq!(outcome.tables[1].rows.len(), PATTERN.len());
    }
}
