//! Laws of merging: parts of a table, merged in any order, are equivalent to one pass over the table.
#![allow(clippy::unwrap_used)]

use crate::common::bounded_rows;
use eigenhedge::internals::dot;
use eigenhedge::{
    Columns, Error, Fleet, Kind, Matrix, Missing, Model, Moments, NormBound, Random, RunningCenter, Spec, Standardize,
    Standardizer,
};

/// Returns rows with three dominant directions and with `offset` in column 4.
pub fn rows(length: usize, count: usize, seed: u64, offset: f64) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(seed);
    let deviation = |i: usize| if i < 3 { 9.0 - 2.0 * i as f64 } else { 0.3 };
    let offset = |i: usize| if i == 4 { offset } else { 0.5 };
    (0..count).map(|_| (0..length).map(|i| offset(i) + deviation(i) * random.normal()).collect()).collect()
}

/// Distributes rows at random. Part 0 is empty with three or more parts. Part 1 has one row, except with three parts.
pub fn split(rows: &[Vec<f64>], parts: usize, random: &mut Random) -> Vec<Vec<Vec<f64>>> {
    let mut dealt = vec![Vec::new(); parts];
    let (first, count) = if parts == 2 { (0, 1) } else { ((parts - 2).min(2), (parts - 2).max(2)) };
    for (t, row) in rows.iter().enumerate() {
        let part = if t == 0 { 1 } else { first + random.below(count) };
        dealt[part].push(row.clone());
    }
    dealt
}

/// Returns an offset of one column. With a center, a large offset costs no accuracy.
pub fn offset_of(spec: &Spec) -> f64 {
    if spec.center.is_some() { 1e6 } else { 0.5 }
}

pub fn in_a_tree<T>(mut parts: Vec<T>, random: &mut Random, merge: impl Fn(T, T) -> Result<T, Error>) -> T {
    while parts.len() > 1 {
        let one = parts.swap_remove(random.below(parts.len()));
        let other = parts.swap_remove(random.below(parts.len()));
        parts.push(merge(one, other).unwrap());
    }
    parts.pop().unwrap()
}

pub fn learned(spec: &Spec, rows: &[Vec<f64>]) -> Model {
    let mut run = Model::new(spec.clone(), 7, 0).unwrap();
    rows.iter().for_each(|row| _ = run.step(row).unwrap());
    run
}

/// Returns specs of learners whose state depends only on the set of rows.
pub fn mergeable() -> Vec<Spec> {
    let mut specs = Vec::new();
    for kind in [Kind::Leader, Kind::Anchored, Kind::ProductSets] {
        for center in [None, Some(RunningCenter::MEAN)] {
            let norm_bound = if center.is_some() { NormBound::Given(100.0) } else { NormBound::Running };
            specs.push(Spec { center, norm_bound, eta: 2.0, ..Spec::bare(kind, 3) });
        }
    }
    specs.push(Spec { max_rank: Some(7), ..Spec::bare(Kind::Leader, 3) });
    specs.push(Spec { missing: Missing::Skip, center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Leader, 3) });
    specs
}

/// Asserts that two models have equal losses of new rows, projectors, centers and energies.
pub fn assert_alike(one: &Model, other: &Model, probes: &[Vec<f64>], tolerance: f64, about: &str) {
    let (mut one, mut other) = (one.clone(), other.clone());
    let (a, b) = (one.embedding(), other.embedding());
    let center = a.center().unwrap().to_vec();
    let scale = probes.iter().map(|row| energy_around(row, &center)).fold(0.0, f64::max);
    for (x, y) in center.iter().zip(b.center().unwrap()) {
        assert!((x - y).abs() <= tolerance * x.abs().max(1.0), "{about}: center {x} {y}");
    }
    let (p, q) = (projector(a.components().unwrap()), projector(b.components().unwrap()));
    for (x, y) in p.iter().zip(&q) {
        assert!((x - y).abs() <= tolerance, "{about}: projector {x} {y}");
    }
    let ((energies, total), (others, all)) = (one.energies(&a).unwrap(), other.energies(&b).unwrap());
    for (x, y) in energies.iter().chain([&total]).zip(others.iter().chain([&all])) {
        assert!((x - y).abs() <= tolerance * total, "{about}: energy {x} {y}");
    }
    for probe in probes {
        let (x, y) = (one.clone().step(probe).unwrap().expected, other.clone().step(probe).unwrap().expected);
        assert!((x - y).abs() <= tolerance * scale, "{about}: loss {x} {y} of {scale}");
        let (x, y) =
            (one.embedding().transform(probe, &mut Vec::new()), other.embedding().transform(probe, &mut Vec::new()));
        assert!((x.unwrap() - y.unwrap()).abs() <= tolerance * scale, "{about}: loss of the model");
    }
}

