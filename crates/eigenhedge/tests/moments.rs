//! Moments computed in parts give the same learner as one pass over all rows.
#![allow(clippy::unwrap_used)]

use crate::merge::{assert_alike, in_a_tree, learned, mergeable, offset_of, rows, split};
use eigenhedge::internals::{dot, symmetric_eigen};
use eigenhedge::options::{Options, Setup};
use eigenhedge::{
    Columns, Embedding, Error, Kind, Matrix, Missing, Model, Moments, Random, RunningCenter, Spec, Standardize,
    Standardizer,
};

#[test]
fn weights_are_merged_like_rows() {
    let weight = |t: usize| [1.0, 0.25, 3.0][t % 3];
    for spec in mergeable().into_iter().filter(|spec| spec.learner == Kind::Leader) {
        let (all, probes) = (rows(7, 120, 8, offset_of(&spec)), rows(7, 4, 9, offset_of(&spec)));
        let run = |range: std::ops::Range<usize>| {
            let mut run = Model::new(spec.clone(), 7, 0).unwrap();
            range.for_each(|t| _ = run.step_batch(&[&all[t]], Some(&[weight(t)])).unwrap());
            run
        };
        let merged = run(0..31).merge(run(31..120)).unwrap();
        let (one, other) = (merged.clone(), run(0..120));
        let folded = fold(&all, Some(&(0..120).map(weight).collect::<Vec<f64>>()));
        let finished = folded.finish(&setup(&spec), false).unwrap();
        for probe in &probes {
            let losses = [&one, &other, &finished].map(|run| run.clone().step(probe).unwrap().expected);
            assert!((losses[0] - losses[1]).abs() <= 1e-8, "{losses:?}");
            assert!((losses[0] - losses[2]).abs() <= 1e-8, "{losses:?}");
        }
    }
}

fn setup(spec: &Spec) -> Setup {
    let mut setup = Options::new(spec.learner, spec.kept).resolve(str::to_owned).unwrap();
    setup.spec = spec.clone();
    setup
}

fn fold(rows: &[Vec<f64>], weights: Option<&[f64]>) -> Moments {
    let length = rows.first().map_or(7, Vec::len);
    let mut moments = Moments::new(length, 3, Missing::Skip).unwrap();
    moments.update(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>(), weights).unwrap();
    moments
}

#[test]
fn moments_of_parts_finish_into_the_learner_of_one_pass() {
    for spec in mergeable() {
        let (all, probes) = (rows(7, 300, 10, offset_of(&spec)), rows(7, 6, 11, offset_of(&spec)));
        for parts in [2, 9, 50] {
            let mut random = Random::seeded(parts as u64);
            let folded = split(&all, parts, &mut random).iter().map(|part| fold(part, None)).collect();
            let moments = in_a_tree(folded, &mut random, Moments::merge);
            let sent = Moments::from_bytes(&moments.to_bytes().unwrap()).unwrap();
            assert_eq!(sent, moments);
            let finished = sent.finish(&setup(&spec), false).unwrap();
            let restored = Model::from_bytes(&finished.to_bytes().unwrap()).unwrap();
            assert_alike(&restored, &learned(&spec, &all), &probes, 1e-10, &spec.label());
            let summary = restored.summary();
            assert_eq!((summary.rows, summary.expected_loss, summary.bound), (300, 0.0, None));
        }
    }
}

#[test]
fn moments_are_those_of_the_definition_whatever_the_offset() {
    let all = rows(7, 500, 12, 1e6);
    let mut random = Random::seeded(13);
    let moments = in_a_tree(
        split(&all, 20, &mut random).iter().map(|part| fold(part, None)).collect(),
        &mut random,
        Moments::merge,
    );
    // Offsets are exact in binary, so two passes over the deviations from them are accurate.
    let moved: Vec<Vec<f64>> = all
        .iter()
        .map(|row| row.iter().enumerate().map(|(i, x)| x - if i == 4 { 1e6 } else { 0.0 }).collect())
        .collect();
    let mean: Vec<f64> = (0..7).map(|i| moved.iter().map(|row| row[i]).sum::<f64>() / 500.0).collect();
    let scatter = moments.scatter().unwrap();
    let trace: f64 = (0..7).map(|i| scatter.column(i)[i]).sum();
    for i in 0..7 {
        let found = moments.mean().unwrap()[i] - if i == 4 { 1e6 } else { 0.0 };
        assert!((found - mean[i]).abs() <= 1e-9, "{found} {}", mean[i]);
        for j in 0..7 {
            let wanted: f64 = moved.iter().map(|row| (row[i] - mean[i]) * (row[j] - mean[j])).sum();
            assert!((scatter.column(i)[j] - wanted).abs() <= 1e-10 * trace, "{} {wanted}", scatter.column(i)[j]);
        }
    }
    let whole = fold(&all, None);
    assert_eq!((moments.rows(), moments.weight()), (whole.rows(), whole.weight()));
}

