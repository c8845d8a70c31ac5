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
pub struct OptionArgs<C> {
    given: Vec<(&'static str, Value)>,
    command: PhantomData<C>,
}

/// Command that takes options from the option table of the library.
pub trait HasOptions: Debug + Clone + Send + Sync + 'static {
    fn argument(option: &'static OptionEntry) -> Option<Arg>;
}

/// Options of `run`: all options.
#[derive(Debug, Clone)]
pub struct OfRun;

/// Options of `compare`: norm bound, seed and handling of missing cells.
#[derive(Debug, Clone)]
pub struct OfCompare;

/// Options of the batch methods with a kernel: those of the kernel, without the budget.
#[derive(Debug, Clone)]
pub struct OfKernels;

impl HasOptions for OfRun {
    fn argument(option: &'static OptionEntry) -> Option<Arg> {
        Some(argument(option))
    }
}

impl HasOptions for OfCompare {
    fn argument(option: &'static OptionEntry) -> Option<Arg> {
        matches!(option.name, "norm-bound" | "seed" | "missing").then(|| argument(option))
    }
}

impl HasOptions for OfKernels {
    fn argument(option: &'static OptionEntry) -> Option<Arg> {
        match (option.name, option.readers) {
            ("kernel", _) => Some(argument(option).help("Kernel").default_value(defaults::KERNEL)),
            ("budget", _) => None,
            (_, Readers::Features) => Some(argument(option)),
            _ => None,
        }
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
        Type::Flag => argument.action(ArgAction::SetTrue),
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

impl<C> OptionArgs<C> {
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.given.iter().map(|(name, _)| *name)
    }

    /// Returns the options for a learner that keeps k directions.
    pub fn options(&self, learner: Kind, k: usize) -> Options {
        let with = |options: Options, (name, value): &(&'static str, Value)| options.with(name, value.clone());
        self.given.iter().fold(Options::new(learner, k), with)
    }
}

impl<C: HasOptions> Args for OptionArgs<C> {
    fn augment_args(command: Command) -> Command {
        command.args(OPTIONS.iter().filter_map(C::argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<C: HasOptions> FromArgMatches for OptionArgs<C> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let value = |option: &OptionEntry| match option.values {
            Type::Flag => matches.get_flag(option.name).then_some(Value::Flag(true)),
            _ => matches.get_one::<Value>(option.name).cloned(),
        };
        let own = OPTIONS.iter().filter(|option| C::argument(option).is_some());
        Ok(Self { given: own.filter_map(|option| Some((option.name, value(option)?))).collect(), command: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
