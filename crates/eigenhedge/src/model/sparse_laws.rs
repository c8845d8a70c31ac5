//! Laws of sparse rows: subspace learners and `auto` over plain rows give the same results for sparse rows as for the
//! same rows stored as dense rows.

use crate::comparators::{BestMethod, Hindsight};
use crate::registry::{Family, REGISTRY};
use crate::span::{SHORTEST, Span};
use crate::{AnyLearner, Kind, Loss, Missing, Model, Random, RunningCenter, Spec};

/// Rows of one length, most of which are sparse.
struct Rows {
    name: &'static str,
    rows: Vec<Vec<f64>>,
}

/// Function that generates the next row from its index, a random generator and the earlier rows.
type NextRow<'a> = dyn FnMut(usize, &mut Random, &[Vec<f64>]) -> Vec<f64> + 'a;

/// Generates a row with at most `filled` nonzero cells, which are more often in the first columns.
fn sparse_row(length: usize, filled: usize, random: &mut Random) -> Vec<f64> {
    let mut row = vec![0.0; length];
    for _ in 0..filled {
        let share = random.uniform();
        row[((share * share * share) * length as f64) as usize] = 1.0 + random.uniform();
    }
    row
}

fn dense_row(length: usize, random: &mut Random) -> Vec<f64> {
    (0..length).map(|_| 0.1 * random.normal()).collect()
}

fn streams() -> Vec<Rows> {
    let mut random = Random::seeded(11);
    let mut rows = |name, length, count, row: &mut NextRow<'_>| {
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for t in 0..count {
            let next = row(t, &mut random, &rows);
            assert_eq!(next.len(), length, "{name}");
            rows.push(next);
        }
        Rows { name, rows }
    };
    vec![
        rows("random", 640, 90, &mut |_, random, _| sparse_row(640, 12, random)),
        rows("one cell", 40, 60, &mut |_, random, _| sparse_row(40, 1, random)),
        rows("empty rows", 320, 60, &mut |t, random, _| sparse_row(320, if t % 3 == 0 { 0 } else { 8 }, random)),
        rows("equal rows", 320, 60, &mut |t, random, rows| {
            if t % 4 == 3 { rows[t - 1].clone() } else { sparse_row(320, 6, random) }
        }),
        rows("few patterns", 320, 60, &mut |t, random, rows| {
            if t < 7 { sparse_row(320, 6, random) } else { rows[random.below(7)].clone() }
        }),
        rows("alternating", 320, 60, &mut |t, random, _| {
            if t % 2 == 0 { sparse_row(320, 8, random) } else { dense_row(320, random) }
        }),
        rows("dense between", 320, 60, &mut |t, random, _| {
            if t % 7 == 6 { dense_row(320, random) } else { sparse_row(320, 8, random) }
        }),
        rows("phases", 320, 80, &mut |t, random, _| {
            if t % 40 < 20 { sparse_row(320, 8, random) } else { dense_row(320, random) }
        }),
        rows("dense first", 320, 60, &mut |t, random, _| {
            if t == 0 { dense_row(320, random) } else { sparse_row(320, 8, random) }
        }),
        rows("constant column", 320, 60, &mut |_, random, _| {
            let mut row = sparse_row(320, 7, random);
            row[5] = 1000.0 + random.uniform();
            row
        }),
        rows("nearly equal", 320, 60, &mut |t, random, rows| {
            let mut row = if t == 0 { sparse_row(320, 6, random) } else { rows[0].clone() };
            row[7 + t % 3] += 1e-4 * random.normal();
            row
        }),
    ]
}

