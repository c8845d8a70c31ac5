//! Long rows take one pass if the residual is accurate, and have the losses of short rows.
#![allow(clippy::unwrap_used)]

use eigenhedge::internals::dot;
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Error, Instance, Kind, Loss, Mixing, PlainLearner, Random, RunningCenter, Spec, trial, trials};

const LENGTH: usize = 700;
const SHORT: usize = 12;

fn frame(random: &mut Random) -> Vec<Vec<f64>> {
    let mut frame: Vec<Vec<f64>> = Vec::new();
    while frame.len() < SHORT {
        let mut vector: Vec<f64> = (0..LENGTH).map(|_| random.normal()).collect();
        for _ in 0..2 {
            for earlier in &frame {
                let overlap = dot(earlier, &vector);
                vector.iter_mut().zip(earlier).for_each(|(x, e)| *x -= overlap * e);
            }
            let norm = dot(&vector, &vector).sqrt();
            vector.iter_mut().for_each(|x| *x /= norm);
        }
        frame.push(vector);
    }
    frame
}

/// Returns rows with strong, weak and vanishing residuals, including repeated rows and zeros.
fn short_rows(count: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for t in 0..count {
        let weak = [1.0, 0.1, 1e-2, 1e-5, 0.0][t % 5];
        let row = match t {
            _ if t % 17 == 16 => rows[t - 5].clone(),
            _ if t % 29 == 28 => vec![0.0; SHORT],
            _ => (0..SHORT).map(|i| random.normal() * if i < 3 { 1.0 } else { weak }).collect(),
        };
        rows.push(row);
    }
    rows
}

fn lengthened(row: &[f64], frame: &[Vec<f64>]) -> Vec<f64> {
    let mut long = vec![0.0; LENGTH];
    for (amount, vector) in row.iter().zip(frame) {
        long.iter_mut().zip(vector).for_each(|(x, v)| *x += amount * v);
    }
    long
}

fn specs() -> Vec<Spec> {
    let tracking = Spec { eta: 2.0, ..Spec::bare(Kind::Tracking, 3) };
    vec![
        tracking.clone(),
        Spec { mixing: Mixing::FixedShare { alpha: 1e-3 }, ..tracking.clone() },
        Spec { center: Some(RunningCenter::MEAN), ..tracking.clone() },
        Spec { max_rank: Some(6), ..tracking },
        Spec { max_rank: Some(6), ..Spec::bare(Kind::Leader, 3) },
        Spec {
            max_rank: Some(6),
            center: Some(RunningCenter { prior: 2.0, ..RunningCenter::MEAN }),
            ..Spec::bare(Kind::Anchored, 3)
        },
        Spec::bare(Kind::Anchored, 3),
    ]
}

fn step(learner: &mut PlainLearner, row: &[f64], random: &mut Random) -> f64 {
    trial(learner, &Instance::from(row), random).unwrap().expected
}

#[test]
fn long_rows_lose_what_their_coordinates_lose() {
    let mut random = Random::seeded(3);
    let (frame, rows) = (frame(&mut random), short_rows(400, &mut random));
    for spec in specs() {
        let mut long = spec.plain(LENGTH).unwrap();
        let space = Spec { dimension: Some(Multiplicity::Finite(LENGTH as u64)), ..spec.clone() };
        let mut short = space.plain(SHORT).unwrap();
        for (t, row) in rows.iter().enumerate() {
            let wanted = step(&mut short, row, &mut random);
            let found = step(&mut long, &lengthened(row, &frame), &mut random);
            let size = dot(row, row).max(1.0);
            assert!((found - wanted).abs() <= 1e-10 * size, "{}, row {t}: {found} against {wanted}", spec.label());
        }
    }
}

#[test]
fn columns_of_long_rows_stay_orthonormal() {
    let mut random = Random::seeded(4);
    for spec in specs().iter().take(4) {
        let mut learner = spec.plain(LENGTH).unwrap();
        for t in 0..1200 {
            // The signal is in three columns, the noise in all.
            let noise = [0.3, 0.03, 1e-3][t % 3];
            let row: Vec<f64> = (0..LENGTH).map(|i| random.normal() * if i < 3 { 1.0 } else { noise / 26.0 }).collect();
            step(&mut learner, &row, &mut random);
            let drift = if t % 7 == 0 { learner.span().vectors().drift() } else { 0.0 };
            // Drift above 1e-13 is removed, but only checked every 32 combinations.
            assert!(drift <= 3e-12, "{}, row {t}: {drift:e}", spec.label());
        }
    }
}