#[test]
fn moments_in_standard_units_are_those_of_standardized_rows() {
    let mut all = rows(7, 200, 14, 1e3);
    all.iter_mut().for_each(|row| row[6] = 5.0);
    let mut scale = Standardizer::new(Standardize::Warmup(200), 7);
    all.iter().for_each(|row| scale.count_in(row));
    scale.settle();
    for center in [None, Some(RunningCenter::MEAN)] {
        let spec = Spec { center, ..Spec::bare(Kind::Leader, 3) };
        let moments = fold(&all[..70], None).merge(fold(&all[70..], None)).unwrap();
        let mut finished = moments.finish(&setup(&spec), true).unwrap();
        let mut run = Model::new(spec.clone(), 7, 0).unwrap().with_columns(Columns::new(None, scale.clone()));
        all.iter().for_each(|row| _ = run.step(row).unwrap());
        let (mut one, mut other) = (finished.embedding(), run.embedding());
        let mut lost = 0.0;
        for row in &all {
            let (a, b) = (one.transform(row, &mut Vec::new()).unwrap(), other.transform(row, &mut Vec::new()).unwrap());
            assert!((a - b).abs() <= 1e-9 * b.max(1.0), "{a} {b}");
            lost += a;
        }
        let best = moments.best(3, center.is_some(), true).exact().unwrap();
        assert!((best - lost).abs() <= 1e-10 * lost, "{best} {lost}");
    }
    let anchored = setup(&Spec::bare(Kind::Anchored, 3));
    assert!(fold(&all, None).finish(&anchored, true).unwrap_err().to_string().contains("norm-bound must be given"));
}

#[test]
fn the_bracket_of_merged_sketches_holds_the_best_loss_and_that_of_the_model() {
    let length = 4100;
    let mut random = Random::seeded(16);
    let factor: Vec<Vec<f64>> = (0..5).map(|_| (0..length).map(|_| random.normal()).collect()).collect();
    let mut row = || -> Vec<f64> {
        let amounts: Vec<f64> = (0..5).map(|i| (10 - i) as f64 * random.normal()).collect();
        (0..length)
            .map(|i| 2.0 + amounts.iter().zip(&factor).map(|(a, f)| a * f[i]).sum::<f64>() + random.normal())
            .collect()
    };
    let all: Vec<Vec<f64>> = (0..160).map(|_| row()).collect();
    let moments = [&all[..60], &all[60..61], &all[61..]].map(|part| fold(part, None));
    let moments = moments.into_iter().reduce(|a, b| a.merge(b).unwrap()).unwrap();
    let moments = Moments::from_bytes(&moments.to_bytes().unwrap()).unwrap();
    assert!(moments.scatter().is_none());
    for (center, standardize) in [(Some(RunningCenter::MEAN), false), (None, false), (Some(RunningCenter::MEAN), true)]
    {
        let spec = Spec { center, ..Spec::bare(Kind::Leader, 3) };
        let mut finished = moments.finish(&setup(&spec), standardize).unwrap();
        let restored = Model::from_bytes(&finished.to_bytes().unwrap()).unwrap();
        assert_eq!(restored, finished);
        let mut model: Embedding = finished.embedding();
        let scaled: Vec<Vec<f64>> = all.iter().map(|row| in_units(row, &model, length)).collect();
        let lost: f64 = all.iter().map(|row| model.transform(row, &mut Vec::new()).unwrap()).sum();
        let best = best_of(&scaled, 3);
        let bracket = moments.best(3, center.is_some(), standardize);
        assert!(bracket.low() <= best * (1.0 + 1e-9) && best <= bracket.high() * (1.0 + 1e-9), "{bracket:?} {best}");
        assert!(best <= lost * (1.0 + 1e-9) && lost <= bracket.high() * (1.0 + 1e-9), "{bracket:?} {best} {lost}");
        assert!(standardize || bracket.high() - bracket.low() <= best / 7.0, "{bracket:?}");
    }
}

/// Returns a row in the model's units: minus the model's mean, divided by its scale.
fn in_units(row: &[f64], model: &Embedding, length: usize) -> Vec<f64> {
    let (mean, scale) = (model.mean().unwrap(), model.scale(length));
    (0..length).map(|i| (row[i] - mean[i]) / scale[i]).collect()
}

