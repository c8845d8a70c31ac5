//! Laws of every row: true losses and orthonormal columns on streams of all kinds.
//!
//! Smooth and repeated streams are hard: each row is nearly in the span of earlier rows.
#![allow(clippy::unwrap_used)]

use crate::common::dense::{DenseAdditive, DenseScatter, DenseTracking, Function, Oracle};
use crate::common::hard_streams::{self, HARD};
use crate::common::soundness::{Soundness, judged};
use crate::common::subspace_learners;
use eigenhedge::internals::{Span, dot};
use eigenhedge::kernel::VectorKernel;
use eigenhedge::simplex::Multiplicity;
use eigenhedge::{Instance, Kind, Mixing, PlainLearner, Random, RunningCenter, Spec, trial, trials};

fn specs(kept: usize, rates: &[f64], memories: &[f64]) -> Vec<Spec> {
    let mut specs = Vec::new();
    for entry in subspace_learners() {
        let reads = |option| entry.kind.reads(option);
        let rates = if reads("eta") { rates } else { &[1.0] };
        let memories = if reads("forget") { memories } else { &[1.0] };
        let all = [Mixing::None, Mixing::FixedShare { alpha: 1e-3 }, Mixing::PastAverage { alpha: 1e-3 }];
        let mixings = if reads("mixing") { &all[..] } else { &all[..1] };
        let ranks = if reads("max-rank") { &[None, Some(kept), Some(kept + 4)][..] } else { &[None] };
        let centers = if reads("center") {
            &[None, Some(RunningCenter::MEAN), Some(RunningCenter::forgetting(0.5))][..]
        } else {
            &[None]
        };
        for (eta, forget) in rates.iter().flat_map(|eta| memories.iter().map(move |forget| (*eta, *forget))) {
            for mixing in mixings {
                for (max_rank, center) in ranks.iter().flat_map(|rank| centers.iter().map(move |c| (*rank, *c))) {
                    let mixing = *mixing;
                    specs.push(Spec { eta, forget, mixing, max_rank, center, ..Spec::bare(entry.kind, kept) });
                }
            }
        }
    }
    specs
}