fn specs() -> Vec<Spec> {
    let mut specs = Vec::new();
    for kind in REGISTRY.iter().filter(|entry| entry.family != Family::Hebbian).map(|entry| entry.kind) {
        let spec = Spec { center: None, ..Spec::new(kind, 2) };
        for center in [None, Some(RunningCenter::MEAN), Some(RunningCenter::forgetting(0.0))] {
            if center.is_none() || kind.reads("center") {
                specs.push(Spec { center, ..spec.clone() });
                if matches!(kind, Kind::Tracking | Kind::Leader) {
                    specs.push(Spec { center, max_rank: Some(5), ..spec.clone() });
                }
            }
        }
    }
    let prior = Some(RunningCenter { prior: 2.0, ..RunningCenter::MEAN });
    specs.push(Spec { center: prior, ..Spec::new(Kind::Anchored, 2) });
    specs.push(Spec { clip: Some(4.0), ..Spec::new(Kind::Leader, 2) });
    specs
}

struct Run {
    losses: Vec<Loss>,
    coordinates: Vec<Vec<f64>>,
    model: Model,
}

fn model(spec: &Spec, length: usize, shortest: usize) -> Model {
    SHORTEST.set(shortest);
    let mut model = Model::with_comparators(spec.clone(), length, 1, BestMethod::Sketch, 0).unwrap();
    model.ask_for_coordinates(true);
    model
}

fn run(spec: &Spec, rows: &[Vec<f64>], shortest: usize) -> Run {
    let mut model = model(spec, rows[0].len(), shortest);
    let (mut losses, mut coordinates) = (Vec::new(), Vec::new());
    for (t, row) in rows.iter().enumerate() {
        losses.push(model.step(row).unwrap());
        coordinates.push(model.coordinates().to_vec());
        let AnyLearner::Plain(portfolio) = model.learner() else { unreachable!("rows are plain") };
        let is_looked_at = shortest == 1 && (t % 11 == 10 || t + 1 == rows.len());
        for (member, spec) in portfolio.members.iter().zip(&portfolio.specs).filter(|_| is_looked_at) {
            let drift = member.span().drift();
            assert!(drift < 1e-12, "{spec:?}, row {t}: {drift}");
            assert_eq!(member.healed(), 0, "{spec:?}, row {t}");
        }
    }
    Run { losses, coordinates, model }
}

#[test]
fn sparse_rows_are_learned_like_dense_ones() {
    for spec in &specs() {
        for Rows { name, rows } in &streams() {
            let (dense, sparse) = (run(spec, rows, usize::MAX), run(spec, rows, 1));
            let largest = rows.iter().map(|row| crate::num::dot(row, row)).fold(0.0, f64::max);
            let place = |t: usize| format!("{:?} {:?} {:?}, {name}, row {t}", spec.learner, spec.center, spec.max_rank);
            for (t, (a, b)) in dense.losses.iter().zip(&sparse.losses).enumerate() {
                let apart = (a.expected - b.expected).abs();
                assert!(apart <= 1e-9 * largest, "{}: {} and {}", place(t), a.expected, b.expected);
            }
            for (t, (a, b)) in dense.coordinates.iter().zip(&sparse.coordinates).enumerate() {
                let energy = |c: &[f64]| crate::num::dot(c, c);
                let apart = (energy(a) - energy(b)).abs();
                assert!(apart <= 1e-7 * largest, "{}: {a:?} and {b:?}", place(t));
            }
        }
    }
}

#[test]
fn a_model_saved_between_sparse_rows_continues_bit_for_bit() {
    for spec in &specs() {
        for Rows { name, rows } in &streams() {
            let (mut one, mut other) = (model(spec, rows[0].len(), 1), model(spec, rows[0].len(), 1));
            for (t, row) in rows.iter().enumerate() {
                if t % 5 == 0 {
                    other = Model::from_bytes(&other.to_bytes().unwrap()).unwrap();
                    other.ask_for_coordinates(true);
                }
                let filled: Vec<u32> = (0..row.len() as u32).filter(|i| row[*i as usize] != 0.0).collect();
                let (a, b) = (one.step(row), other.step_filled(row, &filled));
                assert_eq!(a, b, "{:?}, {name}, row {t}", spec.learner);
                assert_eq!(one.coordinates(), other.coordinates());
            }
            assert_eq!(one, other, "{:?}, {name}", spec.learner);
        }
    }
}