fn energy_around(row: &[f64], center: &[f64]) -> f64 {
    row.iter().zip(center).map(|(x, c)| (x - c).powi(2)).sum()
}

fn projector(columns: &Matrix) -> Vec<f64> {
    let n = columns.rows();
    let entry = |i: usize, j: usize| (0..columns.columns()).map(|k| columns.column(k)[i] * columns.column(k)[j]).sum();
    (0..n * n).map(|at| entry(at / n, at % n)).collect()
}

#[test]
fn merged_runs_are_one_pass_over_all_rows() {
    for (number, spec) in mergeable().iter().enumerate() {
        let (all, probes) = (rows(7, 300, 1, offset_of(spec)), rows(7, 8, 2, offset_of(spec)));
        let whole = learned(spec, &all);
        for parts in [2, 3, 6, 17, 50] {
            let mut random = Random::seeded((100 * number + parts) as u64);
            let runs: Vec<Model> = split(&all, parts, &mut random).iter().map(|part| learned(spec, part)).collect();
            let merged = in_a_tree(runs, &mut random, Model::merge);
            assert_eq!(merged.totals().rows, 300);
            assert_alike(&merged, &whole, &probes, 1e-10, &format!("{} {parts} {:?}", spec.label(), spec.center));
        }
    }
}

#[test]
fn neither_order_nor_tree_of_merging_matters() {
    for spec in mergeable() {
        let (all, probes) = (rows(7, 200, 3, offset_of(&spec)), rows(7, 5, 4, offset_of(&spec)));
        let mut random = Random::seeded(5);
        let runs: Vec<Model> = split(&all, 12, &mut random).iter().map(|part| learned(&spec, part)).collect();
        let one = in_a_tree(runs.clone(), &mut random, Model::merge);
        for _ in 0..3 {
            let other = in_a_tree(runs.clone(), &mut random, Model::merge);
            assert_alike(&one, &other, &probes, 1e-12, &spec.label());
            let (one, other) = (one.summary(), other.summary());
            let (a, b) = (one.best_loss.unwrap().high(), other.best_loss.unwrap().high());
            assert!((a - b).abs() <= 1e-12 * all.len() as f64 * 155.0, "{a} {b}");
            assert!((one.expected_loss - other.expected_loss).abs() <= 1e-12 * one.expected_loss);
        }
    }
}

