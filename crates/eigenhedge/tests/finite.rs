//! Rows of any size. Every learner returns finite numbers, or rejects the row and stays unchanged.
#![allow(clippy::unwrap_used)]

use crate::common;
use eigenhedge::internals::dot;
use eigenhedge::registry::{Family, REGISTRY};
use eigenhedge::{Kind, Model, Random, RunningCenter, Spec};

fn specs(random: &mut Random) -> Vec<Spec> {
    let mut specs = common::specs(2);
    for entry in REGISTRY.iter().filter(|entry| entry.family == Family::Hebbian) {
        specs.push(Spec { eta: 0.01, ..Spec::bare(entry.kind, if entry.kind == Kind::Oja { 1 } else { 2 }) });
    }
    for center in [None, Some(RunningCenter::MEAN), Some(RunningCenter::forgetting(0.5))] {
        specs.push(Spec { center, ..Spec::bare(Kind::Auto, 2) });
    }
    for spec in &mut specs {
        if spec.learner.reads("eta") && !spec.self_confident && random.uniform() < 0.5 {
            spec.eta *= 10f64.powf(4.0 * random.uniform() - 2.0);
        }
    }
    specs
}

fn powers(kind: usize, count: usize, random: &mut Random) -> Vec<f64> {
    let mut power = || (300.0 * random.uniform() - 150.0).round();
    let (a, b, c) = (power(), power(), power());
    let of = |t: usize, power: &mut dyn FnMut() -> f64| match kind {
        0 => [a, b][t % 2],
        1 => [a, -a][t % 2],
        2 => [a, b, c][t * t % 3],
        3 => power(),
        _ => a + (b - a) * t as f64 / count as f64,
    };
    (0..count).map(|t| of(t, &mut power)).collect()
}

fn check(model: &mut Model, row: &[f64], case: &str) -> bool {
    let before = model.clone();
    let Ok(loss) = model.step(row) else {
        assert!(*model == before, "{case}: a refused row changed the model");
        return false;
    };
    let energy = model.totals().kept_energy + model.totals().loss;
    let numbers = [loss.expected, loss.realised, energy].into_iter().chain(model.coordinates().iter().copied());
    numbers.for_each(|x| assert!(x.is_finite(), "{case}: {loss:?}, coordinates {:?}", model.coordinates()));
    assert!(loss.expected >= 0.0 && loss.realised >= 0.0, "{case}: {loss:?}");
    if model.spec().center.is_none() {
        // Squares of tiny rows are rounded to subnormal numbers.
        let most = (1.0 + 1e-9) * dot(row, row) + 1e-300;
        assert!(loss.expected <= most && loss.realised <= most, "{case}: {loss:?} of {:e}", dot(row, row));
    }
    true
}

#[test]
fn rows_of_any_size_give_finite_answers_or_are_refused() {
    let (mut random, mut answered, mut rows) = (Random::seeded(9), 0, 0);
    for round in 0..20 {
        let powers = powers(round % 5, 12, &mut random);
        for (index, spec) in specs(&mut random).into_iter().enumerate() {
            let mut model = Model::new(spec.clone(), 5, 0).unwrap();
            model.ask_for_coordinates(true);
            for (t, power) in powers.iter().enumerate() {
                let mut cell = |j: usize| {
                    // In every third round, the cells of a row also have different sizes.
                    let own = if round % 3 == 2 { 10f64.powi(7 * (j as i32 % 3)) } else { 1.0 };
                    10f64.powf(*power) * own * random.normal()
                };
                let row: Vec<f64> = (0..5).map(&mut cell).collect();
                let case = format!("round {round}, learner {index}, row {t} of 1e{power}, {spec:?}");
                answered += usize::from(check(&mut model, &row, &case));
                rows += 1;
            }
            let summary = serde_json::to_string(&model.summary()).unwrap();
            assert!(!summary.contains("\"expected_loss\":null"), "round {round}, {spec:?}: {summary}");
        }
    }
    assert!(answered > rows * 9 / 10, "{answered} of {rows} rows were answered");
}
