//! Options given by users, and the run they describe.
//!
//! [`OPTIONS`] describes every option once. Programs collect values in [`Options`] and resolve them to a [`Setup`] or an
//! error message. Building the learner checks the rest, such as a `max-rank` less than k.

mod entry;
mod table;
mod value;

pub use crate::num::exact;
pub use entry::{OptionEntry, OptionOf, Readers};
pub use table::{AUTO_SEGMENTS, OPTIONS};
pub use value::{Check, Choice, Type, Value};

use crate::bounds;
use crate::comparators::BestMethod;
use crate::error::Error;
use crate::kernel::{KERNELS, KernelParameters, TextItems, VectorKernel};
use crate::registry::{Kind, Spec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Option values. Options that are not set have their default values.
///
/// ```
/// use eigenhedge::Kind;
/// use eigenhedge::options::Options;
///
/// let options = Options::new(Kind::Tracking, 2).with("forget", 0.9);
/// let misuse = options.resolve(|name| format!("--{name}")).unwrap_err();
/// assert_eq!(misuse.to_string(), "--forget has no effect with the learner tracking");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Number of directions kept.
    pub kept: usize,
    given: BTreeMap<String, Value>,
    kernel: Option<VectorKernel>,
}

/// Message about invalid or conflicting options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misuse(pub String);

/// Function that spells the name of an option, or `k`, for a program, such as `--max-rank` or
/// `max_rank` for `max-rank`.
pub type Spelling = fn(&str) -> String;

/// Basis in which the coordinates of a row are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coordinates {
    /// Directions with the highest probability of being kept before the row, rotated to be nearest to those of the
    /// previous row, so that coordinates of different rows are comparable. A portfolio uses the directions of its
    /// heaviest member and the center of its first member.
    #[default]
    Aligned,
    /// Directions drawn for the row.
    Drawn,
}

crate::error::by_name!(Coordinates, "coordinates", 2, Aligned => "aligned", Drawn => "drawn");

/// Resolved settings of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Parameters of the learner. [`Self::for_rows`] sets a kernel that is given by name.
    pub spec: Spec,
    /// Maximum number of segments of the best partitions to compare with.
    pub segments: usize,
    /// Basis of the coordinates.
    pub coordinates: Coordinates,
    /// Method for computing the best fixed subspace in hindsight.
    pub best: BestMethod,
    /// Random seed, if it is known.
    pub seed: Option<u64>,
    kernel: Option<&'static str>,
    parameters: KernelParameters,
    ceiling: Option<f64>,
    horizon: Option<u64>,
}

impl Options {
    /// Creates options for a learner that keeps `kept` directions, with defaults for the rest.
    pub fn new(learner: Kind, kept: usize) -> Self {
        Self { kept, given: BTreeMap::new(), kernel: None }.with("learner", learner.entry().name)
    }

    /// Sets an option, which [`Self::resolve`] checks.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.given.insert(name.to_owned(), value.into());
        self
    }

    /// Sets a kernel that has no name in the table of kernels, such as a function or a sum.
    #[must_use]
    pub fn with_kernel(self, kernel: VectorKernel) -> Self {
        Self { kernel: Some(kernel), ..self }
    }

    /// Returns the learner, or `auto` if its name is unknown.
    pub fn learner(&self) -> Kind {
        self.given.get("learner").and_then(|value| value.text().parse().ok()).unwrap_or(Kind::Auto)
    }

    /// Resolves the options to the settings of a run. Returns `Err` for options that are invalid for all data.
    pub fn resolve(&self, spelling: Spelling) -> Result<Setup, Misuse> {
        if let Some(name) = self.given.keys().find(|name| OptionEntry::find(name).is_none()) {
            return Err(Misuse(format!("there is no option {}", spelling(name))));
        }
        if self.kept == 0 {
            return Err(Misuse(format!("{} must be at least 1, got 0", spelling("k"))));
        }
        let given: Vec<(&OptionEntry, &Value)> =
            OPTIONS.iter().filter_map(|option| Some((option, self.given.get(option.name)?))).collect();
        for (option, value) in &given {
            if !option.values.accepts(value) {
                let (name, wanted) = (spelling(option.name), option.values.description());
                return Err(Misuse(format!("{name} must be {wanted}, got {value}")));
            }
        }
        let learner = self.learner();
        let mut setup = Setup::new(learner, self.kept);
        setup.kernel = self.kernel.as_ref().map(VectorKernel::name);
        setup.spec.kernel.clone_from(&self.kernel);
        for (option, value) in &given {
            if option.is_read_by(learner) {
                option.check(value, spelling)?;
                (option.set)(&mut setup, value);
            } else if option.neutral != Some(&value.to_string()) {
                let reader = learner.entry().name;
                return Err(Misuse(format!("{} has no effect with the learner {reader}", spelling(option.name))));
            }
        }
        let conflict =
            given.iter().find_map(|(option, _)| setup.features_conflict(option).or((option.conflict)(self, &setup)));
        match conflict {
            Some(sentence) => Err(Misuse(fill(&sentence, spelling))),
            None => Ok(setup),
        }
    }
}