#[test]
fn a_restored_learner_goes_on_bit_for_bit_between_two_combinations() {
    let mut random = Random::seeded(5);
    let rows: Vec<Vec<f64>> = (0..60).map(|_| (0..LENGTH).map(|_| random.normal()).collect()).collect();
    let mut learner = specs()[0].plain(LENGTH).unwrap();
    for (t, row) in rows.iter().enumerate() {
        let bytes = postcard::to_allocvec(&learner).unwrap();
        let mut restored: PlainLearner = postcard::from_bytes(&bytes).unwrap();
        let (mut one, mut other) = (Random::seeded(6), Random::seeded(6));
        let (a, b) = (step(&mut learner, row, &mut one), step(&mut restored, row, &mut other));
        assert_eq!(a.to_bits(), b.to_bits(), "row {t}");
        assert_eq!(learner, restored, "row {t}");
    }
}

/// Returns the losses of the rows in blocks of `lot`, or the first rejected row and its error.
fn in_lots(
    learner: &mut PlainLearner,
    rows: &[Vec<f64>],
    lot: usize,
    random: &mut Random,
) -> Result<Vec<Loss>, (usize, Error)> {
    let mut losses = Vec::new();
    for rows in rows.chunks(lot) {
        let instances: Vec<Instance<'_, [f64]>> = rows.iter().map(|row| Instance::from(&row[..])).collect();
        trials(learner, &instances, random, |_, loss| losses.push(loss))
            .map_err(|(i, error)| (losses.len() / lot * lot + i, error))?;
    }
    Ok(losses)
}

#[test]
fn rows_in_blocks_lose_what_others_lose_bit_for_bit() {
    let mut random = Random::seeded(7);
    let (frame, short) = (frame(&mut random), short_rows(150, &mut random));
    let mut rows: Vec<Vec<f64>> = short.iter().map(|row| lengthened(row, &frame)).collect();
    for _ in 0..150 {
        rows.push((0..LENGTH).map(|i| random.normal() * if i < 3 { 1.0 } else { 0.02 } + 0.5).collect());
    }
    for spec in specs() {
        for lot in [2, 7, 16, 40, rows.len()] {
            let (mut alone, mut together) = (spec.plain(LENGTH).unwrap(), spec.plain(LENGTH).unwrap());
            let (mut one, mut other) = (Random::seeded(8), Random::seeded(8));
            let losses = in_lots(&mut together, &rows, lot, &mut other).unwrap();
            for (t, (row, found)) in rows.iter().zip(losses).enumerate() {
                let wanted = trial(&mut alone, &Instance::from(&row[..]), &mut one).unwrap();
                assert_eq!(wanted, found, "{}, lots of {lot}, row {t}", spec.label());
            }
            assert_eq!(alone, together, "{}, lots of {lot}", spec.label());
        }
    }
}

#[test]
fn a_row_that_is_refused_ends_a_lot_and_changes_nothing() {
    let mut random = Random::seeded(9);
    let mut rows: Vec<Vec<f64>> = (0..30).map(|_| (0..LENGTH).map(|_| random.normal()).collect()).collect();
    rows[21][5] = f64::NAN;
    for spec in specs() {
        let (mut alone, mut together) = (spec.plain(LENGTH).unwrap(), spec.plain(LENGTH).unwrap());
        let (mut one, mut other) = (Random::seeded(8), Random::seeded(8));
        let refused = in_lots(&mut together, &rows, 30, &mut other).unwrap_err();
        assert!(matches!(refused, (21, Error::Entry { index: 5, .. })), "{refused:?}");
        for row in &rows[..21] {
            step(&mut alone, row, &mut one);
        }
        assert_eq!(alone, together, "{}", spec.label());
        assert_eq!(step(&mut alone, &rows[22], &mut one), step(&mut together, &rows[22], &mut other));
    }
}

#[test]
fn buffers_may_be_used_again_after_a_block_that_was_refused_and_copies_know_of_no_block() {
    let mut random = Random::seeded(10);
    for spec in specs() {
        let (mut alone, mut together) = (spec.plain(LENGTH).unwrap(), spec.plain(LENGTH).unwrap());
        let (mut one, mut other) = (Random::seeded(8), Random::seeded(8));
        let mut buffers = vec![vec![0.0; LENGTH]; 12];
        for round in 0..6 {
            buffers.iter_mut().flatten().for_each(|x| *x = random.normal());
            let refused = if round % 2 == 0 { 5 } else { buffers.len() };
            if refused < buffers.len() {
                buffers[refused][7] = f64::NAN;
            }
            let mut found = Vec::new();
            let instances: Vec<Instance<'_, [f64]>> = buffers.iter().map(|row| Instance::from(&row[..])).collect();
            let outcome = trials(&mut together, &instances, &mut other, |_, loss| found.push(loss.expected));
            assert_eq!(outcome.map_err(|(i, _)| i), if refused < buffers.len() { Err(refused) } else { Ok(()) });
            let wanted: Vec<f64> = buffers[..refused].iter().map(|row| step(&mut alone, row, &mut one)).collect();
            assert_eq!(wanted, found, "{}, round {round}", spec.label());
            together = together.clone();
        }
    }
}
