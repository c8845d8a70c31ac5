//! Options of a monitor as typed, derived from the option table of the library.

use super::directions;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use eigenhedge::{Error as Refused, MONITOR_OPTIONS, Missing, MonitorOption, MonitorOptions};
use eigenhedge_pages::monitor::in_rows;

/// Options of a monitor that were given, with their checked texts.
#[derive(Debug, Clone, Default)]
pub struct MonitorOptionArgs {
    given: Vec<(&'static MonitorOption, String)>,
}

impl MonitorOptionArgs {
    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(option, _)| option.name == name)
    }

    /// Returns the name of an option that was given as a duration, or `None`.
    pub fn duration(&self) -> Option<&'static str> {
        self.given.iter().find(|(option, text)| in_rows(option, text, 1.0).is_some()).map(|(option, _)| option.name)
    }

    /// Returns all options, with defaults for those not given. `step` is the usual time between two rows in seconds.
    pub fn options(&self, step: f64) -> Result<MonitorOptions, Refused> {
        let mut options = MonitorOptions::default();
        for (option, text) in &self.given {
            option.set(&mut options, in_rows(option, text, step).as_ref().unwrap_or(text))?;
        }
        Ok(options)
    }
}

/// Returns the monitor options that are arguments here. `--standardize` is a table option instead.
fn own() -> impl Iterator<Item = &'static MonitorOption> {
    MONITOR_OPTIONS.iter().filter(|option| option.name != "standardize")
}

fn argument(option: &'static MonitorOption) -> Arg {
    let default = match option.name {
        "k" => "as many as explain --share of the energy".to_owned(),
        "missing" => "fill, or as in the file of --start-from".to_owned(),
        _ => option.get(&MonitorOptions::default()).map_or(option.default.to_owned(), |value| value.to_string()),
    };
    let argument = Arg::new(option.name)
        .value_name(option.placeholder)
        .value_parser(parser(option))
        .help(format!("{} [default: {default}]", option.help));
    match option.name {
        "k" => argument.short('k').conflicts_with_all(["share", "start_from"]),
        "missing" => argument.long(option.name),
        "warm-up" => argument.long(option.name).conflicts_with_all(["train", "start_from"]),
        name => argument.long(name).conflicts_with("start_from"),
    }
}

fn parser(option: &'static MonitorOption) -> ValueParser {
    let try_out = move |text: &str| option.set(&mut MonitorOptions::default(), text);
    let check = move |text: &str| match try_out(in_rows(option, text, 1.0).as_deref().unwrap_or(text)) {
        Ok(()) => Ok(text.to_owned()),
        Err(_) if option.name == "k" => directions(text).map(|k| k.to_string()),
        Err(Refused::Name { rule, .. }) => Err(format!("must be {rule}")),
        Err(Refused::Parameter { rule, .. }) => Err(format!("must be {rule}")),
        Err(error) => Err(error.to_string()),
    };
    if option.name != "missing" {
        return ValueParser::new(check);
    }
    let help = |what: Missing| match what {
        Missing::Skip => "Pass the row over",
        Missing::Fill => "Fill the cell in",
        _ => "End the run",
    };
    let values = Missing::ALL.map(|what| PossibleValue::new(what.name()).help(help(what)));
    ValueParser::new(PossibleValuesParser::new(values).try_map(move |text| check(&text)))
}

impl Args for MonitorOptionArgs {
    fn augment_args(command: Command) -> Command {
        command.args(own().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for MonitorOptionArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let value = |option: &MonitorOption| matches.get_one::<String>(option.name).cloned();
        Ok(Self { given: own().filter_map(|option| Some((option, value(option)?))).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
