//! Description of an option: its values, its texts and the learners that use it.

use super::{Choice, Misuse, Options, Setup, Spelling, Type, Value, spelled};
use crate::error::Error;
use crate::kernel::KERNELS;
use crate::registry::{Kind, REGISTRY};
use crate::subspace::check_center_memory;

/// Description of an option of a learner.
pub type OptionEntry = OptionOf<Setup>;

/// Description of an option in settings of type `S`.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct OptionOf<S> {
    /// Name of the option, with hyphens.
    pub name: &'static str,
    /// Type of the values.
    pub values: Type,
    /// Placeholder for the value in the command-line help.
    pub placeholder: &'static str,
    /// Help text: one sentence without a full stop.
    pub help: &'static str,
    /// Default in words, or empty if the option has no effect unless it is set, or if `get` returns the default.
    pub default: &'static str,
    /// Example of command-line arguments that set the option to a value other than its default.
    pub example: &'static str,
    /// Learners on which the option has an effect. Others reject all values except [`Self::neutral`].
    pub readers: Readers,
    /// Value that all learners accept because it has no effect.
    pub neutral: Option<&'static str>,
    /// Function that stores a checked value. Earlier options of the table are already stored.
    pub set: fn(&mut S, &Value),
    /// Function that returns the value in settings for rows of known length, or `None` if it is not set.
    pub get: fn(&S) -> Option<Value>,
    /// Function that returns a message on a conflict with other options, called after all are set.
    pub conflict: fn(&Options, &Setup) -> Option<String>,
}

/// Learners on which an option has an effect.
#[derive(Debug, Clone, Copy)]
pub enum Readers {
    /// All learners.
    All,
    /// All learners except those listed.
    AllBut(&'static [Kind]),
    /// Only the learners listed.
    Only(&'static [Kind]),
    /// All learners, with a kernel that uses the option.
    Features,
}

impl<S> OptionOf<S> {
    pub(crate) const fn new(name: &'static str, values: Type, placeholder: &'static str) -> Self {
        let (set, get, conflict) = (|_: &mut S, _: &Value| {}, |_: &S| None, |_: &Options, _: &Setup| None);
        let (help, default, example, readers, neutral) = ("", "", "", Readers::All, None);
        Self { name, values, placeholder, help, default, example, readers, neutral, set, get, conflict }
    }

    /// Parses a value and stores it. On an error the settings are unchanged.
    pub fn read(&self, settings: &mut S, text: &str) -> Result<(), Error> {
        let (mut rule, mut value) = (self.values.description(), self.values.parse(text));
        if let Type::Count(least @ 1.., _) = self.values {
            rule += &format!(" of at least {least}");
            value = value.filter(|value| !matches!(value, Value::Count(count) if *count < least));
        }
        let value = value.ok_or_else(|| Error::name(self.name, &[&rule], text))?;
        if let (Type::Number(check, _), Value::Number(number)) = (self.values, &value) {
            check(self.name, *number)?;
        }
        (self.set)(settings, &value);
        Ok(())
    }
}

impl OptionEntry {
    /// Returns true if the option has an effect with the learner.
    pub fn is_read_by(&self, learner: Kind) -> bool {
        match self.readers {
            Readers::All | Readers::Features => true,
            Readers::AllBut(others) => !others.contains(&learner),
            Readers::Only(readers) => readers.contains(&learner),
        }
    }

    pub(super) fn check(&self, value: &Value, spelling: Spelling) -> Result<(), Misuse> {
        match (self.values, value) {
            (Type::Number(check, _), Value::Number(number)) => {
                check(self.name, *number).map(drop).map_err(|error| Misuse(spelled(&error, spelling)))
            }
            (Type::Choice(list), Value::Text(text)) => {
                let word = text.split_once(':').map_or("", |(word, _)| word);
                let rule = list().iter().find(|choice| choice.name == word).and_then(|choice| choice.number);
                let judged = rule.map_or(Ok(0.0), |check| check(self.name, value.number()));
                judged.map(drop).map_err(|error| Misuse(spelled(&error, spelling)))
            }
            (Type::Count(least, _), Value::Count(count)) if *count < least => {
                Err(Misuse(format!("{} must be at least {least}, got {count}", spelling(self.name))))
            }
            _ => Ok(()),
        }
    }
}

fn choices(list: &[(&'static str, &'static str)]) -> Vec<Choice> {
    let alias = |name| if name == "polynomial" { Some("poly") } else { None };
    list.iter().map(|(name, help)| Choice { name, help, alias: alias(*name), number: None }).collect()
}

pub(super) fn learners() -> Vec<Choice> {
    choices(&REGISTRY.iter().map(|entry| (entry.name, entry.summary)).collect::<Vec<_>>())
}

pub(super) fn kernels() -> Vec<Choice> {
    choices(&KERNELS.iter().map(|entry| (entry.name, entry.formula)).collect::<Vec<_>>())
}

pub(super) fn items() -> Vec<Choice> {
    choices(&[("words", "Sequences of letters, digits and underscores"), ("chars", "Characters")])
}

pub(super) fn mixing_rules() -> Vec<Choice> {
    let past = "The mean of all earlier distributions";
    choices(&[("none", "Nothing"), ("fixed-share", "The uniform distribution"), ("past-average", past)])
}

pub(super) fn centers() -> Vec<Choice> {
    let mut centers = choices(&[
        ("running", "The mean of the earlier rows"),
        ("forget", "A forgetting mean: earlier rows are multiplied by this factor at each row"),
        ("last", "The last row"),
        ("learned", "The mean of the earlier rows plus a learned combination of recent levels"),
        ("none", "Nothing"),
    ]);
    centers[1].number = Some(check_center_memory);
    centers
}

pub(super) fn coordinates() -> Vec<Choice> {
    let aligned =
        "Those most likely to be kept, rotated as little as possible from row to row; losses are those of the draw";
    choices(&[("aligned", aligned), ("drawn", "Those drawn for the row, to which the loss refers")])
}

pub(super) fn best_methods() -> Vec<Choice> {
    choices(&[
        ("auto", "Exact for rows of up to 4096 numbers, a sketch for longer ones"),
        ("exact", "The scatter matrix of all rows, with n² operations per row"),
        ("sketch", "A lower and an upper bound, from a sketch of a few directions"),
        ("none", "None, which is fastest: no best loss, no regret, no bound"),
    ])
}

pub(super) fn missing_policies() -> Vec<Choice> {
    choices(&[
        ("fail", "An error"),
        ("skip", "The row is skipped and counted"),
        ("fill", "The cell is filled in from the other cells of the row, and only these count for the loss"),
    ])
}

pub(super) fn selects() -> Vec<Choice> {
    let corners = "At random, as a corner of the capped simplex";
    let systematic = "At random, with one random number per row";
    choices(&[("systematic", systematic), ("corners", corners), ("top", "The most probable ones; not random")])
}
