//! All theorems for the learners that they cover, on all streams, and lower bounds.
#![allow(clippy::unwrap_used)]

use crate::common::bounded_rows as rows;
use crate::common::hard_streams::coins;
use eigenhedge::bounds::Setting;
use eigenhedge::comparators::{Best, BestSubspace};
use eigenhedge::experts::{ExpertKind, ExpertSpec, Experts};
use eigenhedge::internals::{Reason, bound_holds, dot};
use eigenhedge::simplex::Multiplicity;
use eigenhedge::streams::{charge_surest, leader_trap};
use eigenhedge::{Instance, Kind, Learner, Mixing, NormBound, Random, RunningCenter, Spec, bounds, streams, trial};

const SEEDS: u64 = 20;

fn spec(kind: Kind, kept: usize, eta: f64) -> Spec {
    Spec { eta, norm_bound: NormBound::Given(1.0), ..Spec::bare(kind, kept) }
}

fn expected(spec: &Spec, rows: &[Vec<f64>]) -> f64 {
    let mut learner = spec.plain(rows[0].len()).unwrap();
    let mut random = Random::seeded(1);
    rows.iter().map(|row| trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap().expected).sum()
}

fn best(rows: &[Vec<f64>], kept: usize, centered: bool) -> f64 {
    let mut best = BestSubspace::new(rows[0].len(), centered).unwrap();
    rows.iter().for_each(|row| best.add(row));
    best.loss(kept)
}

fn assert_holds(expected: f64, best: f64, bound: impl Fn(f64) -> Option<f64>, what: impl std::fmt::Debug) {
    let holds = bound_holds(expected, Best::Exact(best), |best| bound(best).ok_or(Reason::NoTheorem));
    assert_eq!(holds, Ok(true), "{what:?}: {expected} > {:?}, best {best}", bound(best));
}

#[test]
fn tracking_and_anchored_stay_within_theorem_6() {
    let n = 7;
    for seed in 0..SEEDS {
        let (kept, eta) = ([1, 2, 6][seed as usize % 3], [0.1, 1.0, 4.0, 20.0][seed as usize % 4]);
        let setting = Setting::new(eta, kept, Multiplicity::Finite(n as u64));
        for (name, rows) in rows(n, seed) {
            let best = best(&rows, kept, false);
            for kind in [Kind::Tracking, Kind::Anchored] {
                let expected = expected(&spec(kind, kept, eta), &rows);
                assert_holds(expected, best, |best| bounds::uncentered(&setting, best), (name, kind, kept, eta));
            }
        }
    }
}

#[test]
fn long_rows_and_large_spaces_stay_within_theorem_6() {
    let (n, kept, scale) = (6, 2, 5.0);
    for seed in 0..SEEDS {
        for (name, mut rows) in rows(n, seed) {
            rows.iter_mut().flatten().for_each(|x| *x *= scale);
            let best = best(&rows, kept, false);
            let dimension = Multiplicity::Finite(1000);
            let setting = Setting { norm_square: scale * scale, ..Setting::new(0.8, kept, dimension) };
            let spec = Spec {
                norm_bound: NormBound::Given(scale),
                dimension: Some(dimension),
                ..spec(Kind::Tracking, kept, 0.8)
            };
            assert_holds(expected(&spec, &rows), best, |best| bounds::uncentered(&setting, best), name);
        }
    }
}

#[test]
fn tuned_learners_stay_within_the_tuned_regret() {
    let n = 7;
    let dimension = Multiplicity::Finite(n as u64);
    for seed in 0..SEEDS {
        let kept = [1, 3][seed as usize % 2];
        for (name, rows) in rows(n, seed) {
            let best = best(&rows, kept, false);
            let ceiling = best.max(1e-3);
            // The papers print the simple form. The exact divergence is smaller.
            let simple = bounds::divergence_by_kept(kept, dimension).unwrap();
            for divergence in [bounds::divergence(kept, dimension).unwrap(), simple] {
                let eta = bounds::tuned_rate(divergence, ceiling, 1.0).unwrap();
                let regret = bounds::tuned_regret(divergence, ceiling, 1.0);
                for kind in [Kind::Tracking, Kind::Anchored] {
                    let expected = expected(&spec(kind, kept, eta), &rows);
                    assert_holds(expected, best, |best| Some(best + regret), (name, kind));
                }
            }
        }
    }
}

