//! Passes over long rows shared by several threads.
//!
//! There is one test, because the number of threads is a setting of the process.
#![allow(clippy::unwrap_used)]

use eigenhedge::{
    Instance, Kind, Loss, Model, PlainLearner, Random, RunningCenter, Spec, set_threads, streams, threads, trial,
    trials,
};

/// Long enough that threads pay off, and not a multiple of a block size.
const LENGTH: usize = 70_001;

fn learned(spec: &Spec, rows: &[Vec<f64>], count: usize, together: bool) -> (PlainLearner, Vec<Loss>) {
    set_threads(count.try_into().unwrap());
    assert_eq!(threads(), count);
    let mut learner = spec.plain(LENGTH).unwrap();
    let mut random = Random::seeded(3);
    let mut losses = Vec::new();
    let instances: Vec<Instance<'_, [f64]>> = rows.iter().map(|row| Instance::from(&row[..])).collect();
    if together {
        trials(&mut learner, &instances, &mut random, |_, loss| losses.push(loss)).unwrap();
    } else {
        losses.extend(instances.iter().map(|row| trial(&mut learner, row, &mut random).unwrap()));
    }
    (learner, losses)
}

/// Returns a portfolio after these rows, learned in blocks, with their losses and coordinates.
fn portfolio(rows: &[Vec<f64>], count: usize, block: usize) -> (Model, Vec<(Loss, Vec<f64>)>) {
    set_threads(count.try_into().unwrap());
    let spec = Spec { center: Some(RunningCenter::MEAN), ..Spec::new(Kind::Auto, 3) };
    let mut model = Model::new(spec, rows[0].len(), 5).unwrap();
    model.ask_for_coordinates(true);
    let mut answers = Vec::new();
    let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
    for lot in rows.chunks(block) {
        model.step_each(lot, |model, loss| answers.push((loss, model.coordinates().to_vec()))).unwrap();
    }
    (model, answers)
}

fn members_do_not_depend_on_the_number_of_threads() {
    for (length, count) in [(40, 300), (600, 120)] {
        let mut rows: Vec<Vec<f64>> = streams::signal_and_noise(length, 3, 0.3, 7).take(count).collect();
        rows[30] = rows[29].clone();
        rows[31] = vec![0.0; length];
        let alone = portfolio(&rows, 1, 1);
        for (count, block) in [(1, 50), (2, 1), (2, 50), (3, 17)] {
            assert!(portfolio(&rows, count, block) == alone, "{length} numbers, {count} threads, blocks of {block}");
        }
    }
}

#[test]
fn no_bit_depends_on_the_number_of_threads() {
    members_do_not_depend_on_the_number_of_threads();
    let mut rows: Vec<Vec<f64>> = streams::signal_and_noise(LENGTH, 4, 0.3, 5).take(60).collect();
    // Small and zero residuals.
    rows[40] = rows[30].iter().zip(&rows[31]).map(|(a, b)| a + 1e-3 * b).collect();
    rows[50] = rows[49].clone();
    for center in [None, Some(RunningCenter { prior: 1.0, forget: 1.0 }), Some(RunningCenter::forgetting(0.6))] {
        let spec = Spec { center, eta: 2.0, ..Spec::bare(Kind::Tracking, 4) };
        let alone = learned(&spec, &rows, 1, false);
        for count in [1, 2, 3, 7] {
            for together in [false, true] {
                assert!(learned(&spec, &rows, count, together) == alone, "{count} threads, together: {together}");
            }
        }
    }
}
