//! The portfolio. Weights of members are compared with recorded results and tested against
//! adversaries. Centers and clipped rows are compared with slow oracles.
#![allow(clippy::unwrap_used)]

use eigenhedge::internals::{Ambient, Portfolio, Trust, auto, symmetric_eigen};
use eigenhedge::{Instance, Kind, Matrix, Model, Random, RunningCenter, Spec, streams, trial};
use serde_json::Value;

fn played(trust: &Trust, losses: &[f64]) -> f64 {
    trust.present_weights().iter().zip(losses).map(|(weight, loss)| weight * loss).sum()
}

fn least(numbers: &[f64]) -> f64 {
    numbers.iter().fold(f64::INFINITY, |a, b| a.min(*b))
}

#[test]
fn trust_agrees_with_the_reference() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/portfolio.json");
    let fixture: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let close = |found: f64, expected: &Value, what: &str| {
        let expected = expected.as_f64().unwrap();
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0), "{what}: {found} against {expected}");
    };
    let mut guarded = 0;
    for case in fixture["cases"].as_array().unwrap() {
        let kind = case["kind"].as_str().unwrap();
        let rows: Vec<Vec<f64>> = serde_json::from_value(case["losses"].clone()).unwrap();
        let mut trust = Trust::new(rows[0].len());
        for (row, expected) in rows.iter().zip(case["played"].as_array().unwrap()) {
            close(played(&trust, row), expected, kind);
            trust.learn(row, 0.0);
        }
        close(trust.regret(), &case["certificate"], kind);
        close(trust.largest_regret(), &case["term"], kind);
        assert_eq!(Some(trust.guarded), case["guarded"].as_u64(), "{kind}");
        guarded += trust.guarded;
    }
    assert!(guarded > 0, "no case reaches the guard");
}

/// Returns the losses of the members in row t of an adversarial sequence of this kind.
fn hurtful(kind: usize, t: usize, trust: &Trust, members: usize, random: &mut Random) -> Vec<f64> {
    let weights = trust.present_weights();
    let order =
        |by: fn(f64, f64) -> bool| (1..members).fold(0, |best, i| if by(weights[i], weights[best]) { i } else { best });
    let (heaviest, lightest) = (order(|a, b| a > b), order(|a, b| a < b));
    let one = |place: usize, loss: f64| (0..members).map(|i| if i == place % members { loss } else { 0.0 }).collect();
    let all_but = |place: usize| (0..members).map(|i| if i == place { 0.0 } else { 1.0 }).collect();
    let mut noise = |size: f64| (0..members).map(|_| size * random.uniform()).collect::<Vec<f64>>();
    match kind {
        0 => noise(1.0),
        1 => one(heaviest, 1.0),
        2 => one(t, 1.0),
        3 => noise(1.02f64.powi(t as i32)),
        4 => noise(0.98f64.powi(t as i32)),
        5 => one(t, if t == 70 { 1e6 } else { 1e-3 }),
        6 => vec![3.0; members],
        7 => all_but(lightest),
        8 => one(0, if t % 20 == 19 { 100.0 } else { 0.0 })
            .iter()
            .zip(noise(0.1))
            .map(|(a, b): (&f64, f64)| a + b)
            .collect(),
        9 if t % 20 == 19 => one(heaviest, 100.0),
        9 => noise(0.1).iter().enumerate().map(|(i, x)| if i == 0 { 0.0 } else { 0.1 + x }).collect(),
        10 => noise(1.0).iter().enumerate().map(|(i, x)| if i == t / 50 % members { 0.0 } else { *x }).collect(),
        11 => one(t % 2, if t == 0 { 0.5 } else { 1.0 }),
        12 => one(heaviest, weights[heaviest]),
        13 => noise(1.0).iter().map(|x| x.powi(-2).min(1e8)).collect(),
        14 => vec![0.0; members],
        15 => one(heaviest, 2f64.powi((t % 60) as i32)),
        16 => noise(1.0).iter().map(|x| 1e9 + 1e-6 * x).collect(),
        17 => noise(1e-200),
        18 => {
            if t < 200 {
                one(1, 1.0)
            } else {
                all_but(0)
            }
        }
        _ => one(if t.is_multiple_of(7) { lightest } else { heaviest }, 1.0 + t as f64),
    }
}