#[test]
fn centered_anchored_stays_within_theorem_8_and_corollary_9() {
    let n = 6;
    for seed in 0..SEEDS {
        let (kept, eta) = ([1, 2, 5][seed as usize % 3], [0.3, 1.0, 6.0][seed as usize % 3]);
        let setting = Setting::new(eta, kept, Multiplicity::Finite(n as u64));
        let mut random = Random::seeded(100 + seed);
        let middle: Vec<f64> = (0..n).map(|_| 3.0 * random.normal()).collect();
        for (name, mut rows) in rows(n, seed) {
            // The rows are moved into a ball of radius 1/2 around `middle`.
            for row in &mut rows {
                row.iter_mut().zip(&middle).for_each(|(x, m)| *x = m + 0.5 * *x);
            }
            let count = rows.len() as u64;
            let best = best(&rows, kept, true);
            let mean = |i: usize| rows.iter().map(|row| row[i]).sum::<f64>() / count as f64;
            let offset: f64 = (0..n).map(|i| (mean(i) - middle[i]).powi(2)).sum();
            for prior in [0.0, 0.5, 5.0] {
                let centered = Spec {
                    center: Some(RunningCenter { prior, ..RunningCenter::MEAN }),
                    ..spec(Kind::Anchored, kept, eta)
                };
                let known = Spec { start: Some(middle.clone()), ..centered.clone() };
                let theorem_8 = |best| bounds::centered(&setting, best, prior, offset, count);
                assert_holds(expected(&known, &rows), best, theorem_8, (name, prior));
                if prior == 0.0 {
                    // Here the learner does not know the position of the ball.
                    let first_square = dot(&rows[0], &rows[0]);
                    let corollary_9 = |best| bounds::centered_on_the_mean(&setting, best, first_square, count);
                    assert_holds(expected(&centered, &rows), best, corollary_9, name);
                    // The loss of the first row is subtracted, and R² is zero.
                    let (first, later) = (rows[0].clone(), &rows[1..]);
                    let mean = |i: usize| later.iter().map(|row| row[i]).sum::<f64>() / (count - 1) as f64;
                    let way: f64 = (0..n).map(|i| (mean(i) - first[i]).powi(2)).sum();
                    let dropped = (n - kept) as f64 / n as f64;
                    let charged = expected(&centered, &rows) - dropped * first_square;
                    let share = (count - 1) as f64 / count as f64;
                    let without = |best| bounds::centered_on_the_mean(&setting, best + way * share, 0.0, count);
                    assert_holds(charged, self::best(later, kept, true), without, (name, "without the first row"));
                }
            }
        }
    }
}

fn losses(n: usize, seed: u64) -> Vec<(&'static str, Vec<Vec<f64>>)> {
    let mut random = Random::seeded(seed);
    let uniform = (0..300).map(|_| (0..n).map(|_| random.uniform()).collect()).collect();
    let squares = |rows: Vec<Vec<f64>>| rows.iter().map(|row| row.iter().map(|x| x * x).collect()).collect();
    let moving = (0..300).map(|t| (0..n).map(|i| f64::from(u8::from((t / 50 + i) % 3 == 0))).collect()).collect();
    vec![
        ("uniform", uniform),
        ("coins", coins(n, 300, seed)),
        ("moving", moving),
        ("leader trap", squares(leader_trap(n, 40 * n))),
        ("recurring", squares(streams::recurring(n, 2, &[1, 2, 1, 3, 2, 1], 50, seed).rows)),
        ("starvation", squares(streams::starvation(n, 60, 240, 0.6, seed).rows)),
    ]
}

fn best_set(losses: &[Vec<f64>], kept: usize) -> f64 {
    let n = losses[0].len();
    let mut totals: Vec<f64> = (0..n).map(|i| losses.iter().map(|row| row[i]).sum()).collect();
    totals.sort_by(f64::total_cmp);
    totals[..n - kept].iter().sum()
}

fn experts(kind: ExpertKind, n: usize, kept: usize, eta: f64) -> Experts {
    Experts::new(ExpertSpec::new(kind, n, kept, eta)).unwrap()
}

fn mixed(n: usize, kept: usize, eta: f64, mixing: Mixing) -> Experts {
    Experts::new(ExpertSpec { mixing, ..ExpertSpec::new(ExpertKind::CappedHedge, n, kept, eta) }).unwrap()
}

fn play(learner: &mut impl Learner<[f64]>, losses: &[Vec<f64>], seed: u64) -> f64 {
    let mut random = Random::seeded(seed);
    losses.iter().map(|row| trial(learner, &row[..], &mut random).unwrap().expected).sum()
}

