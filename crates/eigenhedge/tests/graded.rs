//! Columns in very different units: none hides another, and the summary advises scaling.
#![allow(clippy::unwrap_used)]

use crate::common::dense::{DenseScatter, Function, Oracle};
use eigenhedge::comparators::BestSubspace;
use eigenhedge::internals::auto;
use eigenhedge::{Columns, Instance, Kind, Model, Random, RunningCenter, Spec, Standardize, Standardizer, trial};

fn rows(scales: &[f64], count: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let n = scales.len();
    let mixed: Vec<Vec<f64>> = (0..n).map(|_| (0..n).map(|_| random.normal()).collect()).collect();
    let row = |random: &mut Random| {
        let sources: Vec<f64> = (0..n).map(|i| random.normal() / (1 + i) as f64).collect();
        let cell = |j: usize| sources.iter().zip(&mixed).map(|(s, m)| s * m[j]).sum::<f64>();
        (0..n).map(|j| scales[j] * (cell(j) + 0.3 * random.normal())).collect()
    };
    (0..count).map(|_| row(random)).collect()
}

fn scales(n: usize, kind: usize, largest: f64, random: &mut Random) -> Vec<f64> {
    let mut scales = match kind {
        0 => (0..n).map(|j| if j == 0 { largest } else { 1.0 }).collect(),
        1 => (0..n).map(|j| if j < n / 2 { largest } else { 1.0 }).collect(),
        2 => (0..n).map(|j| largest.powf(j as f64 / (n - 1) as f64)).collect(),
        _ => (0..n).map(|j| if j == 0 { 1.0 } else { largest }).collect::<Vec<f64>>(),
    };
    (1..n).for_each(|j| scales.swap(j, random.below(j + 1)));
    scales
}

fn oracle(spec: &Spec, n: usize) -> DenseScatter {
    let function = if spec.learner == Kind::Anchored { Function::Exponential } else { Function::Leader };
    let forget = if spec.learner == Kind::ForgettingLeader { spec.forget } else { 1.0 };
    DenseScatter::new(n, spec.kept, function).forgetting(forget).capped(spec.max_rank.unwrap_or(n))
}

/// Returns all rows but the first minus the running mean, or the rows without a center.
fn centered(rows: &[Vec<f64>], center: Option<RunningCenter>) -> Vec<Vec<f64>> {
    if center.is_none() {
        return rows.to_vec();
    }
    let mut mean = rows[0].clone();
    let mut measure = |(t, row): (usize, &Vec<f64>)| {
        let (z, before) = (row.iter().zip(&mean).map(|(x, m)| x - m).collect::<Vec<f64>>(), (t + 1) as f64);
        mean.iter_mut().zip(&z).for_each(|(m, z)| *m += z / (before + 1.0));
        z
    };
    rows[1..].iter().enumerate().map(&mut measure).collect()
}

fn compare(spec: &Spec, rows: &[Vec<f64>], case: &str) {
    let n = rows[0].len();
    let (mut learner, mut oracle, mut random) = (spec.plain(n).unwrap(), oracle(spec, n), Random::seeded(1));
    let skipped = usize::from(spec.center.is_some());
    if skipped == 1 {
        trial(&mut learner, &Instance::from(&rows[0][..]), &mut random).unwrap();
    }
    let (mut found, mut wanted) = (0.0, 0.0);
    for (t, (row, z)) in rows[skipped..].iter().zip(centered(rows, spec.center)).enumerate() {
        found += trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap().expected;
        let share = if skipped == 1 { (t + 1) as f64 / (t + 2) as f64 } else { 1.0 };
        let weighed: Vec<f64> = z.iter().map(|x| x * share.sqrt()).collect();
        wanted += oracle.step(&weighed, spec.eta / learner.scale()) / share;
    }
    assert!((found - wanted).abs() <= 0.02 * wanted, "{case}, {}: {found} against {wanted}", spec.label());
}

#[test]
fn losses_are_those_of_an_exact_decomposition_whatever_the_scales_of_columns() {
    let mut random = Random::seeded(44);
    for (case, (n, k)) in [(4, 3), (4, 1), (6, 2), (9, 4), (9, 8), (16, 5)].into_iter().cycle().take(24).enumerate() {
        let largest = 10f64.powf(5.0 + 2.0 * random.uniform());
        let scales = scales(n, case / 6, largest, &mut random);
        let rows = rows(&scales, 100, &mut random);
        let center = [None, Some(RunningCenter::MEAN)][case % 2];
        let name = format!("case {case}, n {n}, k {k}, scales {scales:?}, {center:?}");
        let bare = |kind| Spec { center, ..Spec::bare(kind, k) };
        let members =
            auto(&bare(Kind::Auto), n).into_iter().filter(|member| !member.self_confident && member.center == center);
        for spec in [Kind::Leader, Kind::ForgettingLeader, Kind::Anchored].map(bare).into_iter().chain(members) {
            compare(&spec, &rows, &name);
        }
        let mut best = BestSubspace::new(n, false).unwrap();
        let mut whole = oracle(&bare(Kind::Leader), n);
        rows.iter().for_each(|row| best.add(row));
        rows.iter().for_each(|row| _ = whole.step(row, 1.0));
        let (found, wanted) = (best.loss(k), whole.rest(k));
        assert!((found - wanted).abs() <= 1e-6 * wanted, "{name}: the best loses {found} against {wanted}");
    }
}

#[test]
fn the_summary_advises_to_standardize_columns_of_very_different_scales() {
    for (ratio, standardize, advised) in
        [(1e4, Standardize::None, false), (9e5, Standardize::None, true), (9e5, Standardize::Running, false)]
    {
        for center in [None, Some(RunningCenter::MEAN)] {
            let mut random = Random::seeded(3);
            let names = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
            let columns = Columns::new(Some(names), Standardizer::new(standardize, 4));
            let spec = Spec { center, ..Spec::new(Kind::Auto, 2) };
            let mut model = Model::new(spec, 4, 0).unwrap().with_columns(columns);
            rows(&[1.0, 1.0, ratio, 0.0], 80, &mut random).iter().for_each(|row| _ = model.step(row).unwrap());
            let advice = model.summary().advice;
            assert_eq!(advice.is_some(), advised, "{ratio}, {standardize:?}: {advice:?}");
            assert!(advice.is_none_or(|advice| advice.contains("'c'") && advice.contains("--standardize")));
        }
    }
}