#[test]
fn long_rows_of_low_rank_are_merged_in_the_span_of_both() {
    let mut random = Random::seeded(6);
    let factor: Vec<Vec<f64>> = (0..6).map(|_| (0..600).map(|_| random.normal()).collect()).collect();
    let mut row = || -> Vec<f64> {
        let amounts: Vec<f64> = (0..6).map(|i| (6 - i) as f64 * random.normal()).collect();
        (0..600).map(|i| 3.0 + amounts.iter().zip(&factor).map(|(a, f)| a * f[i]).sum::<f64>()).collect()
    };
    let (all, probes): (Vec<_>, Vec<_>) = ((0..60).map(|_| row()).collect(), (0..3).map(|_| row()).collect());
    for (center, max_rank) in [(None, None), (Some(RunningCenter::MEAN), None), (Some(RunningCenter::MEAN), Some(9))] {
        let spec = Spec { center, max_rank, ..Spec::bare(Kind::Leader, 2) };
        let run = |rows: &[Vec<f64>]| {
            let mut run = Model::new(spec.clone(), 600, 0).unwrap();
            rows.iter().for_each(|row| _ = run.step(row).unwrap());
            run
        };
        let merged = run(&all[..20]).merge(run(&all[20..25])).unwrap().merge(run(&all[25..])).unwrap();
        assert_alike(&merged, &run(&all), &probes, 1e-10, "long rows");
        let (mut merged, mut whole) = (merged, run(&all));
        for probe in &probes {
            let (a, b) = (merged.step(probe).unwrap().expected, whole.step(probe).unwrap().expected);
            assert!((a - b).abs() <= 1e-9 * dot(probe, probe), "{a} {b}");
        }
        Model::from_bytes(&merged.to_bytes().unwrap()).unwrap();
    }
}

#[test]
fn standardizers_of_parts_are_that_of_all_rows() {
    let mut all = rows(7, 200, 15, 1e6);
    all.iter_mut().step_by(7).for_each(|row| row[2] = f64::NAN);
    let count = |rows: &[Vec<f64>]| {
        let mut scale = Standardizer::new(Standardize::Warmup(200), 7);
        rows.iter().for_each(|row| scale.count_in(row));
        scale
    };
    let whole = count(&all);
    for parts in [2, 7, 50] {
        let mut random = Random::seeded(parts as u64);
        let scales = split(&all, parts, &mut random).iter().map(|part| count(part)).collect();
        let merged = in_a_tree(scales, &mut random, |mut one: Standardizer, other| one.merge(&other).map(|()| one));
        assert!(!merged.is_warming_up(), "all rows are counted");
        let units = whole.mean().map(f64::abs).collect::<Vec<f64>>().into_iter().cycle();
        // The mean is stored as one number, so an offset costs accuracy.
        for ((a, b), unit) in merged.mean().zip(whole.mean()).chain(merged.scale().zip(whole.scale())).zip(units) {
            assert!((a - b).abs() <= 1e-12 * b.abs() + 1e-15 * unit, "{a} {b}");
        }
    }
}

#[test]
fn the_account_of_merged_runs_is_that_of_the_rows_that_were_charged() {
    for center in [None, Some(RunningCenter::MEAN)] {
        let spec = Spec { center, ..Spec::bare(Kind::Leader, 3) };
        let all = rows(7, 90, 17, offset_of(&spec));
        let parts = [&all[..30], &all[30..31], &all[31..]].map(|part| learned(&spec, part));
        let sum = |of: fn(&Model) -> f64| parts.iter().map(of).sum::<f64>();
        let (lost, realised) = (sum(|run| run.totals().expected_loss), sum(|run| run.totals().loss));
        let first = sum(|run| run.totals().first_row_loss.unwrap_or(0.0));
        let merged = parts.into_iter().reduce(|a, b| a.merge(b).unwrap()).unwrap();
        let (totals, summary) = (*merged.totals(), merged.summary());
        assert_eq!((totals.rows, totals.merges), (90, 2));
        assert!(
            (summary.expected_loss - lost).abs() <= 1e-12 * lost && (summary.loss - realised).abs() <= 1e-12 * lost
        );
        assert_eq!(summary.first_row_loss.unwrap_or(0.0), first);
        // The first row of each part sets a center and has no loss.
        let charged: Vec<&Vec<f64>> = match center {
            None => all.iter().collect(),
            Some(_) => all.iter().enumerate().filter(|(t, _)| ![0, 30, 31].contains(t)).map(|(_, row)| row).collect(),
        };
        assert_eq!(totals.charged(), charged.len() as u64);
        let mut best = eigenhedge::comparators::BestSubspace::new(7, center.is_some()).unwrap();
        charged.iter().for_each(|row| best.add(row));
        let (wanted, found) = (best.loss(3), summary.best_loss.unwrap().exact().unwrap());
        assert!((wanted - found).abs() <= 1e-10 * 90.0 * 155.0, "{wanted} {found}");
    }
}

