//! The learner over pairs of rows: recorded results, a dense oracle, the theorem, and laws.
#![allow(clippy::unwrap_used)]

use crate::common::cap;
use eigenhedge::bounds::{Setting, uncentered};
use eigenhedge::comparators::BestPair;
use eigenhedge::internals::{dot, symmetric_eigen};
use eigenhedge::simplex::{Multiplicity, Select};
use eigenhedge::{Matrix, Mixing, NormBound, Pair, Random};

fn bounded(n: usize, m: usize, kept: usize, eta: f64, mixing: Mixing) -> Pair {
    Pair::new(n, m, kept, eta, mixing).unwrap().with_norm_bound(NormBound::Given(1.0)).unwrap()
}

/// Returns pairs with `|x| |y| ≤ 1`: a common signal of the given rank plus noise. The norm of x is `unbalance`, and
/// that of y is `1/unbalance`, or 0 in every seventh pair.
fn stream(n: usize, m: usize, rank: usize, unbalance: f64, rows: usize, random: &mut Random) -> Vec<[Vec<f64>; 2]> {
    let mut gaussian = |length: usize| (0..length).map(|_| random.normal()).collect::<Vec<f64>>();
    let factors: Vec<[Vec<f64>; 2]> = (0..rank).map(|_| [gaussian(n), gaussian(m)]).collect();
    (0..rows)
        .map(|t| {
            let mut pair = [gaussian(n), gaussian(m)];
            let amounts = gaussian(rank);
            for (part, row) in pair.iter_mut().enumerate() {
                row.iter_mut().for_each(|x| *x *= 0.2);
                for (factor, amount) in factors.iter().zip(&amounts) {
                    row.iter_mut().zip(&factor[part]).for_each(|(x, f)| *x += amount * f);
                }
                let norm = dot(row, row).sqrt();
                let length = if t % 7 == 6 && part == 1 { 0.0 } else { unbalance.powi(1 - 2 * part as i32) };
                row.iter_mut().for_each(|x| *x *= length / norm);
            }
            pair
        })
        .collect()
}

#[test]
fn a_refused_pair_leaves_the_last_one_in_place() {
    let (mut pair, mut random) = (bounded(2, 2, 1, 0.1, Mixing::None), Random::seeded(0));
    pair.step(&[0.6, 0.0], &[0.0, 0.5], &mut random).unwrap();
    let refused: [[&[f64]; 2]; 2] = [[&[3.0, 0.0], &[1.0, 1.0]], [&[1e200, 0.0], &[1e200, 0.0]]];
    for [x, y] in refused {
        assert!(pair.step(x, y, &mut random).is_err());
        assert_eq!(pair.last_pair(), (&[0.6, 0.0][..], &[0.0, 0.5][..]));
    }
}

#[test]
fn pair_agrees_with_the_dense_implementation() {
    let path = format!("{}/tests/golden/pair.json", env!("CARGO_MANIFEST_DIR"));
    let fixture: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let list = |value: &serde_json::Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let rows = |name: &str| -> Vec<Vec<f64>> { fixture[name].as_array().unwrap().iter().map(list).collect() };
    let (x, y, wanted) = (rows("x"), rows("y"), list(&fixture["expected_gains"]));
    let kept = fixture["params"]["k"].as_u64().unwrap() as usize;
    let tolerance = fixture["tolerance"].as_f64().unwrap();
    let mut pair = bounded(x[0].len(), y[0].len(), kept, fixture["params"]["eta"].as_f64().unwrap(), Mixing::None);
    let mut best = BestPair::new(x[0].len(), y[0].len()).unwrap();
    let mut random = Random::seeded(0);
    assert_eq!((x.len(), y.len()), (wanted.len(), wanted.len()));
    for (t, (x, y)) in x.iter().zip(&y).enumerate() {
        let gain = pair.step(x, y, &mut random).unwrap();
        best.add(x, y);
        assert!((gain.expected - wanted[t]).abs() <= tolerance, "row {t}: {} against {}", gain.expected, wanted[t]);
    }
    let (best, wanted) = (best.gain(kept), fixture["best_gain"].as_f64().unwrap());
    assert!((best - wanted).abs() <= tolerance * wanted, "{best} against {wanted}");
}

fn dilation(x: &[f64], y: &[f64]) -> Matrix {
    let mut matrix = Matrix::zeros(x.len() + y.len(), x.len() + y.len());
    for (i, x_i) in x.iter().enumerate() {
        for (j, y_j) in y.iter().enumerate() {
            matrix.column_mut(i)[x.len() + j] = x_i * y_j;
            matrix.column_mut(x.len() + j)[i] = x_i * y_j;
        }
    }
    matrix
}

