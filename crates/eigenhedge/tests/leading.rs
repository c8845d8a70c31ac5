//! Leaders over many columns compute only leading directions, without changing losses.
#![allow(clippy::unwrap_used)]

use crate::common::hard_streams::HARD;
use eigenhedge::internals::{Span, dot, symmetric_eigen};
use eigenhedge::options::Options;
use eigenhedge::{Instance, Kind, Learner, Matrix, Missing, Moments, PlainLearner, Random, Spec, streams, trial};

const COLUMNS: usize = 140;
const KEPT: usize = 3;
/// Number of columns up to which all directions are computed.
const FEW: usize = 128;

/// Energy that each leading direction may miss, relative to the energy of all rows. The first tolerance is the usual
/// one. The second holds in a dense part of the spectrum of at least 512 columns.
const TOLERANCES: [f64; 2] = [1e-12, 1e-6];

fn explicit(learner: &PlainLearner) -> usize {
    learner.rule().log_weights().len()
}

/// Compares the losses of a leader with those of fresh decompositions. Rows are left out if the previous ones do not
/// determine the leading subspace. Returns the number of rows compared while the learner stored fewer directions than
/// columns.
fn compare(spec: &Spec, rows: &[Vec<f64>], tolerance: f64, case: &str) -> usize {
    let columns = rows[0].len();
    let (mut learner, mut random) = (spec.plain(columns).unwrap(), Random::seeded(1));
    let mut scatter = Matrix::zeros(columns, columns);
    let (mut compared, mut found, mut right, mut energy) = (0, 0.0, 0.0, 0.0);
    for (t, row) in rows.iter().enumerate() {
        let leads = explicit(&learner) < learner.span().columns();
        let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap().expected;
        if leads {
            let eigen = symmetric_eigen(&scatter);
            let value = |i: usize| eigen.values[columns - i];
            let apart = (value(KEPT) - value(KEPT + 1)) / eigen.values.iter().sum::<f64>();
            let kept = |j: usize| dot(eigen.vectors.column(columns - j), row).powi(2);
            let (square, wanted) = (dot(row, row), dot(row, row) - (1..=KEPT).map(kept).sum::<f64>());
            if apart > 1e-9 {
                let most = (2.0 * (KEPT as f64 * tolerance / apart).sqrt() + 1e-12) * square;
                assert!((loss - wanted).abs() <= most, "{case}, row {t}: {loss} against {wanted} of {square}");
                (compared, found, right, energy) = (compared + 1, found + loss, right + wanted, energy + square);
            }
        }
        let forget = if spec.learner == Kind::ForgettingLeader { spec.forget } else { 1.0 };
        for j in 0..columns {
            scatter.column_mut(j).iter_mut().zip(row).for_each(|(s, x)| *s = forget * *s + x * row[j]);
        }
    }
    assert!(
        (found - right).abs() <= tolerance.sqrt() * right + 1e-12 * energy,
        "{case}: {found} against {right} in all"
    );
    compared
}

fn leaders() -> [Spec; 2] {
    [Spec::bare(Kind::Leader, KEPT), Spec { forget: 0.97, ..Spec::bare(Kind::ForgettingLeader, KEPT) }]
}

#[test]
fn losses_of_leading_directions_equal_those_of_full_decompositions() {
    let mut compared = Vec::new();
    for spec in leaders() {
        for stream in HARD {
            let rows = (stream.rows)(COLUMNS, COLUMNS + 50, 3);
            compared.push((
                stream.name,
                compare(&spec, &rows, TOLERANCES[0], &format!("{}, {}", stream.name, spec.label())),
            ));
        }
        let noise = noise(COLUMNS + 50, COLUMNS);
        compared.push(("noise", compare(&spec, &noise, TOLERANCES[0], &format!("noise, {}", spec.label()))));
    }
    for name in ["iid", "noise", "random walk"] {
        let rows: usize = compared.iter().filter(|(stream, _)| *stream == name).map(|(_, rows)| rows).sum();
        assert!(rows > COLUMNS + 50 - FEW, "{name}: {rows} rows compared in {compared:?}");
    }
}

fn noise(rows: usize, columns: usize) -> Vec<Vec<f64>> {
    let mut random = Random::seeded(4);
    (0..rows).map(|_| (0..columns).map(|_| random.normal()).collect()).collect()
}

#[test]
fn leading_directions_of_much_noise_miss_little_of_the_energy() {
    let columns = 520;
    let (spec, rows) = (Spec::bare(Kind::Leader, KEPT), noise(columns + 100, columns));
    let mut moments = Moments::new(columns, KEPT, Missing::Fail).unwrap();
    moments.update(&rows[..columns + 40].iter().map(Vec::as_slice).collect::<Vec<_>>(), None).unwrap();
    let mut setup = Options::new(Kind::Leader, KEPT).resolve(str::to_owned).unwrap();
    setup.spec = spec;
    let mut model = moments.finish(&setup, false).unwrap();
    for row in &rows[columns + 40..] {
        model.step(row).unwrap();
    }
    assert!(model.learner().probabilities().len() < columns, "all directions were computed");
    moments.update(&rows[columns + 40..].iter().map(Vec::as_slice).collect::<Vec<_>>(), None).unwrap();
    let (best, energy) = (moments.best(KEPT, false, false).high(), rows.iter().map(|row| dot(row, row)).sum::<f64>());
    let loss: f64 = rows.iter().map(|row| model.transform(row, &mut Vec::new()).unwrap()).sum();
    let most = KEPT as f64 * TOLERANCES[1] * energy;
    assert!((-1e-12 * energy..=most).contains(&(loss - best)), "{loss} against {best} of {energy}");
}

/// Unit vectors in turn have equal eigenvalues, which a few directions cannot represent.
#[test]
fn equal_eigenvalues_of_many_columns_share_evenly() {
    for spec in leaders() {
        let (mut learner, mut random) =
            (Spec { forget: 1.0 - 1e-15, ..spec }.plain(COLUMNS).unwrap(), Random::seeded(1));
        for t in 0..3 * COLUMNS {
            let mut row = vec![0.0; COLUMNS];
            row[t % COLUMNS] = 1.0;
            let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap().expected;
            if t >= COLUMNS && t.is_multiple_of(COLUMNS) {
                let wanted = 1.0 - KEPT as f64 / COLUMNS as f64;
                assert!((loss - wanted).abs() < 1e-9, "row {t}: {loss} against {wanted}");
            }
        }
    }
}

#[test]
fn a_leader_over_many_columns_is_saved_and_goes_on_bit_for_bit() {
    let rows: Vec<Vec<f64>> = streams::signal_and_noise(COLUMNS, 4, 0.3, 5).take(COLUMNS + 80).collect();
    for spec in leaders() {
        let (mut learner, mut random) = (spec.plain(COLUMNS).unwrap(), Random::seeded(6));
        let mut other = learner.clone();
        for (t, row) in rows.iter().enumerate() {
            if t > FEW && t % 5 == 0 {
                other = postcard::from_bytes(&postcard::to_stdvec(&other).unwrap()).unwrap();
            }
            let instance = Instance::from(&row[..]);
            let mut twin = random.clone();
            let found = trial(&mut other, &instance, &mut twin).unwrap();
            assert_eq!(trial(&mut learner, &instance, &mut random).unwrap(), found, "row {t}");
        }
        assert!(explicit(&learner) < FEW && learner == other);
        learner.check(&Instance::from(&rows[0][..])).unwrap();
    }
}
