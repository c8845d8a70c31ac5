//! Laws of sets: kernel rows learned at once are equivalent to rows learned one by one.
#![allow(clippy::unwrap_used)]

use eigenhedge::comparators::BestMethod;
use eigenhedge::internals::dot;
use eigenhedge::kernel::VectorKernel;
use eigenhedge::{Kind, Missing, Mixing, Model, NormBound, Random, RunningCenter, Spec, Standardize, Standardizer};

const LENGTH: usize = 4;
const KEPT: usize = 2;

fn tables() -> Vec<(&'static str, Vec<Vec<f64>>)> {
    let mut random = Random::seeded(3);
    let mut row = || -> Vec<f64> { (0..LENGTH).map(|i| 2.0 / (1.0 + i as f64) * random.normal()).collect() };
    let different: Vec<Vec<f64>> = (0..130).map(|_| row()).collect();
    let repeated = (0..130).map(|i| different[i * i % 23].clone()).collect();
    let low_rank = different.iter().map(|x| vec![x[0], x[1], x[0] - x[1], 2.0 * x[1]]).collect();
    let far = different.iter().map(|x| x.iter().map(|x| 300.0 + x).collect()).collect();
    let few = different[..3].to_vec();
    let many = (0..320).map(|_| row().iter().map(|x| 2.0 * x).collect()).collect();
    vec![
        ("many", many),
        ("different", different),
        ("repeated", repeated),
        ("low rank", low_rank),
        ("far", far),
        ("few", few),
    ]
}

/// Returns specs of learners over features whose state depends only on the set of rows.
fn specs() -> Vec<Spec> {
    let polynomial = VectorKernel::Polynomial { gamma: 0.1, degree: 2, coef0: 1.0 };
    let mut specs = Vec::new();
    for kernel in [VectorKernel::Rbf { gamma: 0.2 }, VectorKernel::Linear, polynomial] {
        for kind in [Kind::Leader, Kind::Anchored] {
            for center in [None, Some(RunningCenter::MEAN)] {
                specs.push(Spec { center, eta: 2.0, kernel: Some(kernel.clone()), ..Spec::bare(kind, KEPT) });
            }
        }
    }
    specs
}

fn new(spec: &Spec) -> Model {
    Model::with_comparators(spec.clone(), LENGTH, 0, BestMethod::None, 0).unwrap()
}

fn learn_set(model: &mut Model, rows: &[Vec<f64>]) {
    model.learn_set(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
}

/// Returns numbers that do not depend on the basis of the directions: losses of rows, inner products of their
/// coordinates, and probabilities.
fn measured(model: &mut Model, probes: &[Vec<f64>]) -> Vec<f64> {
    let (mut found, mut all) = (Vec::new(), Vec::<Vec<f64>>::new());
    for probe in probes {
        let mut coordinates = Vec::new();
        found.push(model.transform(probe, &mut coordinates).unwrap());
        all.push(coordinates);
        found.extend(all.iter().map(|other| dot(other, &all[all.len() - 1])));
    }
    found.extend(model.learner().probabilities().into_iter().take(KEPT));
    found
}

fn assert_alike(a: &mut Model, b: &mut Model, probes: &[Vec<f64>], what: &str) {
    assert_eq!(a.totals().rows, b.totals().rows, "{what}");
    let (one, other) = (measured(a, probes), measured(b, probes));
    let scale = one.iter().fold(1f64, |scale, x| scale.max(x.abs()));
    // Residuals below 1e-7 of the energy are not resolved and depend on the order.
    let slack = 1e-9 + 4e-7 * a.totals().rows as f64;
    for (x, y) in one.iter().zip(&other) {
        assert!((x - y).abs() < slack * scale, "{what}: {x} against {y}, scale {scale}");
    }
}

#[test]
fn a_set_equals_its_rows_one_by_one() {
    for spec in specs() {
        for (name, rows) in tables() {
            let what = format!("{name}, {:?}, {:?}, {:?}", spec.learner, spec.center, spec.kernel);
            let probes = &rows[..3];
            let mut single = new(&spec);
            let half = rows.len() / 2;
            rows[..half].iter().for_each(|row| _ = single.step(row).unwrap());
            let mut first = new(&spec);
            learn_set(&mut first, &rows[..half]);
            assert_alike(&mut single, &mut first, probes, &what);
            // The other rows are learned as a second set, after saving, and as single rows.
            let mut second = Model::from_bytes(&first.to_bytes().unwrap()).unwrap();
            learn_set(&mut second, &rows[half..]);
            rows[half..].iter().for_each(|row| _ = single.step(row).unwrap());
            rows[half..].iter().for_each(|row| _ = first.step(row).unwrap());
            assert_alike(&mut single, &mut first, probes, &format!("{what}, then rows"));
            assert_alike(&mut single, &mut second, probes, &format!("{what}, two sets"));
            // The next loss needs all directions, not only the kept ones.
            let next: Vec<f64> = rows[1].iter().map(|x| 0.5 * x).collect();
            let (a, b) = (single.step(&next).unwrap().expected, second.step(&next).unwrap().expected);
            assert!((a - b).abs() < 4e-7 * rows.len() as f64 * a.max(1.0), "{what}: {a} against {b}");
            Model::from_bytes(&second.to_bytes().unwrap()).unwrap();
        }
    }
}

#[test]
fn only_learners_of_sets_learn_sets() {
    let base = &specs()[1];
    assert!(new(base).learns_sets());
    let others = [
        Spec { kernel: None, ..base.clone() },
        Spec { learner: Kind::Tracking, ..base.clone() },
        Spec { learner: Kind::ForgettingLeader, forget: 0.9, ..base.clone() },
        Spec { budget: Some(5), ..base.clone() },
        Spec { max_rank: Some(5), ..base.clone() },
        Spec { clip: Some(3.0), ..base.clone() },
        Spec { learner: Kind::Tracking, mixing: Mixing::FixedShare { alpha: 0.1 }, ..base.clone() },
    ];
    for spec in others {
        let mut model = new(&spec);
        assert!(!model.learns_sets(), "{spec:?}");
        let before = model.clone();
        assert!(model.learn_set(&[&[1.0; LENGTH]]).is_err() && model == before);
    }
    let running = eigenhedge::Columns::new(None, Standardizer::new(Standardize::Running, LENGTH));
    assert!(!new(base).with_columns(running).learns_sets());
    assert!(!Model::new(base.clone(), LENGTH, 0).unwrap().learns_sets(), "regret needs losses");
}

#[test]
fn a_refused_row_leaves_the_model_unchanged() {
    let rows = &tables()[0].1;
    let bounded = Spec { norm_bound: NormBound::Given(0.9), ..specs()[0].clone() };
    for (spec, bad, wanted) in [
        (specs()[1].clone(), vec![1.0, f64::NAN, 0.0, 0.0], "entry 1 of the row must be finite"),
        (specs()[1].clone(), vec![1.0], "must have 4 entries"),
        (bounded, vec![1.0; LENGTH], "norm"),
    ] {
        let mut model = new(&spec);
        if spec.norm_bound == NormBound::Running {
            learn_set(&mut model, &rows[..20]);
        }
        let before = model.clone();
        let given = [&rows[20][..], &bad, &rows[21]];
        let (_, error) = model.learn_set(&given).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
        assert_eq!(model, before);
    }
    let mut model = new(&Spec { missing: Missing::Skip, ..specs()[1].clone() });
    model.learn_set(&[&rows[0], &[f64::NAN; LENGTH], &rows[1]]).unwrap();
    assert_eq!((model.totals().rows, model.totals().passed_over), (2, 1));
}