/// Oracle with `log V` as a dense matrix, which is decomposed in each trial.
struct Dense {
    kept: usize,
    eta: f64,
    alpha: f64,
    basis: Matrix,
    log_weights: Vec<f64>,
}

impl Dense {
    fn step(&mut self, x: &[f64], y: &[f64]) -> f64 {
        let n = x.len() + y.len();
        let matrix = dilation(x, y);
        let image = |v: &[f64]| (0..n).map(|j| dot(matrix.column(j), v)).collect::<Vec<f64>>();
        let mut gain = 0.0;
        let mut change = Matrix::zeros(n, n);
        for j in 0..n {
            let direction = self.basis.column(j);
            gain += -self.log_weights[j].exp_m1() * dot(direction, &image(direction));
            for i in 0..n {
                let amount = self.log_weights[j] * direction[i];
                change.column_mut(i).iter_mut().zip(direction).for_each(|(c, d)| *c += amount * d);
            }
        }
        for j in 0..n {
            let column = matrix.column(j);
            change.column_mut(j).iter_mut().zip(column).for_each(|(c, d)| *c -= self.eta / 2.0 * d);
        }
        let eigen = symmetric_eigen(&change);
        self.basis = eigen.vectors;
        self.log_weights = eigen.values;
        cap(&mut self.log_weights, self.kept);
        let uniform = (n - self.kept) as f64 / n as f64;
        self.log_weights.iter_mut().for_each(|l| *l = ((1.0 - self.alpha) * l.exp() + self.alpha * uniform).ln());
        gain
    }
}

#[test]
fn pair_equals_tracking_on_dense_dilations() {
    let mut random = Random::seeded(31);
    for index in 0..60 {
        let (n, m) = (1 + random.below(6), 1 + random.below(6));
        let kept = 1 + random.below(n + m - 1);
        let eta = [0.3, 2.0, 6.0][index % 3];
        let alpha = if index % 2 == 0 { 0.0 } else { 0.02 };
        let mixing = if index % 2 == 0 { Mixing::None } else { Mixing::FixedShare { alpha } };
        // A dense solver loses digits of weights near one as the others decrease, so runs without mixing are short.
        let rows = stream(n, m, 2, [1.0, 1e4][index % 2], if alpha > 0.0 { 60 } else { 25 }, &mut random);
        let log_weights = vec![(-(kept as f64) / (n + m) as f64).ln_1p(); n + m];
        let mut oracle = Dense { kept, eta, alpha, basis: Matrix::identity(n + m), log_weights };
        let mut pair = bounded(n, m, kept, eta, mixing);
        for (t, [x, y]) in rows.iter().enumerate() {
            let (found, wanted) = (pair.step(x, y, &mut random).unwrap().expected, oracle.step(x, y));
            assert!((found - wanted).abs() <= 1e-9, "case {index}, row {t}: {found} against {wanted}");
        }
        let trace = pair.learner().trace();
        assert!((trace - kept as f64).abs() <= 1e-10, "case {index}: trace {trace}");
    }
}

#[test]
fn best_gain_equals_the_top_of_the_dense_spectrum() {
    let mut random = Random::seeded(32);
    for (n, m) in [(1, 1), (3, 5), (5, 3), (4, 4)] {
        let mut best = BestPair::new(n, m).unwrap();
        let mut total = Matrix::zeros(n + m, n + m);
        for [x, y] in stream(n, m, 1, 1.0, 20, &mut random) {
            best.add(&x, &y);
            let matrix = dilation(&x, &y);
            (0..n + m).for_each(|j| total.column_mut(j).iter_mut().zip(matrix.column(j)).for_each(|(t, d)| *t += d));
        }
        let values = symmetric_eigen(&total).values;
        for kept in 1..n + m {
            let wanted: f64 = values.iter().rev().take(kept).sum();
            assert!((best.gain(kept) - wanted).abs() <= 1e-12 * 20.0, "{n} {m} {kept}");
        }
    }
}

