//! What a learner is, and the order of a trial.

use crate::{Error, Random};

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
}

/// One trial: check, choose, incur, update. On an error neither the learner nor the generator has moved.
pub fn trial<I: ?Sized>(
    learner: &mut (impl Learner<I> + ?Sized),
    instance: &I,
    random: &mut Random,
) -> Result<Loss, Error> {
    learner.check(instance)?;
    learner.choose(random);
    let loss = learner.incur(instance);
    learner.update(instance);
    Ok(loss)
}
