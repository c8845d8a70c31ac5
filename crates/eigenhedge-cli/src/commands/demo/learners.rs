//! Learners of the demo, and the result of each.

use crate::args::DemoArgs;
use anyhow::Result;
use eigenhedge::comparators::BestMethod;
use eigenhedge::{AnyLearner, Instance, Kind, Mixing, Model, Random, Spec, trial};
use eigenhedge_pages::run::Recorder;
use std::time::{Duration, Instant};

pub const KEPT: usize = 2;

pub const AUTO: &str = "auto";
pub const FOLLOWING: &str = "tracking + fixed share";
pub const STEADY: &str = "tracking";

/// They have the defaults of `run`, except for the mixing rules of tracking.
pub fn learners() -> Vec<(&'static str, Spec)> {
    let spec = |kind| Spec::new(kind, KEPT);
    let tracking = |mixing| Spec { mixing, ..spec(Kind::Tracking) };
    vec![
        (AUTO, spec(Kind::Auto)),
        ("follow the leader", spec(Kind::Leader)),
        ("forgetting leader", spec(Kind::ForgettingLeader)),
        (STEADY, tracking(Mixing::None)),
        (FOLLOWING, spec(Kind::Tracking)),
        ("tracking + past average", tracking(Mixing::PastAverage { alpha: alpha() })),
        ("anchored", spec(Kind::Anchored)),
        ("product sets", spec(Kind::ProductSets)),
        ("perturbed leader", spec(Kind::PerturbedLeader)),
        ("additive", spec(Kind::Additive)),
        ("Hebbian (gha)", spec(Kind::Gha)),
    ]
}

pub fn alpha() -> f64 {
    match Spec::new(Kind::Tracking, KEPT).mixing {
        Mixing::FixedShare { alpha } | Mixing::PastAverage { alpha } => alpha,
        _ => 0.0,
    }
}

pub struct Outcome {
    pub name: &'static str,
    pub run: Model,
    pub recorder: Recorder,
    /// Mean and standard deviation, over the draws, of the total realised loss.
    pub realised: (f64, f64),
    pub seconds_per_row: f64,
}

impl Outcome {
    pub fn expected_loss(&self) -> f64 {
        self.run.totals().expected_loss
    }
}

pub fn measure(name: &'static str, spec: &Spec, stream: &[Vec<f64>], args: &DemoArgs) -> Result<Outcome> {
    // All draws share a learner, because its state does not depend on them. The first row only sets the center.
    let mut learner = AnyLearner::new(spec, stream[0].len())?;
    let (first, charged) = stream.split_at(usize::from(spec.center.is_some()));
    for row in first {
        trial(&mut learner, &Instance::from(&row[..]), &mut Random::seeded(args.seed))?;
    }
    let totals = eigenhedge_lab::totals(learner, charged, (args.seed, args.draws as usize), &|_| {})?;
    let mut run =
        Model::with_comparators(spec.clone(), stream[0].len(), args.seed.wrapping_add(1), BestMethod::None, 0)?;
    let mut recorder = Recorder::new(&run, false);
    let mut spent = Duration::ZERO;
    for (number, row) in (0..).zip(stream) {
        let start = Instant::now();
        let loss = run.step(row)?;
        spent += start.elapsed();
        recorder.enter(number, None, loss, &run);
    }
    let seconds_per_row = spent.as_secs_f64() / stream.len() as f64;
    Ok(Outcome { name, run, recorder, realised: totals.drawn(), seconds_per_row })
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenhedge::streams;

    #[test]
    fn shared_draws_equal_separate_runs_bit_for_bit() {
        let stream: Vec<Vec<f64>> = streams::switching(8, 2, 3, 40, 5);
        for (name, spec) in learners() {
            let learner = AnyLearner::new(&spec, 8).unwrap();
            let shared = eigenhedge_lab::totals(learner.clone(), &stream, (0, 4), &|_| {}).unwrap();
            let separate = (1..=4).map(|seed| {
                let (mut learner, mut random) = (learner.clone(), Random::seeded(seed));
                let mut step = |row: &Vec<f64>| trial(&mut learner, &Instance::from(&row[..]), &mut random).unwrap();
                stream.iter().map(|row| step(row).realised).fold(0.0, |total, loss| total + loss)
            });
            assert_eq!(shared.drawn().0, separate.sum::<f64>() / 4.0, "{name}");
        }
    }
}
