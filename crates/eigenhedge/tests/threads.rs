//! Results do not depend on the number of threads that share long rows, members of a portfolio, or keys of a fleet.
//!
//! There is one test, because the number of threads is a setting of the process.
#![allow(clippy::unwrap_used)]

use eigenhedge::{
    Error, Fleet, Instance, Kind, Loss, Model, PlainLearner, Random, RunningCenter, Spec, set_threads, streams,
    threads, trial, trials,
};

/// Row length at which several threads are used. It is not a multiple of a block size.
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

/// Returns a portfolio after these rows, learned in blocks, and their losses and coordinates.
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

/// Returns a portfolio after these rows, learned in blocks, their losses, and the last coordinates of each block.
fn portfolio_ahead(rows: &[Vec<f64>], count: usize, block: usize) -> (Model, Vec<Loss>, Vec<Vec<f64>>) {
    set_threads(count.try_into().unwrap());
    let spec = Spec { center: Some(RunningCenter::MEAN), ..Spec::new(Kind::Auto, 3) };
    let mut model = Model::new(spec, rows[0].len(), 5).unwrap();
    let (mut losses, mut coordinates) = (Vec::new(), Vec::new());
    let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
    for lot in rows.chunks(block) {
        model.step_all(lot, |loss| losses.push(loss)).unwrap();
        coordinates.push(model.coordinates().to_vec());
    }
    (model, losses, coordinates)
}

fn members_do_not_depend_on_the_number_of_threads() {
    for (length, count) in [(4, 200), (40, 300), (600, 120)] {
        let mut rows: Vec<Vec<f64>> = streams::signal_and_noise(length, 3, 0.3, 7).take(count).collect();
        rows[30] = rows[29].clone();
        rows[31] = vec![0.0; rows[0].len()];
        rows[33].iter_mut().for_each(|x| *x *= 1e40);
        let alone = portfolio(&rows, 1, 1);
        assert!(portfolio(&rows, 2, 50) == alone, "{length} numbers");
        let blocks = |count, block| portfolio_ahead(&rows, count, block);
        for block in [17, 50] {
            let alone = blocks(1, block);
            for count in [2, 3] {
                assert!(blocks(count, block) == alone, "{length} numbers, {count} threads, blocks of {block}");
            }
        }
    }
}

fn a_bad_row_ends_a_block_after_the_rows_before_it() {
    let good: Vec<Vec<f64>> = streams::signal_and_noise(30, 3, 0.3, 7).take(200).collect();
    for bad in [1e200, f64::NAN, f64::INFINITY] {
        let mut rows = good.clone();
        rows[150][3] = bad;
        set_threads(2.try_into().unwrap());
        let rows: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
        let (mut model, mut losses) = (Model::new(Spec::new(Kind::Auto, 3), 30, 5).unwrap(), Vec::new());
        let ended = model.step_all(&rows, |loss| losses.push(loss));
        assert_eq!(ended.unwrap_err().0, 150, "{bad}");
        let (wanted, wanted_losses, _) = portfolio_ahead(&good[..150], 1, 150);
        assert!(losses == wanted_losses && model == wanted, "{bad}");
    }
}

type Step = Result<(Loss, Vec<f64>), String>;

/// Returns the saved bytes of a fleet after these rows, learned in blocks, and the results.
fn fleet(rows: &[(String, Vec<f64>)], count: usize, most: usize) -> (Vec<u8>, Vec<Step>) {
    set_threads(count.try_into().unwrap());
    let mut fleet = Fleet::new(Model::new(Spec::new(Kind::Tracking, 3), 12, 5).unwrap()).unwrap();
    fleet.ask_for_coordinates(true);
    fleet.set_most(most);
    let mut answers = vec![Err(String::new()); rows.len()];
    for (block, answers) in rows.chunks(400).zip(answers.chunks_mut(400)) {
        let (keys, rows): (Vec<&str>, Vec<&[f64]>) = block.iter().map(|(key, row)| (&key[..], &row[..])).unzip();
        let answer = |i: usize, outcome: Result<(Loss, &[f64]), Error>| {
            answers[i] = outcome.map(|(loss, found)| (loss, found.to_vec())).map_err(|error| error.to_string());
        };
        fleet.step_all(&keys, &rows, answer).unwrap();
    }
    let mut bytes = Vec::new();
    fleet.write(b"", &mut bytes).unwrap();
    (bytes, answers)
}

fn fleets_do_not_depend_on_the_number_of_threads() {
    let rows = streams::signal_and_noise(12, 3, 0.3, 9).take(1000).enumerate();
    let mut rows: Vec<(String, Vec<f64>)> =
        rows.map(|(t, row)| (format!("key {}", (t * t + t / 7) % 17), row)).collect();
    // Invalid rows are the first row of a key, one in the middle, and all rows of another key.
    rows[0].1[2] = f64::NAN;
    rows[500].1[0] = f64::INFINITY;
    rows.iter_mut().filter(|(key, _)| key == "key 5").for_each(|(_, row)| row[1] = f64::NAN);
    let alone = fleet(&rows, 1, usize::MAX);
    assert!(alone.1.iter().any(Result::is_err) && alone.1.iter().any(Result::is_ok));
    for (count, most) in [(2, usize::MAX), (5, usize::MAX), (2, 4)] {
        assert!(fleet(&rows, count, most) == alone, "{count} threads");
    }
}

#[test]
fn no_bit_depends_on_the_number_of_threads() {
    fleets_do_not_depend_on_the_number_of_threads();
    members_do_not_depend_on_the_number_of_threads();
    a_bad_row_ends_a_block_after_the_rows_before_it();
    let mut rows: Vec<Vec<f64>> = streams::signal_and_noise(LENGTH, 4, 0.3, 5).take(60).collect();
    rows[40] = rows[30].iter().zip(&rows[31]).map(|(a, b)| a + 1e-3 * b).collect();
    rows[50] = rows[49].clone();
    for center in
        [None, Some(RunningCenter { prior: 1.0, ..RunningCenter::MEAN }), Some(RunningCenter::forgetting(0.6))]
    {
        let spec = Spec { center, eta: 2.0, ..Spec::bare(Kind::Tracking, 4) };
        let alone = learned(&spec, &rows, 1, false);
        for count in [1, 2, 3, 7] {
            for together in [false, true] {
                assert!(learned(&spec, &rows, count, together) == alone, "{count} threads, together: {together}");
            }
        }
    }
}