#[test]
fn the_bound_of_merged_anchored_runs_holds_with_the_cost_of_each_merge() {
    let mut stated = 0;
    for seed in 0..2 {
        for (name, rows) in bounded_rows(7, seed) {
            for (max_rank, norm_bound) in
                [(None, NormBound::Given(1.0)), (Some(4), NormBound::Given(1.0)), (None, NormBound::Running)]
            {
                let spec = Spec { eta: 1.5, max_rank, norm_bound, ..Spec::bare(Kind::Anchored, 2) };
                let parts: Vec<Model> = rows.chunks(rows.len().div_ceil(4)).map(|part| learned(&spec, part)).collect();
                let single = parts[0].summary().certificate.price.unwrap();
                let mut merged = parts.into_iter().reduce(|a, b| a.merge(b).unwrap()).unwrap();
                rows.iter().take(40).for_each(|row| _ = merged.step(row).unwrap());
                let summary = merged.summary();
                assert_eq!(summary.bound_holds, Some(true), "{name}: {summary:?}");
                assert!(summary.certificate.price.unwrap() > single + 3.0, "three merges have a price");
                stated += usize::from(summary.bound.is_some());
            }
        }
    }
    assert_eq!(stated, 48);
    let centered = Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Anchored, 2) };
    for spec in [centered, Spec { self_confident: true, ..Spec::bare(Kind::Anchored, 2) }] {
        let all = rows(7, 60, 18, 0.5);
        let merged = learned(&spec, &all[..20]).merge(learned(&spec, &all[20..])).unwrap();
        let summary = merged.summary();
        assert_eq!((summary.bound, summary.bound_holds), (None, None));
        assert!(summary.bound_reason.contains("merged"), "{}", summary.bound_reason);
    }
}

#[test]
fn fleets_unite_their_keys() {
    let fleet = |kind: Kind| {
        let spec = Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(kind, 3) };
        Fleet::new(Model::new(spec, 7, 0).unwrap()).unwrap()
    };
    let all = rows(7, 120, 19, 1e6);
    let learn = |kind: Kind, range: std::ops::Range<usize>, names: [&str; 2]| {
        let mut fleet = fleet(kind);
        range.for_each(|t| _ = fleet.step(names[t % 2], &all[t]).unwrap());
        fleet
    };
    let mut merged = learn(Kind::Leader, 0..50, ["a", "b"]);
    merged.merge(&mut learn(Kind::Leader, 50..120, ["c", "b"])).unwrap();
    assert_eq!(merged.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    let mut whole = fleet(Kind::Leader);
    (1..120).step_by(2).for_each(|t| _ = whole.step("b", &all[t]).unwrap());
    let (one, other) = (merged.get("b").unwrap().unwrap(), whole.get("b").unwrap().unwrap());
    assert_alike(&one, &other, &all[..4], 1e-10, "a key of both");
    // A key in only one fleet may have any learner. A key in both must have a mergeable one.
    let mut apart = learn(Kind::Auto, 0..50, ["a", "b"]);
    apart.merge(&mut learn(Kind::Auto, 50..120, ["c", "d"])).unwrap();
    assert_eq!(apart.keys().len(), 4);
    let sentence = apart.merge(&mut learn(Kind::Auto, 50..120, ["e", "b"])).unwrap_err().to_string();
    assert_eq!(apart.keys().len(), 4, "a fleet that is refused changes nothing");
    assert!(sentence.contains("key 'b' is in both fleets, and the learner must be one of"), "{sentence}");
}

