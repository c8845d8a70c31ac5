//! Options as users give them, and what they mean together.
//!
//! The command line, Python and whoever else lets users name options share this: which learner reads what, the defaults,
//! and the sentence that says what is wrong. Values are judged by building the learner, so a rule is written once.
//!
//! | option | default |
//! |---|---|
//! | eta | 1; self-confident for the anchored learner; 0.05 for Hebbian ones |
//! | mixing | fixed share for the tracking learner, else none |
//! | alpha | 0.001 |
//! | merge | 0.25 with fixed share |
//! | forget | 0.95 |
//! | center | the running mean, without imaginary rows; Hebbian learners do not center |
//!
//! Not done: reading text. Whoever reads it knows how its users spell.

use crate::error::Error;
use crate::kernel::{KERNELS, KernelParameters, VectorKernel};
use crate::mixing::Mixing;
use crate::num::exact;
use crate::registry::{Entry, Family, Kind, Spec};
use crate::run::AnyLearner;
use crate::simplex::{Multiplicity, Select};
use crate::subspace::NormBound;

/// A learning rate as given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// Tuned.
    Auto,
    /// This one.
    Given(f64),
}

/// A mixing rule as given, without its share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MixingRule {
    /// Nothing.
    None,
    /// The uniform distribution.
    FixedShare,
    /// The mean of all earlier distributions.
    PastAverage,
}

impl MixingRule {
    /// The rules by the names users type.
    pub const NAMES: [(&'static str, Self); 3] =
        [("none", Self::None), ("fixed-share", Self::FixedShare), ("past-average", Self::PastAverage)];
}

/// Options as given; what is missing has a default.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Which learner.
    pub learner: Kind,
    /// Number of directions kept.
    pub kept: usize,
    /// Learning rate.
    pub eta: Option<Rate>,
    /// What the best subspace loses at most; tunes the rate.
    pub ceiling: Option<f64>,
    /// Mixing rule.
    pub mixing: Option<MixingRule>,
    /// Share of the mixing rule.
    pub alpha: Option<f64>,
    /// What merging may cost, as a share of what mixing costs.
    pub merge: Option<f64>,
    /// Factor on the memory at each row.
    pub forget: Option<f64>,
    /// Whether the running mean is subtracted.
    pub center: Option<bool>,
    /// Imaginary rows at the origin.
    pub center_prior: Option<f64>,
    /// Scaling.
    pub norm_bound: NormBound,
    /// How a choice is drawn.
    pub select: Select,
    /// Dimension of the space, when it is not that of the rows or of the kernel.
    pub feature_dim: Option<Multiplicity>,
    /// ICML Algorithm 6 as printed.
    pub as_printed: bool,
    /// Most explicit directions.
    pub max_rank: Option<usize>,
    /// Most atoms.
    pub budget: Option<usize>,
    /// Name of the kernel, out of [`KERNELS`].
    pub kernel: Option<&'static str>,
    /// Parameters of the kernel.
    pub parameters: KernelParameters,
}

/// Options that make no sense, as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misuse(String);

/// How a program spells the name of an option: `max-rank` may be `--max-rank` or `max_rank`; `k` is one too.
pub type Spelling = fn(&str) -> String;

/// Options that make sense. The kernel is built when the length of rows is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    spec: Spec,
    kernel: Option<(&'static str, KernelParameters)>,
    ceiling: Option<f64>,
}

const ETA: f64 = 1.0;
const HEBBIAN_ETA: f64 = 0.05;
const ALPHA: f64 = 1e-3;
const MERGE: f64 = 0.25;
const FORGET: f64 = 0.95;
const CENTER_PRIOR: f64 = 0.0;

impl Options {
    /// Nothing but a learner and k.
    pub fn new(learner: Kind, kept: usize) -> Self {
        Self {
            learner,
            kept,
            eta: None,
            ceiling: None,
            mixing: None,
            alpha: None,
            merge: None,
            forget: None,
            center: None,
            center_prior: None,
            norm_bound: NormBound::Running,
            select: Select::default(),
            feature_dim: None,
            as_printed: false,
            max_rank: None,
            budget: None,
            kernel: None,
            parameters: KernelParameters::default(),
        }
    }