#[test]
fn no_sequence_of_losses_breaks_the_certificate() {
    let mut guarded = 0;
    for case in 0..1000 {
        let (kind, mut random) = (case % 20, Random::seeded(case as u64));
        let members = 2 + case / 20 % 9;
        let (mut trust, mut totals, mut own) = (Trust::new(members), vec![0.0; members], 0.0);
        for t in 0..400 {
            let losses = hurtful(kind, t, &trust, members, &mut random);
            let charged = played(&trust, &losses);
            own += charged;
            totals.iter_mut().zip(&losses).for_each(|(total, loss)| *total += loss);
            // In half of the cases, a huge energy makes small differences count as rounding.
            let energy = if case / 20 % 2 == 0 { 0.0 } else { 1e9 * losses.iter().sum::<f64>() / members as f64 };
            trust.learn(&losses, energy);
            let rounding = 1e-12 * (own + totals.iter().sum::<f64>());
            let (best, regret) = (least(&totals), trust.regret());
            assert!(own <= best + regret + rounding, "kind {kind}, row {t}: {own} > {best} + {regret}");
            let promised = trust.largest_regret();
            assert!(regret <= promised + rounding, "kind {kind}, row {t}: {regret} > {promised}");
            assert!((trust.present_weights().iter().sum::<f64>() - 1.0).abs() < 1e-12, "kind {kind}, row {t}");
        }
        guarded += trust.guarded;
    }
    assert!(guarded > 0, "no sequence reaches the guard");
}

#[test]
fn differences_within_rounding_decide_nothing() {
    let mut trust = Trust::new(3);
    for t in 0..30 {
        trust.learn(&[1.0, 1.0 + 1e-15 * f64::from(t % 3), 1.0 - 1e-15], 1.0);
        assert_eq!(trust.present_weights(), vec![1.0 / 3.0; 3]);
    }
    assert!(trust.regret().abs() < 1e-12);
    // The certificate includes these differences, because it is about exact losses.
    let mut off = Trust::new(2);
    off.learn(&[0.0, 1e-12], 1.0);
    assert_eq!(off.regret(), 0.5e-12);
}

#[test]
fn one_huge_row_does_not_blind_the_quick_rules() {
    // One member leads slightly, then has one huge loss, and then the leader changes.
    let (mut trust, mut lost) = (Trust::new(3), 0.0);
    for t in 0..400 {
        let losses = match t {
            0..100 => [0.1, 0.2, 0.3],
            100 => [1e10, 0.5e10, 0.7e10],
            101..250 => [0.1, 0.2, 0.3],
            _ => [0.3, 0.2, 0.1],
        };
        let energy = if t == 100 { 1e10 } else { 1.0 };
        lost += if t == 100 { 0.0 } else { played(&trust, &losses) };
        trust.learn(&losses, energy);
    }
    // The minimum is 40. Each change costs some rows, and no rule may stay with the wrong member.
    assert!(lost < 44.0, "{lost}");
}

/// Returns the losses of the forgetting leader around a center, from dense matrices. Rows are
/// clipped to at most `clip` times the median norm of up to 101 earlier rows.
fn oracle(rows: &[Vec<f64>], kept: usize, forget: f64, center: RunningCenter, clip: Option<f64>) -> Vec<f64> {
    let n = rows[0].len();
    let (mut origin, mut weight) = (rows[0].clone(), 1.0);
    let (mut scatter, mut norms, mut losses) = (Matrix::zeros(n, n), Vec::<f64>::new(), Vec::new());
    for row in &rows[1..] {
        let z: Vec<f64> = row.iter().zip(&origin).map(|(x, m)| x - m).collect();
        let square: f64 = z.iter().map(|x| x * x).sum();
        let eigen = symmetric_eigen(&scatter);
        let explicit = eigen.values.iter().filter(|value| **value > 1e-10 * eigen.values[n - 1]).count();
        let coordinate = |j: usize| eigen.vectors.column(j).iter().zip(&z).map(|(v, x)| v * x).sum::<f64>();
        let inside: f64 = (n - explicit.min(kept)..n).map(|j| coordinate(j).powi(2)).sum();
        // Unseen directions share the remaining probability.
        let spread = kept.saturating_sub(explicit) as f64 / (n - explicit).max(1) as f64;
        losses.push((square - inside) * (1.0 - spread));
        let mut last: Vec<f64> = norms.iter().rev().take(101).copied().collect();
        last.sort_by(f64::total_cmp);
        let factor = match clip {
            Some(clip) if last.len() >= 10 => (clip * last[last.len() / 2] / square.sqrt()).min(1.0),
            _ => 1.0,
        };
        norms.push(square.sqrt());
        let share = if center.forget == 1.0 { weight / (weight + 1.0) } else { 1.0 } * factor * factor;
        for j in 0..n {
            scatter.column_mut(j).iter_mut().zip(&z).for_each(|(s, x)| *s = forget * *s + share * z[j] * x);
        }
        weight = center.forget * weight + 1.0;
        origin.iter_mut().zip(&z).for_each(|(m, x)| *m += factor * x / weight);
    }
    losses
}