/// Returns the loss of the best k-dimensional subspace through zero, from the Gram matrix of the rows.
fn best_of(rows: &[Vec<f64>], kept: usize) -> f64 {
    let mut gram = Matrix::zeros(rows.len(), rows.len());
    for (j, row) in rows.iter().enumerate() {
        gram.column_mut(j).iter_mut().zip(rows).for_each(|(entry, other)| *entry = dot(row, other));
    }
    let values = symmetric_eigen(&gram).values;
    values[..values.len() - kept].iter().sum()
}

#[test]
fn bad_rows_are_named_and_leave_moments_as_they_were() {
    let all = rows(7, 5, 21, 0.5);
    for missing in [Missing::Fail, Missing::Skip] {
        let mut moments = Moments::new(7, 3, missing).unwrap();
        moments.update(&[&all[0]], None).unwrap();
        let before = moments.clone();
        let bad = |value: f64| [1.0, 2.0, value, 4.0, 5.0, 6.0, 7.0];
        let (nan, infinite, huge) = (bad(f64::NAN), bad(f64::INFINITY), bad(1e200));
        for row in [&infinite[..], &huge, &all[1][..6]] {
            let error = moments.update(&[&all[1], row], None).unwrap_err();
            assert!(matches!(error, Error::At { point: 1, .. }), "{error}");
        }
        assert!(moments.update(&[&all[1]], Some(&[-1.0])).is_err() && moments.update(&[&all[1]], Some(&[])).is_err());
        let outcome = moments.update(&[&all[1], &nan], None);
        if missing == Missing::Fail {
            assert_eq!(outcome.unwrap_err().to_string(), "point 1: entry 2 of the row must be finite, got NaN");
            assert_eq!(moments, before);
        } else {
            assert_eq!((outcome, moments.rows(), moments.passed_over()), (Ok(()), 2, 1));
        }
    }
}

#[test]
fn damaged_moments_are_refused() {
    let bytes = fold(&rows(7, 40, 22, 1e6), None).to_bytes().unwrap();
    assert!(Moments::from_bytes(b"something else").is_err() && Model::from_bytes(&bytes).is_err());
    for cut in [0, 7, 20, 30, bytes.len() - 1] {
        assert!(Moments::from_bytes(&bytes[..cut]).is_err(), "{cut}");
    }
    for at in (8..bytes.len()).step_by(13) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x41;
        assert!(Moments::from_bytes(&changed).is_err(), "{at}");
    }
}

#[test]
fn moments_merged_with_themselves_are_refused_before_their_count_overflows() {
    let mut moments = fold(&rows(7, 5, 10, 0.0), None);
    let error = (0..64).find_map(|_| match moments.clone().merge(moments.clone()) {
        Ok(merged) => {
            moments = merged;
            None
        }
        Err(error) => Some(error.to_string()),
    });
    assert_eq!(error.as_deref(), Some("the number of rows must be at most 2^53, got 11258999068426240"));
}

/// The directions computed from moments equal those of the learner.
#[test]
fn principal_directions_are_those_of_the_model_after_the_rows() {
    for (length, count) in [(7, 300), (40, 12), (300, 400), (300, 60)] {
        for spec in mergeable().into_iter().filter(|spec| spec.max_rank.is_none()) {
            let all = rows(length, count, 10, offset_of(&spec));
            let model = Model::new(spec.clone(), length, 0).unwrap();
            let mut moments = Moments::for_model(&model).unwrap();
            moments.update(&all.iter().map(Vec::as_slice).collect::<Vec<_>>(), None).unwrap();
            let Some(found) = moments.principal(&model) else { continue };
            let mut wanted = moments.add_to(model).unwrap();
            assert!(moments.principal(&wanted).is_none(), "the model has rows");
            let embedding = wanted.embedding();
            let (energies, total) = wanted.energies(&embedding).unwrap();
            let (own, own_total) = found.energies.unwrap();
            assert!((own_total - total).abs() <= 1e-12 * total);
            let (a, b) = (found.embedding.components().unwrap(), embedding.components().unwrap());
            for j in 0..spec.kept {
                assert!((own[j] - energies[j]).abs() <= 1e-11 * total, "{length} {count} {spec:?}");
                let overlap = dot(a.column(j), b.column(j));
                assert!((overlap - 1.0).abs() < 1e-8, "{length} {count} {j} {spec:?}: {overlap}");
            }
            let gap = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(gap(&found.embedding.mean().unwrap(), &embedding.mean().unwrap()) < 1e-9);
        }
    }
}