/// Replaces option names in braces, such as `{max-rank}`, by the spelling of the program.
pub fn fill(sentence: &str, spelling: Spelling) -> String {
    let fill =
        |text: String, option: &OptionEntry| text.replace(&format!("{{{}}}", option.name), &spelling(option.name));
    OPTIONS.iter().fold(sentence.to_owned(), fill)
}

/// Formats an error, with the parameter name as the program spells it.
pub fn spelled(error: &Error, spelling: Spelling) -> String {
    match error {
        Error::Parameter { name, rule, value } => format!("{} must be {rule}, got {}", spelling(name), exact(*value)),
        Error::Name { what, rule, text } => format!("{} must be {rule}, got '{text}'", spelling(what)),
        other => other.to_string(),
    }
}

impl Setup {
    fn new(learner: Kind, kept: usize) -> Self {
        Self { seed: Some(0), ..Self::of(Spec::new(learner, kept), 0) }
    }

    /// Returns the settings of an existing learner. The seed is unknown.
    pub fn of(spec: Spec, segments: usize) -> Self {
        let parameters = KernelParameters::default();
        let (coordinates, best) = (Coordinates::default(), BestMethod::default());
        Self { spec, segments, coordinates, best, seed: None, kernel: None, parameters, ceiling: None, horizon: None }
    }

    /// Returns the settings completed for rows of `length` columns: the kernel, a tuned rate, and the initial center.
    pub fn for_rows(&self, length: usize) -> Result<Self, Error> {
        let mut setup = self.clone();
        if let Some([number]) = self.spec.start.as_deref() {
            setup.spec.start = Some(vec![*number; length]);
        }
        if let Some(kernel) = self.kernel.and_then(|name| VectorKernel::from_name(name, &self.parameters, length)) {
            setup.spec.kernel = Some(kernel);
        }
        if let Some(ceiling) = self.ceiling {
            setup.spec = Spec { self_confident: false, ..setup.spec }.tuned(ceiling, length)?;
        }
        if let Some(rate) =
            self.horizon.and_then(|rows| bounds::additive_rate(self.spec.kept, setup.spec.space(length), rows))
        {
            setup.spec = Spec { self_confident: false, eta: rate, ..setup.spec };
        }
        Ok(setup)
    }

    /// Returns true if the kernel depends on γ, and neither γ nor a length scale is given.
    pub fn lacks_gamma(&self) -> bool {
        let reads = |name: &str| KERNELS.iter().any(|entry| entry.name == name && entry.reads.contains(&"gamma"));
        let KernelParameters { gamma, length_scale, .. } = self.parameters;
        self.kernel.is_some_and(reads) && gamma.is_none() && length_scale.is_none()
    }

    /// Sets γ to fit the first rows, if the kernel needs it and it is not set ([`KernelParameters::for_rows`]).
    #[must_use]
    pub fn with_gamma_of<R: AsRef<[f64]>>(mut self, rows: &[R]) -> Self {
        if let Some(kernel) = self.kernel {
            self.parameters = self.parameters.for_rows(kernel, rows);
        }
        self
    }

    /// Returns γ of the kernel, if it is set.
    pub fn gamma(&self) -> Option<f64> {
        self.parameters.gamma
    }

    /// Sets γ and the length scale to those of a saved kernel, if the kernel needs γ and neither is set.
    #[must_use]
    pub fn with_gamma_like(mut self, kernel: Option<&VectorKernel>) -> Self {
        if let (true, Some(saved)) = (self.lacks_gamma(), kernel.map(VectorKernel::parameters)) {
            let KernelParameters { gamma, length_scale, .. } = saved;
            self.parameters = KernelParameters { gamma, length_scale, ..self.parameters };
        }
        self
    }

    /// Returns the kind of items if each row is a text or a set, or `None` for rows of numbers.
    pub fn text_items(&self) -> Option<TextItems> {
        VectorKernel::from_name(self.kernel?, &self.parameters, 1)?.text_items()
    }

    /// Returns the options that the learner reads and that have a value, in table order.
    pub fn values(&self) -> impl Iterator<Item = (&'static OptionEntry, Value)> {
        let read = OPTIONS.iter().filter(|option| option.is_read_by(self.spec.learner));
        read.filter_map(|option| Some((option, (option.get)(self)?)))
    }

    /// Returns the options in effect that differ from the learner's defaults.
    pub fn changed(&self) -> Vec<(&'static OptionEntry, Value)> {
        let defaults = Self::new(self.spec.learner, self.spec.kept);
        self.values().filter(|(option, value)| (option.get)(&defaults).as_ref() != Some(value)).collect()
    }

    fn features_conflict(&self, option: &OptionEntry) -> Option<String> {
        if !matches!(option.readers, Readers::Features) {
            return None;
        }
        let Some(kernel) = self.kernel else { return Some(format!("{{{}}} needs a {{kernel}}", option.name)) };
        let reads = KERNELS.iter().find(|entry| entry.name == kernel).map_or(&[][..], |entry| entry.reads);
        let is_read = option.name == "budget" || reads.contains(&option.name);
        (!is_read).then(|| format!("{{{}}} has no effect with the kernel {kernel}", option.name))
    }
}

impl Kind {
    /// Returns true if the option has an effect with this learner.
    pub fn reads(self, option: &str) -> bool {
        OptionEntry::find(option).is_some_and(|option| option.is_read_by(self))
    }
}