#[test]
fn centers_and_shortened_rows_agree_with_a_slow_oracle() {
    let mut random = Random::seeded(5);
    let mut level = [0.0; 7];
    let mut rows: Vec<Vec<f64>> = streams::signal_and_noise(7, 2, 0.2, 3).take(160).collect();
    for row in &mut rows {
        level.iter_mut().for_each(|x| *x += 0.2 * random.normal());
        row.iter_mut().zip(&level).for_each(|(x, m)| *x += m);
    }
    rows[80].iter_mut().for_each(|x| *x *= 50.0);
    for (forget, center) in [(1.0, 1.0), (0.9, 1.0), (0.99, 0.0), (0.99, 0.5), (0.95, 0.9)] {
        for clip in [None, Some(3.0)] {
            let center = RunningCenter::forgetting(center);
            let learner = if forget == 1.0 { Kind::Leader } else { Kind::ForgettingLeader };
            let spec = Spec { forget, center: Some(center), clip, ..Spec::bare(learner, 2) };
            let mut run = Model::new(spec, 7, 0).unwrap();
            let found: Vec<f64> = rows.iter().map(|row| run.step(row).unwrap().expected).collect();
            let expected = oracle(&rows, 2, forget, center, clip);
            for (t, (found, expected)) in found[1..].iter().zip(&expected).enumerate() {
                let (what, scale) = (format!("{forget} {center:?} {clip:?} row {}", t + 1), expected.max(1e-3));
                assert!((found - expected).abs() <= 1e-9 * scale, "{what}: {found} against {expected}");
            }
            let shortened = run.summary().certificate.clipped_rows;
            assert_eq!(shortened > 0, clip.is_some(), "{forget} {center:?}: {shortened}");
        }
    }
}

#[test]
fn a_shortened_row_takes_the_theorem_away() {
    let mut rows: Vec<Vec<f64>> = streams::signal_and_noise(6, 2, 0.2, 3).take(60).collect();
    let account = |rows: &[Vec<f64>]| {
        let spec = Spec { center: Some(RunningCenter::MEAN), clip: Some(10.0), ..Spec::bare(Kind::Auto, 2) };
        let mut run = Model::new(spec, 6, 0).unwrap();
        for row in rows {
            run.step(row).unwrap();
        }
        run.summary()
    };
    let before = account(&rows);
    assert_eq!((before.certificate.clipped_rows, before.bound_holds), (0, Some(true)));
    rows[30].iter_mut().for_each(|x| *x *= 100.0);
    let after = account(&rows);
    assert!(after.certificate.clipped_rows > 0 && after.bound.is_none() && after.bound_holds.is_none());
    assert!(after.bound_reason.contains("shortened"), "{}", after.bound_reason);
}

#[test]
fn one_long_row_does_little_harm() {
    let total = |rows: &[Vec<f64>], clip: Option<f64>| {
        let spec = Spec { center: Some(RunningCenter::MEAN), clip, ..Spec::bare(Kind::Auto, 2) };
        let mut run = Model::new(spec, 12, 0).unwrap();
        let losses: Vec<f64> = rows.iter().map(|row| run.step(row).unwrap().expected).collect();
        losses.iter().enumerate().filter(|(t, _)| *t != 0 && *t != 150).map(|(_, loss)| loss).sum::<f64>()
    };
    let mut rows: Vec<Vec<f64>> = streams::recurring(12, 2, &[1, 2, 1], 130, 4).rows;
    let mut random = Random::seeded(9);
    rows.iter_mut().flatten().for_each(|x| *x += 0.1 * random.normal());
    let clean = total(&rows, None);
    rows[150].iter_mut().for_each(|x| *x *= 1e4);
    assert!(total(&rows, None) < 2.0 * clean, "{} {clean}", total(&rows, None));
    assert!(total(&rows, Some(10.0)) < 1.1 * clean, "{} {clean}", total(&rows, Some(10.0)));
}

#[test]
fn the_portfolio_charges_what_its_members_charge() {
    let rows = streams::three_subspaces(2);
    let template = Spec { center: Some(RunningCenter::MEAN), ..Spec::bare(Kind::Auto, 2) };
    let specs = auto(&template, 20);
    let mut portfolio = Portfolio::new(specs.clone(), || Ambient::new(20)).unwrap();
    let mut alone: Vec<_> = specs.iter().map(|spec| spec.plain(20).unwrap()).collect();
    let (mut random, mut other) = (Random::seeded(1), Random::seeded(2));
    for (t, row) in rows.iter().take(300).enumerate() {
        let instance = Instance::from(&row[..]);
        let weights = portfolio.trust.present_weights();
        let loss = trial(&mut portfolio, &instance, &mut random).unwrap();
        let losses: Vec<f64> =
            alone.iter_mut().map(|own| trial(own, &instance, &mut other).unwrap().expected).collect();
        let mixed: f64 = weights.iter().zip(&losses).map(|(weight, loss)| weight * loss).sum();
        assert!((loss.expected - mixed).abs() <= 1e-14, "row {t}");
        if t > 0 {
            assert!(least(&portfolio.totals) + portfolio.hedge_term() >= -1e-9);
        }
    }
}