#[test]
fn what_does_not_fit_together_is_refused_with_a_sentence() {
    let all = rows(7, 12, 20, 0.5);
    let leader = Spec::bare(Kind::Leader, 3);
    let centered = |center: RunningCenter| Spec { center: Some(center), ..leader.clone() };
    let anchored = |eta: f64| Spec { eta, ..Spec::bare(Kind::Anchored, 3) };
    let pairs = [
        (leader.clone(), Spec::bare(Kind::Leader, 2), "k must be 3 as in the first model, got 2"),
        (leader.clone(), anchored(1.0), "the learner must be leader as in the first model, got anchored"),
        (anchored(2.0), anchored(1.0), "eta must be 2 as in the first model, got 1"),
        (leader.clone(), centered(RunningCenter::MEAN), "center must be none as in the first model, got running"),
        (
            leader.clone(),
            Spec { max_rank: Some(5), ..leader.clone() },
            "max-rank must be none as in the first model, got 5",
        ),
    ];
    let apart = [
        (
            Spec::bare(Kind::Tracking, 3),
            "got tracking, which depends on the order of rows: learn all of them in one run",
        ),
        (Spec::bare(Kind::Auto, 3), "got auto, which depends on the order"),
        (Spec::bare(Kind::ForgettingLeader, 3), "got forgetting-leader"),
        (Spec::bare(Kind::Gha, 3), "got gha"),
        (
            centered(RunningCenter::forgetting(0.9)),
            "center must be running or none: the outcome would depend on the order",
        ),
        (centered(RunningCenter { prior: 2.0, ..RunningCenter::MEAN }), "center-prior must be 0"),
        (Spec { clip: Some(3.0), ..leader.clone() }, "clip must be none"),
        (Spec { missing: Missing::Fill, ..leader.clone() }, "missing must be fail or skip"),
        (Spec { kernel: Some(eigenhedge::kernel::VectorKernel::Linear), ..leader.clone() }, "kernel must be none"),
    ];
    let twice = apart.map(|(spec, sentence)| (spec.clone(), spec, sentence));
    for (one, other, sentence) in pairs.into_iter().chain(twice) {
        let error = learned(&one, &all).merge(learned(&other, &all)).unwrap_err();
        assert!(matches!(error, Error::Merge(_)) && error.to_string().contains(sentence), "{error}: {sentence}");
    }
    let short = Model::new(leader.clone(), 6, 0).unwrap();
    let error = learned(&leader, &all).merge(short).unwrap_err();
    assert_eq!(error.to_string(), "a row of the other model must have 7 entries, got 6");
    let model = |names: [&str; 2], how: Standardize| {
        let names = names.map(str::to_owned).to_vec();
        let columns = Columns::new(Some(names), Standardizer::new(how, 2));
        let mut model = Model::new(Spec::bare(Kind::Leader, 1), 2, 0).unwrap().with_columns(columns);
        model.step(&[1.0, 2.0]).unwrap();
        model
    };
    let refused = |one: Model, other| one.merge(other).unwrap_err().to_string();
    let none = Standardize::None;
    let sentence = refused(model(["x", "y"], none), model(["x", "z"], none));
    assert_eq!(sentence, "cannot be merged: column 1 must be 'y' as in the first model, got 'z'");
    let sentence = refused(model(["x", "y"], none), model(["x", "y"], Standardize::Running));
    assert!(sentence.contains("standardize must be none as in the first model, got running"), "{sentence}");
    let sentence = refused(model(["x", "y"], Standardize::Running), model(["x", "y"], Standardize::Running));
    assert!(sentence.contains("each part has divided its rows by scales of its own"), "{sentence}");
    let moments = |kept, missing| Moments::new(7, kept, missing).unwrap();
    let sentence = moments(3, Missing::Fail).merge(moments(2, Missing::Fail)).unwrap_err();
    assert_eq!(sentence.to_string(), "cannot be merged: k must be 3 as in the first part, got 2");
    let sentence = moments(3, Missing::Skip).merge(moments(3, Missing::Fail)).unwrap_err();
    assert_eq!(sentence.to_string(), "cannot be merged: missing must be skip as in the first part, got fail");
}
