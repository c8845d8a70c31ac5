//! Trait of online learners, and the order of steps in a trial.

use crate::error::Error;
use crate::random::Random;

/// Loss of one trial, in squared units of the learned row. With standardized columns, these are standard units.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Loss {
    /// Expected loss over the learner's own randomness.
    pub expected: f64,
    /// Loss of the choice that was drawn.
    pub realised: f64,
}

/// Online learner. In each trial it makes a choice, receives an instance, incurs a loss, and updates its state
/// ([`trial`]).
pub trait Learner<I: ?Sized> {
    /// Returns `Err` for an invalid instance. Changes only scratch space.
    fn check(&mut self, instance: &I) -> Result<(), Error>;
    /// Draws the next choice from the learner's distribution.
    fn choose(&mut self, random: &mut Random);
    /// Returns the expected loss and the loss of the drawn choice on this instance.
    fn incur(&mut self, instance: &I) -> Loss;
    /// Updates the state with the instance for which the loss was just computed.
    fn update(&mut self, instance: &I);
    /// Precomputes results that the next trials share, with the same outcomes. An empty list cancels it.
    fn prefetch(&mut self, _upcoming: Upcoming<'_, I>)
    where
        I: Sized,
    {
    }
}

/// Instances of the next trials, in order. Their trials are run in this order, or the prefetch is cancelled.
#[derive(Debug)]
pub struct Upcoming<'a, I>(&'a [I]);

impl<'a, I> Upcoming<'a, I> {
    pub(crate) fn of(instances: &'a [I]) -> Self {
        Self(instances)
    }

    /// Returns the instances, none if the prefetch is cancelled.
    pub fn instances(&self) -> &'a [I] {
        self.0
    }
}

/// Runs one trial: check, choose, incur, update. On an error, learner and random generator are unchanged.
pub fn trial<I: ?Sized>(
    learner: &mut (impl Learner<I> + ?Sized),
    instance: &I,
    random: &mut Random,
) -> Result<Loss, Error> {
    trial_with(learner, instance, random, |_| ())
}

pub(crate) fn trial_with<I: ?Sized, L: Learner<I> + ?Sized>(
    learner: &mut L,
    instance: &I,
    random: &mut Random,
    charged: impl FnOnce(&mut L),
) -> Result<Loss, Error> {
    learner.check(instance)?;
    learner.choose(random);
    let loss = learner.incur(instance);
    charged(learner);
    learner.update(instance);
    Ok(loss)
}

/// Runs a [`trial`] for each instance, in order, which is faster than separate calls for long instances, and calls
/// `each` with the learner and the loss. The first error stops the loop and is returned with its index.
///
/// ```
/// use eigenhedge::{Instance, Kind, Random, Spec, streams, trials};
///
/// let rows: Vec<Vec<f64>> = streams::signal_and_noise(1000, 3, 0.3, 1).take(50).collect();
/// let rows: Vec<Instance<'_, [f64]>> = rows.iter().map(|row| Instance::from(&row[..])).collect();
/// let mut learner = Spec::bare(Kind::Tracking, 3).plain(1000)?;
/// let mut total = 0.0;
/// trials(&mut learner, &rows, &mut Random::seeded(2), |_, loss| total += loss.expected).map_err(|(_, error)| error)?;
/// assert!(total > 0.0);
/// # Ok::<(), eigenhedge::Error>(())
/// ```
pub fn trials<I, L: Learner<I>>(
    learner: &mut L,
    instances: &[I],
    random: &mut Random,
    mut each: impl FnMut(&L, Loss),
) -> Result<(), (usize, Error)> {
    block(
        learner,
        |learner| learner,
        instances,
        |learner, i| trial(learner, &instances[i], random).map(|loss| each(learner, loss)),
    )
}

/// Runs `step(owner, i)` for each instance i, after a prefetch from instance i on, up to the first error.
pub(crate) fn block<T, I, L: Learner<I>>(
    owner: &mut T,
    learner: fn(&mut T) -> &mut L,
    instances: &[I],
    mut step: impl FnMut(&mut T, usize) -> Result<(), Error>,
) -> Result<(), (usize, Error)> {
    let steps = (0..instances.len()).try_for_each(|i| {
        learner(owner).prefetch(Upcoming(&instances[i..]));
        step(owner, i).map_err(|error| (i, error))
    });
    learner(owner).prefetch(Upcoming(&[]));
    steps
}