#[test]
fn experts_stay_within_theorems_1_and_3_and_the_bound_over_sets() {
    let n = 8;
    for seed in 0..SEEDS {
        let (kept, eta) = ([1, 4, 6][seed as usize % 3], [0.05, 0.5, 3.0, 10.0][seed as usize % 4]);
        for (name, losses) in losses(n, seed) {
            let one = play(&mut mixed(n, n - 1, eta, Mixing::None), &losses, seed);
            assert_holds(one, best_set(&losses, n - 1), |best| Some(bounds::hedge(eta, best, n)), name);
            let best = best_set(&losses, kept);
            let capped = play(&mut experts(ExpertKind::CappedHedge, n, kept, eta), &losses, seed);
            assert_holds(capped, best, |best| bounds::capped_hedge(eta, best, kept, n), name);
            let sets = play(&mut experts(ExpertKind::ProductSets, n, kept, eta), &losses, seed);
            assert_holds(sets, best, |best| Some(bounds::set_experts(eta, best, kept, n)), name);
            // JMLR (5): the rate is tuned for sets.
            let (dropped, divergence) = ((n - kept) as f64, bounds::set_divergence(kept, n));
            let rate = bounds::tuned_rate(divergence, best.max(1e-3), dropped).unwrap() / dropped;
            let tuned = play(&mut experts(ExpertKind::ProductSets, n, kept, rate), &losses, seed);
            let regret = bounds::tuned_regret(divergence, best.max(1e-3), dropped);
            assert_holds(tuned, best, |best| Some(best + regret), name);
        }
    }
}

#[test]
fn experts_that_mix_stay_within_the_theorem_with_their_price_also_beside_changes() {
    let n = 8;
    for seed in 0..SEEDS {
        let (kept, eta, alpha) = ([1, 4, 7][seed as usize % 3], [0.2, 1.0, 4.0][seed as usize % 3], 0.01);
        for mixing in [Mixing::FixedShare { alpha }, Mixing::PastAverage { alpha }] {
            for (name, losses) in losses(n, seed) {
                let mut learner = mixed(n, kept, eta, mixing);
                let total = play(&mut learner, &losses, seed);
                let price = learner.price();
                assert!(price > 0.0, "{name}");
                let setting = Setting { price, ..Setting::new(eta, kept, Multiplicity::Finite(n as u64)) };
                let best = best_set(&losses, kept);
                assert_holds(total, best, |best| bounds::uncentered(&setting, best), (name, mixing));
                let (first, second) = losses.split_at(losses.len() / 2);
                let parts = best_set(first, kept) + best_set(second, kept);
                if let Mixing::FixedShare { alpha } = mixing {
                    assert_holds(total, parts, |best| bounds::shifting(&setting, best, 1, alpha), (name, "one change"));
                }
            }
        }
    }
}

#[test]
fn capped_hedge_stays_within_theorem_3_against_an_adversary_that_sees_it() {
    let n = 9;
    for kept in [1, 5, 8] {
        for eta in [0.1, 1.0, 5.0] {
            let mut learner = experts(ExpertKind::CappedHedge, n, kept, eta);
            let (mut random, mut played, mut total) = (Random::seeded(1), Vec::new(), 0.0);
            for _ in 0..500 {
                let dropped: Vec<f64> = learner.weights().iter().map(|weight| weight.exp()).collect();
                played.push(charge_surest(&dropped));
                total += trial(&mut learner, &played[played.len() - 1][..], &mut random).unwrap().expected;
                let best = best_set(&played, kept);
                assert_holds(total, best, |best| bounds::capped_hedge(eta, best, kept, n), (kept, eta));
            }
        }
    }
}

#[test]
fn the_perturbed_leader_with_one_dropped_stays_within_theorem_1_on_average() {
    let (n, eta, draws) = (6, 0.5, 200);
    for (name, losses) in losses(n, 3) {
        let totals: Vec<f64> = (0..draws)
            .map(|seed| play(&mut experts(ExpertKind::PerturbedLeader, n, n - 1, eta), &losses, seed))
            .collect();
        let mean = totals.iter().sum::<f64>() / draws as f64;
        let variance = totals.iter().map(|total| (total - mean).powi(2)).sum::<f64>() / draws as f64;
        let error = (variance / draws as f64).sqrt();
        let bound = bounds::hedge(eta, best_set(&losses, n - 1), n);
        assert!(mean <= bound + 4.0 * error, "{name}: {mean} ± {error} > {bound}");
    }
}

