//! Options as users give them, and the run that they describe.
//!
//! [`OPTIONS`] describes every option once. Programs let their users name options, collect the values in [`Options`], and
//! get a [`Setup`] or the sentence that says what is wrong. Values that only a learner can judge, such as a `max-rank` that
//! is less than k, are judged when it is built.

mod table;
mod value;

pub use crate::num::exact;
pub(crate) use table::AUTO_SEGMENTS;
pub use table::{OPTIONS, OptionEntry, Readers};
pub use value::{Check, Choice, Type, Value};

use crate::bounds;
use crate::comparators::BestMethod;
use crate::error::Error;
use crate::kernel::{KERNELS, KernelParameters, TextItems, VectorKernel};
use crate::registry::{Kind, Spec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Options as given; those that are missing have defaults.
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

/// Options that make no sense, as one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misuse(pub String);

/// The way in which a program spells the name of an option: `max-rank` may be `--max-rank` or `max_rank`; `k` is one too.
pub type Spelling = fn(&str) -> String;

/// The directions that the coordinates of a row are given in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coordinates {
    /// Those that were most surely kept before the row (by the heaviest member and around the mean, for a portfolio), in the
    /// basis nearest to that of the row before: coordinates mean the same from row to row. The loss stays that of the draw.
    #[default]
    Aligned,
    /// Those that were drawn for the row.
    Drawn,
}

impl Coordinates {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Aligned, Self::Drawn];

    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aligned => "aligned",
            Self::Drawn => "drawn",
        }
    }
}

crate::error::by_name!(Coordinates, "coordinates");

/// A run as its options describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// The learner; without its kernel until the length of rows is known.
    pub spec: Spec,
    /// Segments of the best partition to compare with; 0 for none.
    pub segments: usize,
    /// The directions of coordinates.
    pub coordinates: Coordinates,
    /// How the best subspace in hindsight is followed.
    pub best: BestMethod,
    /// Seed of the draws; none when it is not known.
    pub seed: Option<u64>,
    kernel: Option<&'static str>,
    parameters: KernelParameters,
    ceiling: Option<f64>,
    horizon: Option<u64>,
}

impl Options {
    /// A learner and k, with defaults for the rest.
    pub fn new(learner: Kind, kept: usize) -> Self {
        Self { kept, given: BTreeMap::new(), kernel: None }.with("learner", learner.entry().name)
    }

    /// The same with one option set; [`Self::resolve`] judges name and value.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.given.insert(name.to_owned(), value.into());
        self
    }

    /// The same with a kernel that has no name, such as a function or a sum.
    #[must_use]
    pub fn with_kernel(self, kernel: VectorKernel) -> Self {
        Self { kernel: Some(kernel), ..self }
    }

    /// The learner; `auto` if its name is none of the registry.
    pub fn learner(&self) -> Kind {
        self.given.get("learner").and_then(|value| value.text().parse().ok()).unwrap_or(Kind::Auto)
    }

    /// Judges all that can be judged without the data and without building the learner.
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

/// The sentence with the names of options, such as `{max-rank}`, as a program spells them.
pub fn fill(sentence: &str, spelling: Spelling) -> String {
    let fill =
        |text: String, option: &OptionEntry| text.replace(&format!("{{{}}}", option.name), &spelling(option.name));
    OPTIONS.iter().fold(sentence.to_owned(), fill)
}

/// An error with the name of its parameter as a program spells it.
pub fn spelled(error: &Error, spelling: Spelling) -> String {
    match error {
        Error::Parameter { name, rule, value } => format!("{} must be {rule}, got {}", spelling(name), exact(*value)),
        other => other.to_string(),
    }
}

impl Setup {
    /// The defaults of a learner.
    fn new(learner: Kind, kept: usize) -> Self {
        Self { seed: Some(0), ..Self::of(Spec::new(learner, kept), 0) }
    }

    /// The setup of a learner that has been built; the seed is not known.
    pub fn of(spec: Spec, segments: usize) -> Self {
        let parameters = KernelParameters::default();
        let (coordinates, best) = (Coordinates::default(), BestMethod::default());
        Self { spec, segments, coordinates, best, seed: None, kernel: None, parameters, ceiling: None, horizon: None }
    }

    /// The setup with its kernel and its rate, for rows of this length.
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

    /// The items of a text, if rows are texts or sets.
    pub fn text_items(&self) -> Option<TextItems> {
        VectorKernel::from_name(self.kernel?, &self.parameters, 1)?.text_items()
    }

    /// The options in effect: those that the learner reads and that have a value, in the order of the table.
    pub fn values(&self) -> impl Iterator<Item = (&'static OptionEntry, Value)> {
        let read = OPTIONS.iter().filter(|option| option.is_read_by(self.spec.learner));
        read.filter_map(|option| Some((option, (option.get)(self)?)))
    }

    /// The options in effect whose values are not the defaults of the learner.
    pub fn changed(&self) -> Vec<(&'static OptionEntry, Value)> {
        let defaults = Self::new(self.spec.learner, self.spec.kept);
        self.values().filter(|(option, value)| (option.get)(&defaults).as_ref() != Some(value)).collect()
    }

    /// The sentence that says why an option of kernels cannot be given.
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
    /// True if the learner reads the option with this name.
    pub fn reads(self, option: &str) -> bool {
        OptionEntry::find(option).is_some_and(|option| option.is_read_by(self))
    }
}
