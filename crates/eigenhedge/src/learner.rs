//! What a learner is, and the order of a trial.

use crate::error::Error;
use crate::random::Random;

/// What one trial cost, in the (squared) units of the input.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Loss {
    /// Mean over the learner's own randomness.
    pub expected: f64,
    /// Of the choice that was actually made.
    pub realised: f64,
}

/// Something that commits to a choice before it sees an instance, pays, and learns.
///
/// The methods are called in the order of [`trial`], which is the only place that knows it.
pub trait Learner<I: ?Sized> {
    /// Rejects an instance that breaks a rule. Changes nothing but scratch space.
    fn check(&mut self, instance: &I) -> Result<(), Error>;
    /// Commits to a choice, drawn from the learner's distribution.
    fn choose(&mut self, random: &mut Random);
    /// What the distribution and the committed choice lose on the instance.
    fn incur(&mut self, instance: &I) -> Loss;
    /// Learns from the instance.
    fn update(&mut self, instance: &I);
    /// Does at once what can be done at once for instances that come next; none cancels that. Losses do not change, to the
    /// last bit.
    fn prefetch(&mut self, _upcoming: Upcoming<'_, I>)
    where
        I: Sized,
    {
    }
}

/// Instances of the next trials, in this order.
///
/// Only [`trials`] and [`Model::step_each`](crate::Model::step_each) make it. They borrow the instances until the trials are over,
/// give each trial the next one, and cancel what was prefetched when a trial fails: a learner may take every instance that it
/// is given for the one that was announced.
#[derive(Debug)]
pub struct Upcoming<'a, I>(&'a [I]);

impl<'a, I> Upcoming<'a, I> {
    /// Instances of which the caller answers for the order of their trials.
    pub(crate) fn of(instances: &'a [I]) -> Self {
        Self(instances)
    }

    /// The instances; none when what was prefetched is cancelled.
    pub fn instances(&self) -> &'a [I] {
        self.0
    }
}

impl<I> Clone for Upcoming<'_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Upcoming<'_, I> {}

/// One trial: check, choose, incur, update. On an error neither the learner nor the generator has moved.
pub fn trial<I: ?Sized>(
    learner: &mut (impl Learner<I> + ?Sized),
    instance: &I,
    random: &mut Random,
) -> Result<Loss, Error> {
    trial_with(learner, instance, random, |_| ())
}

/// The same; between the charge and the update, the last argument is shown the learner.
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

/// Trials over instances that are all at hand, in order: the same as one [`trial`] after another, and faster when
/// instances are long. The last argument is told the loss of each, with the learner. On an error it stops: everything
/// before the instance in question has been learned, and its position is given.
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

/// Runs `step(owner, i)`, which makes one trial of the learner over `instances[i]`, for each instance. Stops at the first
/// error and returns its index.
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