#[test]
fn the_trap_forces_the_leader_to_n_over_d_times_the_best_and_no_learner_with_a_theorem() {
    for (n, kept) in [(4, 1), (5, 4), (8, 3), (12, 9), (20, 2)] {
        let rows = leader_trap(n, 60 * n);
        let factor = 0.95 * n as f64 / (n - kept) as f64;
        let least = best(&rows, kept, false);
        let leader = expected(&spec(Kind::Leader, kept, 1.0), &rows);
        assert!(leader >= factor * least, "n {n}, k {kept}: {leader} against {least}");
        for kind in [Kind::Tracking, Kind::Anchored] {
            for eta in [0.1, 1.0] {
                let setting = Setting::new(eta, kept, Multiplicity::Finite(n as u64));
                let learner = expected(&spec(kind, kept, eta), &rows);
                assert_holds(learner, least, |best| bounds::uncentered(&setting, best), (kind, n, kept, eta));
            }
        }
        let losses: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|x| x * x).collect()).collect();
        let (least, leader) =
            (best_set(&losses, kept), play(&mut experts(ExpertKind::Leader, n, kept, 1.0), &losses, 1));
        assert!(leader >= factor * least, "experts, n {n}, k {kept}: {leader} against {least}");
        let eta = bounds::tuned_rate(1.0, least, 1.0).unwrap();
        let capped = play(&mut experts(ExpertKind::CappedHedge, n, kept, eta), &losses, 1);
        assert_holds(capped, least, |best| bounds::capped_hedge(eta, best, kept, n), (n, kept));
        assert!(capped < 1.1 * least, "experts, n {n}, k {kept}: {capped} against {least}");
    }
}

fn on_diagonals(spec: &Spec, losses: &[Vec<f64>]) -> f64 {
    let n = losses[0].len();
    let units: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let mut learner = spec.plain(n).unwrap();
    let mut random = Random::seeded(1);
    let step = |row: &Vec<f64>| {
        let dyads: Vec<(f64, &[f64])> = row.iter().zip(&units).map(|(loss, unit)| (*loss, &unit[..])).collect();
        trial(&mut learner, &Instance::Dyads(&dyads), &mut random).unwrap().expected
    };
    losses.iter().map(step).sum()
}

#[test]
fn coins_force_nearly_the_lower_bound_on_every_learner_and_never_more_than_the_upper_one() {
    let (n, trials) = (20, 400);
    for kept in [19, 18, 15] {
        let dimension = Multiplicity::Finite(n as u64);
        let divergence = bounds::divergence(kept, dimension).unwrap();
        let ceiling = (n - kept) as f64 * trials as f64 / 2.0;
        let eta = bounds::tuned_rate(divergence, ceiling, 1.0).unwrap();
        let setting = Setting::new(eta, kept, dimension);
        let share = mixed(n, kept, eta, Mixing::FixedShare { alpha: 0.01 });
        let (mut regrets, mut lower) = ([0.0; 3], 0.0);
        for seed in 0..SEEDS {
            let losses = coins(n, trials, seed);
            let best = best_set(&losses, kept);
            lower += bounds::lower_regret(divergence, best, 1.0);
            let capped = play(&mut experts(ExpertKind::CappedHedge, n, kept, eta), &losses, seed);
            assert_holds(capped, best, |best| bounds::capped_hedge(eta, best, kept, n), (kept, seed));
            let tracking = if seed < 4 { on_diagonals(&spec(Kind::Tracking, kept, eta), &losses) } else { capped };
            assert_holds(tracking, best, |best| bounds::uncentered(&setting, best), (kept, seed));
            let totals = [capped, tracking, play(&mut share.clone(), &losses, seed)];
            regrets.iter_mut().zip(totals).for_each(|(regret, total)| *regret += total - best);
        }
        for regret in regrets {
            assert!(regret >= 0.6 * lower, "k {kept}: {regret} against {lower}");
        }
    }
}

#[test]
fn coins_tossed_group_by_group_do_not_bind_a_learner_that_switches() {
    let (n, dropped, trials) = (20, 4, 300);
    let group = n / dropped;
    let losses: Vec<Vec<f64>> = coins(n, dropped * trials, 1)
        .into_iter()
        .enumerate()
        .map(|(t, row)| (0..n).map(|i| if i / group == t / trials { row[i] } else { 0.0 }).collect())
        .collect();
    let mut learner = mixed(n, n - dropped, 1.0, Mixing::FixedShare { alpha: 0.001 });
    let (total, best) = (play(&mut learner, &losses, 1), best_set(&losses, n - dropped));
    assert!(total < 0.2 * best, "{total} against {best}");
}
