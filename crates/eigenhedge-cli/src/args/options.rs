//! Options of a learner as typed, derived from the option table of the library.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use eigenhedge::Kind;
use eigenhedge::options::{Choice, OPTIONS, OptionEntry, Options, Readers, Type, Value, fill};
use eigenhedge::registry::{REGISTRY, defaults};
use std::fmt::Debug;
use std::marker::PhantomData;

/// Options that were given to the command `C`, with their values.
#[derive(Debug, Clone)]
pub struct OptionArgs<C: HasOptions> {
    pub given: Vec<(&'static str, C::Value)>,
    command: PhantomData<C>,
}

/// Command that takes options from an option table of the library.
pub trait HasOptions: Debug + Clone + Send + Sync + 'static {
    type Value: Debug + Clone + Send + Sync + 'static;

    fn arguments() -> impl Iterator<Item = (&'static str, Arg)>;
}

#[derive(Debug, Clone)]
pub struct OfRun;

/// Options of `compare`: norm bound, seed and handling of missing cells.
#[derive(Debug, Clone)]
pub struct OfCompare;

/// Options of the batch methods with a kernel: those of the kernel, without the budget.
#[derive(Debug, Clone)]
pub struct OfKernels;

impl HasOptions for OfRun {
    type Value = Value;

    fn arguments() -> impl Iterator<Item = (&'static str, Arg)> {
        OPTIONS.iter().map(|option| (option.name, argument(option)))
    }
}

impl HasOptions for OfCompare {
    type Value = Value;

    fn arguments() -> impl Iterator<Item = (&'static str, Arg)> {
        OfRun::arguments().filter(|(name, _)| ["norm-bound", "seed", "missing"].contains(name))
    }
}

impl HasOptions for OfKernels {
    type Value = Value;

    fn arguments() -> impl Iterator<Item = (&'static str, Arg)> {
        let of_kernel = |option: &&OptionEntry| {
            option.name == "kernel" || matches!(option.readers, Readers::Features) && option.name != "budget"
        };
        OPTIONS.iter().filter(of_kernel).map(|option| match option.name {
            "kernel" => (option.name, argument(option).help("Kernel").default_value(defaults::KERNEL)),
            name => (name, argument(option)),
        })
    }
}

pub fn typed(name: &str) -> String {
    if name == "k" { "-k".into() } else { format!("--{name}") }
}

fn argument(option: &'static OptionEntry) -> Arg {
    let help = fill(option.help, typed);
    let help = if option.default.is_empty() { help } else { format!("{help} [default: {}]", option.default) };
    let argument = Arg::new(option.name).long(option.name).help(help);
    match option.values {
        Type::Flag => argument
            .action(ArgAction::Set)
            .num_args(0)
            .default_missing_value("true")
            .value_parser(parser(option.values)),
        values => argument
            .value_name(option.placeholder)
            .value_parser(parser(values))
            .allow_hyphen_values(matches!(values, Type::Number(..) | Type::Numbers)),
    }
}

fn parser(values: Type) -> ValueParser {
    let parse = move |text: &str| values.parse(text).ok_or_else(|| format!("must be {}", values.description()));
    let Type::Choice(list) = values else { return ValueParser::new(parse) };
    if list().iter().any(|choice| choice.number.is_some()) {
        return ValueParser::new(parse);
    }
    ValueParser::new(possible(list()).try_map(move |text| parse(&text)))
}

fn possible(choices: Vec<Choice>) -> PossibleValuesParser {
    let value = |choice: Choice| PossibleValue::new(choice.name).help(choice.help).aliases(choice.alias);
    PossibleValuesParser::new(choices.into_iter().map(value))
}

pub fn learners() -> impl TypedValueParser<Value = Kind> {
    let choices =
        REGISTRY.iter().map(|entry| Choice { name: entry.name, alias: None, help: entry.summary, number: None });
    possible(choices.collect()).try_map(|name| name.parse::<Kind>())
}

impl<C: HasOptions> OptionArgs<C> {
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.given.iter().map(|(name, _)| *name)
    }
}

impl<C: HasOptions<Value = Value>> OptionArgs<C> {
    pub fn options(&self, learner: Kind, k: usize) -> Options {
        let with = |options: Options, (name, value): &(&'static str, Value)| options.with(name, value.clone());
        self.given.iter().fold(Options::new(learner, k), with)
    }
}

impl<C: HasOptions> Args for OptionArgs<C> {
    fn augment_args(command: Command) -> Command {
        command.args(C::arguments().map(|(_, argument)| argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: HasOptions> FromArgMatches for OptionArgs<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = C::arguments().filter_map(|(name, _)| Some((name, matches.get_one::<C::Value>(name)?.clone())));
        Ok(Self { given: given.collect(), command: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
