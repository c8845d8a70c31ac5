//! Tests of properties that every expert learner must have.

use std::fmt::Debug;

use serde::{Serialize, de::DeserializeOwned};

use super::*;
use crate::learner::{Learner, trial};
use crate::mixing::Mixing;

const EXPERTS: usize = 6;
const KEPT: usize = 2;

trait Lawful: Learner<[f64]> + Clone + PartialEq + Debug + Serialize + DeserializeOwned {}
impl<L: Learner<[f64]> + Clone + PartialEq + Debug + Serialize + DeserializeOwned> Lawful for L {}

/// Runs a test on every kind of expert learner.
macro_rules! for_every_learner {
    ($law:ident) => {
        let capped = CappedHedge::new(EXPERTS, KEPT, 0.6).unwrap();
        $law(hedge(EXPERTS, 0.4).unwrap());
        $law(capped.clone());
        $law(capped.clone().with_select(Select::Corners));
        $law(capped.clone().with_mixing(Mixing::FixedShare { alpha: 0.02 }).unwrap());
        $law(capped.with_mixing(Mixing::PastAverage { alpha: 0.02 }).unwrap());
        $law(Leader::new(EXPERTS, KEPT).unwrap());
        $law(PerturbedLeader::new(EXPERTS, KEPT, 0.6).unwrap());
        $law(ProductSets::new(EXPERTS, KEPT, 0.6).unwrap());
    };
}

/// Returns losses that include ties, zeros and ones.
fn losses(random: &mut Random) -> Vec<f64> {
    (0..EXPERTS).map(|_| (random.uniform() * 1.4 - 0.2).clamp(0.0, 1.0)).collect()
}

#[test]
fn bad_input_is_refused_and_changes_nothing() {
    fn law<L: Lawful>(mut learner: L) {
        let mut random = Random::seeded(1);
        for _ in 0..5 {
            let losses = losses(&mut random);
            trial(&mut learner, &losses[..], &mut random).unwrap();
        }
        let (before, generator) = (learner.clone(), random.clone());
        let mut bad: Vec<Vec<f64>> = vec![vec![0.5; EXPERTS - 1], vec![0.5; EXPERTS + 1]];
        bad.extend([f64::NAN, f64::INFINITY, -1e-9, 1.0 + 1e-9].map(|value| {
            let mut row = vec![0.5; EXPERTS];
            row[3] = value;
            row
        }));
        for row in bad {
            let error = trial(&mut learner, &row[..], &mut random).unwrap_err();
            assert!(matches!(error, Error::Length { .. } | Error::Entry { index: 3, .. }), "{error}");
            assert_eq!((&learner, &random), (&before, &generator));
        }
    }
    for_every_learner!(law);
}

#[test]
fn same_seed_gives_the_same_bits_and_a_restored_learner_continues_alike() {
    fn law<L: Lawful>(mut learner: L) {
        let mut random = Random::seeded(2);
        let (mut twin, mut twin_random) = (learner.clone(), random.clone());
        for round in 0..60 {
            let row = losses(&mut Random::seeded(round));
            let loss = trial(&mut learner, &row[..], &mut random).unwrap();
            assert_eq!(loss, trial(&mut twin, &row[..], &mut twin_random).unwrap());
            assert_eq!(learner, twin);
            if round % 20 == 10 {
                twin = serde_json::from_str(&serde_json::to_string(&twin).unwrap()).unwrap();
            }
        }
    }
    for_every_learner!(law);
}

#[test]
fn mean_realised_loss_equals_expected_loss() {
    fn law<L: Lawful>(mut learner: L) {
        let mut random = Random::seeded(3);
        let (mut difference, mut variance) = (0.0, 0.0);
        for _ in 0..4000 {
            let row = losses(&mut random);
            let loss = trial(&mut learner, &row[..], &mut random).unwrap();
            difference += loss.realised - loss.expected;
            variance += (loss.realised - loss.expected).powi(2);
        }
        assert!(difference.abs() <= 4.0 * f64::sqrt(variance) + 1e-9, "{difference} {learner:?}");
    }
    for_every_learner!(law);
}

#[test]
fn permuting_the_experts_changes_no_expected_loss() {
    fn law<L: Lawful>(mut learner: L) {
        let mut permuted = learner.clone();
        let mut random = Random::seeded(4);
        for _ in 0..200 {
            let row = losses(&mut random);
            let turned: Vec<f64> = [3, 5, 0, 1, 4, 2].iter().map(|&place| row[place]).collect();
            let loss = trial(&mut learner, &row[..], &mut random).unwrap().expected;
            let same = trial(&mut permuted, &turned[..], &mut random).unwrap().expected;
            assert!((loss - same).abs() < 1e-11, "{loss} {same} {learner:?}");
        }
    }
    let capped = CappedHedge::new(EXPERTS, KEPT, 0.6).unwrap();
    law(capped.clone());
    law(capped.clone().with_mixing(Mixing::FixedShare { alpha: 0.02 }).unwrap());
    law(capped.with_mixing(Mixing::PastAverage { alpha: 0.02 }).unwrap());
    law(Leader::new(EXPERTS, KEPT).unwrap());
    law(ProductSets::new(EXPERTS, KEPT, 0.6).unwrap());
    // The perturbed leader is excluded, because its expected loss is that of a random draw.
}

#[test]
fn a_choice_drops_exactly_d_experts() {
    let mut learner = CappedHedge::new(EXPERTS, KEPT, 0.6).unwrap();
    let mut random = Random::seeded(5);
    for _ in 0..500 {
        let row = losses(&mut random);
        trial(&mut learner, &row[..], &mut random).unwrap();
        let mut dropped = learner.dropped().to_vec();
        dropped.sort_unstable();
        dropped.dedup();
        assert_eq!(dropped.len(), EXPERTS - KEPT);
    }
}