#[test]
fn the_account_of_sparse_rows_encloses_the_best_loss() {
    for center in [None, Some(RunningCenter::MEAN)] {
        for Rows { name, rows } in &streams() {
            let rows: Vec<Vec<f64>> = rows.iter().cycle().take(3 * rows.len()).cloned().collect();
            let spec = Spec { center, ..Spec::new(Kind::Leader, 2) };
            let mut model = model(&spec, rows[0].len(), 1);
            let exact = Hindsight::by(BestMethod::Exact, rows[0].len(), center.is_some(), 2);
            let mut exact = exact.unwrap().unwrap();
            for (t, row) in rows.iter().enumerate() {
                model.step(row).unwrap();
                match center {
                    Some(_) if t == 0 => exact.begin_at(row),
                    _ => exact.add(row),
                }
                if t % 50 == 49 || t + 1 == rows.len() {
                    let (found, wanted) = (model.summary().best_loss.unwrap(), exact.best(2).unwrap().low());
                    let slack = 1e-10 * exact.best(0).unwrap().low();
                    let is_inside = found.low() <= wanted + slack && wanted <= found.high() + slack;
                    assert!(is_inside, "{name}, {center:?}, row {t}: {wanted} in {found:?}");
                    let width = found.high() - found.low();
                    assert!(width <= wanted / 7.0 + slack, "{name}, {center:?}, row {t}: {found:?} for {wanted}");
                }
            }
            let mean = model.hindsight.as_ref().and_then(|hindsight| hindsight.mean());
            let (mean, wanted) = (mean.unwrap_or_default(), exact.mean().unwrap_or_default());
            assert!(mean.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs().max(1.0)), "{name}");
        }
    }
}

#[test]
fn the_filled_cells_of_a_skipped_row_are_not_those_of_the_next_one() {
    let spec = Spec { missing: Missing::Skip, ..Spec::new(Kind::Tracking, 2) };
    for Rows { name, rows } in &streams() {
        let (mut found, mut wanted) = (model(&spec, rows[0].len(), 1), model(&spec, rows[0].len(), 1));
        let mut skipped = vec![0.0; rows[0].len()];
        skipped[0] = f64::NAN;
        for row in rows {
            found.step_filled(&skipped, &[0]).unwrap();
            assert_eq!(found.step(row), wanted.step(row), "{name}");
        }
    }
}

#[test]
fn sparse_rows_in_a_block_are_sparse_rows_one_by_one() {
    for spec in &specs() {
        for Rows { name, rows } in &streams() {
            let (mut one, mut together) = (model(spec, rows[0].len(), 1), model(spec, rows[0].len(), 1));
            let wanted: Vec<Loss> = rows.iter().map(|row| one.step(row).unwrap()).collect();
            let (mut found, borrowed) = (Vec::new(), rows.iter().map(|row| &row[..]).collect::<Vec<_>>());
            for block in borrowed.chunks(16) {
                together.step_each(block, |_, loss| found.push(loss)).unwrap();
            }
            assert_eq!(found, wanted, "{:?}, {name}", spec.learner);
            assert_eq!(one, together, "{:?}, {name}", spec.learner);
        }
    }
}

#[test]
fn directions_and_center_of_sparse_rows_are_those_of_dense_ones() {
    for spec in &specs() {
        for Rows { name, rows } in &streams() {
            let (mut dense, mut sparse) = (run(spec, rows, usize::MAX).model, run(spec, rows, 1).model);
            let before = sparse.clone();
            let mut found = (Vec::new(), Vec::new());
            let row = &rows[rows.len() / 2];
            let (a, b) = (dense.transform(row, &mut found.0).unwrap(), sparse.transform(row, &mut found.1).unwrap());
            let largest = rows.iter().map(|row| crate::num::dot(row, row)).fold(0.0, f64::max);
            assert!((a - b).abs() <= 1e-7 * largest, "{:?}, {name}: {a} {b}", spec.learner);
            assert_eq!(sparse, before, "{:?}, {name}", spec.learner);
        }
    }
}