    /// Judges all that can be judged without the data.
    ///
    /// ```
    /// use eigenhedge::Kind;
    /// use eigenhedge::options::Options;
    ///
    /// let options = Options { forget: Some(0.9), ..Options::new(Kind::Tracking, 2) };
    /// let misuse = options.checked(|name| format!("--{name}")).unwrap_err();
    /// assert_eq!(misuse.to_string(), "--forget is not read by the learner tracking");
    /// ```
    pub fn checked(&self, spelling: Spelling) -> Result<Checked, Misuse> {
        let reader = Reader { entry: self.learner.entry(), spelling };
        let (eta, self_confident) = self.rate(&reader)?;
        reader.unread("forget", self.forget.is_some() && !reader.entry.reads.forget)?;
        reader.unread("max-rank", self.max_rank.is_some() && !reader.entry.reads.max_rank)?;
        let mixing = self.mixing(&reader)?;
        let spec = Spec {
            eta,
            self_confident,
            mixing,
            merge: self.merge(mixing, &reader)?,
            forget: self.forget.unwrap_or(FORGET),
            center: self.center(&reader)?,
            norm_bound: self.norm_bound,
            select: self.select,
            dimension: self.feature_dim,
            as_printed: self.as_printed,
            max_rank: self.max_rank,
            budget: self.budget,
            ..Spec::new(self.learner, self.kept)
        };
        let checked = Checked { spec, kernel: self.kernel(spelling)?, ceiling: self.ceiling };
        checked.judge(spelling)?;
        Ok(checked)
    }

    /// The rate, and whether it is tuned to the learner's own loss instead.
    fn rate(&self, reader: &Reader) -> Result<(f64, bool), Misuse> {
        let Reader { entry, spelling } = reader;
        let hebbian = entry.family == Family::Hebbian;
        reader.unread("eta", matches!(self.eta, Some(Rate::Given(_))) && !entry.reads.eta)?;
        let self_confident = match self.eta {
            Some(Rate::Given(_)) if self.ceiling.is_some() => {
                return Err(Misuse(format!("{} is read by {} auto only", spelling("ceiling"), spelling("eta"))));
            }
            Some(Rate::Given(_)) => false,
            _ if self.ceiling.is_some() => {
                reader.unread("ceiling", !matches!(self.learner, Kind::Tracking | Kind::Anchored))?;
                if self.norm_bound == NormBound::Running {
                    return Err(Misuse(format!("{} needs a {}", spelling("ceiling"), spelling("norm-bound"))));
                }
                false
            }
            Some(Rate::Auto) if hebbian => {
                return Err(Misuse(format!("{} auto is not for the learner {}", spelling("eta"), entry.name)));
            }
            Some(Rate::Auto) => entry.reads.eta,
            None => self.learner == Kind::Anchored,
        };
        let eta = match self.eta {
            Some(Rate::Given(eta)) => eta,
            _ if hebbian => HEBBIAN_ETA,
            _ => ETA,
        };
        Ok((eta, self_confident))
    }

    fn mixing(&self, reader: &Reader) -> Result<Mixing, Misuse> {
        let reads = reader.entry.reads.mixing;
        let rule = self.mixing.unwrap_or(match self.learner {
            Kind::Tracking => MixingRule::FixedShare,
            _ => MixingRule::None,
        });
        // No mixing is true of every learner, so it may be said.
        reader.unread("mixing", rule != MixingRule::None && !reads)?;
        reader.unread("alpha", self.alpha.is_some() && !reads)?;
        let alpha = self.alpha.unwrap_or(ALPHA);
        match rule {
            MixingRule::None if self.alpha.is_some() => {
                let (alpha, mixing) = ((reader.spelling)("alpha"), (reader.spelling)("mixing"));
                Err(Misuse(format!("{alpha} is not read by {mixing} none")))
            }
            MixingRule::None => Ok(Mixing::None),
            MixingRule::FixedShare => Ok(Mixing::FixedShare { alpha }),
            MixingRule::PastAverage => Ok(Mixing::PastAverage { alpha }),
        }
    }

    fn merge(&self, mixing: Mixing, reader: &Reader) -> Result<f64, Misuse> {
        reader.unread("merge", self.merge.is_some() && !reader.entry.reads.mixing)?;
        match mixing {
            Mixing::FixedShare { .. } => Ok(self.merge.unwrap_or(MERGE)),
            // To merge nothing is true of every rule, so it may be said.
            _ if self.merge.is_some_and(|merge| merge != 0.0) => {
                let (merge, mixing) = ((reader.spelling)("merge"), (reader.spelling)("mixing"));
                Err(Misuse(format!("{merge} is read by {mixing} fixed-share only")))
            }
            _ => Ok(0.0),
        }
    }

    fn center(&self, reader: &Reader) -> Result<Option<f64>, Misuse> {
        let reads = reader.entry.reads.center;
        if self.center == Some(true) && !reads {
            let center = (reader.spelling)("center");
            return Err(Misuse(format!("{center} mean is not read by the learner {}", reader.entry.name)));
        }
        reader.unread("center-prior", self.center_prior.is_some() && !reads)?;
        if self.center == Some(false) && self.center_prior.is_some() {
            let (prior, center) = ((reader.spelling)("center-prior"), (reader.spelling)("center"));
            return Err(Misuse(format!("{prior} is not read by {center} none")));
        }
        let centers = self.center.unwrap_or(true) && reads;
        Ok(centers.then(|| self.center_prior.unwrap_or(CENTER_PRIOR)))
    }

