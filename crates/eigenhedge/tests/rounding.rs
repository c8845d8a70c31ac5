//! Rounding of the cells hardly changes losses and coordinates.
#![allow(clippy::unwrap_used)]

use super::common;
use eigenhedge::registry::{Family, REGISTRY};
use eigenhedge::{Kind, Model, Random, RunningCenter, Spec, Standardize, Standardizer, streams};

fn specs() -> Vec<Spec> {
    let mut specs = common::specs(2);
    for center in [None, Some(RunningCenter::MEAN)] {
        specs.push(Spec { center, ..Spec::bare(Kind::Auto, 2) });
    }
    let hebbian = REGISTRY.iter().filter(|entry| entry.family == Family::Hebbian);
    specs.extend(
        hebbian.map(|entry| Spec { eta: 0.01, ..Spec::bare(entry.kind, if entry.kind == Kind::Oja { 1 } else { 2 }) }),
    );
    specs
}

fn flat(length: usize, rank: usize, level: f64, count: usize) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(5);
    let directions: Vec<Vec<f64>> = (0..rank).map(|_| (0..length).map(|_| random.normal()).collect()).collect();
    let mut row = || {
        let mut row = vec![level; length];
        for direction in &directions {
            let amount = random.normal();
            row.iter_mut().zip(direction).for_each(|(x, d)| *x += amount * d);
        }
        row
    };
    (0..count).map(|_| row()).collect()
}

/// Moves each cell up or down by one unit in the last place, or not at all.
fn nudged(rows: &[Vec<f64>], seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let mut nudge = |x: f64| match (3.0 * random.uniform()) as u8 {
        0 => x.next_down(),
        1 => x.next_up(),
        _ => x,
    };
    rows.iter().map(|row| row.iter().map(|x| nudge(*x)).collect()).collect()
}

fn outcome(spec: &Spec, rows: &[Vec<f64>], standardize: Standardize) -> Vec<Vec<f64>> {
    let mut run = Model::new(spec.clone(), rows[0].len(), 3).unwrap();
    run.ask_for_coordinates(true);
    let mut scale = Standardizer::new(standardize, rows[0].len());
    let mut scaled = Vec::new();
    let answer = |row: &Vec<f64>| {
        scale.apply(row, &mut scaled).unwrap();
        scale.count_in(row);
        let loss = run.step(&scaled).unwrap();
        [loss.expected, loss.realised].into_iter().chain(run.coordinates().iter().copied()).collect()
    };
    rows.iter().map(answer).collect()
}

#[test]
fn rounding_in_the_rows_decides_nothing() {
    let few_then_many = [flat(8, 3, 0.0, 20), flat(8, 5, 0.0, 40)].concat();
    let cases = [
        ("three directions", flat(8, 3, 0.0, 60)),
        ("three directions at a level", flat(8, 3, 1000.0, 60)),
        ("three directions, then five", few_then_many),
        ("drift", streams::drifting(8, 2, 0.05, 80, 1).rows),
    ];
    for (name, rows) in &cases {
        let size = rows.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs())).max(1.0);
        for (spec, standardize) in
            specs().into_iter().zip([Standardize::None, Standardize::Running].into_iter().cycle())
        {
            let plain = outcome(&spec, rows, standardize);
            for seed in 0..3 {
                let other = outcome(&spec, &nudged(rows, seed), standardize);
                for (i, (here, there)) in plain.iter().zip(&other).enumerate() {
                    let apart = here.iter().zip(there).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert!(apart <= 1e-9 * size * size, "{name}, row {i}, {spec:?}: {here:?} and {there:?}");
                }
            }
        }
    }
}