type Named = (&'static str, Vec<Vec<f64>>);

fn label(spec: &Spec) -> String {
    format!("{}{}", spec.label(), if spec.center.is_some() { ", centered" } else { "" })
}

/// Messages about cases that violated a law, with their worst measurements.
#[derive(Default)]
struct Broken(Vec<String>);

impl Broken {
    fn judge(&mut self, case: String, sound: &Soundness) {
        if let Some((row, what)) = &sound.first {
            let Soundness { violations, rows, loss, defect, drift, .. } = sound;
            self.0.push(format!(
                "{case}: {violations} of {rows} rows, first row {row}: {what}; largest loss/energy {loss:.3e}, \
                 Pythagoras defect {defect:.1e}, drift {drift:.1e}"
            ));
        }
    }

    fn assert_none(self, cases: usize) {
        let Self(broken) = self;
        assert!(broken.is_empty(), "{} of {cases} cases break a law:\n{}", broken.len(), broken.join("\n"));
    }
}

fn judge_plain(streams: &[Named], specs: &[Spec], drift_every: usize) {
    let mut broken = Broken::default();
    for (name, rows) in streams {
        for spec in specs {
            let mut learner = spec.plain(rows[0].len()).unwrap();
            let (mut random, mut sound) = (Random::seeded(3), Soundness::default());
            for (t, row) in rows.iter().enumerate() {
                judged(&mut learner, row, t % drift_every == 0, &mut random, &mut sound);
                if spec.center.is_none() {
                    assert!((learner.last_square() - dot(row, row)).abs() <= 1e-14 * dot(row, row));
                }
            }
            sound.columns(learner.span().drift(), 0.0);
            sound.columns(learner.directions().0.drift(), 0.0);
            broken.judge(format!("{name} in {} columns, {}", rows[0].len(), label(spec)), &sound);
        }
    }
    broken.assert_none(streams.len() * specs.len());
}

fn hard(length: usize, rows: usize) -> Vec<Named> {
    HARD.iter().map(|stream| (stream.name, (stream.rows)(length, rows, 5))).collect()
}

#[test]
fn short_rows_are_charged_what_they_lose() {
    judge_plain(&hard(14, 300), &specs(2, &[1.0, 64.0], &[0.5, 0.95]), 1);
}

#[test]
fn rows_of_middle_length_are_charged_what_they_lose() {
    let mut specs = specs(5, &[64.0], &[0.5]);
    specs.retain(|spec| spec.learner != Kind::PerturbedLeader);
    judge_plain(&hard(64, 160), &specs, 1);
}

/// Returns learners that are fast on long rows, and smooth streams of long rows.
fn long() -> (Vec<Spec>, Vec<Named>) {
    let mut specs = specs(5, &[64.0], &[0.5]);
    specs.retain(|spec| spec.learner != Kind::PerturbedLeader && !matches!(spec.mixing, Mixing::PastAverage { .. }));
    let streams = vec![
        ("turning images", hard_streams::turning_images(256, 72, 160, 1)),
        ("sines", hard_streams::sines(600, 40, 160, 1)),
        ("sines", hard_streams::sines(1024, 40, 160, 1)),
    ];
    (specs, streams)
}

#[test]
fn long_smooth_rows_are_charged_what_they_lose() {
    let (specs, streams) = long();
    judge_plain(&streams, &specs, 8);
}

#[test]
fn long_smooth_rows_that_are_all_at_hand_are_charged_what_they_lose() {
    let (specs, streams) = long();
    let mut broken = Broken::default();
    for (name, rows) in &streams {
        let instances: Vec<Instance<'_, [f64]>> = rows.iter().map(|row| Instance::from(&row[..])).collect();
        for spec in &specs {
            let mut learner = spec.plain(rows[0].len()).unwrap();
            let mut sound = Soundness::default();
            let judge = |learner: &PlainLearner, loss| {
                sound.row(learner.last_square(), 0.0, loss, learner.kept_coordinates());
            };
            trials(&mut learner, &instances, &mut Random::seeded(3), judge).unwrap();
            sound.columns(learner.span().drift(), 0.0);
            broken.judge(format!("{name} in {} columns, {}", rows[0].len(), label(spec)), &sound);
        }
    }
    broken.assert_none(streams.len() * specs.len());
}

/// Returns a linear, a cubic, a Gaussian and a ten times wider Gaussian kernel.
fn kernels(rows: &[Vec<f64>]) -> Vec<VectorKernel> {
    let distance = |i: usize, j: usize| rows[i].iter().zip(&rows[j]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    let mut distances: Vec<f64> =
        (1..rows.len()).map(|i| distance(i, (i * i) % i.max(2))).filter(|d| *d > 0.0).collect();
    distances.sort_by(f64::total_cmp);
    let gamma = 1.0 / distances[distances.len() / 2];
    let square = rows.iter().map(|row| dot(row, row)).sum::<f64>() / rows.len() as f64;
    vec![
        VectorKernel::Linear,
        VectorKernel::Polynomial { gamma: 1.0 / square, degree: 3, coef0: 1.0 },
        VectorKernel::Rbf { gamma },
        VectorKernel::Rbf { gamma: gamma / 100.0 },
    ]
}

fn judge_kernels(budget: Option<usize>, rows: usize) {
    let (mut broken, mut cases) = (Broken::default(), 0);
    let mut specs = specs(3, &[16.0], &[0.5]);
    specs.retain(|spec| spec.max_rank != Some(3));
    for (name, rows) in hard(6, rows) {
        for kernel in kernels(&rows) {
            for spec in &specs {
                let mut spec = Spec { budget, ..spec.clone() };
                if spec.learner == Kind::ProductSets && matches!(kernel, VectorKernel::Rbf { .. }) {
                    spec.dimension = Some(Multiplicity::Finite(1000)); // it has no meaning in infinite dimension
                }
                let mut learner = spec.kernel(kernel.clone(), 6).unwrap();
                let (mut random, mut sound) = (Random::seeded(3), Soundness::default());
                rows.iter().for_each(|row| judged(&mut learner, row, true, &mut random, &mut sound));
                sound.columns(learner.directions().0.drift(), 0.0);
                cases += 1;
                broken.judge(format!("{name}, {kernel:?}, budget {budget:?}, {}", label(&spec)), &sound);
            }
        }
    }
    broken.assert_none(cases);
}

#[test]
fn rows_in_feature_space_are_charged_what_they_lose() {
    judge_kernels(None, 60);
}

#[test]
fn rows_in_feature_space_under_a_budget_are_charged_what_they_lose() {
    judge_kernels(Some(20), 120);
}

fn oracle(spec: &Spec, n: usize) -> Option<Box<dyn Oracle>> {
    let scatter = |function| {
        let max_rank = spec.max_rank.unwrap_or(n);
        let forget = if spec.learner == Kind::ForgettingLeader { spec.forget } else { 1.0 };
        Box::new(DenseScatter::new(n, spec.kept, function).forgetting(forget).capped(max_rank))
    };
    Some(match spec.learner {
        // The effect of a rank cap depends on the explicit directions, so it has no dense form.
        Kind::Tracking if spec.max_rank.is_some() => return None,
        Kind::Tracking => Box::new(DenseTracking::new(n, spec.kept, spec.mixing)),
        Kind::Anchored => scatter(Function::Exponential),
        Kind::Leader | Kind::ForgettingLeader => scatter(Function::Leader),
        Kind::ProductSets => scatter(Function::ProductSets),
        Kind::Additive => Box::new(DenseAdditive::new(n, spec.kept)),
        _ => return None,
    })
}

/// Maximum difference from the oracle, relative to the energy of the row.
const GAP: f64 = 1e-8;
/// Relative change of the rows of a second oracle. Its difference from the first shows how
/// accurately the rows determine the losses.
const CHANGE: f64 = 1e-14;
/// Additional tolerance, in units of the difference of the second oracle from the first.
const CHANGES: f64 = 1e3;

/// Compares a learner with its oracle. Returns `Err` for the first row whose loss differs.
/// Otherwise returns the number of rows whose losses are too poorly determined for a comparison.
fn compare(
    spec: &Spec,
    rows: &[Vec<f64>],
    mut oracle: Box<dyn Oracle>,
    mut twin: Box<dyn Oracle>,
) -> Result<usize, String> {
    let mut learner = spec.plain(rows[0].len()).unwrap();
    let (mut random, mut moves) = (Random::seeded(3), Random::seeded(4));
    let (mut bound, mut unsure, mut loose) = (0f64, 0f64, 0);
    for (t, row) in rows.iter().enumerate() {
        let square = dot(row, row);
        bound = bound.max(square);
        let loss = trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap().expected;
        let wanted = oracle.step(row, spec.eta / bound);
        let moved: Vec<f64> = row.iter().map(|x| x * (1.0 + CHANGE * moves.normal())).collect();
        let other = twin.step(&moved, spec.eta / bound);
        if square == 0.0 {
            assert_eq!(loss, 0.0);
            continue;
        }
        unsure = unsure.max((other - wanted).abs() / square);
        loose += usize::from(CHANGES * unsure > GAP);
        let gap = (loss - wanted).abs() / square;
        // A scatter matrix resolves squares down to the rounding error of the largest one.
        if !(gap <= GAP + CHANGES * unsure + f64::EPSILON * bound / square) {
            return Err(format!("row {t} of energy {square:e} loses {loss:e}, by the oracle {wanted:e}"));
        }
    }
    Ok(loose)
}

fn compare_all(specs: &[Spec], streams: &[Named]) {
    let (mut broken, mut compared, mut loose) = (Vec::new(), 0, 0);
    for (name, rows) in streams {
        for spec in specs {
            let n = rows[0].len();
            let (Some(first), Some(second)) = (oracle(spec, n), oracle(spec, n)) else { continue };
            compared += rows.len();
            match compare(spec, rows, first, second) {
                Ok(rows) => loose += rows,
                Err(what) => broken.push(format!("{name} in {n} columns, {}: {what}", label(spec))),
            }
        }
    }
    assert!(broken.is_empty(), "{} cases differ from the oracle:\n{}", broken.len(), broken.join("\n"));
    assert!(loose <= compared / 10, "only {} of {compared} rows determine their losses", compared - loose);
}

#[test]
fn losses_equal_those_of_a_dense_oracle_over_a_thousand_rows() {
    let mut specs = specs(2, &[4.0], &[0.9]);
    specs.retain(|spec| spec.center.is_none());
    compare_all(&specs, &hard(7, 1000));
}

#[test]
fn losses_equal_those_of_a_dense_oracle_over_a_thousand_smooth_rows() {
    let mut specs = specs(2, &[64.0], &[0.5]);
    // The oracle of product sets enumerates all sets.
    specs.retain(|spec| spec.center.is_none() && spec.learner != Kind::ProductSets);
    let mut streams = hard(14, 1000);
    streams.retain(|(name, _)| ["oscillations", "turning images"].contains(name));
    compare_all(&specs, &streams);
}

/// Reads rows of a file in EIGENHEDGE_DATA, or returns `None` without that variable.
fn real(name: &str) -> Option<Vec<Vec<f64>>> {
    let path = std::path::PathBuf::from(std::env::var_os("EIGENHEDGE_DATA")?).join(name);
    let array = eigenhedge_io::read_array(&path, Some("rows")).unwrap();
    Some(array.numbers.chunks(array.shape[1] as usize).map(<[f64]>::to_vec).collect())
}

/// Checks a file of real rows. The perturbed leader is too slow for many rows.
fn judge_real(name: &'static str, kept: usize) {
    let Some(rows) = real(name) else {
        return println!("skipped: EIGENHEDGE_DATA does not name the folder of {name}");
    };
    let mut specs = specs(kept, &[64.0], &[0.5]);
    specs.retain(|spec| rows.len() < 1000 || spec.learner != Kind::PerturbedLeader);
    judge_plain(&[(name, rows)], &specs, 16);
}

#[test]
fn an_electroencephalogram_is_charged_what_it_loses() {
    judge_real("smooth_rows.npy", 2);
}

#[test]
fn a_chemical_process_is_charged_what_it_loses() {
    judge_real("tep_centered.npz", 10);
}