    fn kernel(&self, spelling: Spelling) -> Result<Option<(&'static str, KernelParameters)>, Misuse> {
        let KernelParameters { gamma, degree, coef0, length_scale } = self.parameters;
        let given = [
            ("gamma", gamma.is_some()),
            ("degree", degree.is_some()),
            ("coef0", coef0.is_some()),
            ("length_scale", length_scale.is_some()),
        ];
        let budget = [("budget", self.budget.is_some())];
        let Some(name) = self.kernel else {
            return match given.iter().chain(&budget).find(|(_, is_given)| *is_given) {
                Some((option, _)) => Err(Misuse(format!("{} needs a {}", spelling(option), spelling("kernel")))),
                None => Ok(None),
            };
        };
        let reads = KERNELS.iter().find(|entry| entry.name == name).map_or(&[][..], |entry| entry.reads);
        match given.iter().find(|(option, is_given)| *is_given && !reads.contains(option)) {
            Some((option, _)) => Err(Misuse(format!("{} is not read by the kernel {name}", spelling(option)))),
            None => Ok(Some((name, self.parameters))),
        }
    }
}

/// A learner, and how to tell users what it does not read.
struct Reader {
    entry: &'static Entry,
    spelling: Spelling,
}

impl Reader {
    fn unread(&self, option: &str, is_unread: bool) -> Result<(), Misuse> {
        match is_unread {
            true => Err(Misuse(format!("{} is not read by the learner {}", (self.spelling)(option), self.entry.name))),
            false => Ok(()),
        }
    }
}

impl Checked {
    /// What to build for rows of this length.
    pub fn spec(&self, length: usize) -> Result<Spec, Error> {
        let kernel =
            self.kernel.as_ref().and_then(|(name, parameters)| VectorKernel::from_name(name, parameters, length));
        let spec = Spec { kernel, ..self.spec.clone() };
        match self.ceiling {
            Some(ceiling) => spec.tuned(ceiling, length),
            None => Ok(spec),
        }
    }

    /// Has the library judge the values, by building the learner for the shortest rows there can be.
    fn judge(&self, spelling: Spelling) -> Result<(), Misuse> {
        let (k, kept) = (spelling("k"), self.spec.kept);
        if kept == 0 {
            return Err(Misuse(format!("{k} must be at least 1, got 0")));
        }
        let dimension = self.spec.dimension.unwrap_or(Multiplicity::Finite((kept as u64).saturating_add(1)));
        let kernel = self.kernel.as_ref().and_then(|(name, parameters)| VectorKernel::from_name(name, parameters, 1));
        let spec = Spec { dimension: Some(dimension), kernel, ..self.spec.clone() };
        let shortest = if spec.learner.entry().family == Family::Hebbian { kept.saturating_add(1) } else { 1 };
        match AnyLearner::new(&spec, shortest) {
            Ok(_) => Ok(()),
            Err(Error::Parameter { name, rule, value }) => {
                Err(Misuse(format!("{} must be {rule}, got {}", spelling(name), exact(value))))
            }
            Err(Error::Kept { kept, dimension }) => {
                Err(Misuse(format!("{k} must be less than {} {dimension}, got {kept}", spelling("feature-dim"))))
            }
            Err(error) => Err(Misuse(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::REGISTRY;

    fn plain(name: &str) -> String {
        name.to_owned()
    }

    #[test]
    fn every_learner_has_defaults_that_build() {
        for entry in REGISTRY {
            let checked = Options::new(entry.kind, 1).checked(plain).unwrap();
            assert!(AnyLearner::new(&checked.spec(5).unwrap(), 5).is_ok(), "{}", entry.name);
        }
    }

    #[test]
    fn an_option_is_refused_by_exactly_the_learners_that_do_not_read_it() {
        for entry in REGISTRY {
            let plainly = Options::new(entry.kind, 1);
            let cases = [
                (entry.reads.eta, Options { eta: Some(Rate::Given(0.5)), ..plainly.clone() }),
                (entry.reads.forget, Options { forget: Some(0.5), ..plainly.clone() }),
                (entry.reads.mixing, Options { alpha: Some(0.5), ..plainly.clone() }),
                (entry.reads.center, Options { center: Some(true), ..plainly.clone() }),
                (entry.reads.max_rank, Options { max_rank: Some(7), ..plainly.clone() }),
            ];
            for (reads, options) in cases {
                assert_eq!(options.checked(plain).is_ok(), reads, "{} {options:?}", entry.name);
            }
        }
    }
}
