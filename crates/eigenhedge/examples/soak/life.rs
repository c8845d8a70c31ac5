//! Run of one learner over a stream whose kind changes repeatedly, with a check at every row.

use crate::cases::Case;
use crate::hard_streams::HARD;
use crate::soundness::{Measured, Soundness};
use eigenhedge::comparators::BestMethod;
use eigenhedge::internals::{Portfolio, dot};
use eigenhedge::{AnyLearner, Loss, Model, Random};

/// Endless stream of segments of 20 to 300 rows, each of a random kind of [`HARD`] and scale.
pub struct Endless {
    random: Random,
    length: usize,
    piece: std::vec::IntoIter<Vec<f64>>,
}

impl Endless {
    pub fn new(length: usize, seed: u64) -> Self {
        Self { random: Random::seeded(seed), length, piece: Vec::new().into_iter() }
    }

    /// Generates a segment whose longest row has a norm between 0.1 and 10.
    fn next_piece(&mut self) -> Vec<Vec<f64>> {
        let stream = HARD[self.random.below(HARD.len())];
        let rows = 20 + self.random.below(281);
        let mut piece = (stream.rows)(self.length, rows, self.random.below(1 << 30) as u64);
        let longest = piece.iter().map(|row| dot(row, row)).fold(0.0, f64::max).sqrt();
        let factor = 10f64.powf(2.0 * self.random.uniform() - 1.0) / longest;
        piece.iter_mut().flatten().for_each(|x| *x *= factor);
        piece
    }
}

impl Iterator for Endless {
    type Item = Vec<f64>;

    fn next(&mut self) -> Option<Vec<f64>> {
        if let Some(row) = self.piece.next() {
            return Some(row);
        }
        self.piece = self.next_piece().into_iter();
        self.piece.next()
    }
}

#[derive(Default)]
pub struct Outcome {
    pub sound: Soundness,
    /// Number of rows at which the columns were reorthonormalized. `None` for Hebbian learners.
    pub healed: Option<u64>,
}

/// Runs the learner for `rows` rows. A panic counts as a violation.
pub fn live(case: &Case, seed: u64, rows: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let whole = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| walk(case, seed, rows, &mut outcome)));
    match whole {
        Ok(Ok(())) => {}
        Ok(Err(error)) => outcome.sound.refused(error.to_string()),
        Err(_) => outcome.sound.refused("panic".to_owned()),
    }
    outcome
}

/// Returns the number of rows at which members reorthonormalized their columns.
fn healed(learner: &AnyLearner) -> Option<u64> {
    match learner {
        AnyLearner::Plain(portfolio) => Some(portfolio.members.iter().map(|member| member.healed()).sum()),
        AnyLearner::Kernel(portfolio) => Some(portfolio.members.iter().map(|member| member.healed()).sum()),
        _ => None,
    }
}

fn walk(case: &Case, seed: u64, rows: u64, outcome: &mut Outcome) -> Result<(), eigenhedge::Error> {
    let mut run = Model::with_comparators(case.spec.clone(), case.length, seed, BestMethod::None, 0)?;
    let Outcome { sound, healed: all_healed } = outcome;
    for (t, row) in (0..rows).zip(Endless::new(case.length, seed)) {
        let loss = run.step(&row)?;
        let with_drift = t % case.drift_every == 0 || t + 1 == rows;
        match run.learner() {
            AnyLearner::Plain(portfolio) => judge(portfolio, &run, &row, loss, with_drift, sound),
            AnyLearner::Kernel(portfolio) => judge(portfolio, &run, &row, loss, with_drift, sound),
            // Hebbian weight vectors need not be orthonormal.
            _ => {
                let kernel = case.spec.kernel.as_ref().filter(|_| case.spec.center.is_some());
                let known_to = kernel.map_or(0.0, |kernel| 1e-13 * kernel.value(&row, &row));
                sound.row(run.learner().last_square(), known_to, loss, run.coordinates());
            }
        }
        *all_healed = healed(run.learner());
    }
    Ok(())
}

fn judge<S: Measured>(
    portfolio: &Portfolio<S>,
    run: &Model,
    row: &[f64],
    loss: Loss,
    with_drift: bool,
    sound: &mut Soundness,
) {
    let chosen = portfolio.chosen();
    let most = portfolio.members.iter().map(|member| member.last_square()).fold(0.0, f64::max);
    let known_to = chosen.span().energy_known_to(row);
    sound.row_of_many(chosen.last_square(), most, known_to, loss, run.coordinates());
    if with_drift {
        for member in &portfolio.members {
            sound.columns(member.span().true_drift(), member.span().drift_known_to());
        }
    }
}