#[test]
fn gains_are_within_the_bound_of_the_theorem() {
    let mut random = Random::seeded(33);
    for (n, m, kept) in [(3, 4, 1), (5, 2, 2), (3, 3, 5)] {
        for eta in [0.1, 1.0, 4.0] {
            let rows = stream(n, m, 1, 1.0, 300, &mut random);
            let (mut pair, mut best) = (bounded(n, m, kept, eta, Mixing::None), BestPair::new(n, m).unwrap());
            let mut gain = 0.0;
            for [x, y] in &rows {
                gain += pair.step(x, y, &mut random).unwrap().expected;
                best.add(x, y);
            }
            let loss = |gain: f64| ((n + m - kept) as f64 * rows.len() as f64 - gain) / 2.0;
            let dimension = Multiplicity::Finite((n + m) as u64);
            let bound = uncentered(&Setting::new(eta, kept, dimension), loss(best.gain(kept))).unwrap();
            assert!(loss(gain) <= bound, "{n} {m} {kept}, eta {eta}: {} > {bound}", loss(gain));
            assert!(gain <= best.gain(kept));
        }
    }
}

#[test]
fn mean_realised_gain_is_the_expected_gain() {
    const DRAWS: usize = 4000;
    let mut random = Random::seeded(34);
    let rows = stream(4, 3, 1, 1.0, 30, &mut random);
    for select in [Select::Systematic, Select::Corners] {
        let mut pair = bounded(4, 3, 2, 1.5, Mixing::None).with_select(select);
        for (t, [x, y]) in rows.iter().enumerate() {
            if [0, 1, 4, 29].contains(&t) {
                let (mut sum, mut square, mut expected) = (0.0, 0.0, 0.0);
                for _ in 0..DRAWS {
                    let gain = pair.clone().step(x, y, &mut random).unwrap();
                    sum += gain.realised;
                    square += gain.realised * gain.realised;
                    expected = gain.expected;
                }
                let mean = sum / DRAWS as f64;
                let error = ((square / DRAWS as f64 - mean * mean) / DRAWS as f64).sqrt();
                assert!((mean - expected).abs() <= 4.0 * error + 1e-12, "row {t}: {mean} ± {error}, {expected}");
            }
            pair.step(x, y, &mut random).unwrap();
        }
    }
}

#[test]
fn the_directions_of_a_pair_explain_its_expected_gain() {
    let mut random = Random::seeded(35);
    let rows = stream(4, 5, 2, 1.0, 120, &mut random);
    let mut pair = bounded(4, 5, 2, 3.0, Mixing::None);
    rows.iter().for_each(|[x, y]| _ = pair.step(x, y, &mut random).unwrap());
    // By now, the complement is capped, so nothing outside the explicit directions is kept.
    assert!(pair.learner().trace() - pair.directions().2.iter().sum::<f64>() <= 1e-12);
    let (left, right, probabilities) = pair.directions();
    let [x, y] = &rows[0];
    let explained: f64 = (0..probabilities.len())
        .map(|j| 2.0 * probabilities[j] * dot(left.column(j), x) * dot(right.column(j), y))
        .sum();
    let gain = pair.step(x, y, &mut random).unwrap().expected;
    assert!((gain - explained).abs() <= 1e-12, "{gain} against {explained}");
}

#[test]
fn scaling_the_two_streams_scales_gains_by_the_product() {
    let mut random = Random::seeded(36);
    let rows = stream(3, 4, 1, 1.0, 50, &mut random);
    let mut plain = Pair::new(3, 4, 2, 2.0, Mixing::None).unwrap();
    let mut scaled = plain.clone();
    for [x, y] in &rows {
        let times = |row: &[f64], factor: f64| row.iter().map(|x| factor * x).collect::<Vec<f64>>();
        let a = plain.step(x, y, &mut random.clone()).unwrap();
        let b = scaled.step(&times(x, 1e40), &times(y, 3e-20), &mut random).unwrap();
        assert!((b.expected / 3e20 - a.expected).abs() <= 1e-11, "{} against {}", b.expected, a.expected);
    }
}

#[test]
fn saving_and_restoring_a_pair_changes_nothing() {
    let mut random = Random::seeded(37);
    let rows = stream(4, 3, 2, 1.0, 60, &mut random);
    for mixing in [Mixing::None, Mixing::FixedShare { alpha: 0.01 }, Mixing::PastAverage { alpha: 0.01 }] {
        let mut whole = Pair::new(4, 3, 2, 2.0, mixing).unwrap();
        let (mut parts, mut random, mut other) = (whole.clone(), Random::seeded(1), Random::seeded(1));
        for (t, [x, y]) in rows.iter().enumerate() {
            if t % 7 == 0 {
                let bytes = postcard::to_stdvec(&(&parts, &other)).unwrap();
                (parts, other) = postcard::from_bytes(&bytes).unwrap();
            }
            assert_eq!(whole.step(x, y, &mut random).unwrap(), parts.step(x, y, &mut other).unwrap(), "row {t}");
        }
        assert_eq!(whole, parts);
    }
}

#[test]
fn bad_pairs_and_parameters_are_named_and_leave_the_state_alone() {
    let mut random = Random::seeded(38);
    let mut pair = bounded(2, 3, 2, 1.0, Mixing::None);
    pair.step(&[1.0, 0.0], &[0.0, 0.5, 0.5], &mut random).unwrap();
    let before = (pair.clone(), random.clone());
    let y = [0.0; 3];
    let cases: [(&[f64], &[f64], &str); 6] = [
        (&[0.0], &y, "left row must have 2 entries, got 1"),
        (&[0.0, 0.0], &[0.0; 2], "right row must have 3 entries, got 2"),
        (&[0.0, f64::NAN], &y, "entry 1 of the left row must be finite, got NaN"),
        (&[0.0, 0.0], &[f64::INFINITY, 0.0, 0.0], "entry 0 of the right row must be finite, got inf"),
        (&[1e200, 0.0], &y, "the squared norm of the row must be finite, got a row whose largest entry is 1"),
        (
            &[2.0, 0.0],
            &[0.0, 3.0, 0.0],
            "the product of the norms of a pair must be at most the square of the norm bound, got 6",
        ),
    ];
    for (x, y, message) in cases {
        let error = pair.step(x, y, &mut random).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    assert_eq!((pair, random), before);
    let refused = |result: Result<Pair, eigenhedge::Error>| result.unwrap_err().to_string();
    for kept in [0, 5, 6] {
        let message = format!("k must be at least 1 and less than the dimension 5, got {kept}");
        assert_eq!(refused(Pair::new(2, 3, kept, 1.0, Mixing::None)), message);
    }
    for eta in [0.0, -2.0, f64::NAN] {
        let message = format!("eta must be positive and finite, got {eta}");
        assert_eq!(refused(Pair::new(2, 3, 1, eta, Mixing::None)), message);
    }
    assert_eq!(refused(Pair::new(0, 3, 1, 1.0, Mixing::None)), "the length of the left rows must be at least 1, got 0");
    let alpha = f64::NAN;
    assert!(refused(Pair::new(2, 3, 1, 1.0, Mixing::FixedShare { alpha })).starts_with("alpha must be"));
    let pair = Pair::new(2, 3, 1, 1.0, Mixing::None).unwrap();
    assert!(refused(pair.with_norm_bound(NormBound::Given(-1.0))).starts_with("norm-bound must be positive"));
}

#[test]
fn a_centered_learner_learns_the_distances_from_the_means_of_the_previous_rows() {
    let mut random = Random::seeded(5);
    let shift = |row: &[f64], by: f64| row.iter().map(|x| x + by).collect::<Vec<f64>>();
    let rows = stream(3, 2, 1, 1.0, 100, &mut random);
    let new = || Pair::new(3, 2, 1, 1.0, Mixing::None).unwrap();
    let (mut centered, mut plain, mut draws) = (new().centered(), new(), [Random::seeded(1), Random::seeded(1)]);
    let (mut means, mut before) = ([vec![0.0; 3], vec![0.0; 2]], 0.0);
    for [x, y] in &rows {
        let given = [shift(x, 7.0), shift(y, -3.0)];
        let distances: Vec<Vec<f64>> = given
            .iter()
            .zip(&means)
            .map(|(row, mean)| row.iter().zip(mean).map(|(x, m)| if before > 0.0 { x - m } else { 0.0 }).collect())
            .collect();
        let saved = centered.clone();
        assert!(centered.step(&[1e200; 3], &[1e200; 2], &mut draws[0]).is_err() || before == 0.0);
        assert!(centered.step(&[f64::NAN; 3], &[1.0; 2], &mut draws[0]).is_err());
        if before == 0.0 {
            (centered, draws[0]) = (saved, Random::seeded(1));
        } else {
            assert_eq!(centered, saved, "a refused pair changes nothing");
        }
        let gain = centered.step(&given[0], &given[1], &mut draws[0]).unwrap();
        let wanted = plain.step(&distances[0], &distances[1], &mut draws[1]).unwrap();
        assert!((gain.expected - wanted.expected).abs() < 1e-9, "{gain:?} {wanted:?}");
        before += 1.0;
        for (mean, row) in means.iter_mut().zip(&given) {
            mean.iter_mut().zip(row).for_each(|(m, x)| *m += (x - *m) / before);
        }
    }
}
